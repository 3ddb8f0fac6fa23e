import type { Request, RequestHandler, Response } from 'express';
import type { SigninCallers } from '../domain/ceremonies/callers.ts';
import type { Ceremonies } from '../domain/ceremonies/ceremonies.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import { isPasskeyRequired } from '../domain/ceremonies/sign-in-context.ts';
import { brandIn } from '../domain/experience/content.ts';
import type { Experiences } from '../domain/experience/experiences.ts';
import type { Database } from '../domain/kernel/database.ts';
import { type Project, passkeyPolicyOf } from '../domain/projects/project.entity.ts';
import type { TestMode } from '../domain/projects/test-mode.ts';
import { requestContext } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { resumeAddress } from '../http/flow-addresses.ts';
import { PageMissingError, type Pages } from '../http/pages.ts';
import { sendEnded, startLink, wayOnOf } from '../http/plain/ended-page.ts';
import { siteAt } from '../http/site.ts';
import {
  type ConnectionLinksDeps,
  connectionLinks,
  connectTexts,
  requiredConnection,
  waitingOf,
} from './connection-links.ts';

export interface SigninPageDeps extends ConnectionLinksDeps {
  callers: Pick<SigninCallers, 'requestOf'>;
  ceremonies: Pick<Ceremonies, 'isPending'>;
  authorizations: Pick<Authorizations, 'isConfirmation' | 'isMet' | 'renew' | 'startOf' | 'wayOn'>;
  db: Database;
  experiences: Pick<Experiences, 'published' | 'logo'>;
  cookies: Cookies;
  pages: Pages;
  testMode: TestMode;
  /** Whether messages go to the dev mailbox. */
  hasMailbox: boolean;
}

/**
 * `GET /signin?flow=…`: the hosted page of a flow. Redirects if the browser's session answers the request already, unless the
 * user wants another account (`other`). Changes nothing but the session's last use.
 */
export function signinPage(deps: SigninPageDeps): RequestHandler {
  return async (req, res) => {
    try {
      await show(deps, req, res);
    } catch (error) {
      if (!(error instanceof PageMissingError)) throw error;
      res
        .status(503)
        .type('text/plain')
        .send('The sign-in page is not built here. Run "npm run build" and start again.\n');
    }
  };
}

async function show(deps: SigninPageDeps, req: Request, res: Response): Promise<void> {
  const { flow } = req.query;
  const site = siteAt(req);
  const request =
    typeof flow === 'string' ? await deps.callers.requestOf(flow, deps.cookies.flow(req, flow), site) : null;
  if (typeof flow !== 'string' || !request) {
    const wayOn = await wayOnOf(deps, req, flow);
    // Back from the application, after the sign-in.
    if (wayOn?.start && wayOn.isSignedIn) return goTo(res, wayOn.start);
    const experienceOf = ({ id }: Project) => deps.experiences.published(deps.db.reader(), id);
    return sendEnded({ ...deps, experienceOf }, req, res, wayOn, typeof flow === 'string' ? flow : '');
  }
  const [client, project] = [request.client.getEntity(), request.project.getEntity()];
  const secret = deps.cookies.session(req, project.id);
  const isPending = await deps.ceremonies.isPending(request);
  // A passkey that is offered under the session is not created yet.
  const isOpen = 'other' in req.query || (request.addsPasskey && project.passkeys && isPending);
  if (!isOpen && (await deps.authorizations.isMet(request, secret))) {
    return goTo(res, resumeAddress(request.issuer ?? site.origin, flow));
  }
  const direct = isPending || 'other' in req.query ? null : await requiredConnection(deps, req, request, flow);
  if (direct) return goTo(res, direct);
  const uiLocales = request.uiLocales ?? undefined;
  const experience = await deps.experiences.published(deps.db.reader(), project.id);
  const connecting = await waitingOf(deps, request);
  const own = deps.authorizations.isConfirmation(request) ? accountTexts(request) : {};
  const texts = connecting ? { ...own, ...connectTexts } : own;
  deps.pages.send(req, res, 'index', {
    texts,
    brand: (language) => brandIn(experience, project.name, language),
    uiLocales,
    html: {
      start: startLink(deps.pages, req, deps.authorizations.startOf(request), {
        app: client.name,
        again: request.renewable ? flow : null,
        otherwise: 'error.next',
        uiLocales,
      }),
      connections: await connectionLinks(deps, req, request, flow),
    },
    values: {
      flow,
      issuer: site.origin,
      project_id: project.id,
      project_name: project.name,
      client_id: client.id,
      client_name: client.name,
      connection_name: connecting?.name ?? '',
      login_hint: connecting?.email ?? request.loginHint ?? '',
      asked: askedBy(deps, request),
      pending: String(isPending),
      adds_passkey: String(request.addsPasskey),
      passkeys: isPasskeyRequired({ project, client }) ? 'required' : passkeyPolicyOf(project),
      test_mode: String(await deps.testMode.holds(deps.db.reader(), project)),
      dev_mailbox: String(deps.hasMailbox),
    },
  });
}

/** The page before this one on which the user confirmed the address: this one sends the code. */
function askedBy({ authorizations }: SigninPageDeps, request: AuthorizationRequest): string {
  if (request.setupLinkId != null) return 'setup';
  const isInvited = authorizations.isConfirmation(request) && !request.personRequired && request.loginHint != null;
  return isInvited ? 'account' : '';
}

/** The texts of a sign-in for the account page, by those of one for an application. */
function accountTexts({
  addsAuthenticator,
  addsPasskey,
  personRequired,
}: AuthorizationRequest): Record<string, string> {
  const ending = { 'done.text': 'confirm.back', 'done.link': 'confirm.link' };
  if (!personRequired) return ending;
  const title = { 'page.title': 'confirm.title', 'address.title': 'confirm.title' };
  const other = addsAuthenticator ? 'confirm.authenticator' : 'confirm.account';
  return { ...ending, ...title, 'address.text': addsPasskey ? 'confirm.passkey' : other };
}

/**
 * `GET /signin/again?flow=…`: begins the request of an expired flow again, by the cookie of its browser, and leads to its page.
 * Every other flow keeps its page.
 */
export function signinAgain({ authorizations, cookies }: SigninPageDeps): RequestHandler {
  return async (req, res) => {
    const flow = String(req.query['flow']);
    const visit = { browserSecret: cookies.flow(req, flow), site: siteAt(req) };
    const renewed = await authorizations.renew(flow, visit, requestContext(req).ip);
    if (renewed) {
      cookies.clearFlow(res, flow);
      cookies.setFlow(res, renewed.flow, renewed.browserSecret);
    }
    goTo(res, `/signin?${new URLSearchParams({ flow: renewed?.flow ?? flow })}`);
  };
}

function goTo(res: Response, address: string): void {
  res.setHeader('Cache-Control', 'no-store');
  res.redirect(303, address);
}
