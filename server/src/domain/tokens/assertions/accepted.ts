import { hasAccessTo } from '../../access/has-access.ts';
import { apisForUsers } from '../../apis/token-target.ts';
import { eventOfClient } from '../../audit/audit.ts';
import { usedOnce } from '../../clients/assertions/client-assertions.ts';
import type { Client } from '../../clients/client.entity.ts';
import { obtainedWith } from '../../clients/credential-of-tokens.ts';
import { hasKey, hasProof } from '../../clients/dpop/binding.ts';
import { limitsOfClient, scopeBeyond } from '../../clients/introductions/client-policy.ts';
import type { AssertionClaims } from '../../connections/assertions/assertion-claims.ts';
import { acceptsAssertions, type TrustedIssuer } from '../../connections/assertions/assertion-issuers.ts';
import { secondsLater } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { type Fragment, type Statement, sql } from '../../kernel/sql.ts';
import { isPolicyUnchanged, policyColumn } from '../../organizations/organization-policy.ts';
import type { Evidence } from '../../policy/evidence.ts';
import { type OrganizationPolicy, strictest } from '../../policy/organization.ts';
import { nextRequirement, strengthOf } from '../../policy/requirements.ts';
import { requiresPasskey } from '../../policy/session.ts';
import { storedIssuer } from '../../projects/issuer.ts';
import { areUnchanged, toUserFacts, type UserFactsRow, userFacts } from '../../sessions/user-facts.ts';
import { addressKeys, domainOfAddress } from '../../users/login.ts';
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
} from '../grants/grant.ts';
import { rememberSeconds } from '../new-code.ts';
import { grantedScope } from '../scope.ts';

/** A token request with an identity assertion whose signature and claims were checked. */
export interface AssertionRequest extends UserGrantRequest {
  trusted: TrustedIssuer;
  claims: AssertionClaims;
  /** Absent: that of the assertion, else all that the client was granted at the API. Without duplicates. */
  scope: string | undefined;
}

/** The connection, and the user whom it gives for the assertion; without one, `user_id` is null. */
interface FoundPerson extends UserGrantRow, UserFactsRow {
  connection_id: string | null;
  is_linked: boolean;
  is_used: boolean;
  has_access: boolean;
  /** The rules of the organization; null: none. */
  organization: OrganizationPolicy | null;
}

const projectOf = ({ project }: Client) => project.getEntity();

const checks: readonly Check<AssertionRequest, FoundPerson>[] = [
  ['untrusted-issuer', (found) => found.connection_id !== null], // draft §4.4.1
  ['used', (found) => !found.is_used], // RFC 7523 §3, jti
  ['third-party', (_, { client }) => !client.thirdParty], // draft §8.1
  ['no-account', (found) => found.user_id !== null], // draft §3.1, sub
  ['user', (found) => found.user_is_active], // RFC 7521 §5.2
  ['no-access', isAtHome], // decisions/0407
  ['target', (_, { claims, resource }) => isNamed(claims, resource)], // RFC 8707 §2.2
  ['api-not-granted', (found) => found.audience != null], // RFC 8707 §2
  ['scope', hasScope], // RFC 6749 §3.3
  ['missing-proof', (_, { claims, proof }) => hasProof(claims.jkt, proof)], // draft §8.6.1
  ['wrong-proof-key', (_, { claims, proof }) => hasKey(claims.jkt, proof)], // draft §8.6.1
  ['no-access', (found) => found.has_access], // RFC 6749 §5.2; includes the membership of the organization
  ['policy', isSufficient], // draft §4.4.1
];

/** A provider of an organization proves the account of users at home there only. */
function isAtHome({ home_id, organization_id }: FoundPerson): boolean {
  return organization_id === null || home_id === organization_id;
}

function isNamed({ resources }: AssertionClaims, resource: string | undefined): boolean {
  return resource === undefined || resources === null || resources.includes(resource);
}

/** The scopes of the token: in the assertion, if it names some; granted to the client at the API; and asked for. */
function scopeOf({ granted }: FoundPerson, { claims, client, scope }: AssertionRequest): string {
  const known = granted ?? [];
  const inBoth = claims.scope === null ? known.join(' ') : grantedScope(claims.scope, known);
  if (scope !== undefined) return grantedScope(scope, inBoth.split(' '));
  const limits = limitsOfClient(client);
  return inBoth
    .split(' ')
    .filter((one) => scopeBeyond(limits, one) === undefined)
    .join(' ');
}

/** Whether there are scopes, and all that were asked for are among them. */
function hasScope(found: FoundPerson, request: AssertionRequest): boolean {
  const scope = scopeOf(found, request);
  return scope !== '' && (request.scope === undefined || scope.split(' ').length === request.scope.split(' ').length);
}

