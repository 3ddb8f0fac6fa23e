import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, sql } from '../kernel/sql.ts';

/** Selects the events about a user. The origin of another person's action is personal data of that person. */
export function eventsAbout(projectId: string, userId: string): Fragment {
  const isOwn = sql`(e.actor_kind = 'anonymous' or e.actor_id = ${userId} and e.actor_kind = 'user')`;
  return sql`${columns(isOwn)} where e.project_id = ${projectId} and e.subject_id = ${userId}`;
}

/** Selects the events of a user's actions on anything but themselves. */
export function eventsBy(projectId: string, userId: string): Fragment {
  return sql`${columns(sql`true`)}
    where e.project_id = ${projectId} and e.actor_id = ${userId} and e.subject_id is distinct from ${userId}`;
}

function columns(showsOrigin: Fragment): Fragment {
  return sql`
    select e.id, e.at, e.type, e.result, e.actor_kind as "actorKind", e.actor_name as "actorName",
      e.subject_kind as "subjectKind", e.subject_id as "subjectId", e.client_id as "clientId", e.detail,
      case when ${showsOrigin} then e.ip end as ip, case when ${showsOrigin} then e.user_agent end as "userAgent"
    from audit_log e`;
}

/** Keeps the events under the user's id alone, without names, details and origins. */
export async function anonymizeEvents(em: EntityManager, userId: string): Promise<void> {
  await execute(
    em,
    sql`update audit_log set subject_name = null, detail = null,
          ip = case when actor_kind = 'anonymous' then null else ip end,
          user_agent = case when actor_kind = 'anonymous' then null else user_agent end
        where subject_kind = 'user' and subject_id = ${userId}`,
  );
  await execute(
    em,
    sql`update audit_log set actor_name = null, ip = null, user_agent = null
        where actor_kind in ('user', 'admin') and actor_id = ${userId}`,
  );
}
