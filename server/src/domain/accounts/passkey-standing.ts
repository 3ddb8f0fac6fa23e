import { X509Certificate } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { rootDigest } from '../credentials/attestation/models.ts';
import { query, sql } from '../kernel/sql.ts';
import type { PasskeyModels } from '../projects/passkey-models.ts';
import { byPasskey } from '../sessions/sessions.ts';

/** What a project would change by requiring passkeys. */
export interface PasskeyStanding {
  /** Active users with a passkey that has verified them: the others create one at their next sign-in. */
  withPasskey: number;
  /** Live sessions that were not proved by a passkey: they sign in again. */
  sessionsWithoutPasskey: number;
  /** Names of the applications with own sign-in pages (SDK) that cannot use passkeys. */
  pagesWithoutPasskeys: string[];
}

/** Counted now; a browser SDK that was never used has no pages. */
export async function passkeyStanding(em: EntityManager, projectId: string, now: Date): Promise<PasskeyStanding> {
  const [counted] = await query(
    em,
    sql<PasskeyStanding>`select
      (select count(distinct u.id)::int from users u join credentials k on k.project_id = u.project_id and k.user_id = u.id
        where u.project_id = ${projectId} and u.active and k.user_verified and k.revoked_at is null) as "withPasskey",
      (select count(*)::int from sessions s join users u on u.project_id = s.project_id and u.id = s.user_id
        where s.project_id = ${projectId} and u.active and s.ended_at is null
          and least(s.idle_expires_at, s.expires_at) > ${now}::timestamptz
          and not ${byPasskey(sql`s`)}) as "sessionsWithoutPasskey",
      (select coalesce(array_agg(c.name order by c.name), '{}') from clients c
        where c.project_id = ${projectId} and c.disabled_at is null and not c.related_origins
          and exists (select from api_keys a where a.project_id = c.project_id and a.client_id = c.id
            and a.kind = 'publishable' and a.revoked_at is null and a.last_used_at is not null)) as "pagesWithoutPasskeys"`,
  );
  return counted ?? { withPasskey: 0, sessionsWithoutPasskey: 0, pagesWithoutPasskeys: [] };
}

/** Active users by passkeys that could not be created under a list of models. */
export interface PasskeyModelStanding {
  /** With at least one such passkey. */
  usersWithOthers: number;
  /** With no other passkey. */
  usersWithOnlyOthers: number;
}

/** Counted by the stored models: of a passkey without attestation, the one that it claims. */
export async function passkeyModelStanding(
  em: EntityManager,
  projectId: string,
  { aaguids, roots }: PasskeyModels,
): Promise<PasskeyModelStanding> {
  const digests = roots.map((pem) => rootDigest(new X509Certificate(pem)));
  const [counted] = await query(
    em,
    sql<PasskeyModelStanding>`select count(*) filter (where others > 0)::int as "usersWithOthers",
        count(*) filter (where others = total)::int as "usersWithOnlyOthers"
      from (select count(*) as total, count(*) filter (where not (
            (${aaguids.length === 0} or k.aaguid = any(${aaguids}::text[]))
            and (${roots.length === 0} or coalesce(k.attested_root = any(${digests}::text[]), false)))) as others
          from users u join credentials k on k.project_id = u.project_id and k.user_id = u.id
          where u.project_id = ${projectId} and u.active and k.kind = 'passkey' and k.revoked_at is null
          group by u.id) users`,
  );
  return counted ?? { usersWithOthers: 0, usersWithOnlyOthers: 0 };
}
