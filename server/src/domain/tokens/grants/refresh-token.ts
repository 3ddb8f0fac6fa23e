import { hasAccessTo } from '../../access/has-access.ts';
import { missesTarget } from '../../apis/token-target.ts';
import { eventOfClient } from '../../audit/audit.ts';
import type { Client } from '../../clients/client.entity.ts';
import { obtainedWith } from '../../clients/credential-of-tokens.ts';
import { hasKey, hasProof } from '../../clients/dpop/binding.ts';
import { isAllowedTo } from '../../consents/consents.ts';
import { isPast, secondsLater } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { type Statement, sql } from '../../kernel/sql.ts';
import type { Vault } from '../../keys/vault.ts';
import { organizationNamed } from '../../organizations/organization-names.ts';
import { storedIssuer } from '../../projects/issuer.ts';
import { type GrantFactsRow, grantEnd, grantFacts, hasSession, isSufficient } from '../live-grant.ts';
import { rememberSeconds } from '../new-code.ts';
import { type RefreshToken, successors } from '../refresh-token.ts';
import { isSignInUnchanged } from '../sign-in-facts.ts';
import {
  authorizedBy,
  type Check,
  type Credentials,
  type GrantKind,
  isUnchanged,
  organizationColumn,
  presented,
  type Recorded,
  targetOf,
  type UserGrantRequest,
  type UserGrantRow,
  userColumns,
} from './grant.ts';

/** A token request with `grant_type=refresh_token` (RFC 6749 §6). */
export interface Refresh extends UserGrantRequest {
  token: RefreshToken;
  /** Absent: the scope of the grant. Otherwise a part of it, without duplicates. */
  scope: string | undefined;
  /** Slug or id of the organization to continue in; absent: that of the grant. */
  organization?: string | undefined;
}

/** A grant with its user, session and consent. Client and project are the request's, whose versions the write compares. */
export interface FoundGrant extends UserGrantRow, Pick<GrantFactsRow, Exclude<keyof GrantFactsRow, 'amr'>> {
  id: string;
  dpop_jkt: string | null;
  current_hash: string;
  previous_hash: string | null;
  renewals: number;
  rotated_at: Date | string | null;
  revoked_at: Date | string | null;
  has_access: boolean;
  is_allowed: boolean;
}

const isCurrent = (grant: FoundGrant, { token }: Refresh) => digest(token.text) === grant.current_hash;
const isPrevious = (grant: FoundGrant, { token }: Refresh) => digest(token.text) === grant.previous_hash;

/** With `offline_access`, a grant outlives its session. */
export const sessionOf = ({ offline, session_id }: FoundGrant) => (offline ? null : session_id);

/** A grant that was used with a proof needs one again, of the same key. A confidential client may change its key (RFC 9449 §5). */
const hasSameKey = (grant: FoundGrant, refresh: Refresh) =>
  refresh.client.tokenEndpointAuthMethod === 'none'
    ? hasKey(grant.dpop_jkt, refresh.proof)
    : hasProof(grant.dpop_jkt, refresh.proof);

const checks: readonly Check<Refresh, FoundGrant>[] = [
  ['wrong-client', (grant, { client }) => grant.client_id === client.id], // RFC 6749 §6
  ['wrong-issuer', (grant, { issuer }) => grant.issuer === storedIssuer(issuer)], // RFC 9207 §2
  ['revoked', (grant) => grant.revoked_at === null], // RFC 7009 §2.1
  ['used', (grant, request) => isCurrent(grant, request) || isPrevious(grant, request)], // RFC 9700 §4.14.2: the grant ends
  ['target', (grant, { resource }) => !missesTarget(grant.resources, resource)], // RFC 8707 §2.2
  ['missing-proof', (grant, request) => !isCurrent(grant, request) || hasProof(grant.dpop_jkt, request.proof)], // RFC 9449 §5
  ['wrong-proof-key', (grant, request) => !isCurrent(grant, request) || hasSameKey(grant, request)], // RFC 9449 §5
  ['scope', (grant, { scope }) => isPart(scope, grant.scope)], // RFC 6749 §6
  ['used', hasSameKey], // RFC 9700 §4.14.2: the grant ends
  ['expired', (grant, { client }, now) => !isPast(grantEnd(grant, client, projectOf(client)), now)], // RFC 6749 §5.2
  ['api-not-granted', (grant) => grant.resources.length === 0 || grant.audience != null], // RFC 8707 §2
  ['no-access', (grant, { organization }) => organization === undefined || grant.organization_id !== null],
  ['no-access', (grant) => grant.has_access], // RFC 6749 §5.2
  ['no-consent', (grant) => grant.is_allowed], // OpenID Connect Core §3.1.2.4
  ['user', (grant) => grant.user_is_active], // RFC 6749 §5.2
  ['session-ended', (grant, { client }, now) => hasSession(grant, projectOf(client), now)], // OpenID Connect Core §11
  ['policy', (grant, { client }) => isSufficient(grant, client, projectOf(client))], // RFC 6749 §5.2
];

