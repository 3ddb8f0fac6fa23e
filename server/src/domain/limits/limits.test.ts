import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import type { Clock } from '../kernel/clock.ts';
import { Database } from '../kernel/database.ts';
import { digest } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { Vault } from '../keys/vault.ts';
import { type LimitRule, Limits } from './limits.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let now: Date;
const clock: Clock = { now: () => now };
const [oldKey, newKey] = [systemRandom.bytes(32), systemRandom.bytes(32)];
const limitsOf = (vault: Vault) => new Limits({ clock, keysOf: (subject) => vault.macs('budget', '', subject) });
const limits = limitsOf(new Vault(oldKey, systemRandom));
const limitsDuringChange = limitsOf(new Vault(newKey, systemRandom, oldKey));
const rule: LimitRule = { name: 'tries', max: 2, windowSeconds: 60 };

const spend = (subject: string) => db.transaction((em) => limits.spend(em, rule, subject));
const peek = (subject: string) => db.transaction((em) => limits.peek(em, rule, subject));

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url });
  db = new Database(orm);
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
beforeEach(async () => {
  now = new Date('2027-01-01T00:00:00Z');
  await execute(db.alone, sql`delete from budgets`);
});

describe('spending many budgets', () => {
  const shared = { name: 'shared', max: 3, windowSeconds: 60, subject: 'all' };
  const spendMany = (subjects: string[]) =>
    db.transaction((em) => limits.spendMany(em, { each: rule, shared }, subjects));

  it('counts each subject, repeated ones too, and all of them against the shared budget', async () => {
    const first = await spendMany(['one', 'two', 'one']);
    expect(first.each.map(({ allowed, left }) => [allowed, left])).toEqual([
      [true, 0],
      [true, 1],
      [true, 0],
    ]);
    expect(first.shared).toMatchObject({ allowed: true, left: 0 });
    const second = await spendMany(['one']);
    expect([second.each[0]?.allowed, second.shared.allowed]).toEqual([false, false]);
    expect(await peek('one')).toBe(3);
    now = new Date(now.getTime() + 60_000);
    expect(await spendMany(['one'])).toMatchObject({ each: [{ allowed: true, left: 1 }], shared: { left: 2 } });
  });

  it('loses no count in a race', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => spendMany(['one', `own ${n}`])));
    expect(await peek('one')).toBe(20);
  });
});

describe('peeking at a budget', () => {
  it('returns the count, refused attempts included, and spends nothing', async () => {
    expect(await peek('one')).toBe(0);
    for (let count = 0; count < 3; count += 1) await spend('one');
    expect(await peek('one')).toBe(3);
    expect(await peek('one')).toBe(3);
    expect(await peek('two')).toBe(0);
  });

  it('returns zero for a window that has ended', async () => {
    await spend('one');
    now = new Date(now.getTime() + 60_000);
    expect(await peek('one')).toBe(0);
  });

  it('inserts no row', async () => {
    await peek('one');
    expect(await query(db.alone, sql`select id from budgets`)).toEqual([]);
  });
});

describe('a use that is given back', () => {
  const refund = (subject: string) => db.transaction((em) => limits.refund(em, rule, subject));

  it('leaves other budgets unchanged', async () => {
    for (const subject of ['one', 'one', 'two']) await spend(subject);
    await refund('one');
    expect([await peek('one'), await peek('two')]).toEqual([1, 1]);
  });

  it('allows no more than the limit', async () => {
    await refund('one');
    await spend('one');
    for (let count = 0; count < 3; count += 1) await refund('one');
    expect(await peek('one')).toBe(0);
    expect(await spend('one')).toMatchObject({ allowed: true, left: 1 });
  });
});

describe('the window of a budget', () => {
  it('begins with its first use, and is not extended by others', async () => {
    await spend('one');
    now = new Date(now.getTime() + 59_000);
    expect(await spend('one')).toMatchObject({ left: 0, retryAfterSeconds: 1 });
    now = new Date(now.getTime() + 1000);
    expect(await spend('one')).toMatchObject({ left: 1, retryAfterSeconds: 60 });
  });
});

describe('the key of a budget', () => {
  it('is a keyed hash: a reader of the table cannot confirm a subject by hashing it', async () => {
    await spend('ann@example.com');
    await db.transaction((em) => limits.spend(em, rule, 'bob@example.com'));
    const ids = (await query(db.alone, sql<{ id: string }>`select id from budgets`)).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^tries:[\w-]{43}$/);
    expect(ids).not.toContain(`tries:${digest('ann@example.com')}`);
    const elsewhere = limitsOf(new Vault(newKey, systemRandom));
    expect(await db.transaction((em) => elsewhere.peek(em, rule, 'ann@example.com'))).toBe(0);
  });
});

describe('during a change of the master key', () => {
  const spendNow = (subject: string) => db.transaction((em) => limitsDuringChange.spend(em, rule, subject));

  it('earlier use still counts in its window', async () => {
    await spend('one');
    now = new Date(now.getTime() + 20_000);
    expect(await spendNow('one')).toEqual({ allowed: true, left: 0, retryAfterSeconds: 40 });
    expect(await spendNow('one')).toMatchObject({ allowed: false });
    expect(await db.transaction((em) => limitsDuringChange.peek(em, rule, 'one'))).toBe(3);
  });

  it('a spent budget stays spent, also outside a transaction and for peek', async () => {
    for (let count = 0; count < 3; count += 1) await spend('two');
    expect(await db.transaction((em) => limitsDuringChange.peek(em, rule, 'two'))).toBe(3);
    expect(await limitsDuringChange.spendPrepaid(db, rule, 'two')).toMatchObject({ allowed: false });
  });

  it('a window that ended under the old key is not continued', async () => {
    await spend('three');
    now = new Date(now.getTime() + 60_000);
    expect(await spendNow('three')).toEqual({ allowed: true, left: 1, retryAfterSeconds: 60 });
  });
});

