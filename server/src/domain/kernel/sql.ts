import type { EntityManager } from '@mikro-orm/postgresql';
import type { CompiledQuery, RawBuilder } from 'kysely';

/** A statement of Kysely's `sql` tag: its values reach PostgreSQL as parameters, never in the text. */
export type Statement<Row> = RawBuilder<Row> | Prepared<Row>;

/** Part of a statement, e.g. a condition. */
export type Fragment = RawBuilder<unknown>;

export interface Prepared<Row> {
  readonly name: string;
  readonly statement: RawBuilder<Row>;
}

/**
 * A statement that each connection prepares once under `name`: PostgreSQL parses it once, and plans it up to six times.
 * @param name unique, at most 63 bytes
 * @param statement its text is the same at every call; only values vary
 */
export function prepared<Row>(name: string, statement: RawBuilder<Row>): Prepared<Row> {
  return { name, statement };
}

/** A compiled query as the driver of `adapters/` takes it. */
export interface NamedQuery extends CompiledQuery {
  readonly name?: string;
}

/** Where a statement runs: in an entity manager's transaction, or on the pool (`Database.alone`). */
export interface Executing {
  getKysely(): Pick<ReturnType<EntityManager['getKysely']>, 'executeQuery' | 'getExecutor'>;
  getDriver(): Pick<ReturnType<EntityManager['getDriver']>, 'convertException'>;
}

/** Returns a statement's rows. Instants are text, counts are numbers. Throws the ORM's exception classes. */
export async function query<Row>(on: Executing, statement: Statement<Row>): Promise<Row[]> {
  const { rows } = await run(on, statement);
  return rows as Row[];
}

/** Returns the number of rows that a statement changed. Throws the ORM's exception classes. */
export async function execute(on: Executing, statement: Statement<unknown>): Promise<number> {
  const { numAffectedRows } = await run(on, statement);
  return Number(numAffectedRows ?? 0n);
}

async function run(on: Executing, statement: Statement<unknown>) {
  const kysely = on.getKysely();
  const named: NamedQuery =
    'name' in statement ? { ...statement.statement.compile(kysely), name: statement.name } : statement.compile(kysely);
  try {
    return await kysely.executeQuery(named);
  } catch (error) {
    throw error instanceof Error ? on.getDriver().convertException(error) : error;
  }
}
