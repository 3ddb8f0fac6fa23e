import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type Problem, Refusal } from './problem.ts';
import { type Executing, execute, query, type Statement, sql } from './sql.ts';
import { nameOf, positional } from './statement.ts';

/**
 * The database as the domain sees it. One domain method is one transaction; a function that joins one takes `em`
 * first. What must outlive a refusal is written and committed before the refusal is thrown.
 */
export class Database {
  private readonly orm: MikroORM;
  /** For one statement that is a transaction of its own, whatever transaction is open around the caller. */
  readonly alone: Executing;

  constructor(orm: MikroORM) {
    this.orm = orm;
    const driver = orm.em.getDriver();
    this.alone = { getKysely: () => driver.getConnection().getClient(), getDriver: () => driver };
  }

  /** Runs `work` in one transaction with an identity map of its own; a throw rolls everything back. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    return this.orm.em.fork({ freshEventManager: false }).transactional(work);
  }

  /** For many reads that must tell of one and the same moment. */
  snapshot<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    const options = { isolationLevel: 'repeatable read', readOnly: true } as const;
    return this.orm.em.fork({ freshEventManager: false }).transactional(work, options);
  }

  /** One constant statement that is a transaction of its own; `?` marks the parameters, which are bound. */
  rows<T extends object>(statement: string | Statement<T>, params: readonly unknown[] = []): Promise<T[]> {
    return rows<T>(this.alone, statement, params);
  }

  /** As {@link rows}: how many rows it changed. */
  changed(statement: string | Statement<unknown>, params: readonly unknown[] = []): Promise<number> {
    return changed(this.alone, statement, params);
  }

  /** For reads of entities outside a transaction; a statement alone needs none ({@link alone}). */
  reader(): EntityManager {
    return this.orm.em.fork({ freshEventManager: false });
  }
}

/**
 * Runs one SQL statement in `em`'s transaction and returns its rows; `?` marks the parameters, which are bound. The text
 * is a constant of the code: it is prepared once on each connection, and never holds a value.
 */
export function rows<T extends object>(
  on: Executing,
  statement: string | Statement<T>,
  params: readonly unknown[] = [],
): Promise<T[]> {
  if (typeof statement !== 'string') return query(on, statement);
  return query(on, positional<T>(statement, params), { prepare: nameOf(statement) });
}

/** Runs one conditional statement and returns how many rows it changed. */
export function changed(
  on: Executing,
  statement: string | Statement<unknown>,
  params: readonly unknown[] = [],
): Promise<number> {
  if (typeof statement !== 'string') return execute(on, statement);
  return execute(on, positional(statement, params), { prepare: nameOf(statement) });
}

/** A refusal as a value. */
export interface Refused {
  refused: Problem;
}

/**
 * Runs one step of `em`'s transaction. Where it refuses, as a value or by a throw, everything that it wrote is undone; what
 * was written before, the count of the try above all, stays. Entities read so far are detached then.
 */
export async function undoneIfRefused<T extends object>(
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
  } else await execute(em, sql`release savepoint step`);
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
