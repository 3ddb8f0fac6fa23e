/**
 * OpenID Connect: authorization code flow with PKCE, UserInfo, discovery, RP-initiated logout. Owns the wire
 * format of these endpoints. Not here: sign-in (`signin/`), codes and tokens (`domain/tokens`), delivery of logout
 * tokens (`domain/logout`, `jobs/`). Standards: RFC 6749, 6750, 7523, 7636, 9068, 9126, 9207, 9449; OpenID Connect Core,
 * Discovery, RP-Initiated Logout and Back-Channel Logout 1.0.
 */
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Capabilities, Issuer } from '../domain/projects/issuer.ts';
import { impersonationPath } from '../domain/support/impersonations.ts';
import { requestContext } from '../http/context.ts';
import type { CorsPolicy } from '../http/cors.ts';
import { bodyFault, failureOf } from '../http/failure.ts';
import { issuerOf } from '../http/issuer.ts';
import { wantsPage } from '../http/pages.ts';
import { formBody } from '../http/parameters.ts';
import { noStore, type Route, routeLabel } from '../http/routes/route.ts';
import { siteAt } from '../http/site.ts';
import { type AuthorizeDeps, authorizeEndpoint, resumeEndpoint } from './authorize.ts';
import { type ConsentDeps, consentEndpoint } from './consent.ts';
import { type DeviceAuthorizationDeps, deviceAuthorizationEndpoint } from './device/authorization.ts';
import { approvalForm, codeForm, codePage, type DevicePagesDeps, decision } from './device/pages.ts';
import { discoveryDocument } from './discovery.ts';
import { cacheControl, discoveryPath, keysPath, type Published, publish } from './documents.ts';
import { type EndSessionDeps, endSessionEndpoint } from './end-session.ts';
import { type ImpersonateDeps, impersonateEndpoint } from './impersonate.ts';
import { type IntrospectDeps, introspectEndpoint } from './introspect.ts';
import { OAuthError, toOAuthError } from './oauth-error.ts';
import type { Context } from './openapi/operations.ts';
import * as describe from './openapi/operations.ts';
import { type ChoiceDeps, choiceEndpoint } from './organization.ts';
import { type PushDeps, pushEndpoint } from './par.ts';
import {
  metadataBody,
  type RegistrationDeps,
  registerEndpoint,
  registrationEndpoint,
  registrationPath,
  unregisterEndpoint,
  updateEndpoint,
} from './registration/registration.ts';
import { type RevokeDeps, revokeEndpoint } from './revoke.ts';
import { type TokenDeps, tokenEndpoint } from './token.ts';
import { type UserInfoDeps, userInfoEndpoint } from './userinfo.ts';

