import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { execute, query } from './statement.ts';

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

  /** For reads outside a transaction. */
  reader(): EntityManager {
    return this.orm.em.fork({ freshEventManager: false });
  }
}

/** Runs one SQL statement in `em`'s transaction and returns its rows; `?` marks the parameters, which are bound. */
export function rows<T extends object>(em: EntityManager, text: string, params: readonly unknown[] = []): Promise<T[]> {
  return query<T>(em, { text, params });
}

/** Runs one conditional statement and returns how many rows it changed. */
export function changed(em: EntityManager, text: string, params: readonly unknown[] = []): Promise<number> {
  return execute(em, { text, params });
}
