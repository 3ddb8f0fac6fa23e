/**
 * OpenID Connect: authorization code flow with PKCE, UserInfo, discovery, RP-initiated logout. Owns the wire
 * format of these endpoints. Not here: sign-in (`signin/`), codes and tokens (`domain/tokens`), delivery of logout
 * tokens (`domain/logout`, `jobs/`). Standards: RFC 6749, 6750, 7523, 7636, 9068, 9126, 9207, 9449; OpenID Connect Core,
 * Discovery, RP-Initiated Logout and Back-Channel Logout 1.0.
 */
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Capabilities, Issuer } from '../domain/projects/issuer.ts';
import { requestContext } from '../http/context.ts';
import { cors } from '../http/cors.ts';
import { bodyFault, failureOf } from '../http/failure.ts';
import { wantsPage } from '../http/pages.ts';
import { formBody } from '../http/parameters.ts';
import { type AuthorizeDeps, authorizeEndpoint, resumeEndpoint } from './authorize.ts';
import { type ConsentDeps, consentEndpoint } from './consent.ts';
import { type DeviceAuthorizationDeps, deviceAuthorizationEndpoint } from './device/authorization.ts';
import { type DevicePagesDeps, devicePages } from './device/pages.ts';
import { discoveryDocument } from './discovery.ts';
import { cacheControl, type Published, publish } from './documents.ts';
import { type EndSessionDeps, endSessionEndpoint } from './end-session.ts';
import { type IntrospectDeps, introspectEndpoint } from './introspect.ts';
import { type FindIssuer, issuerOf, withIssuer } from './issuer.ts';
import { OAuthError, toOAuthError } from './oauth-error.ts';
import { type PushDeps, pushEndpoint } from './par.ts';
import { type RevokeDeps, revokeEndpoint } from './revoke.ts';
import { type TokenDeps, tokenEndpoint } from './token.ts';
import { type UserInfoDeps, userInfoEndpoint } from './userinfo.ts';

export interface OidcDeps {
  authorize: AuthorizeDeps;
  consent: ConsentDeps;
  token: TokenDeps;
  revoke: RevokeDeps;
  introspect: IntrospectDeps;
  push: PushDeps;
  deviceAuthorization: DeviceAuthorizationDeps;
  devicePages: DevicePagesDeps;
  userInfo: UserInfoDeps;
  endSession: EndSessionDeps;
  /** The JWK Set of an issuer (RFC 7517 §5). */
  jwks(issuer: Issuer): Promise<object>;
  missingIssuer: RequestHandler;
  /** True for the origin of any registered redirect URI. */
  isRegisteredOrigin(origin: string): Promise<boolean>;
  log: { error(fields: object, message: string): void; info(fields: object, message: string): void };
}

/** The endpoints of the issuers that `find` finds; each offers those of its capabilities. */
export function oidcRoutes(deps: OidcDeps, find: FindIssuer): Router {
  const router = Router({ mergeParams: true });
  router.use(withIssuer(find, deps.missingIssuer));
  mountDocuments(router, deps);
  mountPages(router, deps);
  mountClientEndpoints(router, deps);
  router.use(jsonErrors(deps));
  return router;
}

/** Discovery and keys. */
function mountDocuments(router: Router, deps: OidcDeps): void {
  router.route('/.well-known/openid-configuration').all(anyOrigin).get(sendDiscovery).all(onlyMethods('GET'));
  router
    .route('/.well-known/jwks.json')
    .all(anyOrigin)
    .get(async (req, res) => sendCacheable(req, res, publish(await deps.jwks(issuerOf(req)))))
    .all(onlyMethods('GET'));
}

/** Endpoints that browsers navigate to. */
function mountPages(router: Router, deps: OidcDeps): void {
  const page = (path: string, { get, post }: { get?: RequestHandler; post?: RequestHandler }) => {
    const others = onlyMethods([get && 'GET', post && 'POST'].filter(Boolean).join(', '));
    // Express runs the handlers of GET for HEAD, which must have no effect (RFC 9110 §9.2.1).
    const route = router.route(path).head(others);
    if (get) route.get(noStore, get);
    if (post) route.post(noStore, formBody(), post);
    route.all(others);
  };
  const authorize = authorizeEndpoint(deps.authorize);
  page('/authorize', { get: authorize, post: authorize });
  page('/authorize/resume', { get: resumeEndpoint(deps.authorize) });
  page('/authorize/consent', { post: consentEndpoint(deps.consent) });
  const endSession = endSessionEndpoint(deps.endSession);
  page('/oauth2/end_session', { get: endSession, post: endSession });
  const device = devicePages(deps.devicePages);
  router.use('/device', (req, res, next) => (hasDevices(issuerOf(req).capabilities) ? device(req, res, next) : next()));
}

/** Libraries and interceptors of applications add headers, which the endpoints ignore. The wildcard excludes `Authorization`. */
const anyHeader = ['*'];

