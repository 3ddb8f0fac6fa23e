/**
 * Sign-in by upstream providers: `/connect/{connection id}/start` leads a flow of the hosted page to the provider, whose answer
 * comes to `/connect/{connection id}/callback` (OpenID Connect) or `/acs` (SAML). The rules are in `domain/connections` and
 * `domain/ceremonies/federated.ts`. Standards: OpenID Connect Core 1.0 section 3.1, RFC 7636 (PKCE), RFC 9207 (`iss` of the
 * response), OAuth 2.0 Form Post Response Mode; SAML 2.0 Profiles section 4.1, Bindings section 3.5, Metadata section 2.4.4.
 */
import type { Request, RequestHandler, Response } from 'express';
import type { SigninCaller, SigninCallers } from '../domain/ceremonies/callers.ts';
import { type FederatedSignIns, mayBeFederated } from '../domain/ceremonies/federated.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import { answerUrlOf, entityIdOf } from '../domain/connections/addresses.ts';
import { type Connection, settingsOf } from '../domain/connections/connection.entity.ts';
import type { Connections } from '../domain/connections/connections.ts';
import type { PendingUpstream, ReadAnswer, UpstreamFault } from '../domain/connections/upstream.ts';
import type { UpstreamSignIns } from '../domain/connections/upstream-sign-ins.ts';
import { chooseLocale } from '../domain/delivery/locale.ts';
import { type ExperienceContent } from '../domain/experience/content.ts';
import type { Database } from '../domain/kernel/database.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import { openProject } from '../domain/kernel/scope.ts';
import type { SamlKeys } from '../domain/keys/saml-keys.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { spMetadata } from '../domain/saml/messages/metadata.ts';
import { isAddress } from '../domain/users/login.ts';
import { actorOf, requestContext } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { resumeAddress, signinAddress } from '../http/flow-addresses.ts';
import type { Pages } from '../http/pages.ts';
import { formBody, type Parameters, parametersOf, samlBody } from '../http/parameters.ts';
import { sendEnded } from '../http/plain/ended-page.ts';
import { noStore, type Route } from '../http/routes/route.ts';
import { siteAt } from '../http/site.ts';
import { endTest, startTest, type TestDeps, testPath } from './test-sign-in.ts';

export interface ConnectDeps extends TestDeps {
  callers: Pick<SigninCallers, 'requestOf'>;
  authorizations: Pick<Authorizations, 'countStart' | 'wayOn'>;
  connections: Pick<Connections, 'failed' | 'samlAt' | 'tested' | 'usable'>;
  upstreamSignIns: Pick<UpstreamSignIns, 'begin' | 'beginTest' | 'find' | 'read' | 'receive' | 'received' | 'take'>;
  samlKeys: Pick<SamlKeys, 'published'>;
  /** The base issuer. */
  issuer: string;
  federated: Pick<FederatedSignIns, 'arrive' | 'missed'>;
  db: Database;
  cookies: Cookies;
  pages: Pages;
  experienceOf(project: Project): Promise<ExperienceContent>;
  log: { info(fields: object, message: string): void };
}

/** Parameters of a callback. Others, such as `error_description`, are not read: their text would be the provider's. */
const answered = ['code', 'error', 'iss', 'state'] as const;
const longestValue = 4096;
const acsPath = '/connect/:connection/acs';

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
  {
    path: acsPath,
    methods: {
      GET: { handler: (deps) => (req, res) => received(deps, req, res), openApi: 'page' },
      POST: { body: samlBody, handler: (deps) => (req, res) => receive(deps, req, res), openApi: 'page' },
    },
    headers: noStore,
    head: 'refused',
    service: 'sign_in',
  },
  {
    path: '/connect/:connection/metadata',
    methods: { GET: { handler: (deps) => (req, res) => sendMetadata(deps, req, res), openApi: 'page' } },
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
    answerUrl: answerUrlOf(connection, siteAt(req).origin),
    asksPerson: request.personRequired,
    loginHint: hintOf(req) ?? request.loginHint,
    uiLocales: request.uiLocales,
  });
  if ('url' in begun) return goTo(res, begun.url);
  await noteFailure(deps, req, request, connection, begun.fault);
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

/** OpenID Connect: the answer of the provider, in the browser that began the request. */
async function callback(deps: ConnectDeps, req: Request, res: Response): Promise<void> {
  const given = parametersOf(req);
  const pending = await deps.upstreamSignIns.find('oidc', String(req.params['connection']), given.get('state') ?? '');
  if (!pending) return sendEnded(deps, req, res, null, '');
  const answer = { parameters: parametersFrom(given), answerUrl: answerUrlAt(req, pending) };
  await proceed(deps, req, res, pending, () => deps.upstreamSignIns.read(pending, answer));
}

/**
 * SAML: the answer of the provider. It comes by a POST from its site, without our cookies: its result is stored, and the GET that
 * follows continues the flow.
 */
