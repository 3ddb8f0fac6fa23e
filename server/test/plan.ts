import type { Database } from '../src/domain/kernel/database.ts';
import { execute, type Statement, sql } from '../src/domain/kernel/sql.ts';

/** Copies a row of a table two thousand times. `changes` are SQL expressions by column; `n` is the number of the copy. */
export async function multiply(db: Database, table: string, changes: Record<string, string>): Promise<void> {
  const values = Object.entries(changes).map(([column, value]) => `'${column}', ${value}`);
  await execute(
    db.alone,
    sql`insert into ${sql.table(table)}
      select (jsonb_populate_record(t, jsonb_build_object(${sql.raw(values.join(', '))}))).*
      from ${sql.table(table)} t, generate_series(1, 2000) n
      where t.id = (select id from ${sql.table(table)} order by id desc limit 1)`,
  );
}

/**
 * The lines of the plan that PostgreSQL makes for all parameters of a statement.
 *
 * @param settings SQL that runs before, in the same transaction
 */
export async function genericPlan(db: Database, statement: Statement<unknown>, settings?: string): Promise<string[]> {
  const { sql: text, parameters } = statement.compile(db.alone.getKysely());
  return db.transaction(async (em) => {
    await em.execute('analyze');
    await em.execute('set local plan_cache_mode = force_generic_plan');
    if (settings) await em.execute(settings);
    await em.execute(`prepare planned as ${text}`);
    const nulls = parameters.map(() => 'null').join(', ');
    const plan = await em.execute<{ 'QUERY PLAN': string }[]>(`explain execute planned(${nulls})`);
    await em.execute('deallocate planned');
    return plan.map((line) => line['QUERY PLAN']);
  });
}

/** The index conditions by table, or by index for a bitmap scan, in the {@link genericPlan} of a statement. */
export async function indexConditions(db: Database, statement: Statement<unknown>): Promise<Record<string, string[]>> {
  const lines = await genericPlan(db, statement);
  const found: Record<string, string[]> = {};
  lines.forEach((line, at) => {
    const table = /(?:Index (?:Only )?Scan using \S+|Bitmap Index Scan) on (\w+)/.exec(line)?.[1];
    const condition = /Index Cond: (.*)/.exec(lines[at + 1] ?? '')?.[1] ?? 'none';
    if (table) (found[table] ??= []).push(condition.replace(/\$\d+/g, '?'));
  });
  return found;
}
