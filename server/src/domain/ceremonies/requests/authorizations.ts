import type { EntityManager } from '@mikro-orm/postgresql';
import { isSamlApplication } from '../../clients/saml/saml-application.ts';
import type { Consents } from '../../consents/consents.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { networkOf } from '../../kernel/network.ts';
import { refuse } from '../../kernel/problem.ts';
import { inAllProjects, openProject } from '../../kernel/scope.ts';
import { digest } from '../../kernel/secret.ts';
import { execute } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { usedMembership } from '../../organizations/organization-policy.ts';
import { metAcr } from '../../policy/acr.ts';
import { isProvedSince } from '../../policy/freshness.ts';
import { meetsClientPolicy } from '../../policy/session.ts';
import { type Issuer, storedIssuer } from '../../projects/issuer.ts';
import { Project } from '../../projects/project.entity.ts';
import { type Site, siteOf } from '../../projects/site.ts';
import type { Impersonation, Session } from '../../sessions/session.entity.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { SessionCode } from '../../tokens/session-code.ts';
import type { Tokens } from '../../tokens/tokens.ts';
import type {
  Authorization,
  Choice,
  Completion,
  ConsentAnswer,
  FlowBrowser,
  FlowVisit,
  WayOn,
} from './authorization.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';
import type { AuthorizationRequests, BegunFlow } from './authorization-requests.ts';
import { areOffered, choose, contextOf } from './request-context.ts';

export interface AuthorizationDeps {
  db: Database;
  clock: Clock;
  limits: Pick<Limits, 'spendPrepaid'>;
  sessions: Sessions;
  tokens: Tokens;
  requests: AuthorizationRequests;
  consents: Pick<Consents, 'isRequired' | 'give' | 'refused'>;
  issuer: string;
  /** Requests that one network (IPv6: a /64) may start per minute. */
  perMinute: number;
}

/** An impersonation in this browser, for the application of the request. */
export interface HeldImpersonation extends Pick<Impersonation, 'organizationId'> {
  /** `secret_hash` of its session. */
  sessionHash: string;
}

/** Issues codes under a live SSO session, and stores requests that need a sign-in first. */
export class Authorizations {
  private readonly perNetwork: LimitRule;

  constructor(private readonly deps: AuthorizationDeps) {
    this.perNetwork = { name: 'authorize-network', max: deps.perMinute, windowSeconds: 60 };
  }

  /**
   * A code under the browser's live session, if that session satisfies the request: it belongs to the hinted user, if
   * any, and the one of a checked `loginHint`, and was proved by more than a device key within `maxAgeSeconds`; otherwise `login-required`, or `acr-unmet` if it
   * was not proved as the request asks. The session's id if only access of its user, their consent or the choice of an organization is missing. `no-session` if
   * no query was made, `client-changed` if the client has changed since the request was validated.
   */
  async fromSession(
    authorization: Authorization,
    sessionSecret: string | undefined,
    hintedUserId: string | undefined,
  ): Promise<
    | { code: string }
    | { noAccessUnder: string; userId: string }
    | { consentUnder: string }
    | { choiceUnder: string }
    | 'login-required'
    | 'acr-unmet'
    | 'client-changed'
    | 'no-session'
  > {
    // 0 requires a sign-in now (OpenID Connect Core §3.1.2.1), even in the same second as the last one.
    if (sessionSecret === undefined || authorization.maxAgeSeconds === 0) return 'no-session';
    return this.codeUnder(authorization, { sessionHash: digest(sessionSecret), hintedUserId });
  }

  /** Like {@link fromSession}, under an impersonation; it gives no refresh token. */
  async fromImpersonation(
    authorization: Authorization,
    { sessionHash, organizationId }: HeldImpersonation,
    hintedUserId: string | undefined,
  ) {
    if (authorization.maxAgeSeconds === 0) return 'no-session';
    const scopes = authorization.scope.split(' ').filter((one) => one !== 'offline_access');
    const isOpen = authorization.organizationId === null;
    const asked = { ...authorization, scope: scopes.join(' '), ...(isOpen && { organizationId }) };
    return this.codeUnder(asked, { sessionHash, hintedUserId, isImpersonated: true });
  }

