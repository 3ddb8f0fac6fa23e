import type { EntityManager } from '@mikro-orm/postgresql';
import type { Client } from '../../clients/client.entity.ts';
import type { Database } from '../../kernel/database.ts';
import { networkOf } from '../../kernel/network.ts';
import { type ResponseMode } from '../../kernel/openid.ts';
import { refuse } from '../../kernel/problem.ts';
import { inAllProjects, openProject } from '../../kernel/scope.ts';
import { digest } from '../../kernel/secret.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { type Issuer, storedIssuer } from '../../projects/issuer.ts';
import { Project } from '../../projects/project.entity.ts';
import type { Session } from '../../sessions/session.entity.ts';
import { isByPasskey, type Sessions } from '../../sessions/sessions.ts';
import { type AcrRequest, metAcr } from '../../tokens/acr.ts';
import type { Tokens } from '../../tokens/tokens.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';
import type { AuthorizationRequests, BegunFlow } from './authorization-requests.ts';

/** The parts of a validated authorization request that its response depends on. */
export interface Authorization {
  client: Client;
  issuer: Issuer;
  redirectUri: string;
  state: string | undefined;
  scope: string;
  nonce: string | undefined;
  codeChallenge: string | undefined;
  /** Thumbprint of the DPoP key that must redeem the code. */
  dpopJkt: string | undefined;
  responseMode: ResponseMode;
  maxAgeSeconds: number | undefined;
  loginHint: string | undefined;
  uiLocales: string | undefined;
  /** Absent: the request asks for none. */
  acr?: AcrRequest | undefined;
}

/** How a pending flow completes. */
export interface Completion {
  request: AuthorizationRequest;
  outcome: { code: string } | 'sign-in-first' | 'other-user' | 'acr-unmet' | 'approve-device';
}

export interface AuthorizationDeps {
  db: Database;
  limits: Pick<Limits, 'spendInPassing'>;
  sessions: Sessions;
  tokens: Tokens;
  requests: AuthorizationRequests;
  /** Requests that one network (IPv6: a /64) may start per minute. */
  perMinute: number;
}

/** Issues codes under a live SSO session, and stores requests that need a sign-in first. */
export class Authorizations {
  private readonly perNetwork: LimitRule;

  constructor(private readonly deps: AuthorizationDeps) {
    this.perNetwork = { name: 'authorize-network', max: deps.perMinute, windowSeconds: 60 };
  }

  /**
   * A code under the browser's live session, if that session satisfies the request: it belongs to the hinted user, if
   * any, and was proved by more than a device key within `maxAgeSeconds`; otherwise `login-required`, or `acr-unmet` if it
   * was not proved as the request asks. `no-session` if
   * no query was made, `client-changed` if the client has changed since the request was validated.
   */
  async fromSession(
    authorization: Authorization,
    sessionSecret: string | undefined,
    hintedUserId: string | undefined,
  ): Promise<{ code: string } | 'login-required' | 'acr-unmet' | 'client-changed' | 'no-session'> {
    // 0 requires a sign-in now (OpenID Connect Core §3.1.2.1), even in the same second as the last one.
    if (sessionSecret === undefined || authorization.maxAgeSeconds === 0) return 'no-session';
    const { client, issuer, redirectUri, codeChallenge, dpopJkt, scope, nonce, maxAgeSeconds, acr } = authorization;
    return this.deps.tokens.codeUnderSession({
      sessionHash: digest(sessionSecret),
      client,
      issuer: storedIssuer(issuer),
      redirectUri,
      codeChallenge,
      dpopJkt,
      scope,
      nonce,
      hintedUserId,
      maxAgeSeconds,
      acr,
    });
  }