/** Those of a refresh token that proves a user; a request cannot choose others. */
export const tokenChecks = checks.filter(([reason]) => !['target', 'scope', 'api-not-granted'].includes(reason));

const projectOf = ({ project }: Client) => project.getEntity();

function isPart(scope: string | undefined, granted: string): boolean {
  return scope === undefined || scope.split(' ').every((one) => granted.split(' ').includes(one));
}

/** Seconds after its replacement during which a token gives the same new one: for requests of parallel tabs. */
const parallelSeconds = 30;

/** The new token of a grant, how often it replaced an unused one, and since when it counts as replaced. */
interface Rotation {
  next: RefreshToken;
  renewals: number;
  rotatedAt: Date;
}

/**
 * Replaces the token of a grant at each use (RFC 6749 §6). While the new one is unused, the response may have been lost: the
 * replaced one gives another, and the unused one ends. Any other reuse ends the grant (RFC 9700 §4.14).
 */
export function refreshToken({ random, vault }: { random: Random; vault: Vault }): GrantKind<Refresh, FoundGrant> {
  function rotation(refresh: Refresh, grant: FoundGrant, now: Date): Rotation {
    const { client, token } = refresh;
    const replaced = (renewals: number) => ({
      ...{ next: successors(vault, token, renewals)[0] as RefreshToken, renewals, rotatedAt: now },
    });
    // FAPI 2.0 Security Profile §5.3.2.1: its client and key protect the token, not its replacement.
    if (isCurrent(grant, refresh)) return { ...replaced(0), ...(client.fapiProfile && { next: token }) };
    const same = successors(vault, token, grant.renewals).find(({ text }) => digest(text) === grant.current_hash);
    const rotatedAt = grant.rotated_at === null ? null : new Date(grant.rotated_at);
    const isParallel = rotatedAt !== null && rotatedAt > secondsLater(now, -parallelSeconds);
    return same && isParallel ? { next: same, renewals: grant.renewals, rotatedAt } : replaced(grant.renewals + 1);
  }

  return {
    name: 'tokens.refresh',
    read: readGrant,
    checks,
    dead: ['wrong-client', 'revoked', 'used'],
    decide(refresh, found, now) {
      const { next, ...rotated } = rotation(refresh, found, now);
      const id = random.id();
      const row = { ...found, scope: refresh.scope ?? found.scope, session_id: sessionOf(found) };
      return {
        grant: { client: refresh.client, row, codeId: id, nonce: null, jkt: refresh.proof?.jkt ?? null },
        refreshToken: next.text,
        record: (credentials) =>
          rotateGrant(refresh, found, { ...rotated, next, id, eventId: random.id(), credentials, now }),
      };
    },
    replay: {
      type: 'refresh-token.replayed',
      familyOf: (grant) => ({ userId: grant.user_id, grantId: grant.id }),
    },
  };
}