  private codeUnder(
    authorization: Authorization,
    held: Pick<SessionCode, 'sessionHash' | 'hintedUserId' | 'isImpersonated'>,
  ) {
    const { client, issuer, redirectUri, codeChallenge, dpopJkt, resources, scope } = authorization;
    const { nonce, loginHint, maxAgeSeconds, asksConsent, acr, organizationId } = authorization;
    const checksHint = issuer.capabilities.loginHints && client.loginHintChecked;
    return this.deps.tokens.codeUnderSession({
      ...held,
      client,
      issuer: storedIssuer(issuer),
      redirectUri,
      codeChallenge,
      dpopJkt,
      resources,
      scope,
      nonce,
      loginHint: checksHint ? loginHint : undefined,
      maxAgeSeconds,
      asksConsent,
      acr,
      organizationId,
    });
  }

  /**
   * Stores the request for the hosted page; returns the flow's handle and the browser's secret. Open to unauthenticated
   * callers, so limited per network: refuses `too-many`.
   */
  async begin(
    authorization: Authorization,
    {
      hintedUserId,
      personRequired,
      sessionId,
      isPushed,
    }: {
      hintedUserId: string | undefined;
      personRequired: boolean;
      sessionId?: string | undefined;
      isPushed: boolean;
    },
    ip: string | undefined,
  ): Promise<BegunFlow> {
    await this.countStart(ip);
    return this.deps.requests.begin(this.deps.db.alone, {
      projectId: authorization.client.project.id,
      clientId: authorization.client.id,
      issuer: storedIssuer(authorization.issuer),
      redirectUri: authorization.redirectUri,
      resources: authorization.resources,
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
      organizationId: authorization.organizationId,
      sessionId,
      asksConsent: authorization.asksConsent,
      renewable: !isPushed,
    });
  }

  /**
   * Begins the request of this browser's flow again after it has expired, with the values that were stored: none comes from
   * the page. Null: see {@link AuthorizationRequests.expired}. Refuses `too-many`, as {@link begin}.
   */
  async renew(
    flow: string,
    { browserSecret, site }: Pick<FlowVisit, 'browserSecret' | 'site'>,
    ip: string | undefined,
  ): Promise<BegunFlow | null> {
    const known = await this.expired(flow, browserSecret, site);
    if (!known) return null;
    await this.countStart(ip);
    openProject(known.project.id);
    return this.deps.db.transaction((em) => this.deps.requests.renew(em, known));
  }

  private async expired(flow: string, browserSecret: string | undefined, { origin }: Pick<Site, 'origin'>) {
    if (browserSecret === undefined) return null;
    const { db, issuer, requests } = this.deps;
    const request = await inAllProjects(() => requests.expired(db.reader(), flow, browserSecret));
    return request && siteOf(issuer, request.issuer).origin === origin ? request : null;
  }

  /** Counts a request of an unauthenticated caller before it is stored. Refuses `too-many`. */
  async countStart(ip: string | undefined): Promise<void> {
    const { db, limits } = this.deps;
    const spent = await limits.spendPrepaid(db, this.perNetwork, networkOf(ip));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
  }

