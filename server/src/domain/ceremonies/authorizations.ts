import type { EntityManager } from '@mikro-orm/postgresql';
import type { Client } from '../clients/client.entity.ts';
import type { Database } from '../kernel/database.ts';
import { networkOf } from '../kernel/network.ts';
import { refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import type { Session } from '../sessions/session.entity.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';
import type { AuthorizationRequests, BegunFlow } from './authorization-requests.ts';

/** A checked authorization request, as far as its answer depends on it. */
export interface Authorization {
  client: Client;
  redirectUri: string;
  state: string | undefined;
  scope: string;
  nonce: string | undefined;
  codeChallenge: string;
  maxAgeSeconds: number | undefined;
  loginHint: string | undefined;
  uiLocales: string | undefined;
}

/** How a flow that was set aside goes on. */
export interface Completion {
  request: AuthorizationRequest;
  outcome: { code: string } | 'sign-in-first' | 'other-user';
}

export interface AuthorizationDeps {
  db: Database;
  limits: Pick<Limits, 'spendInPassing'>;
  sessions: Sessions;
  tokens: Tokens;
  requests: AuthorizationRequests;
  /** Requests that one network (a /64 of IPv6) may leave waiting in a minute. */
  perMinute: number;
}

/** Turns a live SSO session into codes, and sets requests aside that need their user first. */
export class Authorizations {
  private readonly perNetwork: LimitRule;

  constructor(private readonly deps: AuthorizationDeps) {
    this.perNetwork = { name: 'authorize-network', max: deps.perMinute, windowSeconds: 60 };
  }

  /**
   * A code under the browser's live session, if that session answers the request: of the hinted user where one is
   * hinted, and proved by more than a device key within `maxAgeSeconds`; otherwise `login-required`. `no-session` if the
   * database was not asked, `client-changed` if the client is no longer as the request was checked against.
   */
  async fromSession(
    authorization: Authorization,
    sessionSecret: string | undefined,
    hintedUserId: string | undefined,
  ): Promise<{ code: string } | 'login-required' | 'client-changed' | 'no-session'> {
    // 0 asks for a sign-in now (OpenID Connect Core §3.1.2.1), even within the second of the last one.
    if (sessionSecret === undefined || authorization.maxAgeSeconds === 0) return 'no-session';
    const { client, redirectUri, codeChallenge, scope, nonce, maxAgeSeconds } = authorization;
    return this.deps.tokens.codeUnderSession({
      sessionHash: digest(sessionSecret),
      client,
      redirectUri,
      codeChallenge,
      scope,
      nonce,
      hintedUserId,
      maxAgeSeconds,
    });
  }

  /**
   * Sets the request aside for the hosted page; returns the flow's handle and the secret of this browser. Anybody can
   * have that written: refuses `too-many` where one network asks too often.
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
        redirectUri: authorization.redirectUri,
        scope: authorization.scope,
        state: authorization.state,
        nonce: authorization.nonce,
        codeChallenge: authorization.codeChallenge,
        loginHint: authorization.loginHint,
        hintedUserId,
        uiLocales: authorization.uiLocales,
        personRequired,
      }),
    );
  }

  /**
   * The code of a flow whose sign-in has been done in this browser, once. `sign-in-first` while that is not so;
   * `other-user` where the request hinted at another user; null where there is no such flow here.
   */
  async complete(
    flow: string,
    browserSecret: string | undefined,
    sessionSecretOf: (projectId: string) => string | undefined,
  ): Promise<Completion | null> {
    return this.deps.db.transaction(async (em) => {
      const request = browserSecret === undefined ? null : await this.deps.requests.find(em, flow, browserSecret);
      if (!request) return null;
      const session = await this.freshSession(em, request, sessionSecretOf(request.project.id));
      if (!session) return { request, outcome: 'sign-in-first' };
      if (!(await this.deps.requests.finish(em, request.id))) return null;
      if (request.hintedUserId && request.hintedUserId !== session.user.id) return { request, outcome: 'other-user' };
      const code = await this.deps.tokens.issueCode(em, {
        clientId: request.client.id,
        redirectUri: request.redirectUri,
        codeChallenge: request.codeChallenge,
        scope: request.scope,
        nonce: request.nonce ?? undefined,
        ...underSession(session),
      });
      return { request, outcome: { code } };
    });
  }

  /** The live session, if it {@link answers} the request. */
  private async freshSession(em: EntityManager, request: AuthorizationRequest, secret: string | undefined) {
    if (secret === undefined) return null;
    const project = await em.findOneOrFail(Project, request.project.id);
    const session = await this.deps.sessions.resume(em, project, secret);
    return session && answers(session, request) ? session : null;
  }
}

/**
 * Whether the user has signed in since the request was made, and, where it asks for the person, proved more than a device
 * key. A sign-in for another request counts only where that request is younger: all its proofs are then younger, too.
 */
function answers(session: Session, request: AuthorizationRequest): boolean {
  if (session.moment <= request.moment) return false;
  return !request.personRequired || (session.freshMoment ?? 0) >= request.moment;
}

function underSession(session: Session) {
  return { userId: session.user.id, sessionId: session.id, authTime: session.authTime, amr: session.amr };
}
