import type { EntityClass, EntityManager } from '@mikro-orm/postgresql';
import {
  CompiledQuery,
  createQueryId,
  isOperationNodeSource,
  sql as kysely,
  PostgresQueryCompiler,
  type RawBuilder,
  type RawNode,
} from 'kysely';

type Kysely = Pick<ReturnType<EntityManager['getKysely']>, 'executeQuery' | 'getExecutor'>;

/** A statement, or a part of one, as {@link sql} makes it. Its values reach PostgreSQL as parameters, never in the text. */
export class Statement<Row> {
  declare protected readonly row: Row;

  /** @param values one for each gap between the texts; parts, also of Kysely, are inserted */
  constructor(
    readonly texts: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  compile(on: Kysely): CompiledQuery {
    return this.ofKysely().compile(on);
  }

  /** Kysely inserts objects with this method. */
  toOperationNode(): RawNode {
    return this.ofKysely().toOperationNode();
  }

  private ofKysely() {
    return kysely(this.texts as TemplateStringsArray, ...this.values);
  }
}

/** Part of a statement, e.g. a condition. */
export type Fragment = Statement<unknown>;

/** Kysely's `sql` tag, with statements that cache their texts. */
export const sql = Object.assign(
  <Row = unknown>(texts: TemplateStringsArray, ...values: readonly unknown[]) => new Statement<Row>(texts, values),
  {
    /** Trusted text, unescaped: never a value. */
    raw: (text: string): Fragment => new Statement([text], []),
    join: (values: readonly unknown[], separator: Fragment = comma): Fragment =>
      new Statement(
        Array.from({ length: Math.max(2 * values.length, 1) }, () => ''),
        values.flatMap((value, at) => (at === 0 ? [value] : [separator, value])),
      ),
    /** A name, quoted; several: a qualified one. */
    id: (...names: readonly string[]): Fragment => textOf(kysely.id(...names)),
    /** A column, quoted, e.g. `t.name`. */
    ref: (column: string): Fragment => textOf(kysely.ref(column)),
    table: (name: string): Fragment => textOf(kysely.table(name)),
    /** A value in the text, escaped. */
    lit: (value: string | number | boolean | null): Fragment => textOf(kysely.lit(value)),
  },
);

const comma = new Statement<unknown>([', '], []);

const compiler = new PostgresQueryCompiler();

/** A part without parameters, quoted by Kysely. As text, it needs no compilation at each call of a prepared statement. */
function textOf(part: RawBuilder<unknown>): Fragment {
  return new Statement([compiler.compileQuery(part.toOperationNode(), createQueryId()).sql], []);
}

/** The connection of a statement: an entity manager's transaction, or the pool (`Database.alone`). */
export interface Executing {
  getKysely(): Kysely;
  getDriver(): Pick<ReturnType<EntityManager['getDriver']>, 'convertException'>;
}

export interface StatementOptions {
  /**
   * Each connection prepares the statement once, so that PostgreSQL parses and plans it once. Its name begins with this
   * label; see {@link Prepared}. At most 60 bytes.
   */
  prepare?: string | undefined;
}

/** A compiled query in the form that the driver (`adapters/postgres/driver.ts`) accepts. */
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

/** Rows per statement of {@link deleteInBatches}. */
const batchSize = 5000;

/**
 * Deletes the rows that meet `where`, in batches: each is its own transaction, so that locks stay short and none reaches
 * the time limit of a statement. Not for partitioned tables.
 */
export async function deleteInBatches(on: Executing, table: string, where: Fragment): Promise<void> {
  const rows = sql.table(table);
  const batch = sql`delete from ${rows} where ctid = any(array(select ctid from ${rows} where ${where} limit ${batchSize}))`;
  while ((await execute(on, batch)) === batchSize);
}

async function run(on: Executing, statement: Fragment, { prepare }: StatementOptions = {}) {
  const kysely = on.getKysely();
  const compiled = prepare === undefined ? statement.compile(kysely) : named(prepare, statement, kysely);
  try {
    return await kysely.executeQuery(compiled);
  } catch (error) {
    throw error instanceof Error ? on.getDriver().convertException(error) : error;
  }
}

/** A text that is prepared under a name. No other text has the name: PostgreSQL executes the statement prepared under it. */
interface Prepared {
  name: string;
  text: string;
  parts: readonly Part[];
}

/** A part of a statement: texts as written in the source, or the mark of a parameter. */
type Part = readonly string[] | typeof parameter;
const parameter = Symbol('parameter');

/** The texts of each label, in the order of their first use. */
const preparedOf = new Map<string, Prepared[]>();
/** Further texts of a label are not prepared: each connection keeps its statements until it closes. */
const maxTexts = 16;

/** Kysely compiles each text once: composing the long ones again at each call costs more than binding their values. */
function named(label: string, statement: Fragment, on: Kysely): NamedQuery {
  const parts: Part[] = [];
  const parameters: unknown[] = [];
  const isKnownByParts = collect(statement, parts, parameters);
  const compiled = isKnownByParts ? undefined : statement.compile(on);
  const key = compiled ? [[compiled.sql]] : parts;
  const prepared = preparedOf.get(label) ?? [];
  const known = prepared.find((one) => isSame(one.parts, key));
  if (known) return { ...CompiledQuery.raw(known.text, [...(compiled?.parameters ?? parameters)]), name: known.name };
  const made = compiled ?? statement.compile(on);
  if (prepared.length === maxTexts) return made;
  const name = prepared.length === 0 ? label : `${label}#${prepared.length + 1}`;
  preparedOf.set(label, [...prepared, { name, text: made.sql, parts: key }]);
  return { ...made, name };
}

/** False if a part was made by Kysely, which has its text. */
function collect({ texts, values }: Fragment, parts: Part[], parameters: unknown[]): boolean {
  parts.push(texts);
  return values.every((value) => {
    if (value instanceof Statement) return collect(value, parts, parameters);
    if (isOperationNodeSource(value)) return false;
    parts.push(parameter);
    parameters.push(value);
    return true;
  });
}

function isSame(some: readonly Part[], others: readonly Part[]): boolean {
  return some.length === others.length && some.every((one, at) => isSamePart(one, others[at] as Part));
}

/** The texts of a tag in the source are the same array at each call. */
function isSamePart(one: Part, other: Part): boolean {
  if (one === other) return true;
  if (one === parameter || other === parameter || one.length !== other.length) return false;
  return one.every((text, at) => text === other[at]);
}

/** The columns of entities, by class. */
const selections = new Map<EntityClass<object>, Fragment>();

/**
 * Reads an entity by a prepared statement: the ORM's `findOne` composes its statement at each call, and PostgreSQL parses
 * and plans it. Null if there is no such row.
 *
 * @param condition of constant text
 * @param prepare the name of the statement
 */
export async function findPrepared<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  condition: Fragment,
  prepare: string,
): Promise<Entity | null> {
  const from = sql.table(em.getMetadata().get(entity).tableName);
  const selecting = sql<object>`select ${columnsOf(em, entity)} from ${from} c where ${condition}`;
  const [row] = await query<object>(em, selecting, { prepare });
  return row ? em.map(entity, row) : null;
}

/** SQL: the columns of an entity's table `c`, for `em.map`. */
export function columnsOf(em: EntityManager, entity: EntityClass<object>): Fragment {
  const known = selections.get(entity);
  if (known) return known;
  const { props } = em.getMetadata().get(entity);
  const names = props.filter(({ persist }) => persist !== false).flatMap(({ fieldNames }) => fieldNames);
  const columns = sql.raw(names.map((name) => `c."${name}"`).join(', '));
  selections.set(entity, columns);
  return columns;
}
