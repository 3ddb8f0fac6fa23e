import type { EntityManager } from '@mikro-orm/postgresql';
import type { CompiledQuery, RawBuilder } from 'kysely';

export { sql } from 'kysely';

/** A statement of Kysely's `sql` tag: its values reach PostgreSQL as parameters, never in the text. */
export type Statement<Row> = RawBuilder<Row>;

/** Part of a statement, e.g. a condition. */
export type Fragment = RawBuilder<unknown>;

/** Where a statement runs: in an entity manager's transaction, or on the pool (`Database.alone`). */
export interface Executing {
  getKysely(): Pick<ReturnType<EntityManager['getKysely']>, 'executeQuery' | 'getExecutor'>;
  getDriver(): Pick<ReturnType<EntityManager['getDriver']>, 'convertException'>;
}

export interface StatementOptions {
  /**
   * Each connection prepares the statement once under this name, so that PostgreSQL parses and plans it once. Unique, at
   * most 63 bytes; the text must be the same at every call.
   */
  prepare?: string | undefined;
}

/** A compiled query as the driver (`adapters/postgres/driver.ts`) takes it. */
export interface NamedQuery extends CompiledQuery {
  readonly name?: string | undefined;
}

/** Returns a statement's rows. Instants are text. Throws the ORM's exception classes. */
export async function query<Row>(on: Executing, statement: Statement<Row>, options?: StatementOptions): Promise<Row[]> {
  const { rows } = await run(on, statement, options);
  return rows as Row[];
}

/** Returns the number of rows that a statement changed. Throws the ORM's exception classes. */
export async function execute(on: Executing, statement: Fragment, options?: StatementOptions): Promise<number> {
  const { numAffectedRows } = await run(on, statement, options);
  return Number(numAffectedRows ?? 0n);
}

async function run(on: Executing, statement: Fragment, options: StatementOptions = {}) {
  const kysely = on.getKysely();
  const compiled: NamedQuery = { ...statement.compile(kysely), name: options.prepare };
  try {
    return await kysely.executeQuery(compiled);
  } catch (error) {
    throw error instanceof Error ? on.getDriver().convertException(error) : error;
  }
}
