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

/** Tables with a row that contains one of the texts, in this project if the table has projects. */
export async function tablesThatHold(db: Database, texts: readonly string[], projectId: string): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    db,
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const holding = [];
  for (const { name } of tables) {
    const all = await rows<Record<string, unknown>>(db, `select * from "${name}"`);
    const own = all.filter((row) => row['project_id'] === undefined || row['project_id'] === projectId);
    const contents = JSON.stringify(own).toLowerCase();
    if (texts.some((text) => contents.includes(text.toLowerCase()))) holding.push(name);
  }
  return holding;
}

function statementOf<Row>(text: string, values: readonly unknown[]): Statement<Row> {
  const strings = text.split('?');
  return sql<Row>(Object.assign(strings, { raw: strings }), ...values);
}
