import type { EntityManager } from '@mikro-orm/postgresql';
import type { Client } from '../clients/client.entity.ts';
import type { Database } from '../kernel/database.ts';
import { digest } from '../kernel/secret.ts';
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

/** Turns a live SSO session into codes, and sets requests aside that need their user first. */
export class Authorizations {
  private readonly db: Database;
  private readonly sessions: Sessions;
  private readonly tokens: Tokens;
  private readonly requests: AuthorizationRequests;

  constructor(db: Database, sessions: Sessions, tokens: Tokens, requests: AuthorizationRequests) {
    this.db = db;
    this.sessions = sessions;
    this.tokens = tokens;
    this.requests = requests;
  }

  /**
   * A code under the browser's live session, if that session answers the request: of the hinted user where one is
   * hinted, and proved by more than a device key within `maxAgeSeconds`. `login-required` otherwise.
   */
  async fromSession(
    authorization: Authorization,
    sessionSecret: string | undefined,
    hintedUserId: string | undefined,
  ): Promise<{ code: string } | 'login-required'> {
    // 0 asks for a sign-in now (OpenID Connect Core §3.1.2.1), even within the second of the last one.
    if (sessionSecret === undefined || authorization.maxAgeSeconds === 0) return 'login-required';
    const { client, redirectUri, codeChallenge, scope, nonce, maxAgeSeconds } = authorization;
    const code = await this.tokens.codeUnderSession({
      sessionHash: digest(sessionSecret),
      projectId: client.project.id,
      clientId: client.id,
      clientVersion: client.version,
      ...{ redirectUri, codeChallenge, scope, nonce, hintedUserId, maxAgeSeconds },
    });
    return code === null ? 'login-required' : { code };
  }

  /** Sets the request aside for the hosted page; returns the flow's handle and the secret of this browser. */
  begin(
    authorization: Authorization,
    { hintedUserId, personRequired }: { hintedUserId: string | undefined; personRequired: boolean },
  ): Promise<BegunFlow> {
    return this.db.transaction((em) =>
      this.requests.begin(em, {
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
   * `other-user` where the request hinted at somebody else; null where there is no such flow here.
   */
  async complete(
    flow: string,
    browserSecret: string | undefined,
    sessionSecretOf: (projectId: string) => string | undefined,
  ): Promise<Completion | null> {
    return this.db.transaction(async (em) => {
      const request = browserSecret === undefined ? null : await this.requests.find(em, flow, browserSecret);
      if (!request) return null;
      const session = await this.freshSession(em, request, sessionSecretOf(request.project.id));
      if (!session) return { request, outcome: 'sign-in-first' };
      if (!(await this.requests.finish(em, request.id))) return null;
      if (request.hintedUserId && request.hintedUserId !== session.user.id) return { request, outcome: 'other-user' };
      const code = await this.tokens.issueCode(em, {
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

  /** The live session, if its user has signed in since the request was made. */
  private async freshSession(em: EntityManager, request: AuthorizationRequest, secret: string | undefined) {
    if (secret === undefined) return null;
    const project = await em.findOneOrFail(Project, request.project.id);
    const session = await this.sessions.resume(em, project, secret);
    return session && session.moment > request.moment ? session : null;
  }
}

function underSession(session: Session) {
  return { userId: session.user.id, sessionId: session.id, authTime: session.authTime, amr: session.amr };
}