export interface OidcDeps {
  authorize: AuthorizeDeps;
  consent: ConsentDeps;
  choice: ChoiceDeps;
  impersonate: ImpersonateDeps;
  token: TokenDeps;
  revoke: RevokeDeps;
  introspect: IntrospectDeps;
  push: PushDeps;
  registration: RegistrationDeps;
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

type OidcRoute = Route<OidcDeps, Context>;

/** Libraries and interceptors of applications add headers, which the endpoints ignore. The wildcard excludes `Authorization`. */
const anyHeader = ['*'];
const anyOrigin = (): CorsPolicy => ({ origin: '*', requestHeaders: ['Authorization', ...anyHeader] });
const registeredOrigins = ({ isRegisteredOrigin }: OidcDeps): CorsPolicy => ({
  origin: isRegisteredOrigin,
  requestHeaders: ['Authorization', 'Content-Type', 'X-Api-Key', 'DPoP', ...anyHeader],
  exposedHeaders: ['WWW-Authenticate', 'Retry-After', 'X-Request-Id', 'DPoP-Nonce'],
});

/** RFC 6749 §5.1 requires both headers. */
const headers = { ...noStore, Pragma: 'no-cache' };

/** Issuers without the capability do not have the endpoint. */
const where = (isOffered: (capabilities: Capabilities) => boolean): Pick<OidcRoute, 'offered'> => ({
  offered: {
    at: (req) => isOffered(issuerOf(req).capabilities),
    about: ({ issuer }) => isOffered(issuer.capabilities),
  },
});
const whereDevices = where(({ grantTypes }) => grantTypes.includes('device_code'));

/** A document of an issuer. */
const document = { cors: anyOrigin, errors: oauthErrors } as const;
/** An endpoint that browsers navigate to. GET has effects. */
const page = { headers, head: 'refused', errors: pageErrors } as const;
/** An endpoint that applications call with a form. */
const endpoint = { cors: registeredOrigins, headers, errors: oauthErrors } as const;
/** Browsers of applications that are not registered yet may call it. */
const registering = {
  ...{ cors: anyOrigin, headers, errors: oauthErrors },
  ...where(({ introductions }) => introductions),
} as const;
const body = formBody;
const service = 'sign_in';

/** The endpoints of an issuer. Those of projects have more capabilities than the base issuer. */
export const oidcRoutes: readonly OidcRoute[] = [
  {
    path: discoveryPath,
    methods: { GET: { handler: () => sendDiscovery, openApi: describe.discovery } },
    ...document,
  },
  {
    path: keysPath,
    methods: { GET: { handler: sendKeys, openApi: describe.keys } },
    ...document,
  },
  {
    path: '/authorize',
    methods: {
      GET: { handler: ({ authorize }) => authorizeEndpoint(authorize), openApi: describe.authorize },
      POST: { body, handler: ({ authorize }) => authorizeEndpoint(authorize), openApi: describe.authorizeByPost },
    },
    ...page,
    service,
  },
  {
    path: '/authorize/resume',
    methods: { GET: { handler: ({ authorize }) => resumeEndpoint(authorize), openApi: 'page' } },
    ...page,
    service,
  },
  {
    path: '/authorize/consent',
    methods: { POST: { body, handler: ({ consent }) => consentEndpoint(consent), openApi: 'page' } },
    ...page,
    service,
  },
  {
    path: '/authorize/organization',
    methods: { POST: { body, handler: ({ choice }) => choiceEndpoint(choice), openApi: 'page' } },
    ...page,
    ...where(({ organizations }) => organizations),
    service,
  },
  {
    path: impersonationPath,
    methods: { GET: { handler: ({ impersonate }) => impersonateEndpoint(impersonate), openApi: 'page' } },
    ...page,
    ...where(({ impersonation }) => impersonation),
  },
  {
    path: '/oauth2/token',
    methods: { POST: { body, handler: ({ token }) => tokenEndpoint(token), openApi: describe.token } },
    ...endpoint,
    service,
  },
  {
    path: '/oauth2/revoke',
    methods: { POST: { body, handler: ({ revoke }) => revokeEndpoint(revoke), openApi: describe.revoke } },
    ...endpoint,
    ...where(({ revocation }) => revocation),
  },
  {
    path: '/oauth2/introspect',
    methods: {
      POST: { body, handler: ({ introspect }) => introspectEndpoint(introspect), openApi: describe.introspect },
    },
    headers,
    errors: oauthErrors,
    ...where(({ introspection }) => introspection),
  },
  {
    path: '/oauth2/par',
    methods: { POST: { body, handler: ({ push }) => pushEndpoint(push), openApi: describe.push } },
    ...endpoint,
    ...where(({ pushedRequests }) => pushedRequests),
  },
  {
    path: registrationPath,
    methods: {
      POST: {
        body: metadataBody,
        handler: ({ registration }) => registerEndpoint(registration),
        openApi: describe.register,
      },
    },
    ...registering,
  },
  {
    path: `${registrationPath}/:clientId`,
    methods: {
      GET: { handler: ({ registration }) => registrationEndpoint(registration), openApi: describe.readRegistration },
      PUT: {
        body: metadataBody,
        handler: ({ registration }) => updateEndpoint(registration),
        openApi: describe.updateRegistration,
      },
      DELETE: { handler: ({ registration }) => unregisterEndpoint(registration), openApi: describe.unregister },
    },
    ...registering,
  },
  {
    path: '/oauth2/device_authorization',
    methods: {
      POST: {
        body,
        handler: ({ deviceAuthorization }) => deviceAuthorizationEndpoint(deviceAuthorization),
        openApi: describe.deviceAuthorization,
      },
    },
    ...endpoint,
    ...whereDevices,
  },
  {
    path: '/userinfo',
    methods: {
      GET: { handler: ({ userInfo }) => userInfoEndpoint(userInfo), openApi: describe.userInfo },
      POST: { body, handler: ({ userInfo }) => userInfoEndpoint(userInfo), openApi: describe.userInfoByPost },
    },
    ...endpoint,
    service,
  },
  {
    path: '/oauth2/end_session',
    methods: {
      GET: { handler: ({ endSession }) => endSessionEndpoint(endSession), openApi: describe.endSession },
      POST: { body, handler: ({ endSession }) => endSessionEndpoint(endSession), openApi: describe.endSessionByPost },
    },
    ...page,
  },
  {
    path: '/device',
    methods: {
      GET: { handler: ({ devicePages }) => codePage(devicePages), openApi: 'page' },
      POST: { body, handler: ({ devicePages }) => codeForm(devicePages), openApi: 'page' },
    },
    errors: pageErrors,
    ...whereDevices,
  },
  {
    path: '/device/approval',
    methods: {
      GET: { handler: ({ devicePages }) => approvalForm(devicePages), openApi: 'page' },
      POST: { body, handler: ({ devicePages }) => decision(devicePages), openApi: 'page' },
    },
    errors: pageErrors,
    ...whereDevices,
  },
];

/**
 * Metadata where RFC 8414 §3.1 puts it, for clients that build the address from the issuer's: below the root, then the
 * issuer's path.
 */
const wellKnown = '/.well-known/oauth-authorization-server';

/** To be mounted for the issuers of projects. */
export const metadataRoutes: readonly OidcRoute[] = [
  {
    path: `${wellKnown}/p/:slug`,
    methods: { GET: { handler: () => sendDiscovery, openApi: describe.metadata } },
    ...document,
  },
];

/** To be mounted for the issuers of hosts. */
export const domainMetadataRoutes: readonly OidcRoute[] = [
  {
    path: wellKnown,
    methods: { GET: { handler: () => sendDiscovery, openApi: 'at custom domains only' } },
    offered: { at: (req) => siteAt(req).domain !== null },
    ...document,
  },
];

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

function sendKeys({ jwks }: OidcDeps): RequestHandler {
  return async (req, res) => sendCacheable(req, res, publish(await jwks(issuerOf(req))));
}

/** The OAuth error response for a thrown value (RFC 6749 §5.2). */
function oauthErrors({ log }: OidcDeps): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    if (res.headersSent) return next(thrown);
    const { requestId } = requestContext(req);
    const status = bodyFault(thrown);
    const failure = failureOf(thrown);
    const error = status === undefined ? toOAuthError(failure) : new OAuthError('invalid_request', faultText(status));
    if (error.error === 'server_error') log.error({ err: thrown, requestId, route: routeLabel(req) }, 'request failed');
    else {
      log.info({ requestId, route: routeLabel(req), error: error.error, ...refusalOf(failure) }, 'request refused');
    }
    // The rows of endpoints have it in all responses; a document's 405 is the same for everybody.
    if (status !== 405) res.setHeader('Cache-Control', 'no-store');
    if (error.error === 'invalid_client') res.setHeader('WWW-Authenticate', 'Basic realm="Latchkey"');
    if (error.retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(error.retryAfterSeconds));
    res.status(status ?? error.httpStatus);
    res.json({ error: error.error, error_description: error.description });
  };
}

const faultText = (status: number): string => (status === 405 ? 'Method not allowed.' : 'The body cannot be read.');

/** Errors of endpoints that browsers navigate to: a page for browsers, {@link oauthErrors} for programs. */
function pageErrors(deps: OidcDeps): ErrorRequestHandler {
  const sendJson = oauthErrors(deps);
  return (thrown: unknown, req, res, next) => {
    const isOfPage = bodyFault(thrown) !== undefined || toOAuthError(failureOf(thrown)).httpStatus >= 500;
    if (isOfPage && wantsPage(req)) return next(thrown);
    return sendJson(thrown, req, res, next);
  };
}

/** The reason for the log; its redaction would remove a problem's `code`. */
function refusalOf(failure: unknown): object {
  if (!(failure instanceof Refusal)) return {};
  const { code, ...detail } = failure.problem;
  return { problem: code, detail };
}