/** Whether a sign-in by the same answer of the provider would need nothing more. */
function isSufficient(found: FoundPerson, { claims, client, trusted }: AssertionRequest, now: Date): boolean {
  const project = projectOf(client);
  const { factors, holdsPasskey } = toUserFacts(found);
  const hasPasskey = project.passkeys && holdsPasskey;
  const { connectionOf, emailFactor, mfaPolicy } = strictest(project, found.organization);
  const passkeyRequired = client.passkeyRequired || requiresPasskey(project, hasPasskey);
  const { acr, amr, subject } = claims.person;
  const answer: Evidence = {
    ...{ kind: 'federated', account: found.user_id, at: now.toISOString(), ceremony: '' },
    ...(found.organization_id !== null && { organization: found.organization_id }),
    ...{ connection: trusted.id, version: trusted.version, subject, amr, acr, authTime: null, isFresh: false },
  };
  const requirement = nextRequirement([answer], {
    ...{
      policy: mfaPolicy,
      emailFactor,
      factors: factors.map((method) => strengthOf({ method }, hasPasskey)),
      hasPasskey,
    },
    ...{ skipsFactor: false, personRequired: passkeyRequired, changesAccount: passkeyRequired, passkeyRequired },
    ...{ needsPasskey: false, ...(connectionOf !== undefined && { connectionOf }) },
  });
  return requirement === 'nothing';
}

/**
 * An access token for an identity assertion of another issuer (draft-ietf-oauth-identity-assertion-authz-grant section 4.4,
 * decisions/0425). Each assertion is accepted once.
 */
export function acceptedAssertion({ random }: { random: Random }): GrantKind<AssertionRequest, FoundPerson> {
  return {
    name: 'tokens.assertion',
    read: readPerson,
    checks,
    dead: ['untrusted-issuer', 'used', 'no-account', 'user'],
    decide(request, found, now) {
      const { claims, client, proof } = request;
      const id = random.id();
      const { authTime } = claims.person;
      const row = {
        ...found,
        ...{ scope: scopeOf(found, request), resources: [found.audience ?? ''], session_id: null },
        ...{ auth_time: authTime === null ? now : new Date(authTime * 1000), amr: claims.person.amr, acr: null },
      };
      return {
        grant: { client, row, codeId: id, nonce: null, jkt: proof?.jkt ?? null },
        record: (credentials) => recordToken(request, row, { id, eventId: random.id(), credentials, now }),
      };
    },
  };
}

/** The name of the assertion among those that the client used. */
const jtiHashOf = ({ claims: { jti, person } }: AssertionRequest) => digest(`id-jag\n${person.issuer}\n${jti}`);

/** The address that can name a user at home in the organization of the connection. */
const addressOf = ({ claims: { person } }: AssertionRequest) => (person.emailDenied ? null : person.email);

/** SQL: the connection, if it still accepts assertions by the settings that verified this one. */
function trustedConnection({ client, trusted }: AssertionRequest): Fragment {
  return sql`select c.id, c.organization_id from connections c where c.project_id = ${client.project.id}::uuid
    and c.id = ${trusted.id}::uuid and c.version = ${trusted.version}::int and ${acceptsAssertions}`;
}

/** SQL: the identity of the assertion. */
function linkedIdentity({ claims: { person }, client, trusted }: AssertionRequest): Fragment {
  return sql`select i.user_id from identities i where i.project_id = ${client.project.id}::uuid
    and i.connection_id = ${trusted.id}::uuid and i.issuer = ${person.issuer}::text and i.subject = ${person.subject}::text`;
}

/**
 * SQL: users at home in the organization of connection `c` with the address of the assertion, which is in a verified domain of the
 * organization, and without another identity there. As at a sign-in (decisions/0397), except that nothing is linked.
 */
function namedAtHome(request: AssertionRequest): Fragment {
  const { client, trusted } = request;
  const project = sql`${client.project.id}::uuid`;
  const address = addressOf(request);
  return sql`select h.id from users h where h.project_id = ${project} and h.organization_id = c.organization_id
    and h.email_key = any(${address === null ? [] : addressKeys(address)}::text[])
    and exists (select 1 from organization_domains d where d.project_id = ${project} and d.organization_id = c.organization_id
      and d.domain = ${address === null ? null : domainOfAddress(address)}::text and d.state = 'verified')
    and not exists (select 1 from identities i where i.project_id = ${project} and i.connection_id = ${trusted.id}::uuid
      and i.user_id = h.id)`;
}

