import { X509Certificate } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { rootDigest } from '../credentials/attestation/models.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { isByPasskey, meetsFactorPolicy, type UserFacts } from '../policy/session.ts';
import type { PasskeyModels } from '../projects/passkey-models.ts';
import { Project } from '../projects/project.entity.ts';
import { isLive } from '../sessions/sessions.ts';
import { toUserFacts, type UserFactsRow, userFacts } from '../sessions/user-facts.ts';

/** Maximum number of users whose rows are looked up one by one: a query for more would delay the page. */
const maxUsers = 5_000;

/** The effect of requiring second factors or passkeys in a project: numbers among {@link recentUsers}. */
export interface FactorUsage {
  activeUsers: number;
  /** Whether the project has more active users than those counted. */
  isLimited: boolean;
  /**
   * Users with a passkey or a factor that meets REQUIRED; email counts only if the project allows it as a factor, a
   * passkey if the project uses passkeys and it has verified its user.
   */
  withFactor: number;
  email: number;
  sms: number;
  totp: number;
  /** With a passkey that has verified them: the others create one at their next sign-in. */
  withPasskey: number;
  /** Live sessions that were not proved by a passkey: their users sign in again. */
  sessionsWithoutPasskey: number;
}

/** SQL: the active users who signed in last, then the newest of those who never did; at most `limit` (decisions/0233). */
function recentUsers(projectId: string, limit: number): Fragment {
  const active = sql`select id from users where project_id = ${projectId} and active and account_id is null`;
  return sql`(${active} and sign_in_hour is not null order by sign_in_hour desc, id desc limit ${limit})
    union all (${active} and sign_in_hour is null order by id desc limit ${limit}) limit ${limit}`;
}

/** Users with the same credentials. */
interface GroupRow extends UserFactsRow {
  users: number;
  is_limited: boolean;
}

/** Live sessions that were proved in the same way. */
interface SessionsRow {
  passkey_id: string | null;
  amr: string[];
  sessions: number;
}

/** Each user's rows are looked up by index (`offset 0` keeps PostgreSQL from reading those of all users). */
export async function factorUsage(em: EntityManager, projectId: string, now: Date): Promise<FactorUsage> {
  const project = await em.findOneOrFail(Project, projectId);
  const groups = await query(
    em,
    sql<GroupRow>`with recent as materialized (${recentUsers(projectId, maxUsers + 1)})
      select f.factors, f.holds_passkey, count(*)::int as users, (select count(*) > ${maxUsers} from recent) as is_limited
      from (select id from recent limit ${maxUsers}) u
        cross join lateral (select ${userFacts(projectId, sql`u.id`)} offset 0) f
      group by f.factors, f.holds_passkey`,
  );
  const sessions = await query(
    em,
    sql<SessionsRow>`select max(s.passkey_id::text) as passkey_id, s.amr, count(*)::int as sessions
      from (${recentUsers(projectId, maxUsers)}) u cross join lateral (select passkey_id, amr from sessions s
          where project_id = ${projectId} and user_id = u.id and ${isLive(project, now)} offset 0) s
      group by s.passkey_id is null, s.amr`,
  );
  const usersWho = (isCounted: (user: UserFacts) => boolean) =>
    sumOf(groups.map((row) => (isCounted(toUserFacts(row)) ? row.users : 0)));
  const required = { ...project, mfaPolicy: 'required' } as const;
  return {
    activeUsers: usersWho(() => true),
    isLimited: groups.some((row) => row.is_limited),
    withFactor: usersWho((user) => meetsFactorPolicy(user, required)),
    email: usersWho(({ factors }) => factors.includes('email')),
    sms: usersWho(({ factors }) => factors.includes('sms')),
    totp: usersWho(({ factors }) => factors.includes('totp')),
    withPasskey: usersWho(({ holdsPasskey }) => holdsPasskey),
    sessionsWithoutPasskey: sumOf(
      sessions.map((row) => (isByPasskey({ passkeyId: row.passkey_id, amr: row.amr }) ? 0 : row.sessions)),
    ),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

/**
 * Names of the applications with their own sign-in pages (SDK) that cannot use passkeys; an SDK that was never used has
 * no pages.
 */
export async function pagesWithoutPasskeys(em: EntityManager, projectId: string): Promise<string[]> {
  const clients = await query(
    em,
    sql<{ name: string }>`select c.name from clients c
      where c.project_id = ${projectId} and c.disabled_at is null and not c.related_origins
        and exists (select 1 from api_keys a where a.project_id = c.project_id and a.client_id = c.id
          and a.kind = 'publishable' and a.revoked_at is null and a.last_used_at is not null)
      order by c.name`,
  );
  return clients.map(({ name }) => name);
}

/** Numbers of {@link recentUsers} with passkeys that could not be created under a list of models. */
export interface PasskeyModelUsage {
  /** With at least one such passkey. */
  usersWithOthers: number;
  /** With no other passkey. */
  usersWithOnlyOthers: number;
}

/** Counts by the stored model; a passkey without attestation counts as the model that it claims. */
export async function passkeyModelUsage(
  em: EntityManager,
  projectId: string,
  { aaguids, roots }: PasskeyModels,
): Promise<PasskeyModelUsage> {
  const digests = roots.map((pem) => rootDigest(new X509Certificate(pem)));
  const [counted] = await query(
    em,
    sql<PasskeyModelUsage>`with recent as materialized (${recentUsers(projectId, maxUsers)})
      select count(*) filter (where k.others > 0)::int as "usersWithOthers",
        count(*) filter (where k.others > 0 and k.others = k.total)::int as "usersWithOnlyOthers"
      from recent u cross join lateral (select count(*) as total, count(*) filter (where not (
            (${aaguids.length === 0} or c.aaguid = any(${aaguids}::text[]))
            and (${roots.length === 0} or coalesce(c.attested_root = any(${digests}::text[]), false)))) as others
          from credentials c where c.project_id = ${projectId} and c.user_id = u.id and c.kind = 'passkey'
            and c.revoked_at is null offset 0) k`,
  );
  return counted ?? { usersWithOthers: 0, usersWithOnlyOthers: 0 };
}