/** Endpoints that applications call. */
function mountClientEndpoints(router: Router, deps: OidcDeps): void {
  const registeredOrigins = cors({
    origin: deps.isRegisteredOrigin,
    methods: ['GET', 'POST'],
    requestHeaders: ['Authorization', 'Content-Type', 'X-Api-Key', 'DPoP', ...anyHeader],
    exposedHeaders: ['WWW-Authenticate', 'Retry-After', 'X-Request-Id', 'DPoP-Nonce'],
  });
  // Clients send a form. Issuers without the capability do not have the endpoint.
  const clientEndpoint = (
    path: string,
    handler: RequestHandler,
    { isOffered = (_: Capabilities): boolean => true, browsers = [registeredOrigins] } = {},
  ) =>
    router
      .route(`/oauth2/${path}`)
      .all((req, _res, next) => next(isOffered(issuerOf(req).capabilities) ? undefined : 'route'))
      .all(...browsers, noStore)
      .post(formBody(), handler)
      .all(onlyMethods('POST'));
  clientEndpoint('token', tokenEndpoint(deps.token));
  clientEndpoint('revoke', revokeEndpoint(deps.revoke), { isOffered: ({ revocation }) => revocation });
  clientEndpoint('introspect', introspectEndpoint(deps.introspect), {
    isOffered: ({ introspection }) => introspection,
    browsers: [],
  });
  clientEndpoint('par', pushEndpoint(deps.push), { isOffered: ({ pushedRequests }) => pushedRequests });
  clientEndpoint('device_authorization', deviceAuthorizationEndpoint(deps.deviceAuthorization), {
    isOffered: hasDevices,
  });
  const userInfo = userInfoEndpoint(deps.userInfo);
  router
    .route('/userinfo')
    .all(registeredOrigins, noStore)
    .get(userInfo)
    .post(formBody(), userInfo)
    .all(onlyMethods('GET, POST'));
}

/**
 * Metadata where RFC 8414 §3.1 puts it, for clients that build the address from the issuer's: below the root, then the
 * issuer's path.
 */
export function metadataRoutes(deps: OidcDeps, find: FindIssuer): Router {
  const router = Router({ mergeParams: true });
  router.use(withIssuer(find, deps.missingIssuer));
  router.route('/').all(anyOrigin).get(sendDiscovery).all(onlyMethods('GET'));
  router.use(jsonErrors(deps));
  return router;
}

const anyOrigin = cors({ origin: '*', methods: ['GET'], requestHeaders: ['Authorization', ...anyHeader] });
const hasDevices = ({ grantTypes }: Capabilities) => grantTypes.includes('device_code');

function sendDiscovery(req: Request, res: Response): void {
  sendCacheable(req, res, publish(discoveryDocument(issuerOf(req))));
}

/** Cacheable for five minutes, and longer while the ETag matches (RFC 9110 §13.1.2). */
function sendCacheable(req: Request, res: Response, { body, etag }: Published): void {
  res.setHeader('Cache-Control', cacheControl);
  res.setHeader('ETag', etag);
  if (req.fresh) res.status(304).end();
  else res.type('json').send(body);
}

/** RFC 6749 §5.1 requires both headers. */
const noStore: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Pragma', 'no-cache');
  next();
};

function onlyMethods(allowed: string): RequestHandler {
  return (_req, res) => {
    res
      .status(405)
      .setHeader('Allow', allowed)
      .json({ error: 'invalid_request', error_description: 'Method not allowed.' });
  };
}

/** Paths that browsers navigate to. */
const isPage = /^\/(authorize|authorize\/resume|authorize\/consent|oauth2\/end_session|device|device\/approval)\/?$/;

/** The OAuth error response for a thrown value (RFC 6749 §5.2). */
function jsonErrors({ log }: OidcDeps): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    if (res.headersSent) return next(thrown);
    const { requestId } = requestContext(req);
    const bodyStatus = bodyFault(thrown);
    const failure = failureOf(thrown);
    const error =
      bodyStatus === undefined ? toOAuthError(failure) : new OAuthError('invalid_request', 'The body cannot be read.');
    // Browsers visit these; render the HTML error page.
    if (isPage.test(req.path) && error.httpStatus >= 500 && wantsPage(req)) return next(thrown);
    if (error.error === 'server_error') log.error({ err: thrown, requestId }, 'request failed');
    else log.info({ requestId, error: error.error, ...refusalOf(failure) }, 'request refused');
    res.setHeader('Cache-Control', 'no-store');
    if (error.error === 'invalid_client') res.setHeader('WWW-Authenticate', 'Basic realm="Latchkey"');
    if (error.retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(error.retryAfterSeconds));
    res.status(bodyStatus ?? error.httpStatus);
    res.json({ error: error.error, error_description: error.description });
  };
}

/** The reason for the log; its redaction would remove a problem's `code`. */
function refusalOf(failure: unknown): object {
  if (!(failure instanceof Refusal)) return {};
  const { code, ...detail } = failure.problem;
  return { problem: code, detail };
}
