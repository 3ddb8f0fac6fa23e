import { type Fragment, sql } from '../kernel/sql.ts';
import type { EventType } from './event-types.ts';

/** Kinds of subjects that belong to a user, whom the `userId` of the detail names. */
const ownedKinds = ['device', 'passkey', 'session', 'membership', 'setup-link'];
/** Types of the events about an admin, of any project. Few: they are found by their type. */
const ofAdmins: readonly EventType[] = ['membership.granted', 'membership.revoked', 'setup-link.used'];
/** SQL: a detail without names, and without the id of the sign-in, which would link to its other events. */
const bareDetail = sql`detail - array['before', 'after', 'signInId']`;

/**
 * Selects the events about a user, and those about their devices, passkeys and sessions that are not their own actions. The
 * origin of another person's action is personal data of that person.
 *
 * @param owned selects the ids of the user's devices, passkeys and sessions, as text
 */
export function eventsAbout(projectId: string, userId: string, owned: Fragment): Fragment {
  const isOwn = sql`(e.actor_kind = 'anonymous' or e.actor_id = ${userId} and e.actor_kind = 'user')`;
  return sql`${columns(isOwn)} where e.project_id = ${projectId}
    and e.subject_id = any(array(select ${userId}::text union ${owned} union ${usedBy([userId])}))
    and (e.subject_id = ${userId} or e.subject_kind = any(${ownedKinds}::text[]) and e.detail->>'userId' = ${userId}
      and e.actor_id is distinct from ${userId})`;
}

/** Selects the events of a user's actions, except those on themselves. */
export function eventsBy(projectId: string, userId: string): Fragment {
  return sql`${columns(sql`true`)}
    where e.project_id = ${projectId} and e.actor_id = ${userId} and e.subject_id is distinct from ${userId}`;
}

/** SQL: the ids of the users' devices and passkeys, from events: the row of a device may have been deleted. */
function usedBy(userIds: readonly string[]): Fragment {
  return sql`select coalesce(detail->>'deviceId', detail->>'passkeyId') from audit_log
    where subject_kind = 'user' and subject_id = any(${userIds}::text[])`;
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
 * SQL: statements that reduce the events to the users' ids, without names, details and origins. Each finds its events
 * by one index, and no event is in two of them.
 *
 * @param owned selects the ids of the users' devices, passkeys and sessions, as text
 */
export function anonymizedEvents(
  { projectId, ids: userIds }: { projectId: string; ids: readonly string[] },
  owned: Fragment,
): readonly Fragment[] {
  const ids = sql`${userIds}::text[]`;
  const ofProject = sql`project_id = ${projectId}::uuid`;
  const isAbout = sql`subject_kind = 'user' and subject_id = any(${ids})`;
  const isBy = sql`actor_kind in ('user', 'admin') and actor_id = any(${ids})`;
  const isOwned = sql`subject_kind = any(${ownedKinds}::text[]) and detail->>'userId' = any(${ids})`;
  // Events of the sign-in that created the user, whose address belonged to no user until then. Ids contain times; `offset`
  // keeps the planner from reading the whole log.
  const early = sql`select e.id from (
      select id as created, detail->>'signInId' as sign_in from audit_log
      where ${isAbout} and ${ofProject} and type = 'user.created' and detail->>'signInId' is not null
    ) c cross join lateral (
      select id from audit_log where ${ofProject} and id > sign_in::uuid and id < created
        and detail->>'signInId' = sign_in and subject_kind = 'address' and actor_kind in ('anonymous', 'system') offset 0
    ) e`;
  const areAdmins = sql`(select built_in = 'console' from projects where id = ${projectId}::uuid)`;
  return [
    sql`update audit_log set subject_name = null, detail = null,
        actor_name = case when ${isBy} then null else actor_name end,
        ip = case when ${isBy} or actor_kind = 'anonymous' then null else ip end,
        user_agent = case when ${isBy} or actor_kind = 'anonymous' then null else user_agent end
      where ${isAbout}`,
    sql`update audit_log set actor_name = null, ip = null, user_agent = null,
        subject_name = case when ${isOwned} then null else subject_name end,
        detail = case when ${isOwned} then ${bareDetail} else detail end
      where ${isBy} and (${isAbout}) is not true`,
    sql`update audit_log set subject_name = null, detail = ${bareDetail},
        ip = case when actor_kind = 'anonymous' then null else ip end,
        user_agent = case when actor_kind = 'anonymous' then null else user_agent end
      where subject_id = any(array(${owned} union ${usedBy(userIds)})) and type <> all(${ofAdmins}::text[])
        and ${isOwned} and (${isBy}) is not true`,
    sql`update audit_log set subject_kind = null, subject_id = null, subject_name = null, detail = null, ip = null,
        user_agent = null
      where ${ofProject} and id = any(array(${early}))`,
    sql`update audit_log set subject_name = null,
        actor_name = case when actor_kind = 'setup-link' then null else actor_name end,
        ip = case when actor_kind in ('setup-link', 'anonymous') then null else ip end,
        user_agent = case when actor_kind in ('setup-link', 'anonymous') then null else user_agent end
      where ${areAdmins} and type = any(${ofAdmins}::text[]) and ${isOwned} and (${isBy}) is not true`,
  ];
}
