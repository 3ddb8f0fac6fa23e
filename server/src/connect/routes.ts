/**
 * Sign-in by upstream providers: `/connect/{connection id}/start` leads a flow of the hosted page to the provider, whose answer
 * comes to `/connect/{connection id}/callback`. The rules are in `domain/connections` and `domain/ceremonies/federated.ts`.
 * Standards: OpenID Connect Core 1.0 section 3.1, RFC 7636 (PKCE), RFC 9207 (`iss` of the response), OAuth 2.0 Form Post
 * Response Mode.
 */
import type { Request, RequestHandler, Response } from 'express';
import type { SigninCaller, SigninCallers } from '../domain/ceremonies/callers.ts';
import { type FederatedSignIns, mayBeFederated } from '../domain/ceremonies/federated.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import type { Connections } from '../domain/connections/connections.ts';
import type { UpstreamFault } from '../domain/connections/upstream.ts';
import type { PendingUpstream, UpstreamSignIns } from '../domain/connections/upstream-sign-ins.ts';
import { chooseLocale } from '../domain/delivery/locale.ts';
import { type ExperienceContent } from '../domain/experience/content.ts';
import type { Database } from '../domain/kernel/database.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { actorOf, requestContext } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { resumeAddress, signinAddress } from '../http/flow-addresses.ts';
import type { Pages } from '../http/pages.ts';
import { formBody, type Parameters, parametersOf } from '../http/parameters.ts';
import { sendEnded } from '../http/plain/ended-page.ts';
import { noStore, type Route } from '../http/routes/route.ts';
import { siteAt } from '../http/site.ts';
import { endTest, startTest, type TestDeps, testPath } from './test-sign-in.ts';

export interface ConnectDeps extends TestDeps {
  callers: Pick<SigninCallers, 'requestOf'>;
  authorizations: Pick<Authorizations, 'countStart' | 'wayOn'>;
  connections: Pick<Connections, 'failed' | 'usable' | 'redirectUri' | 'tested'>;
  upstreamSignIns: Pick<UpstreamSignIns, 'begin' | 'beginTest' | 'find' | 'redeem' | 'take'>;
  federated: Pick<FederatedSignIns, 'arrive'>;
  db: Database;
  cookies: Cookies;
  pages: Pages;
  experienceOf(project: Project): Promise<ExperienceContent>;
  log: { info(fields: object, message: string): void };
}

/** Parameters of a callback. Others, such as `error_description`, are not read: their text would be the provider's. */
const answered = ['code', 'error', 'iss', 'state'] as const;
const longestValue = 4096;

export const connectRoutes: readonly Route<ConnectDeps>[] = [
  {
    path: '/connect/:connection/start',
    methods: { GET: { handler: (deps) => (req, res) => start(deps, req, res), openApi: 'page' } },
    headers: noStore,
    head: 'refused',
    service: 'sign_in',
  },
  {
    path: testPath,
    methods: { GET: { handler: (deps) => (req, res) => startTest(deps, req, res), openApi: 'page' } },
    headers: noStore,
    head: 'refused',
  },
  {
    path: '/connect/:connection/callback',
    methods: {
      GET: { handler: (deps) => (req, res) => callback(deps, req, res), openApi: 'page' },
      POST: { body: formBody, handler: () => repeatAsGet, openApi: 'page' },
    },
    headers: noStore,
    head: 'refused',
    service: 'sign_in',
  },
];

/** Leads the browser of a flow to the provider. */
async function start(deps: ConnectDeps, req: Request, res: Response): Promise<void> {
  const flow = parametersOf(req).get('flow') ?? '';
  const request = await requestOf(deps, req, flow);
  if (!request) return sendEnded(deps, req, res, null, '');
  const connection = mayBeFederated(request)
    ? await deps.connections.usable(deps.db.reader(), keyIn(request.project.id, String(req.params['connection'])))
    : null;
  if (!connection || !(await isCounted(deps, req))) return goTo(res, signinAddress(flow, { connect: 'off' }));
  const begun = await deps.upstreamSignIns.begin(connection, {
    requestId: request.id,
    flow,
    redirectUri: deps.connections.redirectUri(connection.id, siteAt(req).origin),
    asksPerson: request.personRequired,
    loginHint: request.loginHint,
    uiLocales: request.uiLocales,
  });
  if ('url' in begun) return goTo(res, begun.url);
  await deps.connections.failed(connection, begun.fault, actorOf(req));
  goTo(res, signinAddress(flow, { connect: 'failed' }));
}

