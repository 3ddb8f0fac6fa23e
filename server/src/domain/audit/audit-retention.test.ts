import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { shell } from '../../../test/shell.ts';
import { EventFolder } from '../../adapters/files/event-archive.ts';
import { randomOn } from '../../adapters/system/random.ts';
import { system } from '../kernel/actor.ts';
import type { Random } from '../kernel/random.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { nextHash } from './archive.ts';
import { Audit } from './audit.ts';
import { AuditRetention } from './audit-retention.ts';
import type { EventType } from './event-types.ts';
import { firstIdAt } from './moment.ts';
import { EventMonths } from './months.ts';

const day = 24 * 3600;
let app: TestApp;
let folder: string;
let random: Random;

beforeEach(async () => {
  app = await buildTestApp();
  random = randomOn(app.clock);
  folder = mkdtempSync(join(tmpdir(), 'latchkey-events-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await app.close();
});

const retention = (days: number, archive: EventFolder | null = null) =>
  new AuditRetention({ db: app.services.db, clock: app.clock, audit: app.services.audit, days, archive });
const months = () => new EventMonths({ db: app.services.db, clock: app.clock });
/** Events whose ids have the time of the clock. */
const record = (type: `test.${string}`) =>
  app.services.db.transaction(async (em) =>
    new Audit({ clock: app.clock, random }).record(em, { type: type as EventType, actor: system }),
  );

async function types(): Promise<string[]> {
  const rows = await query(
    app.services.db.alone,
    sql<{
      type: string;
    }>`select type from audit_log where type like 'test.%' or type like 'audit.%' or type = 'backup.made' order by at`,
  );
  return rows.map(({ type }) => type);
}

/** The types of the test's events, by partition. */
async function byPartition(): Promise<Record<string, string[]>> {
  const rows = await query(
    app.services.db.alone,
    sql<{ name: string; type: string }>`
      select tableoid::regclass::text as name, type from audit_log where type like 'test.%' order by id`,
  );
  const grouped = Object.entries(Object.groupBy(rows, ({ name }) => name));
  return Object.fromEntries(grouped.map(([name, own]) => [name, (own ?? []).map(({ type }) => type)]));
}

/** Turns the clock to the middle of the month `offset` months from the real one. */
function turnTo(offset: number): string {
  const now = new Date();
  const at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 15));
  app.clock.turn((at.getTime() - app.clock.now().getTime()) / 1000);
  return at.toISOString().slice(0, 7);
}

const partitionOf = (month: string) => `audit_log_${month.replace('-', '_')}`;

describe('the months of the audit log', () => {
  it('are created in advance, and each holds the events of its time', async () => {
    turnTo(0);
    await record('test.now');
    const month = turnTo(3);
    await months().prepare();
    await months().prepare();
    const names = (await months().list()).map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['audit_events', partitionOf(month)]);
    expect(names).toHaveLength(5);
    await record('test.first');
    turnTo(4);
    await record('test.second');
    expect(await byPartition()).toEqual({
      audit_events: ['test.now'],
      [partitionOf(month)]: ['test.first'],
      [names[2] as string]: ['test.second'],
    });
  });

  it('lose no event if its month does not exist yet: it moves there later', async () => {
    const month = turnTo(7);
    await record('test.early');
    expect(await byPartition()).toEqual({ audit_log_rest: ['test.early'] });
    await Promise.all([months().prepare(), months().prepare(), months().prepare()]);
    await months().prepare();
    expect(await byPartition()).toEqual({ [partitionOf(month)]: ['test.early'] });
    await record('test.late');
    expect(await byPartition()).toEqual({ [partitionOf(month)]: ['test.early', 'test.late'] });
  });
});

