import { hasAccessTo } from '../../access/has-access.ts';
import { missesTarget } from '../../apis/token-target.ts';
import { eventOfClient } from '../../audit/audit.ts';
import type { Client } from '../../clients/client.entity.ts';
import { obtainedWith } from '../../clients/credential-of-tokens.ts';
import { hasKey, hasProof } from '../../clients/dpop/binding.ts';
import type { NameIdKind } from '../../clients/saml/saml.resource.ts';
import { isAllowedTo } from '../../consents/consents.ts';
import { seconds } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { type Fragment, type Statement, sql } from '../../kernel/sql.ts';
import { strictest } from '../../policy/organization.ts';
import { storedIssuer } from '../../projects/issuer.ts';
import { impersonationColumn } from '../../sessions/impersonation.ts';
import { participation } from '../../sessions/sessions.ts';
import { type FoundCode, type HeldFacts, heldKey } from '../held-facts.ts';
import { firstToken, type RefreshToken } from '../refresh-token.ts';
import { isSignInUnchanged, meetsPolicies, proofOf, type SignInFactsRow, signInFacts } from '../sign-in-facts.ts';
import {
  authorizedBy,
  type Check,
  type Credentials,
  type GrantKind,
  isGranteeUnchanged,
  isUnchanged,
  organizationColumn,
  presented,
  type Recorded,
  targetOf,
  type UserGrantRequest,
  userColumns,
} from './grant.ts';

/**
 * `none`: only `client_id`. `api-key`: its secret key. `secret`: its client secret. `assertion`: `private_key_jwt`.
 * `trial`: none; a trial sign-in from the console.
 */
type ClientAuthentication = 'none' | 'api-key' | 'secret' | 'assertion' | 'trial';

/** A token request with `grant_type=authorization_code` (RFC 6749 §4.1.3). Its issuer must have issued the code. */
export interface Exchange extends UserGrantRequest {
  code: string;
  codeVerifier: string | undefined;
  redirectUri: string | undefined;
  /** Authentication of the client; SDK codes need `api-key` or `assertion`. */
  authenticatedBy: ClientAuthentication;
  /** Whether the sign-in must meet the policies of now, as for a device: its user may have approved it minutes ago. */
  checksPolicy?: boolean;
  /** The NameID that a SAML application receives instead of tokens; its participation records it for the logout. */
  samlNameId?: NameIdKind;
}

const checks: readonly Check<Exchange, FoundCode>[] = [
  ['wrong-client', (code, { client }) => code.client_id === client.id], // RFC 6749 §4.1.3
  ['used', (code) => code.used_at === null], // RFC 6749 §4.1.2: its tokens are revoked
  ['policy', (code, { checksPolicy, client }) => !checksPolicy || isSufficient(code, client)], // RFC 6749 §5.2
  ['expired', (code, _, now) => new Date(code.expires_at) > now], // RFC 6749 §4.1.2
  ['wrong-issuer', (code, { issuer }) => code.issuer === storedIssuer(issuer)], // RFC 9207 §2
  ['wrong-redirect-uri', (code, { redirectUri }) => code.redirect_uri === (redirectUri ?? null)], // RFC 6749 §4.1.3
  ['wrong-authentication', isAuthenticated], // RFC 6749 §3.2.1
  ['missing-verifier', (code, { codeVerifier }) => code.code_challenge === null || codeVerifier !== undefined], // RFC 7636 §4.6
  ['unexpected-verifier', (code, { codeVerifier }) => code.code_challenge !== null || codeVerifier === undefined], // RFC 9700 §2.1.1
  [
    'wrong-verifier',
    (code, { codeVerifier = '' }) => code.code_challenge === null || code.code_challenge === digest(codeVerifier),
  ], // RFC 7636 §4.6
  ['target', (code, { resource }) => !missesTarget(code.resources, resource)], // RFC 8707 §2.2
  ['api-not-granted', (code) => code.resources.length === 0 || code.audience != null], // RFC 8707 §2
  ['missing-proof', (code, { proof }) => hasProof(code.dpop_jkt, proof)], // RFC 9449 §10
  ['wrong-proof-key', (code, { proof }) => hasKey(code.dpop_jkt, proof)], // RFC 9449 §10
  ['no-access', (code) => code.has_access], // RFC 6749 §5.2
  ['no-consent', (code) => code.is_allowed], // OpenID Connect Core §3.1.2.4
  ['user', (code) => code.user_is_active], // RFC 6749 §5.2
  ['session-ended', (code) => code.session_id === null || code.session_is_live === true], // RFC 6749 §5.2
  ['session-ended', ({ impersonation }, _, now) => !impersonation || impersonation.until > seconds(now)], // RFC 6749 §5.2
  ['revoked', (code) => code.revoked_at === null], // RFC 6749 §5.2
];

