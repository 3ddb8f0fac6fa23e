import type { EntityManager } from '@mikro-orm/postgresql';
import { OperatorError } from '../../domain/kernel/problem.ts';
import { execute, sql } from '../../domain/kernel/sql.ts';
import { migrations } from '../../migrations/index.ts';
import { appliedMigrations } from './table-copy.ts';

/** The migration that creates the schema of release 1.0. */
const baseline = (migrations[0] as (typeof migrations)[number]).name;
/** The last migration before it, which leads to the same schema, and its commit. */
const last = { name: '20261129001700-search-fold', commit: '5ffac69' };

/**
 * The migrations since the baseline that these amount to. Throws for those of a commit that lacks some of the migrations
 * before release 1.0.
 *
 * @param of names the database or the backup
 */
export function sinceBaseline(applied: readonly string[], of: string): string[] {
  if (applied.length === 0) return [];
  if (!applied.includes(baseline) && !applied.includes(last.name)) {
    throw new OperatorError(
      `${of} is older than release 1.0: start commit ${last.commit} with it once, and then this release`,
    );
  }
  return [baseline, ...applied.filter((name) => name > baseline)];
}

/** Records the baseline in a database that has the schema of release 1.0 already. Throws for an older one. */
export async function adoptBaseline(em: EntityManager): Promise<void> {
  const applied = (await appliedMigrations(em)) ?? [];
  if (sinceBaseline(applied, 'the database').length === 0 || applied.includes(baseline)) return;
  await execute(em, sql`insert into migrations (name, executed_at) values (${baseline}, now())`);
}