  /**
   * Stores the request for the hosted page; returns the flow's handle and the browser's secret. Open to unauthenticated
   * callers, so limited per network: refuses `too-many`.
   */
  async begin(
    authorization: Authorization,
    { hintedUserId, personRequired }: { hintedUserId: string | undefined; personRequired: boolean },
    ip: string | undefined,
  ): Promise<BegunFlow> {
    const { db, limits } = this.deps;
    const spent = await limits.spendInPassing(db, this.perNetwork, networkOf(ip));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    return this.deps.db.transaction((em) =>
      this.deps.requests.begin(em, {
        projectId: authorization.client.project.id,
        clientId: authorization.client.id,
        issuer: storedIssuer(authorization.issuer),
        redirectUri: authorization.redirectUri,
        scope: authorization.scope,
        state: authorization.state,
        nonce: authorization.nonce,
        codeChallenge: authorization.codeChallenge,
        dpopJkt: authorization.dpopJkt,
        responseMode: authorization.responseMode,
        loginHint: authorization.loginHint,
        hintedUserId,
        uiLocales: authorization.uiLocales,
        personRequired,
        acr: authorization.acr,
      }),
    );
  }

  /**
   * The code of a flow after its sign-in in this browser; single use. `sign-in-first` until then; `other-user` if the
   * request hinted at another user, `acr-unmet` if it was not proved as the request requires, `approve-device` if the
   * answer goes to a device, after its user's approval; null if this browser has no such flow of this issuer.
   */
  async complete(
    issuer: Issuer,
    flow: string,
    browserSecret: string | undefined,
    sessionSecretOf: (projectId: string) => string | undefined,
  ): Promise<Completion | null> {
    if (browserSecret === undefined) return null;
    const { db, requests } = this.deps;
    const known = await inAllProjects(() => requests.find(db.reader(), flow, browserSecret));
    if (!known || (known.issuer ?? null) !== storedIssuer(issuer)) return null;
    openProject(known.project.id);
    return db.transaction(async (em) => {
      const request = await requests.find(em, flow, browserSecret);
      if (!request) return null;
      if (request.deviceAuthorizationId) return { request, outcome: 'approve-device' };
      const session = await this.freshSession(em, request, sessionSecretOf(request.project.id));
      if (!session) return { request, outcome: 'sign-in-first' };
      if (!(await this.deps.requests.finish(em, request))) return null;
      if (request.hintedUserId && request.hintedUserId !== session.user.id) return { request, outcome: 'other-user' };
      const acr = metAcr(request.acrValues ?? [], session.amr);
      if (acr === null && request.acrEssential) return { request, outcome: 'acr-unmet' };
      const code = await this.deps.tokens.issueCode(em, {
        projectId: request.project.id,
        clientId: request.client.id,
        issuer: request.issuer ?? null,
        redirectUri: request.redirectUri,
        codeChallenge: request.codeChallenge ?? undefined,
        dpopJkt: request.dpopJkt ?? undefined,
        scope: request.scope,
        nonce: request.nonce ?? undefined,
        acr,
        ...underSession(session),
      });
      return { request, outcome: { code } };
    });
  }

  /** The live session, if it satisfies the request; see {@link answers}. */
  private async freshSession(em: EntityManager, request: AuthorizationRequest, secret: string | undefined) {
    if (secret === undefined) return null;
    const project = await em.findOneOrFail(Project, request.project.id);
    const session = await this.deps.sessions.resume(em, project, secret);
    return session && answers(session, request) ? session : null;
  }
}

/**
 * Whether the user has signed in since the request was made, proved more than a device key if it requires the person,
 * and a passkey if its client requires one. A sign-in for another request counts only if that request is newer: then all
 * its proofs are newer, too.
 */
function answers(session: Session, request: AuthorizationRequest): boolean {
  if (session.moment <= request.moment) return false;
  if (request.client.getEntity().passkeyRequired && !isByPasskey(session)) return false;
  return !request.personRequired || (session.freshMoment ?? 0) >= request.moment;
}

function underSession(session: Session) {
  return { userId: session.user.id, sessionId: session.id, authTime: session.authTime, amr: session.amr };
}
