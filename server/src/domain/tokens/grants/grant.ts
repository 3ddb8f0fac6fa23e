import { hasAccessTo } from '../../access/has-access.ts';
import { requestedApi } from '../../apis/token-target.ts';
import type { Audit } from '../../audit/audit.ts';
import type { EventType } from '../../audit/event-types.ts';
import { type CheckedAssertion, isSingleUse, usedAssertion } from '../../clients/assertions/client-assertions.ts';
import { type CheckedClient, currentClient } from '../../clients/client-registry.ts';
import { type CheckedProof, refuseUsedProof, usedProof } from '../../clients/dpop/dpop-proofs.ts';
import { allowsApi, scopeBeyond } from '../../clients/introductions/client-policy.ts';
import { isAllowedTo } from '../../consents/consents.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { type GrantFault, refuse } from '../../kernel/problem.ts';
import { type Executing, execute, type Fragment, query, type Statement, sql } from '../../kernel/sql.ts';
import type { Issuer } from '../../projects/issuer.ts';
import { keyIn } from '../../projects/tenant.ts';
import { subColumn } from '../../users/identity/sub.ts';
import { type Grant, type GrantRow, limitsOfGrant, type TokenResponse } from '../mint.ts';
import { endRefreshGrant } from '../user-tables.ts';

/** What a client proved itself by. Each is valid once: a statement records it. */
export interface Credentials {
  /** For `private_key_jwt`. */
  assertion?: CheckedAssertion | undefined;
  /** Tokens are bound to its key. */
  proof?: CheckedProof | null | undefined;
}

/** A token request of an authenticated client. */
export interface GrantRequest extends CheckedClient, Credentials {
  issuer: Issuer;
  actor: Actor;
  /** Whether an earlier statement of this request recorded the assertion, as the poll of a device does. */
  isAssertionRecorded?: boolean;
}

/** One about a user. */
export interface UserGrantRequest extends GrantRequest {
  /** The API that the access token is for, if the issuer has APIs; absent: the only one that was authorized. */
  resource?: string | undefined;
}

/** A token that an authenticated client sent. */
export interface SentToken extends GrantRequest {
  token: string;
}

/** A condition of a grant, with the reason of its refusal in log and events. */
export type Check<Request, Found> = readonly [
  reason: GrantFault,
  isMet: (found: Found, request: Request, now: Date) => boolean,
];

/** The tokens of an accepted request, and the statement that grants them. */
interface Verdict {
  grant: Grant;
  refreshToken?: string | undefined;
  /**
   * One conditional write of exactly one row. Its conditions are the versions that the checks saw, and what another
   * request can change.
   *
   * @param credentials those to be recorded
   */
  record(credentials: Credentials): Statement<Recorded>;
}

/** The parts of one kind of grant. {@link grantTokens} runs them, so that none can be forgotten. */
export interface GrantKind<Request extends GrantRequest, Found> {
  /** Prefix of its prepared statements. */
  name: string;
  /** The same row, if this process wrote it a short time ago. Checks that it does not meet are made again on what is read. */
  held?(request: Request): Found | null;
  /** Reads all that is checked and granted: one row, or none if the credential is unknown. Writes nothing. */
  read(request: Request, now: Date): Statement<Found>;
  /** In the order in which they are made. */
  checks: readonly Check<Request, Found>[];
  decide(request: Request, found: Found, now: Date): Verdict;
  /** Faults of a credential that is not live for this client: a proof that came with it is not recorded. */
  dead: readonly GrantFault[];
  /** For credentials that are valid once. */
  replay?: Replay<Found>;
}

interface Replay<Found> {
  /** The event of a credential that is used again. */
  type: 'code.replayed' | 'refresh-token.replayed';
  /** The tokens that it ends: all of the grant, and the access token of the row. */
  familyOf(found: Found): { userId: string; grantId: string | null; tokenId?: string };
}

interface Granting<Response = TokenResponse> {
  db: Database;
  clock: Clock;
  audit: Audit;
  mint: { tokens(grant: Grant, issuer: Issuer, refreshToken: string | undefined): Promise<Response> };
}

/** Reads of one request. Another one follows only if the row changed between read and write. */
const maxReads = 3;

/**
 * Reads, checks, signs, and writes if nothing has changed meanwhile; otherwise starts again. A failure to sign uses nothing
 * up. Null, with nothing written, if the cached client is stale. Refuses `client-rejected` and `proof-rejected` for a replayed
 * assertion or proof, and `grant-rejected` with the reason of the first check that is not met.
 */