async function receive(deps: ConnectDeps, req: Request, res: Response): Promise<void> {
  const given = parametersOf(req);
  const id = String(req.params['connection']);
  const [state = '', message = ''] = [given.get('RelayState'), given.get('SAMLResponse')];
  const pending = given.faults.length > 0 ? null : await deps.upstreamSignIns.find('saml', id, state);
  if (!pending) return sendEnded(deps, req, res, null, '');
  openProject(pending.request.project.id);
  const parameters = new URLSearchParams({ SAMLResponse: message });
  const handle = await deps.upstreamSignIns.receive(pending, { parameters, answerUrl: answerUrlAt(req, pending) });
  if (handle === null) return sendEnded(deps, req, res, null, '');
  goTo(res, `/connect/${pending.connection.id}/acs?${new URLSearchParams({ answer: handle })}`);
}

/** SAML: the stored result, in the browser that delivered the answer and began the request. */
async function received(deps: ConnectDeps, req: Request, res: Response): Promise<void> {
  const handle = parametersOf(req).get('answer') ?? '';
  const found = await deps.upstreamSignIns.received('saml', String(req.params['connection']), handle);
  if (!found) return sendEnded(deps, req, res, null, '');
  await proceed(deps, req, res, found.pending, async () => found.outcome);
}

/** Continues the flow of the request, or shows the result of a test. */
async function proceed(
  deps: ConnectDeps,
  req: Request,
  res: Response,
  pending: PendingUpstream,
  read: () => Promise<ReadAnswer>,
): Promise<void> {
  if (pending.request.requestId === null) return endTest(deps, req, res, pending, read);
  const { flow } = pending.secrets;
  const request = await requestOf(deps, req, flow);
  // Of another browser: the request stays unused.
  if (!request || request.id !== pending.request.requestId) return sendEnded(deps, req, res, null, '');
  // A second visit: the page shows how far the sign-in is.
  if (!(await deps.upstreamSignIns.take(pending.request))) return goTo(res, signinAddress(flow));
  const answer = await read();
  if ('fault' in answer) return refused(deps, req, res, { ...pending, flow: request, fault: answer.fault });
  const arrived = await deps.federated.arrive(callerOf(deps, req, request), { ...pending, person: answer.person });
  if (arrived.outcome === 'signed-in') {
    deps.cookies.setSession(res, arrived.projectId, arrived.sessionSecret);
    return goTo(res, resumeAddress(request.issuer ?? siteAt(req).origin, flow));
  }
  const isOpen = arrived.outcome === 'more' || arrived.outcome === 'prove';
  goTo(res, signinAddress(flow, isOpen ? {} : { connect: arrived.outcome }));
}

/** Our metadata for one SAML provider. At a custom domain of its project, the ACS URL there comes in addition. */
async function sendMetadata(deps: ConnectDeps, req: Request, res: Response): Promise<void> {
  const connection = await deps.connections.samlAt(String(req.params['connection']));
  const { project } = siteAt(req).issuer;
  const isElsewhere = project != null && project.id !== connection?.project.id;
  if (!connection || isElsewhere) return sendEnded(deps, req, res, null, '');
  const { origin } = new URL(deps.issuer);
  const acsUrls = [...new Set([origin, siteAt(req).origin])].map((host) => answerUrlOf(connection, host));
  const { signed } = settingsOf(connection, 'saml');
  const wantsAssertionsSigned = signed === 'assertion' || signed === 'both';
  const keys = await deps.samlKeys.published(connection.project.id);
  res.setHeader('Cache-Control', 'public, max-age=300');
  const entity = { entityId: entityIdOf(connection, origin), acsUrls, wantsAssertionsSigned };
  const certificates = keys.map(({ certificate }) => certificate);
  res.type('application/samlmetadata+xml').send(spMetadata(entity, certificates).xml);
}

function answerUrlAt(req: Request, { connection }: PendingUpstream): string {
  return answerUrlOf(connection, siteAt(req).origin);
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
  { connection, fault, flow, secrets }: PendingUpstream & { flow: AuthorizationRequest; fault: UpstreamFault },
): Promise<void> {
  const { requestId } = requestContext(req);
  deps.log.info({ requestId, connectionId: connection.id, fault }, 'sign-in by a provider refused');
  const isEnded = fault === 'denied';
  if (!isEnded) await noteFailure(deps, req, flow, connection, fault);
  goTo(res, signinAddress(secrets.flow, { connect: isEnded ? 'denied' : 'failed' }));
}

/** Counts the failure, and lets the flow go on without the connection if that could not be reached and its organization allows it. */
async function noteFailure(
  { connections, federated }: ConnectDeps,
  req: Request,
  request: AuthorizationRequest,
  connection: Connection,
  fault: UpstreamFault,
): Promise<void> {
  await connections.failed(connection, fault, actorOf(req));
  await federated.missed(request, connection, fault);
}

/** The address that the person has typed. */
function hintOf(req: Request): string | undefined {
  const hint = parametersOf(req).get('login_hint') ?? '';
  return isAddress(hint) ? hint : undefined;
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
