import { X509Certificate } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { rootDigest } from '../credentials/attestation/models.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import type { PasskeyModels } from '../projects/passkey-models.ts';
import { byPasskey } from '../sessions/sessions.ts';

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
  const active = sql`select id from users where project_id = ${projectId} and active`;
  return sql`(${active} and sign_in_hour is not null order by sign_in_hour desc, id desc limit ${limit})
    union all (${active} and sign_in_hour is null order by id desc limit ${limit}) limit ${limit}`;
}

/** Each user's rows are looked up by index (`offset 0` keeps PostgreSQL from reading those of all users). */
export async function factorUsage(em: EntityManager, projectId: string, now: Date): Promise<FactorUsage> {
  const [counted] = await query(
    em,
    sql<FactorUsage>`with recent as materialized (${recentUsers(projectId, maxUsers + 1)})
      select count(*)::int as "activeUsers", (select count(*) > ${maxUsers} from recent) as "isLimited",
        count(*) filter (where f.totp or f.sms or f.email and p.email_factor or k.passkey and p.passkeys)::int as "withFactor",
        count(*) filter (where f.email)::int as "email", count(*) filter (where f.sms)::int as "sms",
        count(*) filter (where f.totp)::int as "totp", count(*) filter (where k.passkey)::int as "withPasskey",
        coalesce(sum(s.live), 0)::int as "sessionsWithoutPasskey"
      from projects p cross join (select id from recent limit ${maxUsers}) u
        cross join lateral (select coalesce(bool_or(e.method = 'email'), false) as email,
            coalesce(bool_or(e.method = 'sms' and e.phone is not null), false) as sms, coalesce(bool_or(e.method = 'totp'), false) as totp
          from enrolments e where e.project_id = p.id and e.user_id = u.id and e.verified_at is not null offset 0) f
        cross join lateral (select exists (select from credentials c where c.project_id = p.id and c.user_id = u.id
          and c.user_verified and c.revoked_at is null offset 0) as passkey) k
        cross join lateral (select count(*) as live from sessions s where s.project_id = p.id and s.user_id = u.id
          and s.ended_at is null and least(s.idle_expires_at, s.expires_at) > ${now}::timestamptz
          and not ${byPasskey(sql`s`)} offset 0) s
      where p.id = ${projectId}`,
  );
  if (!counted) throw new Error('an aggregate returned no row');
  return counted;
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
        and exists (select from api_keys a where a.project_id = c.project_id and a.client_id = c.id
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
