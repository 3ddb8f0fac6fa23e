import { AsyncLocalStorage } from 'node:async_hooks';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Noun } from './nouns/names.ts';
import { type Problem, Refusal, refuse } from './problem.ts';
import { withoutTurns } from './scope.ts';
import { type Executing, execute, sql } from './sql.ts';

/**
 * Access to the database. One domain method is one transaction; a function that joins one takes `em` first. Writes that
 * must survive a refusal are committed before it is thrown.
 */
export class Database {
  /** Runs one statement in its own transaction, even if the caller has one open. */
  readonly alone: Executing;
  private readonly joined = new AsyncLocalStorage<EntityManager>();
  /** By transaction. */
  private readonly commits = new WeakMap<object, Set<() => void>>();

  constructor(private readonly orm: MikroORM) {
    const driver = orm.em.getDriver();
    this.alone = { getKysely: () => driver.getConnection().getClient(), getDriver: () => driver };
  }

  /** Runs `work` in one transaction with a new identity map; a throw rolls everything back. */
  async transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.joined.getStore();
    if (!outer) return this.begin(work);
    const em = outer.fork({ freshEventManager: false, keepTransactionContext: true });
    const result = await work(em);
    await em.flush();
    return result;
  }

  /**
   * Runs methods in one transaction that otherwise open their own: {@link transaction} and {@link reader} join it, `alone` does
   * not. A throw rolls everything back.
   */
  together<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.joined.getStore();
    return outer ? work(outer) : this.transaction((em) => this.joined.run(em, () => work(em)));
  }

  /** Like {@link transaction}, for plain statements, without entities, at a fraction of the cost. */
  async statements<T>(work: (on: Executing) => Promise<T>): Promise<T> {
    const { getDriver, getKysely } = this.alone;
    const kysely = getKysely() as ReturnType<EntityManager['getKysely']>;
    let transaction: object | undefined;
    const result = await kysely.transaction().execute((own) => {
      transaction = own;
      return withoutTurns(() => work({ getKysely: () => own, getDriver }));
    });
    this.committed(transaction);
    return result;
  }

  /** Runs several reads on one snapshot. */
  snapshot<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    return this.begin(work, { isolationLevel: 'repeatable read', readOnly: true } as const);
  }

  /** For reads of entities outside a transaction; for a single statement use {@link alone}. */
  reader(): EntityManager {
    const outer = this.joined.getStore();
    if (outer) return outer.fork({ freshEventManager: false, keepTransactionContext: true });
    return this.orm.em.fork({ freshEventManager: false });
  }

  /** Calls `then` once the transaction of `on` has committed; never if it is rolled back. The same function is called once. */
  afterCommit(on: Executing, then: () => void): void {
    const transaction = on.getKysely() as ReturnType<EntityManager['getKysely']>;
    if (!transaction.isTransaction) throw new Error('not in a transaction');
    this.commits.set(transaction, (this.commits.get(transaction) ?? new Set()).add(then));
  }

  private async begin<T>(
    work: (em: EntityManager) => Promise<T>,
    options?: Parameters<EntityManager['transactional']>[1],
  ): Promise<T> {
    let transaction: object | undefined;
    const result = await this.orm.em.fork({ freshEventManager: false }).transactional((em) => {
      transaction = em.getKysely();
      return withoutTurns(() => work(em));
    }, options);
    this.committed(transaction);
    return result;
  }

  private committed(transaction: object | undefined): void {
    for (const then of (transaction && this.commits.get(transaction)) ?? []) then();
  }
}

const maxAttempts = 3;

/** Retries a transaction that PostgreSQL aborted because of a deadlock. */
export async function pastDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (!isDeadlock(error) || attempt === maxAttempts) throw error;
    }
  }
}

/** SQLSTATE 40P01, also from statements outside the ORM. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '40P01';
}

/**
 * Flushes. Refuses `taken` if another transaction has taken the unique value since it was looked up, which ends this
 * one.
 *
 * @param field the name of the value
 */
export async function flushUnlessTaken(em: EntityManager, what: Noun, field: string): Promise<void> {
  try {
    await em.flush();
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    refuse({ code: 'taken', what, field });
  }
}

/**
 * Joins: lets the transaction's statements take as long as they need. For a deletion that cascades to many rows:
 * 200,000 users with their sessions take 25 seconds.
 */
export async function withoutTimeLimit(em: EntityManager): Promise<void> {
  await execute(em, sql`set local statement_timeout = 0`);
}

/** A refusal as a value. */
export interface Refused {
  refused: Problem;
}

/**
 * Runs one step of `em`'s transaction in a savepoint. If it refuses, as a value or by a throw, its writes are rolled
 * back and earlier ones stay, above all the count of the attempt. Entities read so far are then detached. Otherwise the
 * savepoint ends with the transaction.
 */
export async function rolledBackIfRefused<T extends object>(
  em: EntityManager,
  step: () => Promise<T | Refused>,
): Promise<T | Refused> {
  await em.flush();
  await execute(em, sql`savepoint step`);
  const outcome = await refusalAsValue(async () => {
    const answer = await step();
    if (!('refused' in answer)) await em.flush();
    return answer;
  });
  if ('refused' in outcome) {
    em.clear();
    await execute(em, sql`rollback to savepoint step`);
  }
  return outcome;
}

async function refusalAsValue<T extends object>(step: () => Promise<T>): Promise<T | Refused> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.problem };
    throw error;
  }
}