describe('spending in advance', () => {
  const flood: LimitRule = { name: 'flood', max: 1000, windowSeconds: 60 };
  const fresh = () => limitsOf(new Vault(oldKey, systemRandom));
  const use = async (of: Limits, subject: string) => (await of.spendPrepaid(db, flood, subject)).allowed;
  const rowOf = (subject: string) => db.transaction((em) => limits.peek(em, flood, subject));

  it('writes each of the first uses, and then a tenth of the uses of the process at a time', async () => {
    const one = fresh();
    for (let uses = 1; uses <= 20; uses += 1) {
      expect(await use(one, 'a')).toBe(true);
      expect(await rowOf('a')).toBe(uses);
    }
    for (let uses = 21; uses <= 1000; uses += 1) expect(await use(one, 'a')).toBe(true);
    expect(await use(one, 'a')).toBe(false);
    expect(await use(fresh(), 'a')).toBe(false);
  });

  it('never allows concurrent processes more than the limit, and at most a tenth less', async () => {
    const processes = [fresh(), fresh(), fresh()];
    let allowed = 0;
    for (let round = 0; round < 60; round += 1) {
      const burst = processes.flatMap((process, n) => Array.from({ length: 4 * n + 3 }, () => use(process, 'b')));
      allowed += (await Promise.all(burst)).filter(Boolean).length;
    }
    expect(allowed).toBeLessThanOrEqual(1000);
    expect(allowed).toBeGreaterThanOrEqual(900);
  });

  it('allows exactly the remaining uses in a race of 200', async () => {
    const one = fresh();
    for (let uses = 0; uses < 990; uses += 1) await use(one, 'c');
    const race = await Promise.all(Array.from({ length: 200 }, () => use(one, 'c')));
    expect(race.filter(Boolean)).toHaveLength(10);
  });

  it('refuses from memory until the window ends, so that a flood writes nothing', async () => {
    const one = fresh();
    for (let uses = 0; uses < 1000; uses += 1) await use(one, 'd');
    const paid = await rowOf('d');
    now = new Date(now.getTime() + 59_000);
    expect(await one.spendPrepaid(db, flood, 'd')).toEqual({ allowed: false, left: 0, retryAfterSeconds: 1 });
    expect(await rowOf('d')).toBe(paid);
    expect(await use(one, 'e')).toBe(true);
    now = new Date(now.getTime() + 1000);
    expect(await use(one, 'd')).toBe(true);
    expect(await rowOf('d')).toBe(1);
  });

  it('counts nothing for a statement that failed', async () => {
    const one = fresh();
    const nowhere = await openDatabase({ url: database.url.replace(/[^/]*$/, 'nowhere') });
    await expect(one.spendPrepaid(new Database(nowhere), flood, 'f')).rejects.toThrow();
    await nowhere.close(true);
    expect(await use(one, 'f')).toBe(true);
    expect(await rowOf('f')).toBe(1);
  });
});

it('sweeps any number of ended windows', async () => {
  await execute(
    db.alone,
    sql`insert into budgets (id, spent, resets_at) select 'tries:' || n, 1, ${now} from generate_series(1, 10001) n`,
  );
  await spend('user');
  await limits.sweep(db.alone);
  expect(await query(db.alone, sql`select spent from budgets`)).toEqual([{ spent: 1 }]);
});

describe('a window that a clock began while it was ahead', () => {
  const year = 365 * 24 * 3600 * 1000;
  const ahead = async (work: () => Promise<unknown>) => {
    now = new Date(now.getTime() + year);
    await work();
    now = new Date(now.getTime() - year);
  };
  const pass = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
  };

  it('ends after its own length once the clock is back', async () => {
    await ahead(async () => {
      for (let uses = 0; uses < 3; uses += 1) await spend('one');
    });
    expect(await spend('one')).toEqual({ allowed: false, left: 0, retryAfterSeconds: 60 });
    pass(60);
    expect(await spend('one')).toEqual({ allowed: true, left: 1, retryAfterSeconds: 60 });
  });

  it('ends in the same way if many uses are spent, and if a process has prepaid', async () => {
    const shared = { name: 'shared', max: 3, windowSeconds: 60, subject: 'all' };
    const spendBoth = async () => {
      await db.transaction((em) => limits.spendMany(em, { each: rule, shared }, ['two', 'two', 'two', 'two']));
      for (let uses = 0; uses < 3; uses += 1) await limits.spendPrepaid(db, rule, 'three');
    };
    await ahead(spendBoth);
    await spendBoth();
    pass(60);
    const many = await db.transaction((em) => limits.spendMany(em, { each: rule, shared }, ['two']));
    expect([many.each[0]?.allowed, many.shared.allowed]).toEqual([true, true]);
    expect(await limits.spendPrepaid(db, rule, 'three')).toMatchObject({ allowed: true });
  });

  it('is shortened by the sweep, so that reads do not wait for longer than its length', async () => {
    await ahead(() => spend('four'));
    await limits.sweep(db.alone);
    expect(await peek('four')).toBe(1);
    pass(31 * 24 * 3600);
    expect(await peek('four')).toBe(0);
  });
});
