import type { EntityManager } from '@mikro-orm/postgresql';
import type { Connection } from '../connections/connection.entity.ts';
import type { Connections } from '../connections/connections.ts';
import { hasAddress, type Identities } from '../connections/identities.ts';
import { newProfile } from '../connections/profile.ts';
import type { UpstreamFault } from '../connections/upstream.ts';
import type { UpstreamPerson, UpstreamRequest } from '../connections/upstream-request.entity.ts';
import type { UpstreamSignIns } from '../connections/upstream-sign-ins.ts';
import { secondsLater } from '../kernel/clock.ts';
import { pastDeadlocks } from '../kernel/database.ts';
import { Refusal } from '../kernel/problem.ts';
import { newSecret } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';
import { organizationPolicyOf } from '../organizations/organization-policy.ts';
import type { Evidence } from '../policy/evidence.ts';
import { nextRequirement } from '../policy/requirements.ts';
import { keyIn } from '../projects/tenant.ts';
import { lockAddress } from '../users/identity/guests.ts';
import { isInDomainOf } from '../users/identity/verified-domains.ts';
import { addressKey } from '../users/login.ts';
import { isAddressReserved } from '../users/suspension/suspensions.ts';
import type { User } from '../users/user.entity.ts';
import { decidedOn } from './account.ts';
import { inSignIn, type SigninCaller } from './callers.ts';
import { Ceremony, nonceTtlSeconds, txnTtlSeconds } from './ceremony.entity.ts';
import type { Flow, FlowDeps } from './flow.ts';
import { notify } from './notices.ts';
import type { AuthorizationRequest } from './requests/authorization-request.entity.ts';
import { signInContext } from './sign-in-context.ts';
import { finish } from './steps/finish.ts';

/** A checked answer of a provider to a request of this flow. */
export interface Arrival {
  request: UpstreamRequest;
  connection: Connection;
  /** Of the connection's settings that verified the answer. */
  version: number;
  person: UpstreamPerson;
}

/**
 * `more`: the page continues with the next requirement. `prove`: the user proves an account on the page, which then gets the
 * identity. The others end here, without a sign-in.
 */
export type Arrived =
  | { outcome: 'signed-in'; sessionSecret: string; projectId: string }
  | { outcome: 'more' | 'prove' | 'no-account' | 'inactive' | 'approval' | 'off' };

interface FederatedDeps extends FlowDeps {
  connections: Pick<Connections, 'enabled' | 'succeeded'>;
  identities: Identities;
  upstreamSignIns: Pick<UpstreamSignIns, 'keep'>;
}

/** Clock skew to a provider, in seconds. Short: an earlier sign-in at the provider must not count as fresh. */
const skewSeconds = 10;

/** Whether a provider may answer for this flow: not for one that a setup link began, or the account page for a change. */
export function mayBeFederated({
  addsAuthenticator,
  addsPasskey,
  setupLinkId,
}: Pick<AuthorizationRequest, 'addsAuthenticator' | 'addsPasskey' | 'setupLinkId'>): boolean {
  return setupLinkId == null && !addsPasskey && !addsAuthenticator;
}

/** A concurrent sign-in has created the user or the identity: roll back. */
class LinkedMeanwhile extends Error {}

/** Sign-ins by upstream providers: from a checked answer on, they are steps of the one table (decisions/0388). */
export class FederatedSignIns {
  constructor(private readonly deps: FederatedDeps) {}

