import type { Database } from '../src/domain/kernel/database.ts';
import { execute, query, type Statement, sql } from '../src/domain/kernel/sql.ts';

/** Returns the rows of a statement with `?` placeholders, run in a separate transaction. */
export function rows<Row extends object>(db: Database, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return query(db.alone, statementOf<Row>(text, values));
}

/** Returns the number of rows changed by a statement with `?` placeholders, run in a separate transaction. */
export function changed(db: Database, text: string, values: readonly unknown[] = []): Promise<number> {
  return execute(db.alone, statementOf(text, values));
}

function statementOf<Row>(text: string, values: readonly unknown[]): Statement<Row> {
  const strings = text.split('?');
  return sql<Row>(Object.assign(strings, { raw: strings }), ...values);
}
