import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { execute, type Fragment, sql } from '../kernel/sql.ts';

const day = 24 * 3600;

/**
 * What is forgotten, and when. Each row goes some time after it has lost its meaning; what people look at afterwards
 * (sessions that have ended) stays a while longer. `at` is now less `graceSeconds`.
 */
const rules: { table: string; where(at: Date): Fragment; graceSeconds: number }[] = [
  { table: 'used_assertions', where: (at) => sql`forget_at <= ${at}`, graceSeconds: 0 },
  { table: 'used_delegation_requests', where: (at) => sql`forget_at <= ${at}`, graceSeconds: 0 },
  { table: 'authorization_codes', where: (at) => sql`forget_at <= ${at}`, graceSeconds: 0 },
  { table: 'ceremonies', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 3600 },
  { table: 'phone_changes', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 0 },
  { table: 'factor_changes', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 3600 },
  { table: 'authorization_requests', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 3600 },
  { table: 'enrolments', where: (at) => sql`verified_at is null and created_at <= ${at}`, graceSeconds: day },
  // A revoked key is refused for as long as its row is there.
  {
    table: 'devices',
    where: (at) => sql`not remembered and revoked_at is null and created_at <= ${at}`,
    graceSeconds: 30 * day,
  },
  {
    table: 'sessions',
    where: (at) => sql`least(expires_at, ended_at, idle_expires_at) <= ${at}`,
    graceSeconds: 30 * day,
  },
  {
    table: 'logout_deliveries',
    where: (at) => sql`state <> 'pending' and created_at <= ${at}`,
    graceSeconds: 30 * day,
  },
];
/** Rows per statement: a large sweep runs in batches, so that its locks are short. */
const bite = 5000;

/** Deletes outdated rows. */
export class Retention {
  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  async sweep(): Promise<void> {
    for (const { table, where, graceSeconds } of rules) {
      const at = secondsLater(this.deps.clock.now(), -graceSeconds);
      const rows = sql.table(table);
      const outdated = sql`delete from ${rows} where ctid = any(array(
        select ctid from ${rows} where ${where(at)} limit ${bite}))`;
      while ((await execute(this.deps.db.alone, outdated)) === bite);
    }
  }
}