  /**
   * The code of a flow after its sign-in in this browser; single use. `sign-in-first` until then,
   * {@link ConsentRequired} until the user has answered; `other-user` if the request hinted at another user, `acr-unmet`
   * if it was not proved as the request requires, {@link WithoutAccess} until the user leaves, then `no-access`; `refused` if the user
   * refused, `approve-device` if the response goes to
   * a device, after its user's approval, `answer-saml` if it is a SAML request and the caller another protocol, `confirmed` if it only confirms the user to the account page; null if this
   * browser has no such flow of this issuer.
   *
   * @param leaves whether a user without access returns to the application
   */
  complete(
    issuer: Issuer,
    browser: FlowBrowser,
    leaves = false,
    protocol: 'openid' | 'saml' = 'openid',
  ): Promise<Completion | null> {
    return this.continued(issuer, browser, async (em, request, session) => {
      if (request.deviceAuthorizationId) return { request, outcome: 'approve-device' };
      const isSaml = isSamlApplication(request.client.getEntity());
      if (isSaml !== (protocol === 'saml')) return isSaml ? { request, outcome: 'answer-saml' } : null;
      if (!session) return { request, outcome: 'sign-in-first' };
      const end = async (outcome: Completion['outcome']) =>
        (await this.deps.requests.finish(em, request)) ? { request, outcome } : null;
      if (request.hintedUserId && request.hintedUserId !== session.user.id) return end('other-user');
      const acr = metAcr(request.acrValues ?? [], session.amr);
      if (acr === null && request.acrEssential) return end('acr-unmet');
      if (this.deps.requests.isConfirmation(request)) return end('confirmed');
      const context = await contextOf(em, request, session, this.deps.clock.now());
      if (context === 'no-access') {
        return leaves ? end('no-access') : { request, outcome: { withoutAccess: session.user.getEntity() } };
      }
      if (context === 'sign-in') return { request, outcome: 'sign-in-first' };
      if ('choices' in context) {
        const { choices } = context;
        return { request, outcome: { choices, user: session.user.getEntity(), boundTo: boundTo(request, session) } };
      }
      const { organizationId } = context;
      this.deps.sessions.extend(session, request.project.getEntity());
      const consent = await this.consentOf(em, request, session.user.id, organizationId);
      if (consent === 'required') {
        const user = session.user.getEntity();
        return { request, outcome: { user, organizationId, boundTo: boundTo(request, session, organizationId) } };
      }
      if (consent === 'refused') return end('refused');
      if (!(await this.deps.requests.finish(em, request))) return null;
      const code = await this.deps.tokens.issueCode(em, {
        projectId: request.project.id,
        clientId: request.client.id,
        issuer: request.issuer ?? null,
        redirectUri: request.redirectUri,
        codeChallenge: request.codeChallenge ?? undefined,
        dpopJkt: request.dpopJkt ?? undefined,
        resources: request.resources,
        scope: request.scope,
        nonce: request.nonce ?? undefined,
        acr,
        organizationId,
        ...underSession(session),
      });
      if (organizationId !== null) {
        const of = { projectId: request.project.id, organizationId, userId: session.user.id };
        await execute(em, usedMembership(of, this.deps.clock.now()));
      }
      return { request, outcome: { code } };
    });
  }

  /** Whether {@link complete} would answer the request under the browser's session: the hosted page need not ask. */
  async isMet(request: AuthorizationRequest, sessionSecret: string | undefined): Promise<boolean> {
    if (sessionSecret === undefined) return false;
    return this.deps.db.transaction(async (em) => {
      const session = await this.freshSession(em, request, sessionSecret);
      if (!session || (request.hintedUserId && request.hintedUserId !== session.user.id)) return false;
      if (request.acrEssential && metAcr(request.acrValues ?? [], session.amr) === null) return false;
      return (
        request.organizationId == null || (await contextOf(em, request, session, this.deps.clock.now())) !== 'sign-in'
      );
    });
  }

  /**
   * Of a flow that this browser cannot continue: its application, and where that starts ({@link AuthorizationRequests.startOf}).
   * `isSignedIn`: the flow is finished, and the browser has a live session of the project. Null: unknown.
   */
  async wayOn(flow: string, { browserSecret, sessionSecretOf, site }: FlowVisit): Promise<WayOn | null> {
    const { db, requests, sessions } = this.deps;
    const request = await inAllProjects(() => requests.known(db.reader(), flow));
    if (!request) return null;
    openProject(request.project.id);
    const project = request.project.getEntity();
    const secret = request.finishedAt ? sessionSecretOf(project.id) : undefined;
    const session = secret === undefined ? null : await sessions.peek(db.reader(), project, secret);
    return {
      client: request.client.getEntity(),
      start: requests.startOf(request),
      isSignedIn: session !== null,
      isRenewable: (await this.expired(flow, browserSecret, site)) !== null,
    };
  }

  /** See {@link AuthorizationRequests.isConfirmation}. */
  isConfirmation(request: AuthorizationRequest): boolean {
    return this.deps.requests.isConfirmation(request);
  }

  /** See {@link AuthorizationRequests.startOf}. */
  startOf(request: AuthorizationRequest): string | null {
    return this.deps.requests.startOf(request);
  }

