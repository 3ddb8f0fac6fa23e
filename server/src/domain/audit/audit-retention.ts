import type { EntityManager } from '@mikro-orm/postgresql';
import { system } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { type EventArchive, monthName, writeMonth } from './archive.ts';
import type { Audit } from './audit.ts';
import { firstIdAt, momentOf } from './moment.ts';
import { EventMonths, startOfMonth } from './months.ts';
import { advanceRetention, retainedFrom } from './retention-time.ts';

const daySeconds = 24 * 3600;
/** Rows per statement, to keep locks short. */
const batchSize = 5000;

/** Prepares the months of the audit log, and deletes those older than the retention setting. */
export class AuditRetention {
  private readonly months: EventMonths;

  /**
   * @param days 0: events are kept forever
   * @param archive gets each month before it is deleted; null: none
   */
  constructor(
    private readonly deps: { db: Database; clock: Clock; audit: Audit; days: number; archive: EventArchive | null },
  ) {
    this.months = new EventMonths(deps);
  }

  /** Job, hourly, before {@link sweep}: moves the time by which all retention periods are counted. */
  advance(): Promise<void> {
    return advanceRetention(this.deps.db, this.deps.clock);
  }

  /** Deletes whole months, once their last event is too old, and audits the deletion. */
  async sweep(): Promise<void> {
    await this.months.prepare();
    if (this.deps.days === 0) return;
    const before = startOfMonth(await retainedFrom(this.deps.db, this.deps.clock, this.deps.days * daySeconds));
    if (this.deps.archive) await this.archiveUntil(before, this.deps.archive);
    const record = (em: EntityManager, partitions: string[], deleted: number): void => {
      const detail = { before: before.toISOString(), partitions, deleted };
      this.deps.audit.record(em, { type: 'audit.trimmed', actor: system, detail });
    };
    for (const { name, until } of await this.months.list()) {
      if (until !== null && until <= before) await this.months.drop(name, (em) => record(em, [name], 0));
    }
    await this.deleteRows(before, (em, deleted) => record(em, [], deleted));
  }

  private async archiveUntil(before: Date, archive: EventArchive): Promise<void> {
    const { db, audit } = this.deps;
    const [first] = await query(db.alone, sql<{ id: string }>`select id from audit_log order by id limit 1`);
    const oldest = first && momentOf(first.id);
    if (!oldest) return;
    for (let month = startOfMonth(oldest); month < before; month = startOfMonth(month, 1)) {
      if (await archive.has(monthName(month))) continue;
      const detail = { ...(await writeMonth(() => db.reader(), month, archive)) };
      await db.transaction(async (em) => audit.record(em, { type: 'audit.archived', actor: system, detail }));
    }
  }

  /**
   * Deletes old events that share a partition with younger ones.
   *
   * @param record called in the transaction of each batch
   */
  private async deleteRows(before: Date, record: (em: EntityManager, deleted: number) => void): Promise<void> {
    const end = firstIdAt(before);
    for (let deleted = batchSize; deleted === batchSize; ) {
      deleted = await this.deps.db.transaction(async (em) => {
        const batch = await execute(
          em,
          sql`delete from audit_log where id < ${end} and id = any(array(
            select id from audit_log where id < ${end} order by id limit ${batchSize}))`,
        );
        if (batch > 0) record(em, batch);
        return batch;
      });
    }
  }
}