  /** Signs in the user of the response, or returns the next step. One transaction; the request is already consumed. */
  async arrive(browser: Omit<SigninCaller, 'organization'>, arrival: Arrival): Promise<Arrived> {
    const { project, request } = browser;
    const organization = await organizationPolicyOf(this.deps.db.alone, project.id, request?.organizationId);
    const caller = { ...browser, organization };
    const decide = () => pastDeadlocks(() => this.deps.db.transaction((em) => this.decide(em, caller, arrival)));
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof LinkedMeanwhile)) throw error;
      return decide().catch(orOff);
    }
  }

  /**
   * Records that a connection of an organization could not be reached in a flow. Other faults do not count: a browser can cause them, to
   * sign in by a mail code instead.
   */
  async missed({ id, project }: AuthorizationRequest, connection: Connection, fault: UpstreamFault): Promise<void> {
    if (connection.organizationId == null || (fault !== 'discovery' && fault !== 'unreachable')) return;
    const statement = sql`update authorization_requests set failed_connection_id = ${connection.id}
      where project_id = ${project.id} and id = ${id} and finished_at is null`;
    await execute(this.deps.db.alone, statement);
  }

  private async decide(em: EntityManager, caller: SigninCaller, arrival: Arrival): Promise<Arrived> {
    const { connections, identities, users } = this.deps;
    // As it is now: it may have been disabled or changed while the person was at the provider.
    const connection = await connections.enabled(em, arrival.connection);
    if (connection?.version !== arrival.version) return { outcome: 'off' };
    const { person } = arrival;
    const known = await identities.userIdOf(em, connection, person);
    if (known === null) return this.meet(em, caller, { ...arrival, connection });
    const user = await users.locked(em, caller.project.id, known);
    if (!user) return { outcome: 'no-account' };
    if (!user.active) return { outcome: 'inactive' };
    await identities.used(em, connection, person);
    await identities.replaceRoles(em, user, { connection, person }, caller.actor);
    if (connection.refreshesProfile) await identities.refreshProfile(em, user, { connection, person }, caller.actor);
    return this.signIn(em, caller, user, { ...arrival, connection });
  }

  /**
   * The identity is unknown. A matching address alone never links it: the user proves an existing account, or gets a new one. The
   * exception is {@link meetAtHome}.
   */
  private async meet(em: EntityManager, caller: SigninCaller, arrival: Arrival): Promise<Arrived> {
    const { connection, person } = arrival;
    const { email, emailVerified } = person;
    if (connection.organizationId != null) return this.meetAtHome(em, caller, arrival, connection.organizationId);
    const { account } = email === null ? { account: null } : await decidedOn(em, caller, addressKey(email));
    if (email === null || !emailVerified || account !== null) return this.prove(em, caller, arrival);
    if (!connection.jit) return { outcome: 'no-account' };
    const { actor, client, locale, project } = caller;
    const verdict = await this.deps.recipients.signUpOf(em, project.id, email);
    if (verdict === 'approval') {
      const { id: projectId, signUpRequestDays: days } = project;
      const asked = { projectId, days, clientId: client.id, address: email, locale, actor };
      await this.deps.signUpRequests.ask(em, asked);
      return { outcome: 'approval' };
    }
    if (verdict !== 'open') return { outcome: 'no-account' };
    return this.signInNew(em, caller, arrival, email);
  }

  /**
   * By a connection of an organization, whose word counts for addresses in its verified domains, unless it denies having verified the
   * address: it links the user at home there with the address, unless another subject of the connection has that user, or creates one.
   * Any other account is proved first (decisions/0397).
   */
  private async meetAtHome(
    em: EntityManager,
    caller: SigninCaller,
    arrival: Arrival,
    organizationId: string,
  ): Promise<Arrived> {
    const { connection, person } = arrival;
    const { email, emailDenied } = person;
    const { clock, identities, users } = this.deps;
    const { project } = caller;
    const home = keyIn(project.id, organizationId);
    if (email === null || emailDenied || !(await isInDomainOf(em, home, email))) return this.prove(em, caller, arrival);
    const { account } = await decidedOn(em, caller, addressKey(email));
    if (account === null) {
      const isReserved = await isAddressReserved(
        em,
        { projectId: project.id, organizationId },
        addressKey(email),
        clock.now(),
      );
      if (!connection.jit || isReserved) return { outcome: 'no-account' };
      return this.signInNew(em, caller, arrival, email);
    }
    const user = await users.locked(em, project.id, account);
    const isAtHome = user?.organizationId === organizationId && user.emailKey != null && hasAddress(user, email);
    if (!isAtHome || (await identities.isHeldBy(em, connection, user))) return this.prove(em, caller, arrival);
    if (!user.active) return { outcome: 'inactive' };
    if (!(await identities.link(em, connection, user, person, caller.actor))) throw new LinkedMeanwhile();
    if (connection.refreshesProfile) await identities.refreshProfile(em, user, arrival, caller.actor);
    const notice = { template: 'identity-changed', change: 'linked', provider: connection.name } as const;
    await notify({ em, deps: this.deps, caller }, user, notice);
    return this.signIn(em, caller, user, arrival);
  }

  private async signInNew(em: EntityManager, caller: SigninCaller, arrival: Arrival, email: string): Promise<Arrived> {
    const { connection, person } = arrival;
    const { actor } = caller;
    const user = await this.newUser(em, caller, arrival, email);
    if (!user) throw new LinkedMeanwhile();
    const isLinked = await this.deps.identities.link(em, connection, user, person, actor);
    if (!isLinked) throw new LinkedMeanwhile();
    return this.signIn(em, caller, user, arrival);
  }

  /** Null if a user with this address was created concurrently. */
  private async newUser(
    em: EntityManager,
    { actor, project }: SigninCaller,
    { connection, person }: Arrival,
    address: string,
  ): Promise<User | null> {
    const { users } = this.deps;
    if (project.organizationsEnabled) await lockAddress(em, project.id, addressKey(address));
    try {
      const home = { projectId: project.id, organizationId: connection.organizationId ?? null };
      const values = newProfile(address, person.profile);
      const { id } = await users.create(em, home, values, 'local', actor, { source: 'connection' });
      return users.locked(em, project.id, id);
    } catch (error) {
      if (error instanceof Refusal && error.problem.code === 'taken' && !error.problem.isReserved) return null;
      throw error;
    }
  }

  /** The answer waits with the request: the steps that prove an account end with the link (`steps/finish.ts`). */
  private async prove(em: EntityManager, { request }: SigninCaller, arrival: Arrival): Promise<Arrived> {
    const { person, request: asked, version } = arrival;
    await this.deps.upstreamSignIns.keep(em, asked, { ...person, version });
    await execute(
      em,
      sql`update authorization_requests set connecting_id = ${asked.id}
        where project_id = ${asked.project.id} and id = ${request?.id ?? null}::uuid and finished_at is null`,
    );
    return { outcome: 'prove' };
  }

  /** Another answer, which waited for the proof of an account, is not needed now. */
  private async forget(em: EntityManager, { request }: SigninCaller): Promise<void> {
    if (request?.connectingId == null) return;
    await execute(
      em,
      sql`update authorization_requests set connecting_id = null
        where project_id = ${request.project.id} and id = ${request.id}`,
    );
    request.connectingId = null;
  }

  private async signIn(em: EntityManager, caller: SigninCaller, user: User, arrival: Arrival): Promise<Arrived> {
    const { clock, connections, mfa, random } = this.deps;
    const { connection } = arrival;
    await this.forget(em, caller);
    const now = clock.now();
    const id = random.id();
    const piece = this.pieceOf(id, user, arrival, now);
    const ceremony = em.create(Ceremony, {
      id,
      project: caller.project.id,
      client: [caller.project.id, caller.client.id],
      request: [caller.project.id, caller.request?.id],
      txnHash: digest(newSecret(random)),
      nonceHash: digest(newSecret(random)),
      nonceExpiresAt: secondsLater(now, nonceTtlSeconds),
      state: 'otp_verified',
      origin: caller.origin,
      address: addressKey(user.email ?? user.userName),
      formerAmr: [],
      evidence: [],
      // Never trusted beyond this sign-in: the account at the provider may end.
      rememberDevice: false,
      createdAt: now,
      expiresAt: secondsLater(now, txnTtlSeconds),
    } as never) as Ceremony;
    em.persist(ceremony);
    const flow = flowOf(em, this.deps, inSignIn(caller, id), ceremony);
    const context = await signInContext(flow, await mfa.factors(em, user), { user });
    await connections.succeeded(em, connection);
    if (nextRequirement([piece], context) !== 'nothing') {
      ceremony.evidence = [piece];
      return { outcome: 'more' };
    }
    const ended = await finish(flow, { user, credential: null, proved: piece, context });
    Object.assign(ceremony, { evidence: [piece], state: 'finished' });
    if (!('sessionSecret' in ended)) throw new Error('a sign-in by a provider ends with a session');
    return { outcome: 'signed-in', sessionSecret: ended.sessionSecret, projectId: ended.projectId };
  }

  private pieceOf(
    ceremony: string,
    user: User,
    { connection, person, request, version }: Arrival,
    now: Date,
  ): Evidence {
    const { acr, amr, authTime, sessionUntil, subject } = person;
    const at = authTime === null ? null : new Date(authTime * 1000);
    const isSince = at !== null && at >= secondsLater(request.createdAt, -skewSeconds);
    const { organizationId } = connection;
    const isGuest = organizationId != null && user.organizationId !== organizationId;
    return {
      kind: 'federated',
      account: user.id,
      at: now.toISOString(),
      connection: connection.id,
      ...(organizationId != null && { organization: organizationId }),
      ...(isGuest && { isGuest }),
      ...{ version, subject, ceremony, amr, acr },
      ...(sessionUntil !== undefined && { sessionUntil: new Date(sessionUntil * 1000).toISOString() }),
      authTime: at?.toISOString() ?? null,
      // Only by `auth_time`: a provider may ignore `prompt` and `max_age`.
      isFresh: isSince && at <= secondsLater(now, skewSeconds),
    };
  }
}

/** Refused by another user's name, which no retry changes. */
function orOff(error: unknown): Arrived {
  if (!(error instanceof LinkedMeanwhile)) throw error;
  return { outcome: 'off' };
}

/** A flow without input: the proof came by the provider, not from the page. */
function flowOf(em: EntityManager, deps: FlowDeps, caller: SigninCaller, ceremony: Ceremony): Flow {
  const none = { device: null, publicJwk: null, counted: null, challenge: null };
  return { em, deps, caller, ceremony, input: { txn: '', body: new Uint8Array() }, ...none };
}