  /**
   * Stores the answer to the consent page, for {@link complete}. Changes nothing without a session that meets the request, or
   * if the answer belongs to another session or request. False if this browser has no such flow of this issuer.
   *
   * @param isBoundTo whether the page that answers was made for this request and session
   */
  async answerConsent(
    issuer: Issuer,
    browser: FlowBrowser,
    { isGiven, isBoundTo, actorFor }: ConsentAnswer,
  ): Promise<boolean> {
    const { consents, requests } = this.deps;
    const answered = await this.continued(issuer, browser, async (em, request, session) => {
      const context = session && (await contextOf(em, request, session, this.deps.clock.now()));
      if (!session || context === null || typeof context === 'string' || 'choices' in context) return true;
      const { organizationId } = context;
      // The page that asked named this organization.
      if (!isBoundTo(boundTo(request, session, organizationId))) return true;
      const user = session.user.getEntity();
      const { id } = user;
      const isChanged = request.decidedBy === id && request.isAllowed !== isGiven;
      // A second click, or nothing to answer.
      if (!isChanged && (await this.consentOf(em, request, id, organizationId)) !== 'required') return true;
      if (!(await requests.decide(em, request, id, isGiven))) return true;
      const actor = actorFor({ id, name: user.userName });
      const client = request.client.getEntity();
      const asked = { scope: request.scope, resources: request.resources, organizationId };
      if (isGiven) await consents.give(em, client, user, asked, actor);
      else consents.refused(em, client, user, asked, actor);
      return true;
    });
    return answered ?? false;
  }

  /**
   * Stores the organization that the session's user chose, for {@link complete}. Changes nothing without a session that meets the
   * request, if the choice belongs to another one or the user may not use the client there. False as {@link answerConsent}.
   */
  async choose(issuer: Issuer, browser: FlowBrowser, { organizationId, isBoundTo }: Choice): Promise<boolean> {
    const chosen = await this.continued(issuer, browser, async (em, request, session) => {
      if (session && isBoundTo(boundTo(request, session))) await choose(em, request, session, organizationId);
      return true;
    });
    return chosen ?? false;
  }

  /** Whether the user has allowed or refused the requested scopes in the organization, or must be asked. */
  private async consentOf(
    em: EntityManager,
    request: AuthorizationRequest,
    userId: string,
    organizationId: string | null,
  ): Promise<'given' | 'refused' | 'required'> {
    const client = request.client.getEntity();
    if (!client.thirdParty) return 'given';
    const answer = request.decidedBy === userId ? (request.isAllowed ?? null) : null;
    if (answer === false) return 'refused';
    if (request.asksConsent && answer === null) return 'required';
    const { resources, scope } = request;
    const asked = { scope, resources, organizationId };
    return (await this.deps.consents.isRequired(em, client, userId, asked)) ? 'required' : 'given';
  }

  /** Runs a step of this browser's flow in a transaction; null if it has no such flow of this issuer. */
  private async continued<T>(
    issuer: Issuer,
    { flow, browserSecret, sessionSecretOf }: FlowBrowser,
    step: (em: EntityManager, request: AuthorizationRequest, session: Session | null) => Promise<T>,
  ): Promise<T | null> {
    if (browserSecret === undefined) return null;
    const { db, requests } = this.deps;
    const known = await inAllProjects(() => requests.find(db.reader(), flow, browserSecret));
    if (!known || (known.issuer ?? null) !== storedIssuer(issuer)) return null;
    openProject(known.project.id);
    return db.transaction(async (em) => {
      const request = await requests.find(em, flow, browserSecret);
      if (!request) return null;
      return step(em, request, await this.freshSession(em, request, sessionSecretOf(request.project.id)));
    });
  }

  /** The live session, if it satisfies the request; see {@link answers}. */
  private async freshSession(em: EntityManager, request: AuthorizationRequest, secret: string | undefined) {
    if (secret === undefined) return null;
    const project = await em.findOneOrFail(Project, request.project.id);
    const session = await this.deps.sessions.peek(em, project, secret);
    // The idle limit of an organization, which is not known yet, may be shorter.
    if (session && !areOffered(request, project)) this.deps.sessions.extend(session, project);
    return session && answers(session, request) ? session : null;
  }
}

/**
 * Whether the user has signed in since the request was made, proved more than a device key if it requires the person,
 * and a passkey if its client requires one. A sign-in for another request counts only if that request is newer: then all
 * its proofs are newer, too. A session that met the request when it was made needs no sign-in.
 */
function answers(session: Session, request: AuthorizationRequest): boolean {
  if (!meetsClientPolicy(session, request.client.getEntity())) return false;
  if (request.sessionId === session.id) return true;
  if (session.moment <= request.moment) return false;
  return !request.personRequired || isProvedSince(session, request.moment);
}

/** @param organizationId that the page names; absent: the page chooses one, or there is none */
function boundTo(request: AuthorizationRequest, session: Session, organizationId?: string | null): string {
  return [request.id, session.id, ...(organizationId == null ? [] : [organizationId])].join(' ');
}

function underSession(session: Session) {
  return { userId: session.user.id, sessionId: session.id, authTime: session.authTime, amr: session.amr };
}
