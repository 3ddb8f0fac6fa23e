import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, query, sql } from '../kernel/sql.ts';

/** Counts an erasure; waits for {@link lockErasures}. */
export async function countErasure(em: EntityManager, projectId: string): Promise<void> {
  await execute(em, sql`update projects set erasures = erasures + 1 where id = ${projectId}`);
}

/** The number of erasures by project. Waits for those in progress; later ones wait for the caller's transaction. */
export async function lockErasures(em: EntityManager, projectIds: readonly string[]): Promise<Map<string, number>> {
  const locked = await query(
    em,
    sql<{ id: string; erasures: number }>`
      select id, erasures from projects where id = any(${projectIds}::uuid[]) order by id for share`,
  );
  return new Map(locked.map(({ id, erasures }) => [id, erasures]));
}
