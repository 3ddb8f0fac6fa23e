import type { EntityManager } from '@mikro-orm/postgresql';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Executing, execute, query, sql } from '../kernel/sql.ts';
import { instanceId } from './audit-event.entity.ts';
import { firstIdAt, momentOf } from './moment.ts';

/** Months that have a partition before they begin. */
const monthsAhead = 2;
/** The partition for events of all other months, so that none is lost if the job does not run. */
const rest = 'audit_log_rest';
/** Key of the advisory lock: one process at a time changes partitions. */
const monthsLock = 7_316_904_557;
/** A change of partitions waits this long for running statements, because all later ones wait behind it. */
const lockTimeoutMs = 50;

/** A partition of the audit log. */
export interface Partition {
  name: string;
  /** Inclusive begin of its events; null for the first one, and for the default one. */
  from: Date | null;
  /** Exclusive end of its events; null for the default one. */
  until: Date | null;
}

/**
 * The partitions of the audit log, a month each. The id of an event (UUIDv7) contains its time, so a range of ids is a
 * range of time, and the key of the table names the partition.
 */
export class EventMonths {
  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /** Creates the partitions of this month and the next ones. */
  async prepare(): Promise<void> {
    const now = this.deps.clock.now();
    for (let ahead = 0; ahead <= monthsAhead; ahead += 1) await this.create(startOfMonth(now, ahead));
  }

  /** Oldest first; the one without an end is last. */
  list(): Promise<Partition[]> {
    return partitionsOf(this.deps.db.alone);
  }

  /**
   * Drops a partition with its events. Throws, with nothing changed, while a long statement reads the log.
   *
   * @param record called in the same transaction
   * @returns false if another process is changing partitions
   */
  drop(name: string, record: (em: EntityManager) => void): Promise<boolean> {
    return this.change(async (em) => {
      // Its files are deleted after the commit, which releases the lock.
      await execute(em, sql`drop table ${sql.id(name)}`);
      record(em);
    });
  }

  private create(month: Date): Promise<boolean> {
    const name = `audit_log_${month.toISOString().slice(0, 7).replace('-', '_')}`;
    const [from, until] = [firstIdAt(month), firstIdAt(startOfMonth(month, 1))];
    const [table, others] = [sql.id(name), sql.id(rest)];
    return this.change(async (em) => {
      const covers = ({ from: begin, until: end }: Partition) =>
        end !== null && end > month && (begin ?? month) <= month;
      if ((await partitionsOf(em)).some(covers)) return;
      await execute(em, sql`lock table ${others} in access exclusive mode`);
      await execute(em, sql`create table ${table} (like audit_log including defaults)`);
      await execute(em, sql`alter table ${table} enable row level security`);
      await execute(
        em,
        sql`create policy "project" on ${table}
          using (project_id::text in (current_setting('latchkey.project', true), ${sql.lit(instanceId)}))`,
      );
      await execute(
        em,
        sql`with moved as (delete from ${others} where id >= ${from} and id < ${until} returning *)
          insert into ${table} select * from moved`,
      );
      await execute(
        em,
        sql`alter table audit_log attach partition ${table} for values from (${sql.lit(from)}) to (${sql.lit(until)})`,
      );
    });
  }

  /** @returns false if another process is changing partitions, and thus does the same */
  private change(work: (em: EntityManager) => Promise<unknown>): Promise<boolean> {
    return this.deps.db.transaction(async (em) => {
      const lock = sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${monthsLock}) as taken`;
      if (!(await query(em, lock))[0]?.taken) return false;
      await execute(em, sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`);
      await work(em);
      return true;
    });
  }
}

async function partitionsOf(on: Executing): Promise<Partition[]> {
  const found = await query(
    on,
    sql<{ name: string; begin: string | null; end: string | null }>`
      select c.relname as name, substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''([^'']+)''\\)') as begin,
        substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([^'']+)''\\)') as end
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'audit_log'::regclass order by 3 nulls last`,
  );
  return found.map(({ name, begin, end }) => ({ name, from: momentOr(begin), until: momentOr(end) }));
}

const momentOr = (id: string | null): Date | null => (id === null ? null : momentOf(id));

/** @param offset months later */
export function startOfMonth(at: Date, offset = 0): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset));
}
