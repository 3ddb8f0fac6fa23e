import type { Database } from '../../domain/kernel/database.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';

/** Larger tables are left to PostgreSQL's autovacuum, which runs once a minute. */
const largestRows = 100_000;
/** Rows at which the statistics are renewed: 20, then three times as many as they were computed from. */
const leastRows = 20;
const leastGrowth = 3;

/**
 * Renews the planner's statistics of tables that grow quickly from nothing. All keys begin with the project, so without
 * statistics the planner considers all indexes of a table equally good, and a prepared statement keeps its plan until
 * they change (decisions/0087). Changes that keep the size of a table are left to autovacuum: records of requests are
 * replaced all the time. Runs every few seconds in each process; the cost while nothing changes is one query.
 */
export async function renewStatistics(db: Database): Promise<void> {
  const outdated = await query(
    db.alone,
    sql<{ name: string }>`
      select s.relname as name from pg_stat_user_tables s join pg_class c on c.oid = s.relid
      where s.schemaname = current_schema() and c.reltuples < ${largestRows}
        and s.n_mod_since_analyze >= ${leastRows}
        and s.n_live_tup >= greatest(${leastRows}::float8, ${leastGrowth}::float8 * c.reltuples)`,
    { prepare: 'statistics.outdated' },
  );
  for (const { name } of outdated) await execute(db.alone, sql`analyze ${sql.id(name)}`);
}
