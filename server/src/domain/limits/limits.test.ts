import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { Database } from '../kernel/database.ts';
import { type LimitRule, Limits } from './limits.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let now: Date;
const clock: Clock = { now: () => now };
const limits = new Limits(clock);
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
  await db.changed('delete from budgets');
});

describe('peeking at a budget', () => {
  it('tells how much is spent, refused tries included, and spends nothing', async () => {
    expect(await peek('one')).toBe(0);
    for (let count = 0; count < 3; count += 1) await spend('one');
    expect(await peek('one')).toBe(3);
    expect(await peek('one')).toBe(3);
    expect(await peek('two')).toBe(0);
  });

  it('tells nothing of a window that has ended', async () => {
    await spend('one');
    now = new Date(now.getTime() + 60_000);
    expect(await peek('one')).toBe(0);
  });

  it('makes no row', async () => {
    await peek('one');
    expect(await db.rows('select id from budgets')).toEqual([]);
  });
});
