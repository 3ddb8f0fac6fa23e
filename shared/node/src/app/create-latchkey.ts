import type { Claims, TokenAndClaims } from '../exchange.ts';
import { responseOf } from '../handlers.ts';
import type { SignInRequest } from '../hosted-sign-in.ts';
import { ofRequest } from '../incoming.ts';
import type { DefaultUser, Session } from '../session/sessions.ts';
import type { ProviderMetadata } from './discovery.ts';
import { checkOptions, type LatchkeyOptions } from './options.ts';
import { type Answer, Routes, type SessionRequirements } from './routes.ts';
import { type ExchangeMore, type LogoutUrlOptions, Service } from './service.ts';
import type { UserInfo } from './user-info.ts';

/** A function from `Request` to `Response`, called with a session. */
export type WithSession<User, Rest extends unknown[]> = (
  request: Request,
  session: Session<User>,
  ...rest: Rest
) => Promise<Response> | Response;

export interface Latchkey<User = DefaultUser> {
  /** The issuer's discovery document, cached for an hour. Throws `RelyingPartyError`. */
  discovery(): Promise<ProviderMetadata>;
  /** Exchanges a code and verifies the ID token, as `exchangeCodeForTokenAndClaims` does. */
  exchange(code: string, more?: ExchangeMore): Promise<TokenAndClaims>;
  /**
   * Verifies an ID token of this client: signature, `iss`, `aud`, `azp`, times, and `nonce` if given. Does not check
   * whether the token was used before. Throws `JWTVerificationError`.
   */
  verifyIdToken(idToken: string, more?: { nonce?: string }): Promise<Claims>;
  /** Claims of UserInfo for the user `sub` of the ID token. Throws `RelyingPartyError`. */
  getUserInfo(accessToken: string, sub: string): Promise<UserInfo>;
  /** URL of the page that ends the user's session at the service (OpenID Connect RP-Initiated Logout 1.0). */
  logoutUrl(options?: LogoutUrlOptions): Promise<string>;
  /**
   * The routes: `GET {basePath}/login?return_to=…`, `GET` of the callback, `POST {basePath}/sign-in` with
   * `{code, code_verifier?}`, `GET {basePath}/session`, `POST {basePath}/sign-out` and `POST {basePath}/backchannel-logout`,
   * the client's `backchannel_logout_uri`. Undefined for other paths.
   */
  handle(request: Request): Promise<Response | undefined>;
  /** The session of a request, or null. Throws `RelyingPartyError` if the storage of ended sessions fails. */
  getSession(request: Request): Promise<Session<User> | null>;
  /**
   * Calls `handler` only with a session that meets the requirements. Otherwise a visit of a page is redirected to the
   * hosted page, and a script gets 401 with `login`, the path to go to. A write must come from a page of this origin.
   */
  requireSession<Rest extends unknown[]>(
    handler: WithSession<User, Rest>,
    requirements?: SessionRequirements,
  ): (request: Request, ...rest: Rest) => Promise<Response>;
  /** A redirect to the hosted page, also as a step-up: `signIn(request, { acrValues: ['phr'], returnTo })`. */
  signIn(request: Request, asked?: SignInRequest): Promise<Response>;
  /** For the adapters. */
  readonly routes: Routes;
}

const defaultLeewaySeconds = 5;
/** `Cache-Control` of responses that depend on a session. */
export const notShared = 'private, no-store';

/**
 * An application at an issuer: operations with discovery, and, with `redirectUri` and `session`, routes and sessions in
 * sealed cookies. Uses only Web APIs. Throws `OAuthExchangeError` for missing or invalid options.
 */
export function createLatchkey<User = DefaultUser>(given: LatchkeyOptions<User>): Latchkey<User> {
  checkOptions(given);
  const options = { ...given, leeway: given.leeway ?? defaultLeewaySeconds };
  const service = new Service(options);
  const routes = new Routes(service, options);
  if (options.session !== undefined) void routes.site;
  return {
    routes,
    discovery: () => service.discovery(),
    exchange: (code, more) => service.exchange(code, more),
    verifyIdToken: (idToken, more) => service.verifyIdToken(idToken, more),
    getUserInfo: (accessToken, sub) => service.getUserInfo(accessToken, sub),
    logoutUrl: (more) => service.logoutUrl(more),
    handle: async (request) => {
      const answer = await routes.handle(ofRequest(request));
      return answer && fetched(answer);
    },
    getSession: async (request) => (await routes.find(ofRequest(request))) as Session<User> | null,
    requireSession:
      (handler, requirements) =>
      async (request, ...rest) => {
        const required = await routes.require(ofRequest(request), requirements);
        if ('answer' in required) return fetched(required.answer);
        return withCookies(await handler(request, required.session as Session<User>, ...rest), required.cookies);
      },
    signIn: async (request, asked = {}) => fetched(await routes.begin(ofRequest(request), asked)),
  };
}

export function fetched(answer: Answer): Response {
  const response = responseOf(answer);
  for (const cookie of answer.cookies) response.headers.append('Set-Cookie', cookie);
  return response;
}

/**
 * A response that depends on a session goes into no shared cache, unless its handler decides otherwise. One that renews
 * the session never does: the cache would give the cookie to other visitors (RFC 9111 §7.3).
 */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  if (isWebSocket(response) || (cookies.length === 0 && response.headers.has('Cache-Control'))) return response;
  // Headers of a redirect or of a fetched response are immutable.
  const { body, status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  headers.set('Cache-Control', notShared);
  return new Response(body, { status, statusText, headers });
}

/** The response that opens a WebSocket: the runtime accepts no copy of it, and no cache stores it. */
export function isWebSocket({ status }: Response): boolean {
  return status === 101;
}
