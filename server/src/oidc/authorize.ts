import type { Request, RequestHandler, Response } from 'express';
import type { Authorizations } from '../domain/ceremonies/authorizations.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { requestContext } from '../http/context.ts';
import { failureOf } from '../http/failure.ts';
import { cameWithoutCookies, type Parameters, parametersOf } from '../http/parameters.ts';
import { type CheckedRequest, check, type Unvetted, type VettedTarget, vet } from './authorization-request.ts';
import { OAuthError, toOAuthError } from './oauth-error.ts';

export interface AuthorizeDeps {
  issuer: string;
  clients: {
    findEnabled(clientId: string): Promise<Client | null>;
    /** The same, perhaps from the cache. */
    cached(clientId: string): Promise<Client | null>;
  };
  authorizations: Pick<Authorizations, 'fromSession' | 'begin' | 'complete'>;
  /** The user that a valid ID token of ours names, expired or not; null for anything else. */
  hintedUser(idToken: string): Promise<string | null>;
  cookies: {
    session(req: Request, projectId: string): string | undefined;
    flow(req: Request, flow: string): string | undefined;
    setFlow(res: Response, flow: string, secret: string): void;
    clearFlow(res: Response, flow: string): void;
  };
  errorPage(req: Request, res: Response, status: number, reason: Unvetted | 'flow-expired'): void;
  log: { warn(fields: object, message: string): void };
}

/** `GET` and `POST /authorize` (OpenID Connect Core §3.1.2, service.md 4.2). */
export function authorizeEndpoint(deps: AuthorizeDeps): RequestHandler {
  return async (req, res) => {
    const parameters = parametersOf(req);
    if (cameWithoutCookies(req)) return res.redirect(303, `/authorize?${req.body}`);
    const answered = await answerFromMemory(deps, req, parameters);
    if (answered) return redirectCode(deps.issuer, res, answered.target, answered.code);
    const target = parameters.wrongContentType ? 'parameters' : await vet(parameters, deps.clients.findEnabled);
    if (typeof target === 'string') return deps.errorPage(req, res, 400, target);
    try {
      await decide(deps, req, res, parameters, target);
    } catch (thrown) {
      const error = toOAuthError(failureOf(thrown));
      if (error.error === 'server_error') {
        deps.log.warn({ err: thrown, requestId: requestContext(req).requestId }, 'authorization failed');
      }
      redirectError(deps.issuer, res, target, error);
    }
  };
}

/**
 * The code of a live session for a client that is known already: the statement that gives it asks whether the client is
 * still as it was when the request was checked. Whatever else may be the case is left to a look at the rows.
 */
async function answerFromMemory(
  { clients, authorizations, cookies }: AuthorizeDeps,
  req: Request,
  parameters: Parameters,
): Promise<{ code: string; target: VettedTarget } | null> {
  if (parameters.wrongContentType || req.get('cookie') === undefined) return null;
  const target = await vet(parameters, clients.cached);
  if (typeof target === 'string') return null;
  const request = checkedOrNull(parameters, target);
  if (!request || request.prompt === 'login' || request.idTokenHint !== undefined) return null;
  const sessionSecret = cookies.session(req, target.client.project.id);
  const answer = await authorizations.fromSession(request, sessionSecret, undefined);
  return answer === 'login-required' ? null : { code: answer.code, target };
}

function checkedOrNull(parameters: Parameters, target: VettedTarget): CheckedRequest | null {
  try {
    return check(parameters, target);
  } catch (error) {
    if (error instanceof OAuthError) return null;
    throw error;
  }
}

/** `GET /authorize/resume?flow=…`: where the hosted page goes when the person has signed in. */
export function resumeEndpoint(deps: AuthorizeDeps): RequestHandler {
  return async (req, res) => {
    const flow = parametersOf(req).get('flow');
    const done = flow === undefined ? null : await complete(deps, req, flow);
    if (flow === undefined || !done) return deps.errorPage(req, res, 400, 'flow-expired');
    const { request, outcome } = done;
    const target = { redirectUri: request.redirectUri, state: request.state ?? undefined };
    if (outcome === 'sign-in-first') return res.redirect(303, signInPage(flow));
    deps.cookies.clearFlow(res, flow);
    if (outcome === 'other-user') {
      return redirectError(deps.issuer, res, target, new OAuthError('login_required', 'Another user has signed in.'));
    }
    redirectCode(deps.issuer, res, target, outcome.code);
  };
}

function complete(deps: AuthorizeDeps, req: Request, flow: string) {
  return deps.authorizations.complete(flow, deps.cookies.flow(req, flow), (projectId) =>
    deps.cookies.session(req, projectId),
  );
}

async function decide(
  deps: AuthorizeDeps,
  req: Request,
  res: Response,
  parameters: Parameters,
  target: VettedTarget,
): Promise<void> {
  const request = check(parameters, target);
  const hinted = request.idTokenHint === undefined ? undefined : await deps.hintedUser(request.idTokenHint);
  const hintedUserId = hinted ?? undefined;
  // A hint that is no token of ours names nobody: then no session can be the hinted one.
  const sessionMayServe = request.prompt !== 'login' && hinted !== null;
  if (sessionMayServe) {
    const sessionSecret = deps.cookies.session(req, request.client.project.id);
    const answer = await deps.authorizations.fromSession(request, sessionSecret, hintedUserId);
    if (answer !== 'login-required') return redirectCode(deps.issuer, res, request, answer.code);
  }
  if (request.prompt === 'none') throw new OAuthError('login_required', 'The user must sign in.');
  // Neither is met by a device key alone, which works without the person.
  const personRequired = request.prompt === 'login' || request.maxAgeSeconds !== undefined;
  const { flow, browserSecret } = await deps.authorizations.begin(request, { hintedUserId, personRequired }, req.ip);
  deps.cookies.setFlow(res, flow, browserSecret);
  res.redirect(303, signInPage(flow));
}

function signInPage(flow: string): string {
  return `/signin?${new URLSearchParams({ flow })}`;
}

type Target = Pick<VettedTarget, 'redirectUri' | 'state'>;

function redirectCode(issuer: string, res: Response, target: Target, code: string): void {
  redirect(res, target, { code, iss: issuer });
}

function redirectError(issuer: string, res: Response, target: Target, error: OAuthError): void {
  if (error.retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(error.retryAfterSeconds));
  redirect(res, target, { error: error.error, error_description: error.description, iss: issuer });
}

/** RFC 6749 §4.1.2, RFC 9207 §2; 303 so that a POST never travels on (RFC 9700 §4.12). */
function redirect(res: Response, target: Target, answer: Record<string, string>): void {
  const query = new URLSearchParams(answer);
  if (target.state !== undefined) query.set('state', target.state);
  const separator = target.redirectUri.includes('?') ? '&' : '?';
  res.redirect(303, `${target.redirectUri}${separator}${query}`);
}
