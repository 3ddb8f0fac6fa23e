import type { EntityManager } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import { type Clock, processSkewSeconds, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { deleteInBatches, type Executing, execute, type Fragment, query, sql } from '../kernel/sql.ts';

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
 * Keyed hashes of a subject, the current master key's first. During a rotation of the master key there is a second
 * hash, whose count continues.
 */
export type SubjectKeys = (subject: string) => readonly string[];

/** The uses of one subject that this process counted in the current window. */
interface Allowance {
  used: number;
  /** Spent in the database, and not used yet. */
  prepaid: number;
  /** The row's window; null before the first statement. */
  row: BudgetRow | null;
  /** The statement in progress, if any. */
  pending: Promise<void> | null;
}

/** The share of a subject's uses in its window that a process prepays. */
const prepaidPart = 0.1;
const maxAllowances = 20_000;
/** The longest window of any rule: wrong codes of an account. */
const longestWindowSeconds = 31 * 24 * 3600;

/**
 * Budgets in the database: shared by all processes, kept across restarts, counted by one atomic statement. No window ends
 * later than its own length from now, also if a clock that was ahead began it.
 */
export class Limits {
  private readonly allowances = new LRUCache<string, Allowance>({
    // With `max`, it would allocate for all at once.
    maxSize: maxAllowances,
    sizeCalculation: () => 1,
  });

  constructor(private readonly deps: { clock: Clock; keysOf: SubjectKeys }) {}

  /**
   * Spends one use of the subject's budget, even if it is exhausted. The caller must commit this even if the request fails:
   * a rollback would allow unlimited attempts.
   *
   * @param subject an account, address or network; stored as a keyed hash
   */
  async spend(em: EntityManager, rule: LimitRule, subject: string): Promise<Spent> {
    const row = await this.take(em, 'limits.spend', { rule, subject, uses: 1 }, sql`(values (1)) as one`);
    return check(rule, row, this.deps.clock.now());
  }

  /**
   * Like {@link spend}, in its own transaction with synchronous_commit = off, so that callers that share a budget do
   * not block each other. A crash may lose the last uses. For a busy subject, a process prepays a tenth of its uses and, once
   * the budget is exhausted, refuses from memory until the window ends: all processes together allow at most `max`, and
   * refusals cost no statement (decisions/0159).
   */
  async spendPrepaid(db: Database, rule: LimitRule, subject: string): Promise<Spent> {
    const allowance = this.allowanceOf(rule, subject);
    while (allowance.prepaid === 0 && !isExhausted(allowance.row, rule)) {
      allowance.pending ??= this.prepay(db, rule, subject, allowance).finally(() => {
        allowance.pending = null;
      });
      await allowance.pending;
    }
    const spent = check(rule, allowance.row as BudgetRow, this.deps.clock.now());
    if (allowance.prepaid === 0) return { ...spent, allowed: false };
    allowance.prepaid -= 1;
    allowance.used += 1;
    return { ...spent, allowed: true, left: spent.left + allowance.prepaid };
  }

  /**
   * Spends one use of each subject's budget, and `subjects.length` uses of the shared budget, in one statement. For callers
   * that roll back uses over budget. A change of the master key starts new windows.
   */
  async spendMany(
    em: EntityManager,
    { each, shared }: { each: LimitRule; shared: LimitRule & { subject: string } },
    subjects: readonly string[],
  ): Promise<{ each: Spent[]; shared: Spent }> {
    const now = this.deps.clock.now();
    const end = ({ windowSeconds }: LimitRule) => secondsLater(now, windowSeconds).toISOString();
    const budgets = [
      ...subjects.map((subject) => ({ id: this.idsOf(each, subject)[0], amount: 1, end: end(each) })),
      { id: this.idsOf(shared, shared.subject)[0], amount: subjects.length, end: end(shared) },
    ];
    const ids = budgets.map(({ id }) => id as string);
    const rows = await query(
      em,
      sql<BudgetRow & { id: string }>`
        insert into budgets (id, spent, resets_at)
          select b.id, sum(b.amount)::int, max(b.resets_at) from unnest(${ids}::text[],
            ${budgets.map(({ amount }) => amount)}::int[], ${budgets.map((budget) => budget.end)}::timestamptz[])
            as b(id, amount, resets_at)
          group by b.id order by b.id
        on conflict (id) do update set
          spent = case when budgets.resets_at <= ${now} then excluded.spent else budgets.spent + excluded.spent end,
          resets_at = case when budgets.resets_at <= ${now} then excluded.resets_at
            else least(budgets.resets_at, excluded.resets_at) end
        returning id, spent, resets_at`,
      { prepare: 'limits.spend-many' },
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const spent = (rule: LimitRule, at: number) => check(rule, byId.get(ids[at] as string) as BudgetRow, now);
    return { each: subjects.map((_, at) => spent(each, at)), shared: spent(shared, subjects.length) };
  }

  private allowanceOf(rule: LimitRule, subject: string): Allowance {
    const key = `${rule.name}:${subject}`;
    const known = this.allowances.get(key);
    if (known && (known.row === null || isOpen(known.row, rule, this.deps.clock.now()))) return known;
    const allowance: Allowance = { used: 0, prepaid: 0, row: null, pending: null };
    this.allowances.set(key, allowance);
    return allowance;
  }

  private async prepay(db: Database, rule: LimitRule, subject: string, allowance: Allowance): Promise<void> {
    const uses = Math.max(1, Math.floor(allowance.used * prepaidPart));
    const withoutFlush = sql`(select set_config('synchronous_commit', 'off', true)) as without_flush`;
    const row = await this.take(db.alone, 'limits.spend-prepaid', { rule, subject, uses }, withoutFlush);
    allowance.row = row;
    allowance.prepaid = Math.min(uses, Math.max(0, rule.max - (row.spent - uses)));
  }

  private async take(
    on: Executing,
    label: string,
    { rule, subject, uses }: { rule: LimitRule; subject: string; uses: number },
    source: Fragment,
  ): Promise<BudgetRow> {
    const now = this.deps.clock.now();
    const end = secondsLater(now, rule.windowSeconds);
    const [id, second] = this.idsOf(rule, subject);
    // A new row continues the window of the row under the second key.
    const first =
      second === undefined
        ? sql`select ${id}, ${uses}::int, ${end}::timestamptz from ${source}`
        : sql`select ${id}, ${uses}::int + coalesce(old.spent, 0), least(old.resets_at, ${end}::timestamptz)
          from ${source} left join budgets old on old.id = ${second} and old.resets_at > ${now}`;
    const statement = sql<BudgetRow>`
      insert into budgets (id, spent, resets_at) ${first}
      on conflict (id) do update set
        spent = case when budgets.resets_at <= ${now} then ${uses} else budgets.spent + ${uses} end,
        resets_at = case when budgets.resets_at <= ${now} then ${end} else least(budgets.resets_at, ${end}) end
      returning spent, resets_at`;
    const [row] = await query(on, statement, { prepare: label });
    return row as BudgetRow;
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

  /** The sum of {@link peek} over subjects. */
  async sum(em: EntityManager, rule: LimitRule, subjects: readonly string[]): Promise<number> {
    const ids = subjects.map((subject) => this.idsOf(rule, subject));
    const [first, second] = [ids.map(([id]) => id as string), ids.map(([id, old]) => old ?? (id as string))];
    const [row] = await query(
      em,
      sql<{ spent: number }>`
        select coalesce(sum(greatest(a.spent, b.spent)), 0)::int as spent
        from unnest(${first}::text[], ${second}::text[]) as s(id, second)
          left join budgets a on a.id = s.id and a.resets_at > ${this.deps.clock.now()}
          left join budgets b on b.id = s.second and b.resets_at > ${this.deps.clock.now()}`,
      { prepare: 'limits.sum' },
    );
    return (row as { spent: number }).spent;
  }

  /** Deletes windows that have ended, and shortens those that a clock began that was ahead. */
  async sweep(on: Executing): Promise<void> {
    const now = this.deps.clock.now();
    await deleteInBatches(on, 'budgets', sql`resets_at <= ${now}`);
    const latest = secondsLater(now, longestWindowSeconds);
    await execute(on, sql`update budgets set resets_at = ${latest} where resets_at > ${latest}`);
  }

  /** At most two, see {@link SubjectKeys}. */
  private idsOf(rule: LimitRule, subject: string): string[] {
    return this.deps.keysOf(subject).map((key) => `${rule.name}:${key}`);
  }
}

/** Whether the window has not ended; one that ends later than it can was begun by a clock that was ahead. */
function isOpen(row: BudgetRow, rule: LimitRule, now: Date): boolean {
  const resetsAt = new Date(row.resets_at);
  return resetsAt > now && resetsAt <= secondsLater(now, rule.windowSeconds + processSkewSeconds);
}

/** Whether the database has spent all uses of the window. */
function isExhausted(row: BudgetRow | null, rule: LimitRule): boolean {
  return row !== null && row.spent >= rule.max;
}

function check(rule: LimitRule, row: BudgetRow, now: Date): Spent {
  const resetsAt = new Date(row.resets_at);
  return {
    allowed: row.spent <= rule.max,
    left: Math.max(0, rule.max - row.spent),
    retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1000)),
  };
}
