import { clientColumns, type EnteredClient, hasAccess, hasAccessTo } from '../access/has-access.ts';
import { isAllowed, isAllowedTo } from '../consents/consents.ts';
import { secondsLater } from '../kernel/clock.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';

/** Lifetime of an authorization code (decisions: 60 s). */
const codeTtlSeconds = 60;
/** After its expiry, the row outlives the longest access token: UserInfo checks it for revocation. */
const outliveSeconds = 3600 + 60;
export const rememberSeconds = codeTtlSeconds + outliveSeconds;

export const codeExpiry = (now: Date): Date => secondsLater(now, codeTtlSeconds);

/** A client whose version the statement checks. */
type VersionedClient = EnteredClient & { thirdParty: boolean };

/** A code to be inserted. */
export interface NewCode {
  /** Also the `jti` of its access token. */
  id: string;
  /** Absent: the statement reads the settings of the client. */
  client?: VersionedClient | undefined;
  /** SHA-256. */
  hash: string;
  now: Date;
  /** Absent: 60 s from now. */
  expiresAt?: Date;
}

/** The columns of a code (RFC 6749 §4.1.2): values, or SQL expressions over the rows of `from`. */
export interface CodeColumns {
  projectId: string | Fragment;
  clientId: string | Fragment;
  userId: string | Fragment;
  /** The SSO session, for the hosted page. */
  sessionId?: string | Fragment | undefined;
  /** The organization of its context; absent or null: none. */
  organizationId?: string | null | undefined;
  /** See `storedIssuer`; absent: the base issuer. */
  issuer?: string | null | undefined;
  /** Absent for codes of the browser SDK. */
  redirectUri?: string | undefined;
  codeChallenge?: string | Fragment | undefined;
  /** Thumbprint of the DPoP key that must redeem it; absent: any, or none. */
  dpopJkt?: string | undefined;
  /** Identifiers of APIs (RFC 8707); absent: none. */
  resources?: readonly string[] | undefined;
  scope: string;
  nonce?: string | undefined;
  authTime: Date | Fragment;
  amr: readonly string[] | Fragment;
  /** Absent or null: the default. */
  acr?: string | null | Fragment | undefined;
}

/**
 * SQL: inserts a code for the row of `from`, at most one. Inserts none if the user has no access to the client, or has not
 * consented to the scope of a third-party one. All codes are inserted here.
 */
export function insertedCode(
  { id, client, hash, now, expiresAt = codeExpiry(now) }: NewCode,
  of: CodeColumns,
  from: Fragment = sql``,
): Fragment {
  const organization = of.organizationId ?? null;
  const [name, value] =
    organization === null ? [sql``, sql``] : [sql`, organization_id`, sql`, ${organization}::uuid as organization_id`];
  const organizationId = organization === null ? null : sql`n.organization_id`;
  const mayHave = client
    ? mayHaveCodeOf(client, organizationId)
    : mayHaveCode(organizationId, allowedIn(organizationId));
  return sql`insert into authorization_codes (project_id, id, hash, client_id, user_id, session_id, issuer, redirect_uri, code_challenge,
      dpop_jkt, resources, scope, nonce, auth_time, amr, acr, created_at, expires_at, forget_at${name})
    select n.* from (select ${of.projectId}::uuid as project_id, ${id}::uuid as id, ${hash}::text as hash,
        ${of.clientId}::uuid as client_id, ${of.userId}::uuid as user_id, ${of.sessionId ?? null}::uuid as session_id,
        ${of.issuer ?? null}::text as issuer, ${of.redirectUri ?? null}::text as redirect_uri,
        ${of.codeChallenge ?? null}::text as code_challenge, ${of.dpopJkt ?? null}::text as dpop_jkt,
        ${[...(of.resources ?? [])]}::text[] as resources, ${of.scope}::text as scope, ${of.nonce ?? null}::text as nonce,
        ${of.authTime}::timestamptz as auth_time, ${of.amr}::text[] as amr, ${of.acr ?? null}::text as acr,
        ${now}::timestamptz as created_at, ${expiresAt}::timestamptz as expires_at,
        ${secondsLater(expiresAt, outliveSeconds)}::timestamptz as forget_at${value}
      ${from}) n
    where ${mayHave}`;
}

/** Whether the user of a code has access to its client. */
export async function userHasAccess(on: Executing, of: CodeColumns): Promise<boolean> {
  const organization = of.organizationId ?? null;
  const entered = mayHaveCode(organization === null ? null : sql`${organization}::uuid`);
  const entering = sql`select ${entered} as may from (select ${of.projectId}::uuid as project_id, ${of.clientId}::uuid as client_id,
    ${of.userId}::uuid as user_id) n`;
  const [row] = await query(on, sql<{ may: boolean }>`${entering}`);
  return row?.may === true;
}

/** SQL condition: the client of code `n` exists, and its user has access to it. @param also condition on client `k` */
function mayHaveCode(organizationId: Fragment | null, also: Fragment = sql`true`): Fragment {
  const context = { organizationId, areEnabled: organizationId !== null };
  return sql`exists (select 1 from clients k where k.project_id = n.project_id and k.id = n.client_id
    and ${hasAccess({ ...clientColumns, context, userId: sql`n.user_id` })} and ${also})`;
}

/** The same for a client whose version the statement checks, and with the consent of the user. */
function mayHaveCodeOf(client: VersionedClient, organizationId: Fragment | null): Fragment {
  const asked = { scope: sql`n.scope`, resources: sql`n.resources`, organizationId };
  return sql`${hasAccessTo(client, sql`n.user_id`, organizationId)} and ${isAllowedTo(client, sql`n.user_id`, asked)}`;
}

function allowedIn(organizationId: Fragment | null): Fragment {
  return isAllowed({
    isThirdParty: sql`k.third_party`,
    ...{ projectId: sql`n.project_id`, clientId: sql`n.client_id`, userId: sql`n.user_id` },
    ...{ scope: sql`n.scope`, resources: sql`n.resources`, organizationId },
  });
}
