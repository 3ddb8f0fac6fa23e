import { describe, expect, it } from 'vitest';
import type { Failure } from '../../failure.ts';
import type { CustomAttributeRowFragment, ImportUsersMutation, NewUserInput } from '../../generated/operations.ts';
import { parseCsv } from './csv.ts';
import { guessedColumns, type ImportRow, prepare, targetsOf } from './import-columns.ts';
import { chunksOf, type Progress, runImport, type Send } from './import-run.ts';

const custom = (name: string, more: Partial<CustomAttributeRowFragment> = {}) =>
  ({ name, type: 'STRING', multiValued: false, alias: null, ...more }) as CustomAttributeRowFragment;
const targets = targetsOf([custom('team'), custom('badges', { multiValued: true }), custom('x', { type: 'COMPLEX' })]);

const prepared = (text: string, columns?: string[]) => {
  const [head, ...body] = parseCsv(text);
  return prepare(body, columns ?? guessedColumns(head?.cells ?? [], targets), targets);
};

describe('an import file', () => {
  it.each([
    [
      'our export',
      ['id', 'user_name', 'display_name', 'email', 'phone', 'active', 'custom.team'],
      ['', 'userName', 'displayName', 'email', 'phone', '', 'custom.team'],
    ],
    [
      'a spreadsheet',
      ['First name', 'Last Name', 'E-Mail', 'Language'],
      ['givenName', 'familyName', 'email', 'locale'],
    ],
    ['headings that repeat', ['Email', 'mail', ''], ['email', '', '']],
  ])('has its columns found by the headings of %s', (_, header, columns) => {
    expect(guessedColumns(header, targets)).toEqual(columns);
  });

  it('has its cells turned into attributes, unless they are blank', () => {
    const { rows } = prepared("email,team,badges,phone\n a@example.com ,,a | b|,'+41791234567\n");
    expect(rows).toEqual([
      {
        line: 2,
        input: { email: 'a@example.com', phone: '+41791234567', custom: [{ name: 'badges', value: ['a', 'b'] }] },
      },
    ]);
  });

  it('has broken and repeated lines refused by number, and the others kept', () => {
    const { rows, refused } = prepared(
      'email\na@example.com\n"b\nA@example.com\nc@example.com,surplus\nd@example.com\ne\0@x\n',
    );
    expect(rows.map(({ line }) => line)).toEqual([2, 6]);
    expect(refused).toEqual([
      { line: 3, field: null, reason: 'A quotation mark is not closed' },
      { line: 4, field: 'Email address', reason: 'Repeats line 2' },
      { line: 5, field: null, reason: 'Has 2 cells; the header has 1' },
      { line: 7, field: null, reason: 'Has a NUL character' },
    ]);
  });
});

const rowsOf = (count: number, more: NewUserInput = {}): ImportRow[] =>
  Array.from({ length: count }, (_, n) => ({ line: n + 2, input: { email: `user-${n}@example.com`, ...more } }));
const nothing = (total: number): Progress => ({ done: 0, total, created: 0, known: [], refused: [], isWaiting: false });
const lost: Failure = { code: 'outcome-unknown', message: 'The server did not respond.' };

/** A server that stores the users it has created. */
function server(failing: (call: number) => Failure | undefined = () => undefined) {
  const users = new Set<string>();
  let calls = 0;
  const send: Send = async ({ input }) => {
    calls += 1;
    const failure = failing(calls);
    // The work is done; only the response is lost.
    const answer: ImportUsersMutation['importUsers'] = { created: 0, known: [], refused: [] };
    for (const [row, { email }] of ([input.rows].flat() as NewUserInput[]).entries()) {
      if (email?.startsWith('bad')) answer.refused.push({ row, field: 'email', message: 'email must be nice.' });
      else if (users.has(email as string)) answer.known.push(row);
      else {
        answer.created += 1;
        if (!failure || failure === lost) users.add(email as string);
      }
    }
    return failure ? { failure } : { data: { importUsers: answer } };
  };
  return { send, users, calls: () => calls };
}

const run = (rows: ImportRow[], send: Send, signal = new AbortController().signal) => {
  let progress = nothing(rows.length);
  const seen: number[] = [];
  const onProgress = (next: Progress) => {
    progress = next;
    seen.push(next.done);
  };
  const options = { projectId: 'p', invite: false, dryRun: false, targets, send, onProgress, signal };
  return runImport(rows, progress, { ...options, pause: async () => undefined }).then((end) => ({
    ...end,
    progress,
    seen,
  }));
};

describe('an import', () => {
  it('sends chunks of at most 500 rows and 64 KB', () => {
    expect(chunksOf(rowsOf(1200)).map(({ length }) => length)).toEqual([500, 500, 200]);
    const long = chunksOf(rowsOf(100, { displayName: 'é'.repeat(1000) }));
    expect(long.flat()).toHaveLength(100);
    for (const chunk of long) {
      const body = JSON.stringify({ rows: chunk.map(({ input }) => input) });
      expect(new TextEncoder().encode(body).length).toBeLessThan(60_000);
    }
  });

  it('reports progress, and refused rows by their line', async () => {
    const rows = rowsOf(1000);
    (rows[700] as ImportRow).input = { email: 'bad' };
    const { progress, seen, failure, remaining } = await run(rows, server().send);
    expect([seen, failure, remaining]).toEqual([[500, 1000], undefined, []]);
    expect(progress).toMatchObject({ done: 1000, created: 999, known: [] });
    expect(progress.refused).toEqual([{ line: 702, field: 'Email address', reason: 'Must be nice' }]);
  });

  it('repeats a chunk whose response was lost: each user exists once', async () => {
    const { send, users } = server((call) => (call === 2 || call === 3 ? lost : undefined));
    const { failure, remaining, progress } = await run(rowsOf(2000), send);
    expect([failure, remaining, users.size, progress.done]).toEqual([undefined, [], 2000, 2000]);
    expect(progress.created + progress.known.length).toBe(2000);
  });

  it('stops at a permanent failure, and continues with the remaining rows', async () => {
    const tooMany: Failure = { code: 'too-many', message: 'Too many attempts.' };
    const { send, users } = server((call) => (call === 2 ? tooMany : undefined));
    const { failure, remaining } = await run(rowsOf(2000), send);
    expect(failure).toBe(tooMany);
    expect(users.size + remaining.length).toBe(2000);
    expect((await run(remaining, send)).remaining).toEqual([]);
    expect(users.size).toBe(2000);
  });

  it('sends nothing more after a stop', async () => {
    const stop = new AbortController();
    const { send, calls } = server();
    const stopping: Send = async (variables) => {
      stop.abort();
      return send(variables);
    };
    const { remaining } = await run(rowsOf(5000), stopping, stop.signal);
    expect(calls()).toBeLessThanOrEqual(2);
    expect(remaining.length).toBeGreaterThanOrEqual(4000);
  });
});
