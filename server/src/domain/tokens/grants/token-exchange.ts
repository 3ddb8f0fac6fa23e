import { hasAccessTo } from '../../access/has-access.ts';
import { acceptsExchange } from '../../apis/token-target.ts';
import { eventOfClient } from '../../audit/audit.ts';
import type { Client } from '../../clients/client.entity.ts';
import { clientIdOf } from '../../clients/client-id.ts';
import { obtainedWith } from '../../clients/credential-of-tokens.ts';
import { hasKey, hasProof } from '../../clients/dpop/binding.ts';
import { type IntroducedClient, scopeBeyond } from '../../clients/introductions/client-policy.ts';
import { seconds, secondsLater } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import { type Fragment, type Statement, sql } from '../../kernel/sql.ts';
import { strictest } from '../../policy/organization.ts';
import { storedIssuer } from '../../projects/issuer.ts';
import { impersonationColumn } from '../../sessions/impersonation.ts';
import type { Act } from '../api-token.ts';
import { areAdmitted, areLive, introducedClientsOf } from '../exchange/live-token.ts';
import { limitsOfGrant } from '../mint.ts';
import { rememberSeconds } from '../new-code.ts';
import { grantedScope } from '../scope.ts';
import { isSignInUnchanged, meetsPolicies, proofOf, type SignInFactsRow, signInFacts } from '../sign-in-facts.ts';
import {
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

/** An access token for an API that this issuer signed, and that has not expired. */
export interface SignedToken {
  /** `jti`. */
  id: string;
  sub: string;
  clientId: string;
  audience: string;
  scope: string;
  /** Seconds since 1970. */
  expiresAt: number;
  jkt: string | null;
  act: Act | undefined;
}

/** A token request of RFC 8693 section 2.1. */
export interface TokenExchange extends UserGrantRequest {
  subject: SignedToken;
  /** On whose behalf the client acts; absent: its own. */
  acting: SignedToken | undefined;
  /** Identifier of the API. */
  resource: string;
  /** Absent: all that the subject token has and the client may have at the API. Without duplicates. */
  scope: string | undefined;
}

/** Applications in one `act` claim. */
const maxActors = 3;

/** The row of the subject token with its user and session; without a user, a token of a client itself. */
export interface FoundSubject extends UserGrantRow, SignInFactsRow {
  id: string;
  subject_ids: string[] | null;
  revoked_at: Date | string | null;
  /** Whether the client obtained the token, or is the API that it is for. */
  is_presentable: boolean;
  /** Whether the token, and those that it was exchanged for, have not ended. */
  is_live: boolean;
  introduced: IntroducedClient[] | null;
  /** The same of the actor token; true without one. */
  is_acting_live: boolean;
  accepts_exchange: boolean;
  session_is_live: boolean | null;
  has_access: boolean;
}

const checks: readonly Check<TokenExchange, FoundSubject>[] = [
  ['wrong-issuer', (subject, { issuer }) => subject.issuer === storedIssuer(issuer)], // RFC 8693 §2.1
  ['wrong-client', (subject) => subject.is_presentable], // RFC 8693 §2.1, §5
  ['third-party', (_, { client }) => !client.thirdParty], // RFC 8693 §2.2.2
  ['expired', (_, request, now) => untilOf(request) > seconds(now)], // RFC 8693 §2.1
  ['revoked', (subject) => subject.revoked_at === null], // RFC 7009 §2.1
  ['user', (subject) => subject.user_is_active], // RFC 8693 §2.1: a token of a client has no user to act for
  ['session-ended', (subject) => subject.session_id === null || subject.session_is_live === true], // RFC 8693 §2.1
  ['subject-ended', isSubjectLive], // RFC 8693 §2.1
  ['actor', isActorAccepted], // RFC 8693 §2.1, §4.1
  ['act-loop', (_, request) => !actorsIn(request.subject.act).includes(clientIdOf(request.client))], // RFC 8693 §4.1
  ['act-depth', (_, { subject }) => actorsIn(subject.act).length < maxActors], // RFC 8693 §4.1
  ['api-not-granted', (subject) => subject.audience != null], // RFC 8693 §2.2.2
  ['exchange', (subject) => subject.accepts_exchange], // RFC 8693 §2.2.2
  ['scope', hasScope], // RFC 6749 §3.3
  ['missing-proof', (_, { subject, proof }) => hasProof(subject.jkt, proof)], // RFC 9449 §5: a bound token gives a bound one
  ['wrong-proof-key', hasSameKey], // RFC 9449 §5
  ['no-access', (subject) => subject.has_access], // RFC 8693 §2.2.2; includes the membership of the organization
  ['policy', isSufficient], // RFC 8693 §2.2.2
];

function isSubjectLive({ is_live, introduced }: FoundSubject, { client }: TokenExchange): boolean {
  return is_live && areAdmitted(introduced, client.project.getEntity());
}

/** A token of the client: of a user who acts there, or of the client itself. One that was exchanged has an actor already. */
function isActorAccepted({ is_acting_live }: FoundSubject, { acting, client }: TokenExchange): boolean {
  return acting === undefined || (is_acting_live && acting.clientId === clientIdOf(client) && acting.act === undefined);
}

/** The client_ids of an `act` claim, newest first. An admin who impersonates has none. */
function actorsIn(act: Act | undefined): string[] {
  if (act === undefined) return [];
  const { act: earlier, client_id: clientId } = act;
  return clientId === undefined ? actorsIn(earlier) : [clientId, ...actorsIn(earlier)];
}

/** The client's own token is bound to a key that it has. An API has the token of another client, whose key it lacks. */
function hasSameKey(_: FoundSubject, { client, proof, subject }: TokenExchange): boolean {
  return subject.clientId !== clientIdOf(client) || hasKey(subject.jkt, proof);
}

function isSufficient(subject: FoundSubject, { client }: TokenExchange): boolean {
  // The admin proved their own passkey.
  if (subject.impersonation) return true;
  const proof = subject.session_id === null ? { amr: subject.amr } : proofOf(subject);
  return meetsPolicies(proof, subject, client, strictest(client.project.getEntity(), subject.organization ?? null));
}

/** The scopes of the new token: in the subject token, granted to the client at the API, and asked for. */
function scopeOf(row: FoundSubject, { client, scope, subject }: TokenExchange): string {
  const inBoth = grantedScope(subject.scope, row.granted ?? []);
  if (scope !== undefined) return grantedScope(scope, inBoth.split(' '));
  const limits = limitsOfGrant({ client, row });
  return inBoth
    .split(' ')
    .filter((one) => scopeBeyond(limits, one) === undefined)
    .join(' ');
}

/** Whether there are scopes, and all that were asked for are among them. */
function hasScope(subject: FoundSubject, request: TokenExchange): boolean {
  const scope = scopeOf(subject, request);
  return scope !== '' && (request.scope === undefined || scope.split(' ').length === request.scope.split(' ').length);
}

/** When the new token ends at the latest, in seconds since 1970. */
export function untilOf({ acting, subject }: TokenExchange): number {
  return Math.min(subject.expiresAt, acting?.expiresAt ?? Infinity);
}

/** Who acts, and for whom before. */
export function actOf({ acting, client, subject }: TokenExchange): Act {
  const clientId = clientIdOf(client);
  const earlier = subject.act === undefined ? {} : { act: subject.act };
  return { sub: acting?.sub ?? clientId, client_id: clientId, ...earlier };
}

/**
 * Exchanges an access token of a user for one with fewer rights at another API (RFC 8693, decisions/0410). The new token ends with
 * those that it was exchanged for.
 */
export function tokenExchange({ random }: { random: Random }): GrantKind<TokenExchange, FoundSubject> {
  return {
    name: 'tokens.exchange',
    read: readSubject,
    checks,
    dead: ['wrong-issuer', 'wrong-client', 'expired', 'revoked', 'user', 'session-ended', 'subject-ended'],
    decide(request, subject, now) {
      const { client, proof } = request;
      const id = random.id();
      const row = { ...subject, scope: scopeOf(subject, request) };
      return {
        grant: { client, row, codeId: id, nonce: null, jkt: proof?.jkt ?? null },
        record: (credentials) => recordToken(request, row, { id, eventId: random.id(), credentials, now }),
      };
    },
  };
}

const projectOf = ({ project }: Client) => project.getEntity();

/** SQL: ids of the actor token and those that it was exchanged for, of which there are none. */
const actingIds = ({ acting }: TokenExchange) => (acting === undefined ? [] : [acting.id]);

function readSubject(request: TokenExchange): Statement<FoundSubject> {
  const { client, resource, subject } = request;
  const project = sql`${client.project.id}::uuid`;
  const all = sql`coalesce(subject.subject_ids, '{}') || subject.id`;
  return sql<FoundSubject>`with subject as materialized (
      select id, client_id, user_id, session_id, organization_id, issuer, scope, auth_time, amr, acr, revoked_at, subject_ids
      from authorization_codes where project_id = ${project} and id = ${subject.id}::uuid
    ), target as materialized (${targetOf(request, sql`(select array[${resource}::text] as resources)`)})
    select subject.*, array[${resource}::text] as resources, ${userColumns},
      subject.client_id = ${client.id}::uuid or exists (select 1 from api_grants own
        join apis a on a.project_id = own.project_id and a.id = own.api_id
        where own.project_id = ${project} and own.client_id = ${client.id}::uuid and own.introspects
          and a.identifier = ${subject.audience}::text) as is_presentable,
      ${areLive(projectOf(client), all)} as is_live, ${introducedClientsOf(projectOf(client), all)} as introduced,
      ${areLive(projectOf(client), sql`${actingIds(request)}::uuid[]`)} as is_acting_live,
      ${acceptsExchange(project, resource)} as accepts_exchange,
      (select s.ended_at is null from sessions s where s.project_id = ${project} and s.id = subject.session_id) as session_is_live,
      ${hasAccessTo(client, sql`subject.user_id`, sql`subject.organization_id`)} as has_access,
      ${signInFacts(projectOf(client), sql`subject.organization_id`)}, ${impersonationColumn(project, sql`subject.session_id`)}, target.*
    from subject left join users u on u.project_id = ${project} and u.id = subject.user_id
      left join sessions s on s.project_id = ${project} and s.id = subject.session_id
      left join target on true`;
}

interface Recording {
  id: string;
  eventId: string;
  credentials: Credentials;
  now: Date;
}

/** Stores the new token, if nothing has changed since the read. */
function recordToken(
  request: TokenExchange,
  row: FoundSubject,
  { id, eventId, credentials, now }: Recording,
): Statement<Recorded> {
  const { client, issuer, resource, subject } = request;
  const project = sql`${client.project.id}::uuid`;
  const { ctes, columns, hold } = presented(request, credentials);
  const { name, value } = organizationColumn(row.organization_id);
  const ids = sql`${[...(row.subject_ids ?? []), row.id, ...actingIds(request)]}::uuid[]`;
  const detail = { of: subject.clientId, api: resource, scope: row.scope, act: actOf(request) };
  const event = { id: eventId, at: now, type: 'token.exchanged', actor: request.actor, detail } as const;
  return sql<Recorded>`with ${ctes},
    token as (
      insert into authorization_codes (project_id, id, client_id, credential, user_id, session_id, issuer, resources, scope, auth_time, amr,
        acr, created_at, expires_at, used_at, forget_at, subject_ids${name})
      select u.project_id, ${id}::uuid, ${client.id}::uuid, ${obtainedWith(request)}::text, u.id, ${row.session_id}::uuid,
        ${storedIssuer(issuer)}::text, array[${resource}::text], ${row.scope}::text, ${row.auth_time}::timestamptz, ${row.amr}::text[],
        ${row.acr}::text, ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz,
        ${secondsLater(now, rememberSeconds)}::timestamptz, ${ids}${value}
      from users u
      where ${hold} and ${isUnchanged(request, row)} and ${areLive(projectOf(client), ids)} and ${acceptsExchange(project, resource)}
        and ${isSignInUnchanged(projectOf(client), row, row.session_id)}
      returning project_id, client_id, user_id
    ),
    event as (${eventOfClient(event, exchanged)})
    select ${columns}, exists (select 1 from token) as is_recorded`;
}

const exchanged: Fragment = sql`(select t.*, u.user_name from token t join users u on u.project_id = t.project_id and u.id = t.user_id) exchanged`;