/** Counts against the limit for authorization requests. */
async function isCounted({ authorizations }: ConnectDeps, req: Request): Promise<boolean> {
  try {
    await authorizations.countStart(requestContext(req).ip);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.problem.code === 'too-many') return false;
    throw error;
  }
}

/** The answer of the provider, in the browser that began the request. */
async function callback(deps: ConnectDeps, req: Request, res: Response): Promise<void> {
  const given = parametersOf(req);
  const pending = await deps.upstreamSignIns.find(String(req.params['connection']), given.get('state') ?? '');
  if (pending && pending.request.requestId === null) return endTest(deps, req, res, pending, parametersFrom(given));
  const flow = pending?.secrets.flow ?? '';
  const request = pending && (await requestOf(deps, req, flow));
  // Unknown, expired, or of another connection or browser: the request stays unused.
  if (!pending || !request || request.id !== pending.request.requestId) return sendEnded(deps, req, res, null, '');
  // A second visit: the page shows how far the sign-in is.
  if (!(await deps.upstreamSignIns.take(pending.request))) return goTo(res, signinAddress(flow));
  const redirectUri = deps.connections.redirectUri(pending.connection.id, siteAt(req).origin);
  const answer = await deps.upstreamSignIns.redeem(pending, parametersFrom(given), redirectUri);
  if ('fault' in answer) return refused(deps, req, res, pending, answer.fault);
  const arrived = await deps.federated.arrive(callerOf(deps, req, request), { ...pending, person: answer.person });
  if (arrived.outcome === 'signed-in') {
    deps.cookies.setSession(res, arrived.projectId, arrived.sessionSecret);
    return goTo(res, resumeAddress(request.issuer ?? siteAt(req).origin, flow));
  }
  const isOpen = arrived.outcome === 'more' || arrived.outcome === 'prove';
  goTo(res, signinAddress(flow, isOpen ? {} : { connect: arrived.outcome }));
}

function parametersFrom(given: Parameters): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const name of answered) {
    const value = given.get(name);
    if (value !== undefined && value.length <= longestValue && !given.faults.includes(name))
      parameters.set(name, value);
  }
  return parameters;
}

async function refused(
  deps: ConnectDeps,
  req: Request,
  res: Response,
  { connection, secrets }: PendingUpstream,
  fault: UpstreamFault,
): Promise<void> {
  const { requestId } = requestContext(req);
  deps.log.info({ requestId, connectionId: connection.id, fault }, 'sign-in by a provider refused');
  const isEnded = fault === 'denied';
  if (!isEnded) await deps.connections.failed(connection, fault, actorOf(req));
  goTo(res, signinAddress(secrets.flow, { connect: isEnded ? 'denied' : 'failed' }));
}

/**
 * `response_mode=form_post`: a POST of another site carries no cookies of ours, the GET that follows does. The code in its
 * address is of no use without the verifier.
 */
const repeatAsGet: RequestHandler = (req, res) => {
  const given = parametersOf(req);
  const kept = answered.flatMap((name) => {
    const value = given.get(name);
    return value === undefined || value.length > longestValue ? [] : [[name, value] as [string, string]];
  });
  goTo(res, `/connect/${encodeURIComponent(String(req.params['connection']))}/callback?${new URLSearchParams(kept)}`);
};

function requestOf({ callers, cookies }: ConnectDeps, req: Request, flow: string) {
  return callers.requestOf(flow, cookies.flow(req, flow), siteAt(req));
}

function callerOf(
  { cookies }: ConnectDeps,
  req: Request,
  request: AuthorizationRequest,
): Omit<SigninCaller, 'organization'> {
  const project = request.project.getEntity();
  return {
    client: request.client.getEntity(),
    project,
    request,
    origin: siteAt(req).origin,
    actor: actorOf(req),
    locale: chooseLocale(request.uiLocales, req.get('accept-language')),
    sessionSecret: cookies.session(req, project.id),
  };
}

function goTo(res: Response, address: string): void {
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.redirect(303, address);
}