function isSufficient(code: FoundCode, client: Client): boolean {
  return (
    hasSignIn(code) &&
    meetsPolicies(proofOf(code), code, client, strictest(client.project.getEntity(), code.organization ?? null))
  );
}

/** Whether the sign-in was read. */
const hasSignIn = (code: FoundCode): code is FoundCode & SignInFactsRow => code.factors !== undefined;

/** A code of the SDK, without a redirect URI, needs a credential; one of /authorize the client's registered method. */
function isAuthenticated(code: FoundCode, { authenticatedBy: by, client }: Exchange): boolean {
  if (code.redirect_uri === null) return by !== 'none';
  return client.tokenEndpointAuthMethod === 'none' || by === 'assertion' || by === 'secret' || by === 'trial';
}

/**
 * Redeems a code (RFC 6749 §4.1.3, RFC 7636 §4.6); single use. A replay by its client revokes its tokens (§4.1.2); one by
 * another client ends nothing.
 */
export function authorizationCode({
  random,
  held,
}: {
  random: Random;
  held: HeldFacts['codes'];
}): GrantKind<Exchange, FoundCode> {
  return {
    name: 'tokens.code',
    held: ({ client, code, checksPolicy }) =>
      checksPolicy ? null : held.take(heldKey(client.project.id, digest(code))),
    read: readCode,
    checks,
    dead: ['wrong-client', 'used', 'expired'],
    decide(exchange, code, now) {
      const { client, proof } = exchange;
      const refresh =
        mayRefresh(exchange) && !code.impersonation ? { id: random.id(), token: firstToken(random) } : undefined;
      return {
        grant: { client, row: code, codeId: code.id, nonce: code.nonce, jkt: proof?.jkt ?? null },
        refreshToken: refresh?.token.text,
        record: (credentials) => recordCode(exchange, code, { eventId: random.id(), refresh, credentials, now }),
      };
    },
    replay: {
      type: 'code.replayed',
      familyOf: (code) => ({ userId: code.user_id, grantId: code.grant_id, tokenId: code.id }),
    },
  };
}

/** The code is found by its hash, its user and session by their keys: plans that were made for empty tables stay good (0087). */
export function readCode(exchange: Exchange): Statement<FoundCode> {
  const { checksPolicy, client, code, issuer } = exchange;
  const project = sql`${client.project.id}::uuid`;
  const hasApis = issuer.capabilities.apis;
  return sql<FoundCode>`with code as materialized (
      select id, client_id, user_id, session_id, organization_id, issuer, redirect_uri, code_challenge, dpop_jkt, resources, scope, nonce, auth_time,
        amr, acr, grant_id, expires_at, used_at, revoked_at
      from authorization_codes where project_id = ${project} and hash = ${digest(code)}::text
    )${hasApis ? sql`, target as materialized (${targetOf(exchange, sql`code`)})` : sql``}
    select code.*, ${userColumns},
      (select s.ended_at is null from sessions s where s.project_id = ${project} and s.id = code.session_id) as session_is_live,
      ${hasAccessTo(client, sql`code.user_id`, sql`code.organization_id`)} as has_access, ${isAllowedTo(client, sql`code.user_id`, authorizedBy('code'))} as is_allowed${checksPolicy ? sql`, ${signInFacts(client.project.getEntity(), sql`code.organization_id`)}` : sql``}${hasApis ? sql`, ${impersonationColumn(project, sql`code.session_id`)}, target.*` : sql``}
    from code join users u on u.project_id = ${project} and u.id = code.user_id
      ${checksPolicy ? sql`left join sessions s on s.project_id = ${project} and s.id = code.session_id` : sql``}
      ${hasApis ? sql`left join target on true` : sql``}`;
}

