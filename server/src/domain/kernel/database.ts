import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type Problem, Refusal } from './problem.ts';
import { type Executing, execute, sql } from './sql.ts';

/**
 * The database as the domain sees it. One domain method is one transaction; a function that joins one takes `em`
 * first. What must outlive a refusal is written and committed before the refusal is thrown.
 */
export class Database {
  /** For one statement that is a transaction of its own, whatever transaction is open around the caller. */
  readonly alone: Executing;

  constructor(private readonly orm: MikroORM) {
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

  /** For reads of entities outside a transaction; a statement alone needs none ({@link alone}). */
  reader(): EntityManager {
    return this.orm.em.fork({ freshEventManager: false });
  }
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
