import type { Request, RequestHandler, Response } from 'express';
import type { ConsentRequired, FlowBrowser } from '../domain/ceremonies/requests/authorization.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import { actorOf } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { issuerOf } from '../http/issuer.ts';
import { parametersOf } from '../http/parameters.ts';

export interface ConsentDeps {
  authorizations: Pick<Authorizations, 'answerConsent'>;
  cookies: Pick<Cookies, 'session' | 'flow'>;
  /** Binds a form to the request and the session that it was created for. */
  csrf: { make(boundTo: string): string; holds(boundTo: string, token: string | undefined): boolean };
  page(req: Request, res: Response, shown: ShownConsent): Promise<void>;
  errorPage(req: Request, res: Response, status: number, reason: 'flow-expired'): void | Promise<void>;
}

/** The page that asks a user for consent. */
interface ShownConsent {
  request: AuthorizationRequest;
  /** The account that is about to grant access. */
  address: string;
  /** The organization that the user signs in for, or null. */
  organizationId: string | null;
  /** Hidden fields of the form. */
  fields: { flow: string; csrf: string };
}

/** Shows the page that asks for the user's consent. */
export function askForConsent(
  deps: Pick<ConsentDeps, 'csrf' | 'page'>,
  req: Request,
  res: Response,
  asked: { request: AuthorizationRequest; consent: ConsentRequired; flow: string },
): Promise<void> {
  const { consent, flow, request } = asked;
  const { organizationId, user } = consent;
  const fields = { flow, csrf: deps.csrf.make(consent.boundTo) };
  return deps.page(req, res, { request, address: user.email ?? user.userName, organizationId, fields });
}

/**
 * `POST /authorize/consent`: the user's answer. It is only stored: `GET /authorize/resume` follows, and checks it with
 * the session at that time. So a second click, or a form of another session, changes nothing.
 */
export function consentEndpoint(deps: ConsentDeps): RequestHandler {
  return async (req, res) => {
    const form = parametersOf(req);
    const [flow, answer] = [form.get('flow'), form.get('answer')];
    if (
      form.wrongContentType ||
      form.faults.length > 0 ||
      flow === undefined ||
      (answer !== 'allow' && answer !== 'cancel')
    ) {
      return deps.errorPage(req, res, 400, 'flow-expired');
    }
    const isKnown = await deps.authorizations.answerConsent(issuerOf(req), browserOf(deps.cookies, req, flow), {
      isGiven: answer === 'allow',
      isBoundTo: (boundTo) => deps.csrf.holds(boundTo, form.get('csrf')),
      actorFor: (user) => actorOf(req, { kind: 'user', ...user }),
    });
    if (!isKnown) return deps.errorPage(req, res, 400, 'flow-expired');
    res.redirect(303, resumePath(req, flow));
  };
}

export function resumePath(req: Request, flow: string): string {
  return `${req.baseUrl}/authorize/resume?${new URLSearchParams({ flow })}`;
}

export function browserOf(cookies: Pick<Cookies, 'session' | 'flow'>, req: Request, flow: string): FlowBrowser {
  return {
    flow,
    browserSecret: cookies.flow(req, flow),
    sessionSecretOf: (projectId) => cookies.session(req, projectId),
  };
}