export function readGrant(refresh: Refresh): Statement<FoundGrant> {
  const { client } = refresh;
  const project = sql`${client.project.id}::uuid`;
  const organization =
    refresh.organization === undefined
      ? sql`organization_id`
      : organizationNamed(client.project.id, refresh.organization);
  return sql<FoundGrant>`with g as materialized (
      select project_id, id, client_id, user_id, session_id, ${organization} as organization_id, offline, connected_organization_id, issuer, dpop_jkt, resources, scope, auth_time, amr, acr,
        current_hash, previous_hash, renewals, rotated_at, created_at, last_used_at, revoked_at
      from refresh_grants where project_id = ${project} and family_hash = ${digest(refresh.token.family)}::text
    ), target as materialized (${targetOf(refresh, sql`g`)})
    select g.*, ${userColumns}, ${hasAccessTo(client, sql`g.user_id`, sql`g.organization_id`)} as has_access, ${isAllowedTo(client, sql`g.user_id`, authorizedBy('g'))} as is_allowed,
      ${grantFacts(projectOf(client))}, target.*
    from g join users u on u.project_id = ${project} and u.id = g.user_id
      left join sessions s on s.project_id = ${project} and s.id = g.session_id
      left join target on true`;
}

interface Recording extends Rotation {
  /** The row of the access token. */
  id: string;
  eventId: string;
  credentials: Credentials;
  now: Date;
}

/** Replaces the token that was read, if nothing has changed since. */
function rotateGrant(
  refresh: Refresh,
  grant: FoundGrant,
  { next, renewals, rotatedAt, id, eventId, credentials, now }: Recording,
): Statement<Recorded> {
  const { ctes, columns, hold } = presented(refresh, credentials);
  const { name, value } = organizationColumn(grant.organization_id);
  const { organization_id: organizationId } = grant;
  const isAsked = refresh.organization !== undefined;
  const moved = isAsked ? sql`, organization_id = ${organizationId}::uuid` : sql``;
  const areEnabled = projectOf(refresh.client).organizationsEnabled;
  // A refresh of the same token may have changed it: with FAPI, tokens are not replaced.
  const isUnmoved =
    areEnabled && !isAsked ? sql`and g.organization_id is not distinct from ${organizationId}::uuid` : sql``;
  const event = { id: eventId, at: now, type: 'token.refreshed', actor: refresh.actor } as const;
  return sql<Recorded>`with ${ctes},
    rotated as (
      update refresh_grants g set previous_hash = ${digest(refresh.token.text)}::text, current_hash = ${digest(next.text)}::text,
        renewals = ${renewals}::int, dpop_jkt = coalesce(g.dpop_jkt, ${refresh.proof?.jkt ?? null}::text),
        rotated_at = ${rotatedAt}::timestamptz, last_used_at = ${now}::timestamptz${moved}
      from users u
      where g.project_id = ${refresh.client.project.id}::uuid and g.id = ${grant.id}::uuid
        and g.current_hash = ${grant.current_hash}::text and g.dpop_jkt is not distinct from ${grant.dpop_jkt}::text
        and g.revoked_at is null ${isUnmoved} and ${hold} and ${isUnchanged(refresh, { ...grant, session_id: sessionOf(grant) })}
        and ${isSignInUnchanged(projectOf(refresh.client), grant, sessionOf(grant))}
      returning g.project_id, g.id as grant_id, g.client_id, g.user_id, ${sessionOf(grant)}::uuid as session_id, g.issuer, g.resources, g.scope,
        g.auth_time, g.amr, g.acr, u.user_name
    ),
    token as (
      insert into authorization_codes (project_id, id, client_id, credential, user_id, session_id, issuer, grant_id, resources, scope,
        auth_time, amr, acr, created_at, expires_at, used_at, forget_at${name})
      select project_id, ${id}::uuid, client_id, ${obtainedWith(refresh)}::text, user_id, session_id, issuer, grant_id, resources, scope,
        auth_time, amr, acr, ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz, ${secondsLater(now, rememberSeconds)}::timestamptz${value}
      from rotated
    ),
    event as (${eventOfClient(event, sql`(select * from rotated where ${isCurrent(grant, refresh)}::boolean) rotated`)})
    select ${columns}, exists (select 1 from rotated) as is_recorded`;
}
