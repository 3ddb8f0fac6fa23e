/**
 * Sign-in: the API of the browser SDK and the hosted page (decisions §8), `POST /v1/signin/<step>`, the hosted page at
 * `GET /signin`, branding assets (`GET /experience/…`), and passkey documents for browsers (`/.well-known/…`).
 * The rules of the steps are in `domain/ceremonies`.
 * Authorization requests begin and end at /authorize, in `oidc/`.
 * Standards: WebCrypto device proofs as compact JWS (RFC 7515), WebAuthn Level 3 (Related Origin Requests, section 5.11),
 * Passkey Endpoints Well-Known URL, CORS (Fetch), RFC 9110.
 */
import {
  challengeRequest,
  deviceProofHeader,
  type SigninStep,
  signinFlowHeader,
  signinSteps,
} from '@latchkey/contracts';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { CheckedPage, SigninCallers } from '../domain/ceremonies/callers.ts';
import type { Ceremonies } from '../domain/ceremonies/ceremonies.ts';
import type { CeremonyStep } from '../domain/ceremonies/steps/steps.ts';
import { chooseLocale } from '../domain/delivery/locale.ts';
import { refuse } from '../domain/kernel/problem.ts';
import { projectIssuerUrl } from '../domain/projects/issuer.ts';
import { isAddress, trimmed } from '../domain/users/login.ts';
import { type Body, bounded, maxBodyBytes } from '../http/bodies.ts';
import { accentPath, logoPath } from '../http/brand.ts';
import { actorOf, requestContext } from '../http/context.ts';
import { type CorsPolicy, readableBy } from '../http/cors.ts';
import { connectPath, resumeAddress } from '../http/flow-addresses.ts';
import { againPath } from '../http/plain/ended-page.ts';
import { noStore, type Operation, type Route, routeLabel, type Unlisted } from '../http/routes/route.ts';
import { siteAt } from '../http/site.ts';
import { accentSheet, brandingOf, logoFile } from './experience.ts';
import { signinOperation } from './openapi.ts';
import { type SigninPageDeps, signinAgain, signinPage } from './page.ts';
import { logFields, toSigninFailure, UnreadableRequest } from './signin-error.ts';
import { checked, readJson, readStep, txnOf, writeAnswer, writeResumed } from './wire.ts';

interface SigninDeps extends SigninPageDeps {
  ceremonies: Pick<Ceremonies, 'challenge' | 'isPending' | 'resume' | 'take' | 'replaceNonce'>;
  callers: Pick<SigninCallers, 'byApiKey' | 'byFlow' | 'requestOf'>;
  /** Whether any client has a redirect URI of this origin (a CORS preflight names no client). */
  isRegisteredOrigin(origin: string): Promise<boolean>;
  /** Origins whose pages can use passkeys. */
  relatedOrigins(): Promise<readonly string[]>;
  /** Called after each step with its status or error code. */
  onStep?(step: string, result: string): void;
  log: { error(fields: object, message: string): void; info(fields: object, message: string): void };
}

const root = '/v1/signin';
const names: readonly string[] = [...signinSteps, 'resume'];

type SigninRoute = Route<SigninDeps>;

/** Raw bytes: the proof signs the body as sent. */
const body: Body = {
  maxBytes: maxBodyBytes,
  read: bounded(express.raw({ type: 'application/json', limit: maxBodyBytes, inflate: false }), maxBodyBytes),
};

/** The part that all routes of the API share. */
const api = {
  label: '/v1/signin/:step',
  cors: ({ isRegisteredOrigin }: SigninDeps): CorsPolicy => ({
    origin: isRegisteredOrigin,
    requestHeaders: ['Content-Type', 'X-Api-Key', deviceProofHeader],
    exposedHeaders: ['Retry-After', 'X-Request-Id'],
    // A page whose origin is not registered can read that error: see `failing`.
    preflightOfAnySite: true,
  }),
  headers: noStore,
  errors: failing,
  service: 'sign_in',
} as const;

