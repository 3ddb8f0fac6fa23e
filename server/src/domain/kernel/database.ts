import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { constant, execute, query, runAlone } from './statement.ts';

/**
 * The database as the domain sees it. One domain method is one transaction; a function that joins one takes `em`
 * first. What must outlive a refusal is written and committed before the refusal is thrown.
 */
export class Database {
  private readonly orm: MikroORM;

  constructor(orm: MikroORM) {
    this.orm = orm;
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
  async rows<T extends object>(text: string, params: readonly unknown[] = []): Promise<T[]> {
    const result = await runAlone(this.orm, constant({ text, params }));
    return result.rows as T[];
  }

  /** As {@link rows}: how many rows it changed. */
  async changed(text: string, params: readonly unknown[] = []): Promise<number> {
    const result = await runAlone(this.orm, constant({ text, params }));
    return Number(result.numAffectedRows ?? 0n);
  }

  /** For reads outside a transaction. */
  reader(): EntityManager {
    return this.orm.em.fork({ freshEventManager: false });
  }
}

/**
 * Runs one SQL statement in `em`'s transaction and returns its rows; `?` marks the parameters, which are bound. The text
 * is a constant of the code: it is prepared once on each connection, and never holds a value.
 */
export function rows<T extends object>(em: EntityManager, text: string, params: readonly unknown[] = []): Promise<T[]> {
  return query<T>(em, constant({ text, params }));
}

/** Runs one conditional statement and returns how many rows it changed. */
export function changed(em: EntityManager, text: string, params: readonly unknown[] = []): Promise<number> {
  return execute(em, constant({ text, params }));
}
