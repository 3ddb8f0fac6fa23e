import { digest } from '../kernel/secret.ts';
import { type Fragment, type Statement, sql } from '../kernel/sql.ts';
import type { Impersonation } from './session.entity.ts';

/**
 * `secret_hash` of a session that is an impersonation. No digest of another cookie equals it: its secret opens no account page, and signs
 * in to no other application.
 *
 * @param kind `link`: the link that begins it, single use; `cookie`: the browser that opened it
 */
export function impersonationHash(kind: 'link' | 'cookie', secret: string): string {
  return `impersonation-${kind}:${digest(secret)}`;
}

/** What the tokens of an impersonation say and how long they live; null: the session is the user's own. */
export interface ImpersonationRow {
  /** `until`: seconds since 1970. */
  impersonation?: (Pick<Impersonation, 'act' | 'adminId'> & { until: number }) | null;
}

/** SQL: the column of {@link ImpersonationRow}. @param sessionId a column or value */
export function impersonationColumn(projectId: Fragment, sessionId: Fragment): Fragment {
  return sql`(select jsonb_build_object('act', s.impersonation -> 'act', 'adminId', s.impersonation ->> 'adminId',
      'until', floor(extract(epoch from s.expires_at)))
    from sessions s where s.project_id = ${projectId} and s.id = ${sessionId} and s.impersonation is not null) as impersonation`;
}

/** A session of an impersonation, to be inserted. It ends at `linkUntil` unless its link is opened. */
export interface NewImpersonation {
  projectId: string;
  id: string;
  userId: string;
  /** See {@link impersonationHash}. */
  linkHash: string;
  /** The custom domain that its cookie is for; null: the base host. */
  domain: string | null;
  /** Of the admin's own sign-in. */
  amr: readonly string[];
  freshAt: Date;
  impersonation: Impersonation;
  now: Date;
  linkUntil: Date;
  expiresAt: Date;
  ip: string | undefined;
  userAgent: string | undefined;
}

/** SQL: inserts the session. */
export function newImpersonation(of: NewImpersonation): Fragment {
  return sql`insert into sessions (project_id, id, user_id, domain, secret_hash, auth_time, fresh_at, amr, impersonation, created_at,
      last_seen_at, idle_expires_at, expires_at, ip, user_agent)
    values (${of.projectId}::uuid, ${of.id}::uuid, ${of.userId}::uuid, ${of.domain}::text, ${of.linkHash}::text,
      ${of.freshAt}::timestamptz, ${of.freshAt}::timestamptz, ${[...of.amr]}::text[], ${JSON.stringify(of.impersonation)}::jsonb, ${of.now}::timestamptz,
      ${of.now}::timestamptz, ${of.linkUntil}::timestamptz, ${of.expiresAt}::timestamptz, ${of.ip ?? null}::text,
      ${of.userAgent ?? null}::text)`;
}

/** SQL: exchanges the link for the cookie of one browser; single use. */
export function openedImpersonation(
  projectId: string,
  { linkHash, cookieHash, now }: { linkHash: string; cookieHash: string; now: Date },
): Statement<{ clientId: string; expiresAt: string }> {
  return sql<{ clientId: string; expiresAt: string }>`update sessions set secret_hash = ${cookieHash}::text,
      last_seen_at = ${now}::timestamptz, idle_expires_at = expires_at
    where project_id = ${projectId}::uuid and secret_hash = ${linkHash}::text and ended_at is null
      and idle_expires_at > ${now}::timestamptz and expires_at > ${now}::timestamptz
    returning impersonation ->> 'clientId' as "clientId", expires_at as "expiresAt"`;
}

/** SQL: the live impersonation of a cookie, at this client, while the project allows them. */
export function heldImpersonation(
  projectId: string,
  { cookieHash, clientId, now }: { cookieHash: string; clientId: string; now: Date },
): Statement<Pick<Impersonation, 'adminId' | 'organizationId'>> {
  return sql<Pick<Impersonation, 'adminId' | 'organizationId'>>`select s.impersonation ->> 'adminId' as "adminId",
      s.impersonation ->> 'organizationId' as "organizationId"
    from sessions s
    where s.project_id = ${projectId}::uuid and s.secret_hash = ${cookieHash}::text and s.ended_at is null
      and s.expires_at > ${now}::timestamptz and s.impersonation ->> 'clientId' = ${clientId}::text
      and exists (select 1 from projects p where p.id = ${projectId}::uuid and p.impersonation)`;
}
