import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * A piece of SQL with its parameters, `?` marking each. Values from outside are only ever parameters: they reach
 * PostgreSQL beside the statement, never in its text.
 */
export interface Sql {
  readonly text: string;
  readonly params: readonly unknown[];
}

/** Builds a piece of SQL: the text of the template stands as written, a value is bound, a {@link Sql} is put in. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  let text = strings[0] as string;
  const params: unknown[] = [];
  values.forEach((value, index) => {
    if (isSql(value)) {
      text += value.text;
      params.push(...value.params);
    } else {
      text += '?';
      params.push(value);
    }
    text += strings[index + 1];
  });
  return { text, params };
}

/** Text of our own (a column, a keyword) as SQL. Never anything from outside. */
export function verbatim(text: string): Sql {
  return { text, params: [] };
}

export function joined(pieces: readonly Sql[], separator: string): Sql {
  return { text: pieces.map(({ text }) => text).join(separator), params: pieces.flatMap(({ params }) => params) };
}

/** Runs a statement in `em`'s transaction, its values bound. Instants come as text, counts as numbers. */
export async function query<Row extends object>(em: EntityManager, statement: Sql): Promise<Row[]> {
  const result = await run(em, statement);
  return result.rows as Row[];
}

/** Runs a statement in `em`'s transaction and returns how many rows it changed. */
export async function execute(em: EntityManager, statement: Sql): Promise<number> {
  const result = await run(em, statement);
  return Number(result.numAffectedRows ?? 0n);
}

/**
 * The ORM's own `execute` writes values into the statement's text; its query builder binds them, but throws the
 * driver's errors as they come: they get the ORM's classes here, so that a catch need not know how a row was written.
 */
async function run(em: EntityManager, { text, params }: Sql) {
  let position = 0;
  const numbered = text.replaceAll('?', () => `$${++position}`);
  try {
    return await em.getKysely().executeQuery({
      sql: numbered,
      parameters: params,
      query: { kind: 'RawNode', sqlFragments: [numbered], parameters: [] },
      queryId: { queryId: '' },
    });
  } catch (error) {
    throw error instanceof Error ? em.getDriver().convertException(error) : error;
  }
}

const sqlKeys = ['text', 'params'];

function isSql(value: unknown): value is Sql {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.keys(value).join() === sqlKeys.join()
  );
}
