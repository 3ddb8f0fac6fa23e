import { system } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Audit } from './audit.ts';
import { firstIdFrom } from './moment.ts';

const daySeconds = 24 * 3600;
/** Rows per statement, to keep locks short. */
const bite = 5000;

/** Deletes audit events older than the retention setting. */
export class AuditRetention {
  /** @param days 0: events are kept forever */
  constructor(private readonly deps: { db: Database; clock: Clock; audit: Audit; days: number }) {}

  /** Deletes in batches, one transaction each, and audits the deletion. */
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