describe('a clock that jumps ahead', () => {
  const year = 365 * day;

  it('deletes at most six hours of events for each hour that it is wrong', async () => {
    const job = retention(30);
    const sweep = async () => {
      await job.advance();
      await job.sweep();
    };
    const own = async () => (await types()).filter((type) => type.startsWith('test.'));
    const month = turnTo(3);
    await months().prepare();
    await record('test.kept');
    await sweep();
    app.clock.turn(10 * year);
    for (let hours = 0; hours < 12; hours += 1) await sweep();
    expect(await byPartition()).toMatchObject({ [partitionOf(month)]: ['test.kept'] });
    app.clock.turn(-10 * year);
    await sweep();
    expect(await own()).toEqual(['test.kept']);
    // The period has ended during an outage of two months: the events are deleted late.
    app.clock.turn(61 * day);
    await sweep();
    expect(await own()).toEqual(['test.kept']);
    for (let hours = 0; hours < 4 * 61; hours += 1) await job.advance();
    await sweep();
    expect(await own()).toEqual([]);
  });

  it('keeps messages, too, like everything else with a retention period', async () => {
    const { auditRetention, db, delivery } = app.services;
    const { id: projectId } = await app.make.project();
    const test = { projectId, channel: 'mail', to: 'ada@example.com', template: 'test-message' } as const;
    await db.transaction((em) => delivery.recordTest(em, random.id(), { ...test, locale: 'en', app: 'X' }, null));
    const count = async () => (await query(db.alone, sql`select from messages where project_id = ${projectId}`)).length;
    await auditRetention.advance();
    app.clock.turn(year);
    await auditRetention.advance();
    await delivery.sweep();
    expect(await count()).toBe(1);
    for (let hours = 0; hours < 4 * 30; hours += 1) await auditRetention.advance();
    await delivery.sweep();
    expect(await count()).toBe(0);
  });

  it('leaves no month without a partition once it is back', async () => {
    turnTo(24);
    await months().prepare();
    const month = turnTo(6);
    await months().prepare();
    await record('test.now');
    expect(await byPartition()).toEqual({ [partitionOf(month)]: ['test.now'] });
  });
});

describe('retention', () => {
  it('keeps events forever unless a setting limits them', async () => {
    await record('test.old');
    app.clock.turn(4000 * day);
    await retention(0).sweep();
    expect(await types()).toEqual(['test.old']);
  });

  it('drops a month once its last event is too old, and audits it', async () => {
    const month = turnTo(3);
    await months().prepare();
    await record('test.month');
    turnTo(4);
    await record('test.next');
    app.clock.turn(10 * day);
    await retention(30).sweep();
    expect(await byPartition()).toMatchObject({ [partitionOf(month)]: ['test.month'] });
    app.clock.turn(16 * day);
    await retention(30).sweep();
    expect(await types()).toEqual(['test.next', 'audit.trimmed']);
    expect((await months().list()).map(({ name }) => name)).not.toContain(partitionOf(month));
    await retention(30).sweep();
    expect(await types()).toEqual(['test.next', 'audit.trimmed']);
  });

  it('deletes old events that share a partition with younger ones', async () => {
    turnTo(-3);
    await record('test.old');
    turnTo(0);
    await record('test.young');
    await retention(30).sweep();
    expect(await types()).toEqual(['test.young', 'audit.trimmed']);
  });

  it('deletes no old event that shares a partition if the deletion cannot be audited', async () => {
    turnTo(-3);
    await record('test.old');
    turnTo(0);
    const refusal = sql`alter table audit_log add constraint refused check (type <> 'audit.trimmed')`;
    await execute(app.services.db.alone, refusal);
    await expect(retention(30).sweep()).rejects.toThrow('refused');
    expect(await types()).toContain('test.old');
  });

  it('audits each month that it has dropped, even if the next one cannot be dropped', async () => {
    const month = turnTo(3);
    await months().prepare();
    const next = turnTo(4);
    turnTo(8);
    const audit = new Audit({ clock: app.clock, random });
    const kept = new AuditRetention({ db: app.services.db, clock: app.clock, audit, days: 30, archive: null });
    await app.services.db.transaction(async (em) => {
      await execute(em, sql`lock table ${sql.id(partitionOf(next))} in access share mode`);
      await expect(kept.sweep()).rejects.toThrow('lock timeout');
    });
    const audited = async () => {
      const events = sql<{ partitions: string[] }>`
        select detail->'partitions' as partitions from audit_log where type = 'audit.trimmed'`;
      return (await query(app.services.db.alone, events)).flatMap(({ partitions }) => partitions);
    };
    expect((await months().list()).map(({ name }) => name)).not.toContain(partitionOf(month));
    expect(await audited()).toContain(partitionOf(month));
    expect(await audited()).not.toContain(partitionOf(next));
    await kept.sweep();
    expect(await audited()).toContain(partitionOf(next));
  });

  it('changes nothing while a long statement reads the log', async () => {
    turnTo(3);
    await months().prepare();
    await record('test.month');
    turnTo(6);
    await app.services.db.transaction(async (em) => {
      await query(em, sql`select count(*) from audit_log`);
      await expect(retention(30).sweep()).rejects.toThrow('lock timeout');
    });
    expect(await types()).toEqual(['test.month']);
    await retention(30).sweep();
    expect(await types()).toEqual(['audit.trimmed']);
  });
});

