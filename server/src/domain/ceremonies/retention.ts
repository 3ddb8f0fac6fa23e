import { type Clock, secondsLater } from '../kernel/clock.ts';
import { changed, type Database } from '../kernel/database.ts';

const day = 24 * 3600;

/**
 * What is forgotten, and when. Each row goes some time after it has lost its meaning; what people look at afterwards
 * (sessions that have ended) stays a while longer. `:at` stands for now less `graceSeconds`.
 */
const rules = [
  { table: 'used_assertions', where: 'forget_at <= :at', graceSeconds: 0 },
  { table: 'used_delegation_requests', where: 'forget_at <= :at', graceSeconds: 0 },
  { table: 'authorization_codes', where: 'forget_at <= :at', graceSeconds: 0 },
  { table: 'ceremonies', where: 'expires_at <= :at', graceSeconds: 3600 },
  { table: 'phone_changes', where: 'expires_at <= :at', graceSeconds: 0 },
  { table: 'factor_changes', where: 'expires_at <= :at', graceSeconds: 3600 },
  { table: 'authorization_requests', where: 'expires_at <= :at', graceSeconds: 3600 },
  { table: 'enrolments', where: 'verified_at is null and created_at <= :at', graceSeconds: day },
  // A revoked key is refused for as long as its row is there.
  { table: 'devices', where: 'not remembered and revoked_at is null and created_at <= :at', graceSeconds: 30 * day },
  { table: 'sessions', where: 'least(expires_at, ended_at, idle_expires_at) <= :at', graceSeconds: 30 * day },
  { table: 'logout_deliveries', where: "state <> 'pending' and created_at <= :at", graceSeconds: 30 * day },
] as const;
/** A sweep that finds much does it in bites, so that nobody waits for its locks. */
const bite = 5000;

/** Drops rows that nobody needs any more. */
export class Retention {
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  async sweep(): Promise<void> {
    for (const { table, where, graceSeconds } of rules) {
      const at = secondsLater(this.clock.now(), -graceSeconds);
      const sql = `delete from ${table} where ctid = any(array(
        select ctid from ${table} where ${where.replaceAll(':at', '?')} limit ${bite}))`;
      while ((await changed(this.db.reader(), sql, [at])) === bite);
    }
  }
}
