import type { Executing, NamedQuery } from './sql.ts';

/**
 * A piece of SQL with its parameters, `?` marking each. Values from outside are only ever parameters: they reach
 * PostgreSQL beside the statement, never in its text.
 */
export interface Sql {
  readonly text: string;
  readonly params: readonly unknown[];
}

/** Those whose text is the same at every call, and so is worth preparing; filters and orders are not. */
const constants = new WeakSet<Sql>();

/** Marks a statement whose text never varies. */
export function constant(statement: Sql): Sql {
  constants.add(statement);
  return statement;
}

/** Builds a piece of SQL: the text of the template stands as written, a value is bound, a {@link Sql} is put in. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  let text = strings[0] as string;
  let isConstant = true;
  const params: unknown[] = [];
  values.forEach((value, index) => {
    if (isSql(value)) {
      text += value.text;
      isConstant = false;
      params.push(...value.params);
    } else {
      text += '?';
      params.push(value);
    }
    text += strings[index + 1];
  });
  const statement = { text, params };
  if (isConstant) constants.add(statement);
  return statement;
}

/** Text of our own (a column, a keyword) as SQL. Never anything from outside. */
export function verbatim(text: string): Sql {
  return { text, params: [] };
}

export function joined(pieces: readonly Sql[], separator: string): Sql {
  const text = pieces.map((piece) => piece.text).join(separator);
  return { text, params: pieces.flatMap(({ params }) => params) };
}

export type { Executing } from './sql.ts';

/** Runs a statement in `em`'s transaction, its values bound. Instants come as text, counts as numbers. */
export async function query<Row extends object>(em: Executing, statement: Sql): Promise<Row[]> {
  const result = await run(em, statement);
  return result.rows as Row[];
}

/** Runs a statement in `em`'s transaction and returns how many rows it changed. */
export async function execute(em: Executing, statement: Sql): Promise<number> {
  const result = await run(em, statement);
  return Number(result.numAffectedRows ?? 0n);
}

/** Constant texts as PostgreSQL takes them, `$1` for `?`: as many as there are places in the code that send one. */
const numbered = new Map<string, string>();
const names = new Map<string, string>();
const mostPrepared = 1000;

function numberedText(statement: Sql): string {
  const known = numbered.get(statement.text);
  if (known !== undefined) return known;
  let position = 0;
  const text = statement.text.replaceAll('?', () => `$${++position}`);
  if (constants.has(statement) && names.size < mostPrepared) {
    names.set(text, `latchkey_${names.size + 1}`);
    numbered.set(statement.text, text);
  }
  return text;
}

/**
 * The ORM's own `execute` writes values into the statement's text; its query builder binds them, but throws the
 * driver's errors as they come: they get the ORM's classes here, so that a catch need not know how a row was written.
 */
async function run(em: Executing, statement: Sql) {
  const text = numberedText(statement);
  try {
    return await em.getKysely().executeQuery({
      sql: text,
      parameters: statement.params,
      query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
      queryId: { queryId: '' },
      ...(names.has(text) && { name: names.get(text) }),
    } as NamedQuery);
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