/** Larger: also prints when the month was gone and its files deleted, and the longest concurrent write. */
const count = Number(process.env['LATCHKEY_RETENTION_EVENTS'] ?? 2000);

it(`drops a month of ${count} events while others are written`, { timeout: 3_600_000 }, async () => {
  const month = turnTo(3);
  const begin = app.clock.now();
  await months().prepare();
  const { alone } = app.services.db;
  const projectId = random.id();
  for (let done = 0; done < count; done += 500_000) {
    await execute(
      alone,
      sql`insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, subject_kind, subject_id,
          client_id, detail, ip, user_agent, request_id)
        select (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || '7000' || '8'
            || lpad(to_hex(n), 15, '0'))::uuid, ${projectId}, t, 'user.signed_in', 'success', 'user', 'u' || n % 50000,
          'user', 'u' || n % 50000, ${projectId}, '{"amr":["swk","otp"],"device":"019a0000-0000-7000-8000-000000000000"}',
          '192.0.2.1', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36',
          md5(n::text)
        from generate_series(${done + 1}::int, ${Math.min(count, done + 500_000)}::int) as n,
          lateral (select ${begin}::timestamptz + n * interval '100 milliseconds' as t) as moment`,
    );
  }
  const partition = partitionOf(month);
  const size = sql<{ rows: number; size: string }>`select count(*)::int as rows,
    pg_size_pretty(pg_total_relation_size(${partition}::regclass)) as size from ${sql.id(partition)}`;
  const [filled] = await query(alone, size);
  expect(filled?.rows).toBe(count);
  const now = new Date(begin.getTime() + 90 * day * 1000);
  const young = { actor: system, subject: { kind: 'user', id: 'ada' }, projectId };
  const writer = new Audit({ clock: { now: () => now }, random: randomOn({ now: () => now }) });
  const dropping = months().drop(partition, () => undefined);
  let [writes, longest, gone, isDropped] = [0, 0, 0, false];
  const ended = dropping.then((done) => {
    isDropped = done;
    return performance.now();
  });
  const start = performance.now();
  const isGone = async () =>
    (await query(alone, sql`select from pg_class where oid = to_regclass(${partition})`)).length === 0;
  do {
    const before = performance.now();
    await execute(alone, writer.insertion({ type: 'backup.made', ...young }));
    longest = Math.max(longest, performance.now() - before);
    writes += 1;
    if (gone === 0 && (await isGone())) gone = performance.now() - start;
  } while (!isDropped);
  const took = (await ended) - start;
  expect((await types()).filter((type) => type === 'backup.made')).toHaveLength(writes);
  expect((await months().list()).map(({ name }) => name)).not.toContain(partition);
  if (count > 2000) {
    const times = `gone after ${Math.round(gone)} ms, files deleted after ${Math.round(took)} ms; longest of ${writes} concurrent writes: ${longest.toFixed(1)} ms`;
    // oxlint-disable-next-line no-console -- a measurement, enabled by an environment variable
    console.info(`${count} events (${filled?.size}): ${times}`);
  }
});

