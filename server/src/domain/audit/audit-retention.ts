import { system } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Audit } from './audit.ts';
import { firstIdFrom } from './moment.ts';

const daySeconds = 24 * 3600;
/** Rows per statement, so that its locks are short. */
const bite = 5000;

/** Forgets what the audit log has kept for long enough, where the settings say how long that is. */
export class AuditRetention {
  /** @param days 0: everything is kept for ever */
  constructor(private readonly deps: { db: Database; clock: Clock; audit: Audit; days: number }) {}

  /** In bites, each of its own transaction; where anything was forgotten, that is an event. */
  async sweep(): Promise<void> {
    if (this.deps.days === 0) return;
    const before = secondsLater(this.deps.clock.now(), -this.deps.days * daySeconds);
    let forgotten = 0;
    for (let gone = bite; gone === bite; forgotten += gone) {
      gone = await execute(
        this.deps.db.alone,
        sql`delete from audit_events where id = any(array(
          select id from audit_events where id < ${firstIdFrom(before)} order by id limit ${bite}))`,
      );
    }
    if (forgotten === 0) return;
    const detail = { forgotten, before: before.toISOString() };
    await this.deps.db.transaction(async (em) =>
      this.deps.audit.record(em, { type: 'audit.trimmed', actor: system, detail }),
    );
  }
}