interface Recording {
  eventId: string;
  /** The grant to be written, and its first token. */
  refresh: { id: string; token: RefreshToken } | undefined;
  credentials: Credentials;
  now: Date;
}

/**
 * Redeems the code that was read, if nothing has changed since. A deactivation or logout revokes the codes after it has changed
 * user or session, so that it waits for a redemption that did not see the change.
 */
export function recordCode(
  exchange: Exchange,
  code: FoundCode,
  { eventId, refresh, credentials, now }: Recording,
): Statement<Recorded> {
  const { ctes, columns, hold } = presented(exchange, credentials);
  const participated = participation(redeemed, now, exchange.samlNameId);
  const by = code.impersonation && { detail: { impersonatorId: code.impersonation.adminId } };
  const event = { id: eventId, at: now, type: 'token.issued', actor: exchange.actor, ...by } as const;
  return sql<Recorded>`with ${ctes},
    redeemed as (
      update authorization_codes c set used_at = ${now}::timestamptz, grant_id = ${refresh?.id ?? null}::uuid,
        credential = ${obtainedWith(exchange)}::text
      from users u
      where c.project_id = ${exchange.client.project.id}::uuid and c.id = ${code.id}::uuid and c.used_at is null
        and c.revoked_at is null and ${hold} and ${isUnchanged(exchange, code)} and ${isGranteeUnchanged(code)}
        ${hasSignIn(code) ? sql`and ${isSignInUnchanged(exchange.client.project.getEntity(), code, code.session_id)}` : sql``}
      returning c.project_id, c.client_id, c.user_id, c.session_id, c.issuer, c.resources, c.scope, c.auth_time, c.amr, c.acr, u.user_name
    ),
    renewed as (${participated.renewed}), added as (${participated.added}),
    ${refresh ? sql`granted as (${refreshGrant(refresh, exchange, code, now)}),` : sql``}
    event as (${eventOfClient(event, redeemed)})
    select ${columns}, exists (select 1 from redeemed) as is_recorded`;
}

function refreshGrant(
  { id, token }: NonNullable<Recording['refresh']>,
  { proof }: Exchange,
  { organization_id }: FoundCode,
  now: Date,
): Fragment {
  const { name, value } = organizationColumn(organization_id);
  const isIn = organization_id !== null;
  const connected = isIn ? sql`, connected_organization_id` : sql``;
  const connection = sql`, (select ${organization_id}::uuid from sessions s where s.project_id = redeemed.project_id
    and s.id = redeemed.session_id and s.connected ->> ${organization_id}::text is not null)`;
  return sql`insert into refresh_grants (project_id, id, family_hash, client_id, user_id, session_id, offline, issuer, dpop_jkt,
      resources, scope, auth_time, amr, acr, current_hash, created_at, last_used_at${name}${connected})
    select project_id, ${id}::uuid, ${digest(token.family)}, client_id, user_id, session_id,
      'offline_access' = any(string_to_array(scope, ' ')), issuer, ${proof?.jkt ?? null}::text, resources, scope, auth_time, amr, acr,
      ${digest(token.text)}, ${now}::timestamptz, ${now}::timestamptz${value}${isIn ? connection : sql``}
    from redeemed`;
}

const redeemed = sql`redeemed`;

/** Whether the code gives a refresh token. One of the browser SDK, which has no redirect_uri, gives none. */
function mayRefresh({ client, issuer, redirectUri, authenticatedBy }: Exchange): boolean {
  const isOffered = issuer.capabilities.grantTypes.includes('refresh_token');
  // A trial keeps no token.
  const mayKeep = redirectUri !== undefined && authenticatedBy !== 'trial';
  return isOffered && client.grantTypes.includes('refresh_token') && mayKeep;
}
