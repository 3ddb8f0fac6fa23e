import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../kernel/sql.ts';

export interface ProjectUsage {
  users: number;
  clients: number;
  /** Time of the newest event of the project. */
  lastActivityAt: Date | null;
}

/** Usage by project id; one index lookup per number, so the cost does not depend on the number of users and events. */
export async function projectUsage(
  em: EntityManager,
  projectIds: readonly string[],
): Promise<Map<string, ProjectUsage>> {
  const rows = await query(
    em,
    sql<{ id: string; users: number; clients: number; at: string | null }>`
      select p.id, (select coalesce(sum(users), 0)::int from user_counts where project_id = p.id) as users,
        (select count(*)::int from clients where project_id = p.id) as clients,
        (select to_json(at) #>> '{}' from audit_log where project_id = p.id order by id desc limit 1) as at
      from unnest(${[...projectIds]}::uuid[]) p(id)`,
  );
  return new Map(
    rows.map(({ id, users, clients, at }) => [
      id,
      { users, clients, lastActivityAt: at === null ? null : new Date(at) },
    ]),
  );
}
