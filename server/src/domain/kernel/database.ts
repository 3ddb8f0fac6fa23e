import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

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

  /** For reads outside a transaction. */
  reader(): EntityManager {
    return this.orm.em.fork({ freshEventManager: false });
  }
}

/** Runs one SQL statement in `em`'s transaction and returns its rows; `?` marks the parameters. */
export function rows<T extends object>(em: EntityManager, sql: string, params: readonly unknown[] = []): Promise<T[]> {
  return em.execute<T[]>(sql, params as unknown[], 'all');
}

/** Runs one conditional statement and returns how many rows it changed. */
export async function changed(em: EntityManager, sql: string, params: readonly unknown[] = []): Promise<number> {
  const result = await em.execute<{ affectedRows: number }>(sql, params as unknown[], 'run');
  return result.affectedRows;
}
