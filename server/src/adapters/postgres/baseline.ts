import type { EntityManager } from '@mikro-orm/postgresql';
import { OperatorError } from '../../domain/kernel/problem.ts';
import { execute, sql } from '../../domain/kernel/sql.ts';
import { migrations } from '../../migrations/index.ts';
import { appliedMigrations } from './table-copy.ts';

/** The migration that creates the schema of release 1.0. */
const baseline = (migrations[0] as (typeof migrations)[number]).name;
/** The last migration before it, which leads to the same schema. */
const last = '20261129001700-search-fold';
/** The commit with `last`: it upgrades databases from before release 1.0. */
export const upgradingCommit = '5ffac69';

/** The migrations of this release that these amount to; null for those of a commit before {@link upgradingCommit}. */
export function sinceBaseline(applied: readonly string[]): string[] | null {
  if (applied.length === 0) return [];
  if (!applied.includes(baseline) && !applied.includes(last)) return null;
  return [baseline, ...applied.filter((name) => name > baseline)];
}

/** Records the baseline in a database that has the schema of release 1.0 already. Throws for an older one. */
export async function adoptBaseline(em: EntityManager): Promise<void> {
  const applied = (await appliedMigrations(em)) ?? [];
  if (!sinceBaseline(applied)) {
    throw new OperatorError(
      `It is older than release 1.0. Start commit ${upgradingCommit} with it once, then this release.`,
    );
  }
  if (applied.length === 0 || applied.includes(baseline)) return;
  await execute(em, sql`insert into migrations (name, executed_at) values (${baseline}, now())`);
}
