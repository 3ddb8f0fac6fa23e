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
   * Each connection prepares the statement once, so that PostgreSQL parses and plans it once. Its name begins with this
   * label; see {@link nameOf}. At most 60 bytes.
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
  const compiled = statement.compile(kysely);
  const named: NamedQuery = { ...compiled, name: options.prepare && nameOf(options.prepare, compiled.sql) };
  try {
    return await kysely.executeQuery(named);
  } catch (error) {
    throw error instanceof Error ? on.getDriver().convertException(error) : error;
  }
}

/** The texts of each label, in the order of their first use. */
const textsOf = new Map<string, string[]>();
/** Further texts of a label are not prepared: each connection keeps its statements until it closes. */
const maxTexts = 16;

/**
 * The name of a statement with this text: no other text has it, as PostgreSQL executes what was prepared under a name.
 * Labels have few texts, and comparing them costs a fraction of hashing one.
 */
function nameOf(label: string, text: string): string | undefined {
  const texts = textsOf.get(label) ?? [];
  const known = texts.indexOf(text);
  const place = known < 0 ? texts.length : known;
  if (place === maxTexts) return undefined;
  if (known < 0) textsOf.set(label, [...texts, text]);
  return place === 0 ? label : `${label}#${place + 1}`;
}