const step = (name: SigninStep | 'resume', answer: Handler): SigninRoute => ({
  path: `${root}/${name}`,
  methods: {
    POST: {
      body,
      handler: (deps) => answering(deps, name, answer),
      openApi: name === 'resume' ? 'read by our own pages alone' : () => signinOperation(name),
    },
  },
  ...api,
});

const page = (path: string, handler: (deps: SigninDeps) => RequestHandler, openApi: Unlisted): SigninRoute => ({
  path,
  methods: { GET: { handler, openApi } },
});

const unknownStep = {
  body,
  handler: () => () => {
    throw new UnreadableRequest(404, 'Unknown step.');
  },
  openApi: 'refusal',
} satisfies Operation<SigninDeps, void>;

export const signinRoutes: readonly SigninRoute[] = [
  ...signinSteps.map((name) =>
    step(name, name === 'challenge' ? challenge : (deps, req, res) => take(deps, name, req, res)),
  ),
  step('resume', resume),
  // Its CORS names POST, as the steps do.
  { path: `${root}{/*step}`, methods: { POST: unknownStep }, any: unknownStep, ...api },
  page('/.well-known/webauthn', relatedOrigins, 'read by browsers (WebAuthn)'),
  page('/.well-known/passkey-endpoints', () => passkeyEndpoints, 'read by browsers (WebAuthn)'),
  page('/signin', signinPage, 'page'),
  page(againPath, signinAgain, 'page'),
  page(`${accentPath}/:color.css`, () => accentSheet, 'asset of the pages'),
  page(`${logoPath}/:id`, logoFile, 'asset of the pages'),
  page('/experience/of/:key', brandingOf, 'asset of the pages'),
];

function relatedOrigins(deps: SigninDeps): RequestHandler {
  return async (req, res) => {
    // Pages of applications use the relying-party id of the base host.
    res.json({ origins: siteAt(req).domain === null ? await deps.relatedOrigins() : [] });
  };
}

const passkeyEndpoints: RequestHandler = (req, res) => {
  const account = `${siteAt(req).origin}/account`;
  res.json({ enroll: account, manage: account });
};

type Handler = (deps: SigninDeps, req: Request, res: Response) => Promise<object>;

function answering(deps: SigninDeps, name: string, answer: Handler): RequestHandler {
  return async (req, res) => {
    const answered = await answer(deps, req, res);
    deps.onStep?.(name, 'status' in answered ? String(answered.status) : 'BEGUN');
    res.json(answered);
  };
}

async function challenge(deps: SigninDeps, req: Request): Promise<object> {
  const { code_challenge, code_challenge_if_required, jkt, passkey } = checked(challengeRequest, readJson(bodyOf(req)));
  const page = await pageOf(deps, req);
  const begun = { codeChallenge: code_challenge, spareCodeChallenge: code_challenge_if_required, jkt, passkey };
  const { txn, nonce, expiresInSeconds, nowSeconds, codeChallenge, passkeyOptions } = await deps.ceremonies.challenge(
    page,
    begun,
    requestContext(req).ip,
  );
  return {
    txn,
    nonce,
    expires_in: expiresInSeconds,
    project_id: page.project.id,
    client_id: page.client.id,
    issuer: siteAt(req).origin,
    time: nowSeconds,
    ...(codeChallenge && { code_challenge_method: 'S256' }),
    ...(passkeyOptions && { passkey_options: passkeyOptions }),
  };
}

/** Hosted page only: an application's page has no flow. */
async function resume(deps: SigninDeps, req: Request): Promise<object> {
  const page = await pageOfFlow(deps, req);
  const issuer = page.request?.issuer ?? siteAt(req).origin;
  const browser = { ip: requestContext(req).ip, sessionSecret: deps.cookies.session(req, page.project.id) };
  return writeResumed(await deps.ceremonies.resume(page, browser), redirectOf(issuer, req));
}

