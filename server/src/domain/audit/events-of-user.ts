import { type Fragment, sql } from '../kernel/sql.ts';

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
      e.subject_kind as "subjectKind", e.subject_id as "subjectId", e.client_id as "clientId",
      nullif(e.detail - 'signInId', '{}') as detail,
      case when ${showsOrigin} then e.ip end as ip, case when ${showsOrigin} then e.user_agent end as "userAgent"
    from audit_log e`;
}

/**
 * SQL: two statements that keep the events under the users' ids alone, without names, details and origins. Each finds its
 * events by one index, and no event is in both.
 */
export function anonymizedEvents(userIds: readonly string[]): readonly Fragment[] {
  const isAbout = sql`subject_kind = 'user' and subject_id = any(${userIds}::text[])`;
  const isBy = sql`actor_kind in ('user', 'admin') and actor_id = any(${userIds}::text[])`;
  return [
    sql`update audit_log set subject_name = null, detail = null,
        actor_name = case when ${isBy} then null else actor_name end,
        ip = case when ${isBy} or actor_kind = 'anonymous' then null else ip end,
        user_agent = case when ${isBy} or actor_kind = 'anonymous' then null else user_agent end
      where ${isAbout}`,
    sql`update audit_log set actor_name = null, ip = null, user_agent = null where ${isBy} and (${isAbout}) is not true`,
  ];
}
