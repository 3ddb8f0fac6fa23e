import type { Request, RequestHandler, Response } from 'express';
import type { AccessRefusals } from '../domain/access/access-refusals.ts';
import type { Apis } from '../domain/apis/apis.ts';
import type { Authorization } from '../domain/ceremonies/requests/authorization.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { BegunFlow } from '../domain/ceremonies/requests/authorization-requests.ts';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import type { PushedRequests } from '../domain/ceremonies/requests/pushed-requests.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import type { ClientDocuments } from '../domain/clients/introductions/client-documents.ts';
import { type ResponseMode } from '../domain/kernel/openid.ts';
import { type Issuer } from '../domain/projects/issuer.ts';
import type { Impersonations } from '../domain/support/impersonations.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import type { User } from '../domain/users/user.entity.ts';
import { actorOf, requestContext } from '../http/context.ts';
import { failureOf } from '../http/failure.ts';
import { connectPath } from '../http/flow-addresses.ts';
import { sendForm } from '../http/form-post.ts';
import { clientsAt, issuerOf } from '../http/issuer.ts';
import { formParameters, lacksCookies, type Parameters, parametersOf } from '../http/parameters.ts';
import { routeLabel } from '../http/routes/route.ts';
import {
  type CheckedTarget,
  check,
  checkTarget,
  named,
  responseModeOf,
  type TargetFault,
} from './authorization-request.ts';
import type { ConnectionIds } from './connection.ts';
import { askForConsent, browserOf, type ConsentDeps, resumePath } from './consent.ts';
import { OAuthError, type OAuthErrorCode, toOAuthError } from './oauth-error.ts';
import type { ChoicePage, OrganizationNames } from './organization.ts';
import { pushedHandle } from './par.ts';

export interface AuthorizeDeps extends OrganizationNames, ConnectionIds {
  consent: Pick<ConsentDeps, 'csrf' | 'page'>;
  clients: Pick<ClientRegistry, 'cached' | 'current'>;
  documents: Pick<ClientDocuments, 'meet'>;
  pushedRequests: Pick<PushedRequests, 'take'>;
  apis: Pick<Apis, 'usableBy'>;
  authorizations: Pick<Authorizations, 'fromSession' | 'fromImpersonation' | 'begin' | 'complete'>;
  impersonations: Pick<Impersonations, 'held'>;
  /** The user of a valid ID token of this issuer, expired or not; null for anything else. */
  hintedUser(idToken: string, issuer: Issuer): Promise<string | null>;
  cookies: {
    session(req: Request, projectId: string): string | undefined;
    impersonation(req: Request, projectId: string): string | undefined;
    flow(req: Request, flow: string): string | undefined;
    setFlow(res: Response, flow: string, secret: string): void;
    clearFlow(res: Response, flow: string): void;
  };
  /** @param client of an address that it has not registered: the page names it */
  errorPage(
    req: Request,
    res: Response,
    status: number,
    reason: TargetFault | 'flow-expired',
    client?: Client | null,
  ): void | Promise<void>;
  /** The page on which a user chooses an organization. */
  choicePage: ChoicePage;
  /** The page for a user without access to the application. */
  noAccessPage(req: Request, res: Response, shown: ShownNoAccess): Promise<void>;
  refusals: Pick<TokenRefusals, 'record'>;
  accessRefusals: Pick<AccessRefusals, 'record'>;
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
}

/** The page of a user without access to the application. */
interface ShownNoAccess {
  request: AuthorizationRequest;
  user: Pick<User, 'email' | 'userName'>;
  flow: string;
  /** The address that returns to the application; absent: the flow has none. */
  back?: string;
}

/** Result of an authorization request. */
type AuthorizeAnswer =
  | { page: TargetFault | 'flow-expired' }
  | { target: Target; error: OAuthError }
  | { target: Target; code: string }
  /** `isSignedIn`: only access of the session's user, their consent or choice is missing. `connectionId`: the sign-in begins there. */
  | { begun: BegunFlow; isSignedIn: boolean; connectionId: string | null };

