import { lockedSignIns } from '../ceremonies/user-tables.ts';
import { recordsHeld } from '../directories/user-tables.ts';
import { isUuid } from '../kernel/secret.ts';
import { type Executing, type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import { type UseInProject, usesOf } from '../logout/uses.ts';
import { userTables } from '../nouns.ts';
import { keyIn } from '../projects/tenant.ts';
import { liveSessions } from '../sessions/sessions.ts';
import { lockedCodes } from '../tokens/user-tables.ts';
import { isUserIn, type Place, projectOf } from '../users/identity/home.ts';
import { recordSelection, type UserRecord, withInstants } from '../users/user-record.ts';
import { type ErasedUsers, type KeyedUser, removal } from '../users/user-tables.ts';

/**
 * SQL: settings until the transaction ends, for {@link erasure}. For a list of unknown length, PostgreSQL would plan
 * the whole statement again each time, which takes longer than running it. The one plan must not read whole tables, as
 * it would if they were small when it was made, or if most events have few actors.
 */
const plannedOnce = sql`set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)`;

/**
 * Locks users for {@link erasure}, then their sign-ins and codes, and holds back the writer of request records: the next
 * statement sees their writes. Returns them by id, without those that the place does not have. Joins the caller's
 * transaction.
 */
export async function heldForErasure(
  on: Executing,
  place: Place,
  userIds: readonly string[],
): Promise<Map<string, HeldUser>> {
  const ids = userIds.filter(isUuid);
  // The plan for one user is kept; for a list, PostgreSQL makes one each time.
  const isOne = ids.length === 1;
  const chosen = isOne ? sql`u.id = ${ids[0]}::uuid` : sql`u.id = any(${ids}::uuid[])`;
  const projectId = projectOf(place);
  const statement = sql<UserRecord & Pick<HeldUser, 'isGuest'>>`
    with r as materialized (
      select * from users u where ${isUserIn(place, 'u')} and ${chosen} order by u.id for no key update
    )
    select ${sql.raw(recordSelection)}, exists (select 1 from users g where g.project_id = r.project_id and g.account_id = r.id) as "isGuest",
      (select count(*) from (${lockedSignIns}) as s),
      (select count(*) from (${lockedCodes(sql`r`)}) as c), ${recordsHeld(projectId)},
      ${plannedOnce} from r`;
  const prepare = isOne ? 'accounts.hold-for-erasure' : 'accounts.hold-several-for-erasure';
  const rows = await query(on, statement, { prepare });
  return new Map(rows.map((row) => [row.id, { ...withInstants(row), ...keyIn(projectId, row.id) }]));
}

/** A locked user. */
export interface HeldUser extends KeyedUser {
  /** Whether directories of organizations have records of the user. */
  isGuest: boolean;
}

/** Sessions and uses of applications that an erasure ended. */
interface Erasure {
  /** The sessions that were open. */
  sessions: { id: string; userId: string }[];
  /** The applications that the users used. */
  uses: UseInProject[];
}

/**
 * SQL: deletes held users with everything that belongs to them, and writes `events`. One row. The parts run in the order of the
 * list, and the users go last: a step that waits for them holds no lock that this needs.
 */
export function erasure(erased: ErasedUsers, now: Date, events: Fragment): Statement<Erasure> {
  const parts = userTables.flatMap((tables) => tables.erase?.(erased, now) ?? []);
  const named = parts.map((part, at) => ({ name: sql.ref(`part_${at}`), part }));
  const done = named.map(({ name }) => sql`(select count(*) from ${name})`);
  const all = (rows: Fragment) => sql`(select coalesce(json_agg(x), '[]') from (${rows}) x)`;
  return sql<Erasure>`
    with ${sql.join(named.map(({ name, part }) => sql`${name} as (${part} returning 1)`))},
    ${removal(erased, sql`${sql.join(done, sql` + `)} >= 0`)},
    recorded as (${events})
    select ${all(liveSessions(erased.projectId, erased.ids))} as sessions,
      ${all(usesOf(erased.projectId, erased.ids))} as uses`;
}