async function take(deps: SigninDeps, step: CeremonyStep, req: Request, res: Response): Promise<object> {
  const body = bodyOf(req);
  const json = readJson(body);
  const page = await pageOf(deps, req);
  const fields = await fieldsOf(deps, step, json, page);
  res.locals['connectionUrl'] = (id: string) => connectionUrl(req, page, id, fields.userid);
  const caller = {
    ...page,
    actor: actorOf(req),
    locale: chooseLocale(page.request?.uiLocales, req.get('accept-language')),
    sessionSecret: page.request ? deps.cookies.session(req, page.project.id) : undefined,
  };
  const answer = await deps.ceremonies.take(step, caller, { ...fields, proof: req.get(deviceProofHeader), body });
  if ('sessionSecret' in answer) deps.cookies.setSession(res, answer.projectId, answer.sessionSecret);
  return writeAnswer(step, answer, page.request ? redirectOf(page.request.issuer ?? siteAt(req).origin, req) : null);
}

/** Where a connection signs in: in the flow of the hosted page, or by an authorization request that the application completes. */
function connectionUrl(req: Request, { client, project, request }: CheckedPage, id: string, typed = ''): string {
  const { origin } = siteAt(req);
  const address = trimmed(typed);
  const hint = isAddress(address) ? { login_hint: address } : undefined;
  if (request) return `${origin}${connectPath(id, req.get(signinFlowHeader) ?? '', hint)}`;
  const parameters = new URLSearchParams({ client_id: client.id, connection: id, ...hint });
  return `${projectIssuerUrl(origin, project.slug)}/authorize?${parameters}`;
}

/** Malformed fields replace the nonce, as every refused step does. */
async function fieldsOf({ ceremonies }: SigninDeps, step: CeremonyStep, json: unknown, page: CheckedPage) {
  try {
    return readStep(step, json);
  } catch (error) {
    if (!(error instanceof UnreadableRequest)) throw error;
    throw new UnreadableRequest(error.status, error.message, await ceremonies.replaceNonce(page, txnOf(json)));
  }
}

/** Authenticates an application's page by API key, at the base host only, else the hosted page by its flow. */
function pageOf(deps: SigninDeps, req: Request): Promise<CheckedPage> {
  const origin = req.get('origin');
  const apiKey = req.get('x-api-key');
  if (apiKey !== undefined && siteAt(req).domain === null) return deps.callers.byApiKey(apiKey, origin);
  return pageOfFlow(deps, req);
}

async function pageOfFlow(deps: SigninDeps, req: Request): Promise<CheckedPage> {
  const flow = req.get(signinFlowHeader);
  if (flow === undefined) refuse({ code: 'unauthenticated' });
  return deps.callers.byFlow(flow, deps.cookies.flow(req, flow), { origin: req.get('origin'), site: siteAt(req) });
}

/** @param issuer the issuer of the flow's request */
function redirectOf(issuer: string, req: Request): string {
  return resumeAddress(issuer, req.get(signinFlowHeader) ?? '');
}

function bodyOf(req: Request): Buffer {
  if (Buffer.isBuffer(req.body)) return req.body;
  throw new UnreadableRequest(415, 'Send JSON (Content-Type: application/json).');
}

function failing(deps: SigninDeps): express.ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    if (res.headersSent) return next(thrown);
    const { requestId } = requestContext(req);
    const route = routeLabel(req);
    const { connectionUrl } = res.locals as Partial<{ connectionUrl(id: string): string }>;
    const { status, retryAfterSeconds, body, isBug } = toSigninFailure(thrown, requestId, connectionUrl);
    const name = req.path.slice(root.length + 1);
    if (names.includes(name)) deps.onStep?.(name, body.error.code);
    if (isBug) deps.log.error({ err: thrown, requestId, route }, 'sign-in failed');
    else deps.log.info({ requestId, route, status, ...logFields(thrown) }, 'sign-in refused');
    res.setHeader('Cache-Control', 'no-store');
    if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(retryAfterSeconds));
    // The only response that a page of any site may read: it is the same for every key and client.
    if (body.error.code === 'ORIGIN_NOT_ALLOWED') readableBy(res, req.get('origin'));
    res.status(status).json(body);
  };
}
