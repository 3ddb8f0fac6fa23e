import { describe, expect, it } from 'vitest';
import type { Failure } from '../../failure.ts';
import { type BulkOptions, type BulkProgress, bulkPage, type Chosen, notBegun, pagesOf, runBulk } from './bulk-run.ts';

const lost: Failure = { code: 'outcome-unknown', message: 'The server did not respond.' };
const people = (count: number): Chosen[] =>
  Array.from({ length: count }, (_, n) => ({ id: String(n).padStart(5, '0'), name: `User ${n}` }));

/** A server whose list holds the users not yet changed, ordered by id; a cursor is the last id of a page. */
function server(users: Chosen[], { refuses = (_: string) => false, gone = new Set<string>() } = {}) {
  const changed: string[] = [];
  const isDone = new Set<string>();
  const load: BulkOptions['load'] = async (after) => {
    const matching = users.filter(({ id }) => !isDone.has(id));
    const rest = matching.filter(({ id }) => after === null || id > after);
    const page = rest.slice(0, bulkPage);
    const next = rest.length > bulkPage ? (page.at(-1)?.id ?? null) : null;
    return { data: { users: page, total: matching.length, next } };
  };
  const apply: BulkOptions['apply'] = async (userIds) => ({
    data: {
      changeUsers: userIds.map((userId) => {
        if (gone.has(userId)) return { userId, done: false, code: 'not-found', message: 'This user does not exist.' };
        if (refuses(userId)) return { userId, done: false, code: 'conflict', message: 'The last owner.' };
        changed.push(userId);
        isDone.add(userId);
        return { userId, done: true, code: null, message: null };
      }),
    },
  });
  return { load, apply, changed, users };
}

const run = (
  of: Pick<BulkOptions, 'load' | 'apply'>,
  before: BulkProgress,
  more: Partial<BulkOptions> = {},
): ReturnType<typeof runBulk> =>
  runBulk(before, {
    isErasing: false,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    pause: async () => undefined,
    ...of,
    ...more,
  });

describe('a bulk action on all that match', () => {
  it('changes each user once, although changed users no longer match', async () => {
    const site = server(people(1999));
    const seen: number[] = [];
    const { progress } = await run(site, notBegun(1999), { onProgress: ({ done }) => seen.push(done) });
    expect(progress).toMatchObject({ done: 1999, refused: [], gone: 0, isFinished: true });
    expect(new Set(site.changed).size).toBe(1999);
    expect(site.changed).toHaveLength(1999);
    expect(seen.slice(0, 2)).toEqual([100, 200]);
  });

  it('names the refused users, and counts those erased in the meantime', async () => {
    const site = server(people(250), { refuses: (id) => id === '00120', gone: new Set(['00003', '00240']) });
    const { progress } = await run(site, notBegun(250));
    expect(progress).toMatchObject({ done: 247, gone: 2, isFinished: true });
    expect(progress.refused).toEqual([{ id: '00120', name: 'User 120', message: 'The last owner.' }]);
    const erased = server(people(5), { gone: new Set(['00003']) });
    expect((await run(erased, notBegun(5), { isErasing: true })).progress).toMatchObject({ done: 5, gone: 0 });
  });

  it('changes nothing if a different number matches than was confirmed', async () => {
    const site = server(people(120));
    expect(await run(site, notBegun(119))).toMatchObject({ changedTo: 120, progress: { done: 0 } });
    expect(site.changed).toEqual([]);
  });

  it('omits users who no longer match when their page is read', async () => {
    const site = server(people(300));
    let calls = 0;
    const { progress } = await run(site, notBegun(300), {
      load: (after) => {
        calls += 1;
        if (calls === 2) site.users.splice(150, 50);
        return site.load(after);
      },
    });
    expect(progress).toMatchObject({ done: 250, isFinished: true, total: 300 });
  });

  it('repeats a page whose response was lost', async () => {
    const site = server(people(300));
    let calls = 0;
    const waits: boolean[] = [];
    const { progress, failure } = await run(site, notBegun(300), {
      apply: async (ids) => {
        calls += 1;
        const outcome = await site.apply(ids);
        return calls === 2 ? { failure: lost } : outcome;
      },
      onProgress: ({ isWaiting }) => waits.push(isWaiting),
    });
    expect(failure).toBeUndefined();
    expect(progress).toMatchObject({ done: 300, isFinished: true, isWaiting: false });
    expect(waits).toContain(true);
  });

  it('stops between pages, and resumes there', async () => {
    const site = server(people(300));
    const stop = new AbortController();
    const first = await run(site, notBegun(300), { signal: stop.signal, onProgress: () => stop.abort() });
    expect(first.progress).toMatchObject({ done: 100, isFinished: false });
    const { progress } = await run(site, first.progress);
    expect(progress).toMatchObject({ done: 300, isFinished: true });
    expect(site.changed).toHaveLength(300);
  });

  it('keeps its position after a permanent failure', async () => {
    const site = server(people(300));
    const forbidden: Failure = { code: 'forbidden', message: 'No access.' };
    let calls = 0;
    const apply: BulkOptions['apply'] = async (ids) => {
      calls += 1;
      return calls === 2 ? { failure: forbidden } : site.apply(ids);
    };
    const end = await run(site, notBegun(300), { apply });
    expect(end).toMatchObject({ failure: forbidden, progress: { done: 100, isFinished: false } });
    expect((await run(site, end.progress)).progress).toMatchObject({ done: 300 });
  });

  it('processes a list of chosen users in pages', async () => {
    const site = server(people(230));
    const { progress } = await run({ ...site, load: pagesOf(site.users) }, notBegun(230));
    expect(progress).toMatchObject({ done: 230, isFinished: true });
  });
});
