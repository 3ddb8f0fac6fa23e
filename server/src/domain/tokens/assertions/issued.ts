import { hasAccessTo } from '../../access/has-access.ts';
import { eventOfClient } from '../../audit/audit.ts';
import type { Client } from '../../clients/client.entity.ts';
import { hasKey, hasProof } from '../../clients/dpop/binding.ts';
import type { Random } from '../../kernel/random.ts';
import { type Fragment, type Statement, sql } from '../../kernel/sql.ts';
import { storedIssuer } from '../../projects/issuer.ts';
import {
  type Check,
  type Credentials,
  type GrantKind,
  type GrantRequest,
  isUnchanged,
  presented,
  type Recorded,
  type UserGrantRow,
  userColumns,
} from '../grants/grant.ts';
import { type FoundGrant, type Refresh, readGrant, sessionOf, tokenChecks } from '../grants/refresh-token.ts';
import { type GrantFactsRow, hasSession, isSufficient } from '../live-grant.ts';
import type { AssertionTarget } from '../mint.ts';
import { isSignInUnchanged, type SignInFactsRow, signInFacts } from '../sign-in-facts.ts';

/** A request for an identity assertion that the settings of the client allow. */
interface Asked {
  target: AssertionTarget;
  /** Of the assertion, separated by spaces; empty: none. */
  wanted: string;
}

/** The claims of an ID token of the client, whose signature and times were checked. */
export interface SignedIdToken {
  sub: string;
  /** `sid`: without a session, an ID token cannot be revoked, and is not accepted. */
  sessionId: string | null;
  /** `org_id`. */
  organizationId: string | null;
  authTime: Date;
  amr: string[];
  acr: string | null;
  hasEmail: boolean;
  jkt: string | null;
}

export interface ByIdToken extends GrantRequest, Asked {
  subject: SignedIdToken;
}

export type ByRefreshToken = Refresh & Asked;

/** The user and session of an ID token. */
type FoundSession = UserGrantRow & SignInFactsRow & GrantFactsRow & { has_access: boolean };

const projectOf = ({ project }: Client) => project.getEntity();

const checks: readonly Check<ByIdToken, FoundSession>[] = [
  ['third-party', (_, { client }) => !client.thirdParty], // draft §8.1
  ['user', (found) => found.user_is_active], // RFC 8693 §2.1
  ['session-ended', (found, { client }, now) => hasSession(found, projectOf(client), now)], // RFC 8693 §2.1
  ['missing-proof', (_, { subject, proof }) => hasProof(subject.jkt, proof)], // RFC 9449 §5
  ['wrong-proof-key', (_, { subject, proof }) => hasKey(subject.jkt, proof)], // RFC 9449 §5
  ['no-access', (found) => found.has_access], // RFC 8693 §2.2.2; includes the membership of the organization
  ['policy', (found, { client }) => isSufficient(found, client, projectOf(client))], // draft §4.3.2
];

/** By an ID token, while its session lasts. None of an impersonation: an assertion with `act` is accepted nowhere (decisions/0425). */
export function assertionForIdToken({ random }: { random: Random }): GrantKind<ByIdToken, FoundSession> {
  return {
    name: 'tokens.assertion-of-id-token',
    read: readSession,
    checks,
    dead: ['user', 'session-ended'],
    decide(request, found, now) {
      const { amr, authTime, acr, hasEmail } = request.subject;
      const email = hasEmail ? found.email : null;
      const row = { ...found, scope: request.wanted, email, auth_time: authTime, amr, acr };
      return decided(request, row, sql``, { id: random.id(), eventId: random.id(), now });
    },
  };
}

/** By a refresh token, under the conditions of a refresh. The token stays. */
export function assertionForRefreshToken({ random }: { random: Random }): GrantKind<ByRefreshToken, FoundGrant> {
  return {
    name: 'tokens.assertion-of-refresh-token',
    read: readGrant,
    checks: [['third-party', (_, { client }) => !client.thirdParty], ...tokenChecks],
    dead: ['wrong-client', 'revoked', 'used'],
    decide(request, found, now) {
      const email = found.scope.split(' ').includes('email') ? found.email : null;
      const row = {
        ...found,
        scope: request.wanted,
        email,
        resources: [],
        audience: null,
        session_id: sessionOf(found),
      };
      const isCurrent = sql`and exists (select 1 from refresh_grants g where g.project_id = ${request.client.project.id}::uuid
        and g.id = ${found.id}::uuid and g.current_hash = ${found.current_hash}::text and g.revoked_at is null)`;
      return decided(request, row, isCurrent, { id: random.id(), eventId: random.id(), now });
    },
    replay: {
      type: 'refresh-token.replayed',
      familyOf: (grant) => ({ userId: grant.user_id, grantId: grant.id }),
    },
  };
}

interface Recording {
  id: string;
  eventId: string;
  now: Date;
}

function decided(
  request: GrantRequest & Asked,
  row: UserGrantRow & SignInFactsRow,
  condition: Fragment,
  { id, eventId, now }: Recording,
) {
  const { client, proof, target, wanted } = request;
  const detail = { audience: target.audience, resources: target.resources, scope: wanted };
  const event = { id: eventId, at: now, type: 'assertion.issued', actor: request.actor, detail } as const;
  const record = (credentials: Credentials): Statement<Recorded> => {
    const { ctes, columns, hold } = presented(request, credentials);
    return sql<Recorded>`with ${ctes},
      granted as materialized (select u.project_id, ${client.id}::uuid as client_id, u.id as user_id, u.user_name from users u
        where ${hold} and ${isUnchanged(request, row)} and ${isSignInUnchanged(projectOf(client), row, row.session_id)} ${condition}),
      event as (${eventOfClient(event, sql`granted`)})
      select ${columns}, exists (select 1 from granted) as is_recorded`;
  };
  return { grant: { client, row, codeId: id, nonce: null, jkt: proof?.jkt ?? null }, record };
}

function readSession({ client, issuer, subject }: ByIdToken): Statement<FoundSession> {
  const project = sql`${client.project.id}::uuid`;
  const organization = sql`${subject.organizationId}::uuid`;
  return sql<FoundSession>`select ${client.id}::uuid as client_id, ${organization} as organization_id, ${storedIssuer(issuer)}::text as issuer,
      '{}'::text[] as resources, u.id as user_id, s.id as session_id, false as offline, null::uuid as connected_organization_id,
      s.created_at, s.last_seen_at as last_used_at, s.created_at as session_created_at, s.expires_at as session_expires_at,
      s.ended_at as session_ended_at, ${userColumns}, ${hasAccessTo(client, sql`u.id`, organization)} as has_access,
      ${signInFacts(projectOf(client), organization)}
    from sessions s join users u on u.project_id = ${project} and u.id = s.user_id
    where s.project_id = ${project} and s.id = ${subject.sessionId}::uuid and s.impersonation is null and coalesce(u.subject, u.id::text) = ${subject.sub}::text`;
}