/** `GET` and `POST /authorize` (OpenID Connect Core §3.1.2, service.md 4.2). */
export function authorizeEndpoint(deps: AuthorizeDeps): RequestHandler {
  return async (req, res) => {
    if (lacksCookies(req)) return res.redirect(303, `${req.baseUrl}/authorize?${req.body}`);
    const issuer = issuerOf(req);
    const asked = await requested(deps, req, issuer);
    const answer =
      typeof asked === 'string'
        ? { page: asked }
        : ((await decide(deps, req, asked, 'cached')) ??
          (await decide(deps, req, asked, 'current')) ?? { page: 'client' });
    await noteRefusal(deps, req, typeof asked === 'string' ? parametersOf(req) : asked.parameters, answer);
    if ('page' in answer && answer.page === 'redirect-uri') {
      const clientId = parametersOf(req).get('client_id') ?? '';
      return deps.errorPage(req, res, 400, answer.page, await clientsAt(issuer, deps.clients.current).byId(clientId));
    }
    if ('page' in answer) return deps.errorPage(req, res, 400, answer.page);
    if ('error' in answer) return redirectError(issuer, res, answer.target, answer.error);
    if ('code' in answer) return redirectCode(issuer, res, answer.target, answer.code);
    deps.cookies.setFlow(res, answer.begun.flow, answer.begun.browserSecret);
    const { flow } = answer.begun;
    if (answer.isSignedIn) return res.redirect(303, resumePath(req, flow));
    const { connectionId } = answer;
    res.redirect(303, connectionId === null ? signInPage(flow) : connectPath(connectionId, flow));
  };
}

/** Errors for `prompt=none` that applications expect. */
const expected: readonly OAuthErrorCode[] = ['login_required', 'consent_required', 'interaction_required'];

async function noteRefusal(
  deps: AuthorizeDeps,
  req: Request,
  parameters: Parameters,
  answer: AuthorizeAnswer,
): Promise<void> {
  const clientId = parameters.get('client_id');
  if ('page' in answer) {
    const redirectUri = answer.page === 'redirect-uri' ? parameters.get('redirect_uri') : undefined;
    await note(deps, req, clientId, { reason: answer.page, redirectUri });
  }
  if (!('error' in answer) || answer.error === noAccess || expected.includes(answer.error.error)) return;
  await note(deps, req, clientId, { reason: answer.error.error, description: answer.error.description });
}

/** Records a refusal, and logs it without what the request contained. */
function note(
  { refusals, log }: AuthorizeDeps,
  req: Request,
  clientId: string | undefined,
  refusal: { reason: string; description?: string; redirectUri?: string | undefined },
): Promise<void> {
  const { requestId } = requestContext(req);
  log.info({ requestId, route: routeLabel(req), error: refusal.reason }, 'request refused');
  return refusals.record({ type: 'authorization.refused', clientId, actor: actorOf(req), ...refusal });
}

/** The parameters of a request, and whether they were pushed. */
interface ReceivedRequest {
  parameters: Parameters;
  isPushed: boolean;
}

/**
 * The request itself, or the pushed one that it names (RFC 9126 §4): then its other parameters are ignored. Single use, so
 * that a `request_uri` in a log or a history is useless.
 */
async function requested(
  deps: AuthorizeDeps,
  req: Request,
  issuer: Issuer,
): Promise<ReceivedRequest | TargetFault | 'flow-expired'> {
  const parameters = parametersOf(req);
  if (parameters.wrongContentType) return 'parameters';
  const { documents } = deps;
  if (!(await documents.meet(issuer.project?.id, parameters.get('client_id'), actorOf(req)))) return 'client';
  const handle = issuer.capabilities.pushedRequests ? pushedHandle(parameters) : null;
  if (handle === null) return { parameters, isPushed: false };
  if (['client_id', 'request_uri'].some((name) => parameters.faults.includes(name))) return 'parameters';
  const clientId = parameters.get('client_id') ?? '';
  const { cached, current } = deps.clients;
  const client = (await clientsAt(issuer, cached).byId(clientId)) ?? (await clientsAt(issuer, current).byId(clientId));
  if (!client) return 'client';
  const form = await deps.pushedRequests.take(handle, { client, issuer });
  return form === null ? 'flow-expired' : { parameters: formParameters(form), isPushed: true };
}