export async function grantTokens<Request extends GrantRequest, Found extends object, Response = TokenResponse>(
  deps: Granting<Response>,
  kind: GrantKind<Request, Found>,
  request: Request,
): Promise<Response | null> {
  const now = deps.clock.now();
  let credentials: Credentials = request.isAssertionRecorded ? { proof: request.proof } : request;
  const faultOf = (found: Found) => kind.checks.find(([, isMet]) => !isMet(found, request, now))?.[0];
  let held = kind.held?.(request) ?? null;
  if (held && faultOf(held) !== undefined) held = null;
  for (let reads = held ? -1 : 0; reads < maxReads; reads += 1) {
    const [found] = held
      ? [held]
      : await query(deps.db.alone, kind.read(request, now), { prepare: `${kind.name}.read` });
    held = null;
    if (!found) return refused(deps, kind, request, { fault: 'unknown', credentials, now });
    const fault = faultOf(found);
    if (fault !== undefined) return refused(deps, kind, request, { fault, found, credentials, now });
    const { grant, refreshToken, record } = kind.decide(request, found, now);
    // RFC 6749 §3.3: of any grant, also if the policy has changed since the user allowed it.
    const beyond = beyondPolicy(grant);
    if (beyond) return refused(deps, kind, request, { fault: 'client-policy', ...beyond, found, credentials, now });
    const tokens = await deps.mint.tokens(grant, request.issuer, refreshToken);
    const [row] = await query(deps.db.alone, record(credentials), { prepare: `${kind.name}.record` });
    if (!isAccepted(row)) return null;
    if (row.is_recorded) return tokens;
    // Recorded by the write that granted nothing.
    credentials = {};
  }
  return refuse({ code: 'unavailable', reason: `${kind.name}: rows changed after each read`, retryAfterSeconds: 1 });
}

/** What of the grant is beyond the policy of the project: a scope, or the API. Null: nothing. */
function beyondPolicy(grant: Grant): { scope?: string } | null {
  const limits = limitsOfGrant(grant);
  const { audience = null, scope } = grant.row;
  const beyond = scopeBeyond(limits, scope);
  if (beyond !== undefined) return { scope: beyond };
  return allowsApi(limits, audience) ? null : {};
}

/** Records the credentials: they are spent by being presented. Null if the cached client is stale. */
async function refused<Request extends GrantRequest, Found>(
  deps: Granting<unknown>,
  kind: GrantKind<Request, Found>,
  request: Request,
  {
    fault,
    scope,
    found,
    credentials,
    now,
  }: { fault: GrantFault; scope?: string; found?: Found; credentials: Credentials; now: Date },
): Promise<null> {
  const isLive = fault !== 'unknown' && !kind.dead.includes(fault);
  const spent = isLive ? credentials : { assertion: credentials.assertion };
  if (!(await isAuthentic(deps.db.alone, request, spent))) return null;
  const { replay } = kind;
  if (found && fault === 'used' && replay) await endReplayed(deps, replay.type, request, replay.familyOf(found), now);
  return refuse({ code: 'grant-rejected', reason: fault, ...(scope !== undefined && { scope }) });
}

/** Ends the tokens of a replayed credential (RFC 6749 §4.1.2, RFC 9700 §4.14.2). Nothing of it is visible to the caller. */
async function endReplayed(
  { db, audit }: Granting<unknown>,
  replayed: EventType,
  { actor, client }: GrantRequest,
  { userId, grantId, tokenId }: ReturnType<Replay<unknown>['familyOf']>,
  now: Date,
): Promise<void> {
  const { id: projectId } = client.project;
  await db.transaction(async (em) => {
    // A logout, or the client, may have revoked the access token before, but not the refresh tokens.
    const hadGrant = grantId !== null && (await endRefreshGrant(em, keyIn(projectId, grantId), now));
    const ended = await execute(
      em,
      sql`update authorization_codes set revoked_at = ${now}::timestamptz
        where project_id = ${projectId}::uuid and id = ${tokenId ?? null}::uuid and revoked_at is null`,
    );
    if (!hadGrant && ended === 0) return;
    const about = { projectId, clientId: client.id, subject: { kind: 'user', id: userId } };
    audit.record(em, { type: replayed, result: 'failure', actor, ...about });
  });
}

/** The user of a grant: {@link userColumns}. */
export interface Grantee extends Pick<GrantRow, 'sub' | 'email' | 'phone' | 'home_id'> {
  user_is_active: boolean;
  user_version: number;
}

/** The row of a grant about a user. */
export interface UserGrantRow extends GrantRow, Grantee {
  client_id: string;
  /** The organization of its context. */
  organization_id: string | null;
  issuer: string | null;
  resources: string[];
}

/** SQL: the last column of an insertion, its name and value; empty without an organization. */
export function organizationColumn(id: string | null): { name: Fragment; value: Fragment } {
  return id === null ? { name: sql``, value: sql`` } : { name: sql`, organization_id`, value: sql`, ${id}::uuid` };
}

