import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { type Executing, execute, type Fragment, query, sql } from '../kernel/sql.ts';

/** Number of uses per subject and window. */
export interface LimitRule {
  /** Unique among all rules; part of the stored key. */
  name: string;
  max: number;
  windowSeconds: number;
}

export interface Spent {
  allowed: boolean;
  /** Remaining uses, never below 0. */
  left: number;
  /** Until the end of the window. */
  retryAfterSeconds: number;
}

interface BudgetRow {
  spent: number;
  resets_at: Date | string;
}

/**
 * Keyed hashes of a subject, the current master key's first. During a change of the master key there is a second, whose
 * count continues.
 */
export type SubjectKeys = (subject: string) => readonly string[];

/** Budgets in the database: shared by all processes, kept across restarts, counted by one atomic statement. */
export class Limits {
  constructor(private readonly deps: { clock: Clock; keysOf: SubjectKeys }) {}

  /**
   * Spends one of the subject's budget, even if it is exhausted. The caller must commit this even if the request fails:
   * a rollback would allow unlimited attempts.
   *
   * @param subject an account, address or network; stored as a keyed hash
   */
  async spend(em: EntityManager, rule: LimitRule, subject: string): Promise<Spent> {
    return this.take(em, 'limits.spend', rule, subject, sql`(values (1)) as one`);
  }

  /**
   * Like {@link spend}, in its own transaction with synchronous_commit = off, so that callers that share a budget do
   * not block each other. A crash loses the last moments.
   */
  async spendInPassing(db: Database, rule: LimitRule, subject: string): Promise<Spent> {
    const withoutFlush = sql`(select set_config('synchronous_commit', 'off', true)) as without_flush`;
    return this.take(db.alone, 'limits.spend-in-passing', rule, subject, withoutFlush);
  }

  private async take(on: Executing, label: string, rule: LimitRule, subject: string, source: Fragment): Promise<Spent> {
    const now = this.deps.clock.now();
    const end = secondsLater(now, rule.windowSeconds);
    const [id, second] = this.idsOf(rule, subject);
    // A new row continues the window of the row under the second key.
    const first =
      second === undefined
        ? sql`select ${id}, 1, ${end}::timestamptz from ${source}`
        : sql`select ${id}, 1 + coalesce(old.spent, 0), coalesce(old.resets_at, ${end}::timestamptz)
          from ${source} left join budgets old on old.id = ${second} and old.resets_at > ${now}`;
    const statement = sql<BudgetRow>`
      insert into budgets (id, spent, resets_at) ${first}
      on conflict (id) do update set
        spent = case when budgets.resets_at <= ${now} then 1 else budgets.spent + 1 end,
        resets_at = case when budgets.resets_at <= ${now} then ${end} else budgets.resets_at end
      returning spent, resets_at`;
    const [row] = await query(on, statement, { prepare: label });
    return judge(rule, row as BudgetRow, now);
  }

  /** Gives one use back, after an attempt that does not count. */
  async refund(em: EntityManager, rule: LimitRule, subject: string): Promise<void> {
    await execute(
      em,
      sql`update budgets set spent = greatest(spent - 1, 0)
        where id = any(${this.idsOf(rule, subject).slice(0, 1)}) and resets_at > ${this.deps.clock.now()}`,
    );
  }

  /** The subject's count in the current window, refused attempts included. Spends nothing. */
  async peek(em: EntityManager, rule: LimitRule, subject: string): Promise<number> {
    const [row] = await query(
      em,
      sql<{ spent: number }>`
        select coalesce(max(spent), 0) as spent from budgets
        where id = any(${this.idsOf(rule, subject)}) and resets_at > ${this.deps.clock.now()}`,
      { prepare: 'limits.peek' },
    );
    return (row as { spent: number }).spent;
  }

  /** Resets the subject's budget, e.g. after a success. */
  async reset(em: EntityManager, rule: LimitRule, subject: string): Promise<void> {
    await execute(em, sql`delete from budgets where id = any(${this.idsOf(rule, subject)})`, {
      prepare: 'limits.reset',
    });
  }

  /** Deletes windows that have ended. */
  async sweep(em: EntityManager): Promise<void> {
    await execute(em, sql`delete from budgets where resets_at <= ${this.deps.clock.now()}`);
  }

  /** At most two, see {@link SubjectKeys}. */
  private idsOf(rule: LimitRule, subject: string): string[] {
    return this.deps.keysOf(subject).map((key) => `${rule.name}:${key}`);
  }
}

function judge(rule: LimitRule, row: BudgetRow, now: Date): Spent {
  const resetsAt = new Date(row.resets_at);
  return {
    allowed: row.spent <= rule.max,
    left: Math.max(0, rule.max - row.spent),
    retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1000)),
  };
}