/** Null if the cached client may be stale: retry with the current one. */
async function decide(
  deps: AuthorizeDeps,
  req: Request,
  { parameters, isPushed }: ReceivedRequest,
  source: 'cached' | 'current',
): Promise<AuthorizeAnswer | null> {
  const issuer = issuerOf(req);
  const checked = await checkTarget(parameters, clientsAt(issuer, deps.clients[source]), issuer);
  let isCurrent = source === 'current';
  if (typeof checked === 'string') return isCurrent ? { page: checked } : null;
  const target = { ...checked, responseMode: responseModeOf(parameters, issuer) };
  try {
    const things = await named(deps, parameters, target.client, issuer);
    const request = { ...check(parameters, target, issuer, { ...things, isPushed }), issuer };
    const hinted = request.idTokenHint === undefined ? undefined : await deps.hintedUser(request.idTokenHint, issuer);
    const hintedUserId = hinted ?? undefined;
    let sessionId: string | undefined;
    // An invalid hint matches no session.
    if (request.prompt !== 'login' && hinted !== null) {
      const impersonated = await fromImpersonation(deps, req, request, hintedUserId);
      if (impersonated === 'client-changed') return null;
      if (typeof impersonated === 'object') return { target, ...impersonated };
      const secret = deps.cookies.session(req, request.client.project.id);
      const answer = await deps.authorizations.fromSession(request, secret, hintedUserId);
      if (answer === 'client-changed') return null;
      if (typeof answer === 'object' && 'code' in answer) return { target, code: answer.code };
      if (typeof answer === 'object') {
        if (request.prompt === 'none' && 'consentUnder' in answer) throw consentRequired;
        if (request.prompt === 'none' && 'choiceUnder' in answer) throw choiceRequired;
        if (request.prompt === 'none' && 'noAccessUnder' in answer) {
          await deps.accessRefusals.record(request.client, { id: answer.userId }, actorOf(req));
          throw noAccess;
        }
        // With max_age, the sign-in would be too old by the time of the consent.
        sessionId = request.maxAgeSeconds === undefined ? sessionUnder(answer) : undefined;
        isCurrent = true;
      }
      if (answer === 'acr-unmet' && request.prompt === 'none' && request.acr?.essential) throw unmet;
      if (answer === 'login-required' || answer === 'acr-unmet') isCurrent = true;
    }
    if (!isCurrent) return null;
    if (request.prompt === 'none') throw new OAuthError('login_required', 'The user must sign in.');
    // A device key, which needs no user interaction, satisfies neither.
    const personRequired = request.prompt === 'login' || request.maxAgeSeconds !== undefined;
    const begun = await deps.authorizations.begin(
      request,
      { hintedUserId, personRequired, sessionId, isPushed },
      requestContext(req).ip,
    );
    return { begun, isSignedIn: sessionId !== undefined, connectionId: request.connectionId };
  } catch (thrown) {
    if (!isCurrent) return null;
    const error = toOAuthError(failureOf(thrown));
    if (error.error === 'server_error') {
      deps.log.warn({ err: thrown, requestId: requestContext(req).requestId }, 'authorization failed');
    }
    return { target, error };
  }
}

/** The answer to an admin who impersonates a user in this browser; `login-required`: none, or it does not meet the request. */
async function fromImpersonation(
  { authorizations, cookies, impersonations }: AuthorizeDeps,
  req: Request,
  request: Authorization,
  hintedUserId: string | undefined,
): Promise<{ code: string } | { error: OAuthError } | 'client-changed' | 'login-required'> {
  const { client, issuer } = request;
  const secret = issuer.capabilities.impersonation ? cookies.impersonation(req, client.project.id) : undefined;
  const held = secret === undefined ? null : await impersonations.held(client, secret);
  if (!held) return 'login-required';
  const answer = await authorizations.fromImpersonation(request, held, hintedUserId);
  if (typeof answer === 'object') return 'code' in answer ? answer : { error: refusedImpersonation };
  return answer === 'client-changed' ? answer : 'login-required';
}

/** Only the user can consent, and the organization was chosen when the impersonation began. */
const refusedImpersonation = new OAuthError(
  'access_denied',
  'The user has no access to this application in the organization of the impersonation.',
);

