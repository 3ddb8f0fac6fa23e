import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { type Executing, execute, type Fragment, query, sql } from '../kernel/sql.ts';

/** How much of something one subject may do in a window. */
export interface LimitRule {
  /** Unique among all rules; part of the stored key. */
  name: string;
  max: number;
  windowSeconds: number;
}

export interface Spent {
  allowed: boolean;
  /** How much is left after this, never below 0. */
  left: number;
  /** Until the window ends. */
  retryAfterSeconds: number;
}

interface BudgetRow {
  spent: number;
  resets_at: Date | string;
}

/**
 * Keyed hashes of a subject, by the current master key first. While the master key is being changed there is a second:
 * what was spent under it counts on.
 */
export type SubjectKeys = (subject: string) => readonly string[];

/** Budgets in the database: shared by all processes, outliving a restart, counted by one atomic statement. */
export class Limits {
  constructor(private readonly deps: { clock: Clock; keysOf: SubjectKeys }) {}

  /**
   * Takes one from the subject's budget, also where it is spent already. The caller commits this whatever comes of
   * the rest: a refusal that rolled it back would hand out unlimited tries.
   *
   * @param subject what the budget belongs to: an account, an address, a network. Stored as a keyed hash.
   */
  async spend(em: EntityManager, rule: LimitRule, subject: string): Promise<Spent> {
    return this.take(em, 'limits.spend', rule, subject, sql`(values (1)) as one`);
  }

  /**
   * The same outside of any transaction, and without waiting for the disk: many callers share such a budget, and would
   * wait for each other. A crash forgets what was spent in its last moments.
   */
  async spendInPassing(db: Database, rule: LimitRule, subject: string): Promise<Spent> {
    const withoutFlush = sql`(select set_config('synchronous_commit', 'off', true)) as without_flush`;
    return this.take(db.alone, 'limits.spend-in-passing', rule, subject, withoutFlush);
  }

  private async take(on: Executing, name: string, rule: LimitRule, subject: string, source: Fragment): Promise<Spent> {
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
    const [row] = await query(on, statement, { prepare: second === undefined ? name : `${name}-two-keys` });
    return judge(rule, row as BudgetRow, now);
  }

  /** How much the subject has spent in its present window, refused tries included. Spends nothing. */
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

  /** Gives the subject a fresh budget, e.g. after a success. */
  async reset(em: EntityManager, rule: LimitRule, subject: string): Promise<void> {
    await execute(em, sql`delete from budgets where id = any(${this.idsOf(rule, subject)})`, {
      prepare: 'limits.reset',
    });
  }

  /** Drops windows that have ended. */
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