/** SQL: columns of user `u`. */
export const userColumns = sql`u.active as user_is_active, u.version as user_version, ${subColumn('u')} as sub, u.email, u.phone, u.organization_id as home_id`;

export function granteeOf({ user_is_active, user_version, sub, email, phone, home_id }: Grantee): Grantee {
  return { user_is_active, user_version, sub, email, phone, home_id };
}

/**
 * SQL condition: what tokens say of user `u` has not changed since it was read. Some changes of login email and phone leave the version, since directories
 * must not notice them.
 */
export function isGranteeUnchanged({ email, phone, user_version }: Grantee): Fragment {
  return sql`u.version = ${user_version}::int and u.email is not distinct from ${email}::text and u.phone is not distinct from ${phone}::text`;
}

/** SQL: what the row `name` of a code or grant authorizes. */
export function authorizedBy(name: string) {
  const column = (of: string) => sql.ref(`${name}.${of}`);
  return { scope: column('scope'), resources: column('resources'), organizationId: column('organization_id') };
}

/** SQL: the API that a request targets, see `requestedApi`. @param authorized with the column `resources` */
export function targetOf({ client, resource }: UserGrantRequest, authorized: Fragment): Fragment {
  const party = sql`(select ${client.project.id}::uuid as project_id, ${client.id}::uuid as id)`;
  return requestedApi(party, authorized, resource ?? null);
}

/** SQL condition: user `u`, session, access, consent and API are as they were read. Joins the user. */
export function isUnchanged(request: UserGrantRequest, row: UserGrantRow): Fragment {
  const { client } = request;
  const [project, user] = [sql`${client.project.id}::uuid`, sql`${row.user_id}::uuid`];
  const organization = row.organization_id === null ? null : sql`${row.organization_id}::uuid`;
  const target = targetOf(request, sql`(select ${row.resources}::text[] as resources)`);
  return sql`u.project_id = ${project} and u.id = ${user} and u.active and u.version = ${row.user_version}::int
    and case when ${row.session_id}::uuid is null then true else (select s.ended_at is null from sessions s
      where s.project_id = ${project} and s.id = ${row.session_id}::uuid) end
    and ${hasAccessTo(client, user, organization)} and ${isAllowedTo(client, user, { scope: sql`${row.scope}::text`, resources: sql`${row.resources}::text[]`, organizationId: organization })}
    ${
      row.audience == null
        ? sql``
        : sql`and exists (select 1 from (${target}) t where t.audience = ${row.audience}::text and t.granted = ${row.granted}::text[])`
    }`;
}

/** Whether client, assertion and proof of a request still hold. */
export interface Accepted {
  client_is_current: boolean;
  assertion_is_fresh: boolean;
  proof_is_fresh: boolean;
}

export interface Recorded extends Accepted {
  is_recorded: boolean;
}

/**
 * SQL: the CTE `client`, empty if the cached client is stale, and those that record the credentials, also if nothing is granted;
 * and the columns of {@link Accepted}, and the condition that all hold.
 */
export function presented(client: CheckedClient, { assertion, proof }: Credentials) {
  const once = assertion && isSingleUse(assertion) ? assertion : undefined;
  const used = once ? sql`, used as (${usedAssertion(once)})` : sql``;
  const proving = sql`(select project_id, id as client_id from client) proving`;
  const proved = proof ? sql`, proof as (${usedProof(proof, proving)})` : sql``;
  const isFresh = once ? sql`exists (select 1 from used)` : sql`true`;
  const isProved = proof ? sql`exists (select 1 from proof)` : sql`true`;
  return {
    ctes: sql`client as materialized (${currentClient(client)})${used}${proved}`,
    columns: sql`exists (select 1 from client) as client_is_current, ${isFresh} as assertion_is_fresh, ${isProved} as proof_is_fresh`,
    hold: sql`exists (select 1 from client) and ${isFresh} and ${isProved}`,
  } satisfies Record<string, Fragment>;
}

/** False if the cached client is stale. Refuses a replayed assertion or proof. */
export function isAccepted<Row extends Accepted>(row: Row | undefined): row is Row {
  if (!row?.client_is_current) return false;
  if (!row.assertion_is_fresh) refuse({ code: 'client-rejected', reason: 'jti was used before' });
  if (!row.proof_is_fresh) refuseUsedProof();
  return true;
}

/** Records the credentials of a request that is granted nothing. False if the cached client is stale. */
export async function isAuthentic(on: Executing, client: CheckedClient, credentials: Credentials): Promise<boolean> {
  const { ctes, columns } = presented(client, credentials);
  const [row] = await query(on, sql<Accepted>`with ${ctes} select ${columns}`, { prepare: 'tokens.authentic' });
  return isAccepted(row);
}