/** `GET /authorize/resume?flow=…`: target of the hosted page after the sign-in. */
export function resumeEndpoint(deps: AuthorizeDeps): RequestHandler {
  return async (req, res) => {
    const issuer = issuerOf(req);
    const flow = parametersOf(req).get('flow');
    const leaves = parametersOf(req).get('leave') !== undefined;
    const done = flow === undefined ? null : await complete(deps, req, issuer, flow, leaves);
    if (flow === undefined || !done) return deps.errorPage(req, res, 400, 'flow-expired');
    const { request, outcome } = done;
    if (typeof outcome === 'object' && 'boundTo' in outcome && !('choices' in outcome)) {
      return askForConsent(deps.consent, req, res, { request, consent: outcome, flow });
    }
    if (typeof outcome === 'object' && 'choices' in outcome) {
      const { boundTo, choices, user } = outcome;
      const fields = { flow, csrf: deps.consent.csrf.make(boundTo) };
      const action = `${req.baseUrl}/authorize/organization`;
      return deps.choicePage(req, res, { request, choices, user, action, fields });
    }
    if (typeof outcome === 'object' && 'withoutAccess' in outcome) {
      await deps.accessRefusals.record(request.client.getEntity(), outcome.withoutAccess, actorOf(req));
      return deps.noAccessPage(req, res, {
        ...{ request, user: outcome.withoutAccess, flow },
        back: `${resumePath(req, flow)}&leave=1`,
      });
    }
    const { redirectUri, responseMode } = request;
    const target = { redirectUri, state: request.state ?? undefined, responseMode: responseMode ?? 'query' };
    const redirectNoted = async (error: OAuthError) => {
      await note(deps, req, request.client.id, { reason: error.error, description: error.description });
      redirectError(issuer, res, target, error);
    };
    if (outcome === 'sign-in-first') return res.redirect(303, signInPage(flow));
    if (outcome === 'approve-device') return res.redirect(303, approvalPage(issuer, flow));
    if (outcome === 'answer-saml') return res.redirect(303, samlResumePage(issuer, flow));
    deps.cookies.clearFlow(res, flow);
    if (outcome === 'other-user') return redirectNoted(otherUser);
    if (outcome === 'no-access') return redirectError(issuer, res, target, noAccess);
    if (outcome === 'refused') {
      return redirectError(issuer, res, target, new OAuthError('access_denied', 'The user denied access.'));
    }
    if (outcome === 'acr-unmet') return redirectNoted(unmet);
    if (outcome === 'confirmed') return redirect(res, target, {});
    redirectCode(issuer, res, target, outcome.code);
  };
}

const otherUser = new OAuthError('login_required', 'Another user has signed in.');

const unmet = new OAuthError(
  'unmet_authentication_requirements',
  'The user has not signed in with the authentication context that is essential for this request.',
);

const noAccess = new OAuthError('access_denied', 'The user has no access to this application.');

const choiceRequired = new OAuthError('interaction_required', 'The user must choose an organization.');

/** The session that lacks no more than access, consent or a choice. */
function sessionUnder(answer: { consentUnder: string } | { choiceUnder: string } | { noAccessUnder: string }): string {
  if ('consentUnder' in answer) return answer.consentUnder;
  return 'choiceUnder' in answer ? answer.choiceUnder : answer.noAccessUnder;
}

const consentRequired = new OAuthError('consent_required', 'The user must be asked for consent.');

function complete(deps: AuthorizeDeps, req: Request, issuer: Issuer, flow: string, leaves: boolean) {
  return deps.authorizations.complete(issuer, browserOf(deps.cookies, req, flow), leaves);
}

export function signInPage(flow: string): string {
  return `/signin?${new URLSearchParams({ flow })}`;
}

/** The page on which the user of a device decides (RFC 8628 section 3.3). */
export function approvalPage({ url }: Issuer, flow: string): string {
  return `${url}/device/approval?${new URLSearchParams({ flow })}`;
}

/** Where the SAML endpoints answer a request of theirs. */
function samlResumePage({ url }: Issuer, flow: string): string {
  return `${url}/saml/resume?${new URLSearchParams({ flow })}`;
}

type Target = Pick<CheckedTarget, 'redirectUri' | 'state'> & { responseMode: ResponseMode };

function redirectCode({ url }: Issuer, res: Response, target: Target, code: string): void {
  redirect(res, target, { code, iss: url });
}

function redirectError({ url }: Issuer, res: Response, target: Target, error: OAuthError): void {
  if (error.retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(error.retryAfterSeconds));
  redirect(res, target, { error: error.error, error_description: error.description, iss: url });
}

/**
 * RFC 6749 §4.1.2, RFC 9207 §2, by the request's response_mode; 303, so that a POST is not repeated at the target (RFC 9700
 * §4.12).
 */
function redirect(res: Response, target: Target, answer: Record<string, string>): void {
  const fields = target.state === undefined ? answer : { ...answer, state: target.state };
  if (target.responseMode === 'form_post') return sendForm(res, target.redirectUri, fields);
  const query = new URLSearchParams(fields);
  const separator = target.redirectUri.includes('?') ? '&' : '?';
  res.redirect(303, `${target.redirectUri}${separator}${query}`);
}