/** The APIs that the request can mean. */
function authorized({ claims: { resources }, client, resource }: AssertionRequest): Fragment {
  const named = resource === undefined ? resources : [resource];
  if (named !== null) return sql`(select ${named}::text[] as resources)`;
  const party = sql`(select ${client.project.id}::uuid as project_id, ${client.id}::uuid as id)`;
  return sql`(select array(select a.audience from (${apisForUsers(party)}) a) as resources)`;
}

function readPerson(request: AssertionRequest): Statement<FoundPerson> {
  const { client } = request;
  const project = sql`${client.project.id}::uuid`;
  const rules = sql`(select ${policyColumn} from organizations o where o.project_id = ${project} and o.id = c.organization_id)`;
  return sql<FoundPerson>`with trusted as materialized (${trustedConnection(request)}),
    linked as materialized (${linkedIdentity(request)}),
    person as materialized (
      select c.organization_id, l.user_id, true as is_linked from trusted c cross join linked l
      union all select c.organization_id, named.id, false from trusted c cross join lateral (${namedAtHome(request)}) named
        where not exists (select 1 from linked)
    ), target as materialized (${targetOf(request, authorized(request))})
    select c.id as connection_id, c.organization_id, ${client.id}::uuid as client_id, u.id as user_id, null::uuid as session_id,
      coalesce(p.is_linked, false) as is_linked, ${userColumns},
      exists (select 1 from used_assertions a where a.project_id = ${project} and a.client_id = ${client.id}::uuid
        and a.jti_hash = ${jtiHashOf(request)}::text) as is_used,
      ${hasAccessTo(client, sql`u.id`, sql`c.organization_id`)} as has_access, ${userFacts(client.project.id, sql`u.id`)},
      ${rules} as organization, target.*
    from (values (1)) one left join trusted c on true left join person p on true
      left join users u on u.project_id = ${project} and u.id = p.user_id left join target on true`;
}

interface Recording {
  id: string;
  eventId: string;
  credentials: Credentials;
  now: Date;
}

/** Uses the assertion and stores the token, if nothing has changed since the read. */
function recordToken(
  request: AssertionRequest,
  row: FoundPerson & UserGrantRow,
  { id, eventId, credentials, now }: Recording,
): Statement<Recorded> {
  const { claims, client, issuer, trusted } = request;
  const project = sql`${client.project.id}::uuid`;
  const { ctes, columns, hold } = presented(request, credentials);
  const { name, value } = organizationColumn(row.organization_id);
  const organization = row.organization_id;
  const rules =
    organization === null || row.organization === null
      ? sql``
      : sql`and ${isPolicyUnchanged(client.project.id, organization, row.organization)}`;
  const isNamed = row.is_linked
    ? sql`exists (select 1 from (${linkedIdentity(request)}) linked where linked.user_id = u.id)`
    : sql`not exists (select 1 from (${linkedIdentity(request)}) linked) and exists (select 1 from (${trustedConnection(request)}) c
        cross join lateral (${namedAtHome(request)}) named where named.id = u.id)`;
  const detail = { issuer: trusted.issuer, connectionId: trusted.id, api: row.audience, scope: row.scope };
  const event = { id: eventId, at: now, type: 'assertion.accepted', actor: request.actor, detail } as const;
  const until = secondsLater(new Date(claims.usableUntil * 1000), 60);
  const still = sql`${hold} and ${isUnchanged(request, row)} and ${isNamed} and exists (${trustedConnection(request)})
    and ${areUnchanged(client.project.id, sql`u.id`, toUserFacts(row))} ${rules}`;
  return sql<Recorded>`with ${ctes},
    spent as (${usedOnce({ clientId: client.id, jtiHash: jtiHashOf(request), forgetAt: until }, sql`(select u.project_id from users u where ${still}) still`)}),
    token as (
      insert into authorization_codes (project_id, id, client_id, credential, user_id, issuer, connection_id, resources, scope, auth_time,
        amr, created_at, expires_at, used_at, forget_at${name})
      select u.project_id, ${id}::uuid, ${client.id}::uuid, ${obtainedWith(request)}::text, u.id, ${storedIssuer(issuer)}::text,
        ${trusted.id}::uuid, ${row.resources}::text[], ${row.scope}::text, ${row.auth_time}::timestamptz, ${row.amr}::text[],
        ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz, ${secondsLater(now, rememberSeconds)}::timestamptz${value}
      from users u
      where u.project_id = ${project} and u.id = ${row.user_id}::uuid and exists (select 1 from spent)
      returning project_id, client_id, user_id
    ),
    event as (${eventOfClient(event, sql`(select t.*, u.user_name from token t join users u on u.project_id = ${project} and u.id = t.user_id) accepted`)})
    select ${columns}, exists (select 1 from token) as is_recorded`;
}