describe('the archive', () => {
  const path = (month: string) => join(folder, `events-${month}.jsonl.gz`);
  const linesOf = (month: string) =>
    gunzipSync(readFileSync(path(month)))
      .toString()
      .trimEnd()
      .split('\n');

  /** Two months of events, archived and deleted. */
  async function archive(): Promise<[string, string]> {
    const names: [string, string] = [turnTo(-5), ''];
    await record('test.a');
    await record('test.b');
    names[1] = turnTo(-4);
    await record('test.c');
    turnTo(0);
    await retention(30, new EventFolder(folder)).sweep();
    return names;
  }

  it('contains each month, chained by hashes, before the month is deleted', async () => {
    const [first, second] = await archive();
    expect(await types()).toEqual(expect.not.arrayContaining(['test.a', 'test.b', 'test.c']));
    const store = new EventFolder(folder);
    expect((await store.months()).slice(0, 2)).toEqual([first, second]);
    const [one, two] = [await store.verify(first), await store.verify(second)];
    expect(one).toMatchObject({ events: 2, previous: null });
    expect(two).toMatchObject({ events: 1, previous: one.hash });
    const event = JSON.parse(linesOf(first)[1] as string).event;
    expect(event).toMatchObject({ type: 'test.a', actorKind: 'system', projectId: null });
    expect(event.at.slice(0, 7)).toBe(first);
    const recorded = await query(
      app.services.db.alone,
      sql<{ detail: unknown }>`select detail from audit_log where type = 'audit.archived' order by id`,
    );
    expect(recorded.map(({ detail }) => detail).slice(0, 2)).toEqual([
      { month: first, events: 2, hash: one.hash },
      { month: second, events: 1, hash: two.hash },
    ]);
  });

  it('keeps an existing file', async () => {
    const [first] = await archive();
    const before = readFileSync(path(first));
    await retention(30, new EventFolder(folder)).sweep();
    expect(readFileSync(path(first))).toEqual(before);
  });

  it('is complete if two processes with the same id write a month concurrently, and follows no link', async () => {
    const [first] = await archive();
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'unchanged');
    symlinkSync(victim, `${path(first)}.${process.pid}.partial`);
    const [start, ...events] = linesOf(first);
    /** The second begins while the first has written one line. */
    let isBegun = () => undefined as void;
    const begun = new Promise<void>((resolve) => (isBegun = resolve));
    async function* slow() {
      yield start as string;
      isBegun();
      await second;
      yield* events;
    }
    async function* quick() {
      yield* linesOf(first);
    }
    const store = new EventFolder(folder);
    const before = await store.verify(first);
    const second = begun.then(() => store.write(first, quick()));
    await store.write(first, slow());
    await second;
    expect(await store.verify(first)).toEqual(before);
    expect(readFileSync(victim, 'utf8')).toBe('unchanged');
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toHaveLength(1);
  });

  it('is required: nothing is deleted if it cannot be written', async () => {
    turnTo(-5);
    await record('test.a');
    turnTo(0);
    const full = join(folder, 'file');
    writeFileSync(full, '');
    await expect(retention(30, new EventFolder(full)).sweep()).rejects.toThrow();
    expect(await types()).toEqual(['test.a']);
  });

  it('reveals a changed, removed, added or reordered line, and a truncated file', async () => {
    const [first] = await archive();
    const lines = linesOf(first);
    const [header, a, b, end] = lines as [string, string, string, string];
    const forged = (text: string[]) => {
      writeFileSync(path(first), gzipSync(text.map((line) => `${line}\n`).join('')));
      return new EventFolder(folder).verify(first);
    };
    await expect(forged([header, a.replace('test.a', 'test.x'), b, end])).rejects.toThrow('line 2 was changed');
    await expect(forged([header, b, end])).rejects.toThrow('line 2 was changed');
    await expect(forged([header, a, a, b, end])).rejects.toThrow('line 3 was changed');
    await expect(forged([header, b, a, end])).rejects.toThrow('line 2 was changed');
    await expect(forged([header, a, b])).rejects.toThrow('truncated');
    await expect(forged([header, a, b, end, a])).rejects.toThrow('line 5 follows the end');
    await expect(forged([a, b, end])).rejects.toThrow('not an archive');
    await expect(forged([header, 'not JSON', end])).rejects.toThrow('line 2 is not an event');
    const whole = gzipSync(lines.join('\n'));
    writeFileSync(path(first), whole.subarray(0, whole.length - 12));
    await expect(new EventFolder(folder).verify(first)).rejects.toThrow(path(first));
    // The reader stops at the first line, before the end of the file fails.
    writeFileSync(path(first), gzipSync(`[]\n${'x'.repeat(200_000)}`).subarray(0, -12));
    await expect(new EventFolder(folder).verify(first)).rejects.toThrow('not an archive');
    rmSync(path(first));
    await expect(new EventFolder(folder).verify(first)).rejects.toThrow('ENOENT');
    await forged(lines);
  });

  it('keeps line separators of Unicode in the text of an event', async () => {
    turnTo(-5);
    await record('test.a\u2028b\u2029c');
    const month = turnTo(-5);
    turnTo(0);
    await retention(30, new EventFolder(folder)).sweep();
    expect(await new EventFolder(folder).verify(month)).toMatchObject({ events: 1 });
  });

  it('chains the text of each line as documented', async () => {
    const [first] = await archive();
    const [header, a] = linesOf(first) as [string, string];
    const text = a.slice('{"event":'.length, a.indexOf(',"hash":"'));
    expect(JSON.parse(a).hash).toBe(nextHash(nextHash('', header), text));
  });

  it('is checked by a command', async () => {
    const [first, second] = await archive();
    const { code, out } = await shell({}, 'events:verify', folder);
    expect(out).toMatch(new RegExp(`^${first}  2 events  [0-9a-f]{64}\n${second}  1 events  [0-9a-f]{64}\n`));
    expect(code).toBe(0);
    rmSync(path(second));
    const lacking = await shell({}, 'events:verify', folder);
    expect(lacking.out).toContain('does not follow the file before it');
    expect(lacking.code).toBe(1);
    writeFileSync(path(first), gzipSync(linesOf(first).slice(0, 2).join('\n')));
    expect(await shell({}, 'events:verify', folder)).toMatchObject({
      code: 1,
      err: expect.stringContaining('truncated'),
    });
    rmSync(folder, { recursive: true });
    expect(await shell({}, 'events:verify', folder)).toMatchObject({ code: 1, out: 'No files of events.' });
  });

  it('leaves no partial file', async () => {
    await archive();
    expect(readdirSync(folder).filter((name) => !name.endsWith('.jsonl.gz'))).toEqual([]);
  });
});

it('a month begins with the lowest id of its first millisecond', () => {
  expect(firstIdAt(new Date('2026-03-01T00:00:00Z')).slice(0, 13)).toBe('019ca6b1-dc00');
});

it('rows that count refusals end with their hour', async () => {
  const anonymous = { type: 'otp.rejected', actor: { kind: 'anonymous', ip: '192.0.2.1' } } as const;
  await app.services.audit.recordRepeated(app.services.db.alone, anonymous, 'wrong');
  const count = async () =>
    (await query(app.services.db.alone, sql<{ n: number }>`select count(*)::int as n from repeated_refusals`))[0]?.n;
  await app.services.retention.sweep();
  expect(await count()).toBe(1);
  app.clock.turn(3600);
  await app.services.retention.sweep();
  expect(await count()).toBe(0);
});
