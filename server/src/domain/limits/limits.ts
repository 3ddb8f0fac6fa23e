import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { changed, type Database, rows } from '../kernel/database.ts';
import { digest } from '../kernel/secret.ts';

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

interface Row {
  spent: number;
  resets_at: Date | string;
}

type Run = (text: string, params: readonly unknown[]) => Promise<Row[]>;

/** Budgets in the database: shared by all processes, outliving a restart, counted by one atomic statement. */
export class Limits {
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Takes one from the subject's budget, also where it is spent already. The caller commits this whatever comes of
   * the rest: a refusal that rolled it back would hand out unlimited tries.
   *
   * @param subject what the budget belongs to: an account, an address, a network. Stored as a hash.
   */
  async spend(em: EntityManager, rule: LimitRule, subject: string): Promise<Spent> {
    return this.take((text, params) => rows(em, text, params), rule, subject, '(values (1)) as one');
  }

  /**
   * The same outside of any transaction, and without waiting for the disk: many callers share such a budget, and would
   * wait for each other. A crash forgets what was spent in its last moments.
   */
  async spendInPassing(db: Database, rule: LimitRule, subject: string): Promise<Spent> {
    const quickly = `(select set_config('synchronous_commit', 'off', true)) as quickly`;
    return this.take((text, params) => db.rows(text, params), rule, subject, quickly);
  }

  private async take(run: Run, rule: LimitRule, subject: string, source: string): Promise<Spent> {
    const now = this.clock.now();
    const [row] = await run(
      `insert into budgets (id, spent, resets_at) select ?, 1, ?::timestamptz from ${source}
       on conflict (id) do update set
         spent = case when budgets.resets_at <= ? then 1 else budgets.spent + 1 end,
         resets_at = case when budgets.resets_at <= ? then excluded.resets_at else budgets.resets_at end
       returning spent, resets_at`,
      [key(rule, subject), secondsLater(now, rule.windowSeconds), now, now],
    );
    return judge(rule, row as Row, now);
  }

  /** How much the subject has spent in its present window, refused tries included. Spends nothing. */
  async peek(em: EntityManager, rule: LimitRule, subject: string): Promise<number> {
    const [row] = await rows<{ spent: number }>(
      em,
      'select coalesce((select spent from budgets where id = ? and resets_at > ?), 0) as spent',
      [key(rule, subject), this.clock.now()],
    );
    return (row as { spent: number }).spent;
  }

  /** Gives the subject a fresh budget, e.g. after a success. */
  async reset(em: EntityManager, rule: LimitRule, subject: string): Promise<void> {
    await changed(em, 'delete from budgets where id = ?', [key(rule, subject)]);
  }

  /** Drops windows that have ended. */
  async sweep(em: EntityManager): Promise<void> {
    await changed(em, 'delete from budgets where resets_at <= ?', [this.clock.now()]);
  }
}

function key(rule: LimitRule, subject: string): string {
  return `${rule.name}:${digest(subject)}`;
}

function judge(rule: LimitRule, row: Row, now: Date): Spent {
  const resetsAt = new Date(row.resets_at);
  return {
    allowed: row.spent <= rule.max,
    left: Math.max(0, rule.max - row.spent),
    retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1000)),
  };
}
