import { brokenRule, callback, having, text } from './checks.ts';
import { JWTVerificationError, LatchkeyNodeError, OAuthExchangeError } from './error.ts';
import { type Claims, checkApiKey, exchangeCodeForTokenAndClaims, type TokenAndClaims } from './exchange.ts';
import {
  abandonedSignIns,
  beginSignIn,
  endOfSignIn,
  finishSignIn,
  type HostedClient,
  type HostedRequest,
  type SignInRequest,
} from './hosted-sign-in.ts';
import { BodyError, formBody, type Incoming, jsonBody } from './incoming.ts';
import { logoutOnce } from './logout-once.ts';
import { checkLogoutToken, type LogoutClaims, type VerifyLogoutTokenOptions } from './logout-token.ts';
import { checkedUrl, OutgoingError } from './outgoing.ts';
import type { PublicKeyInput } from './public-key.ts';
import type { ReplayStore } from './replay-store.ts';
import { faultOf } from './verify-jwt.ts';

export interface RelyingPartyOptions {
  /** The service's base URL, which is its issuer. */
  baseUrl: string;
  clientId: string;
  /** The client's secret key, `lk_sk_…`. */
  apiKey: string;
  /** A PEM, or its path. Default: the keys at `{baseUrl}/.well-known/jwks.json`. */
  publicKey?: PublicKeyInput;
  /** Tolerated clock skew in seconds. Default: 0. */
  leeway?: number;
  /** Storage of used logout tokens. Default: process memory. */
  replayStore?: ReplayStore;
  /** For the hosted page: URL of the callback, as registered at the client. */
  redirectUri?: string;
  /** For the hosted page. Default: `openid profile email phone`. */
  scope?: string;
  /** Allows plain http to hosts other than loopback, for a network of containers. Logged. Default: false. */
  allowInsecureHttp?: boolean;
}

/** A response without a framework. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string | null;
}

/** The settings of a relying party for its service. */
export interface Party {
  exchange(
    code: string,
    more: { codeVerifier?: string; redirectUri?: string; nonce?: string },
  ): Promise<TokenAndClaims>;
  /** Trusted keys and names of a logout token. */
  trust(): Promise<VerifyLogoutTokenOptions> | VerifyLogoutTokenOptions;
  /** The client at the hosted page. Throws `OAuthExchangeError` if it is not configured. */
  hosted(): HostedClient;
  /** Default: `{issuer}/authorize`. */
  authorizationEndpoint?(): Promise<string>;
  leeway?: number | undefined;
  replayStore?: ReplayStore | undefined;
}

/** The routes of a relying party at fixed addresses. Throws `OAuthExchangeError` for missing or invalid options. */
export function relyingParty(options: RelyingPartyOptions) {
  checkOptions(options);
  const issuer = options.baseUrl.replace(/\/+$/, '');
  const { allowInsecureHttp = false, apiKey, clientId, leeway, publicKey, replayStore } = options;
  const keys = publicKey === undefined ? { jwksUrl: `${issuer}/.well-known/jwks.json` } : { publicKey };
  const trust = { ...keys, allowInsecureHttp, clientId, issuer, ...(leeway === undefined ? {} : { leeway }) };
  return routesOf({
    exchange: (code, more) =>
      exchangeCodeForTokenAndClaims({ ...trust, ...more, apiKey, code, oauthTokenUrl: `${issuer}/oauth2/token` }),
    trust: () => trust,
    hosted: () => {
      const { redirectUri, scope = defaultScope } = options;
      if (redirectUri === undefined) throw new OAuthExchangeError('INVALID_OPTIONS', 'redirectUri is required.');
      return { issuer, clientId, redirectUri, scope };
    },
    leeway,
    replayStore,
  });
}

export const defaultScope = 'openid profile email phone';

/** The routes of a relying party, for requests of any kind. */
export function routesOf(party: Party) {
  const once = logoutOnce(party.replayStore);
  return {
    /** Exchanges the code that a page has posted. */
    signIn: async (incoming: Incoming): Promise<TokenAndClaims> => {
      const { code, codeVerifier } = await codeFrom(incoming);
      return party.exchange(code, codeVerifier === undefined ? {} : { codeVerifier });
    },
    /** The URL of the hosted page, and the cookies of the redirect to it. */
    begin: async (
      incoming: Incoming,
      request: HostedRequest = {},
    ): Promise<{ location: string; cookies: string[] }> => {
      const client = party.hosted();
      const { location, setCookie } = await beginSignIn(client, request, await party.authorizationEndpoint?.());
      return { location, cookies: [...abandonedSignIns(incoming, client), setCookie] };
    },
    endOfSignIn: (incoming: Incoming): string => endOfSignIn(incoming, party.hosted()),
    /** Exchanges the code of an authorization response. `asked` is from the browser's cookie, which its user can alter. */
    callback: async (
      incoming: Incoming,
    ): Promise<{ signedIn: TokenAndClaims; returnTo: string; asked: HostedRequest }> => {
      const { redirectUri } = party.hosted();
      const { at, code, codeVerifier, nonce, returnTo, ...asked } = finishSignIn(incoming, party.hosted());
      const signedIn = await party.exchange(code, { codeVerifier, nonce, redirectUri });
      checkAuthentication(signedIn.claims, asked, at - (party.leeway ?? 0));
      return { signedIn, returnTo, asked };
    },
    /** Verifies a logout token and calls `onLogout` once for it, see {@link logoutOnce}. */
    logout: async (incoming: Incoming, onLogout: (logout: LogoutClaims) => unknown): Promise<void> => {
      const claims = await checkLogoutToken(await logoutTokenFrom(incoming), await party.trust());
      await once(claims, () => onLogout(claims));
    },
  };
}

/** The service may ignore `acr_values` (OpenID Connect Core §3.1.2.1, §3.1.3.7): compare its response. */
function checkAuthentication(claims: Claims, asked: SignInRequest, atSeconds: number): void {
  if (!meets(claims['acr'], claims['auth_time'], asked, atSeconds)) throw unmet();
}

export function unmet(): OAuthExchangeError {
  return new OAuthExchangeError('SIGN_IN_REFUSED', 'The sign-in does not meet acrValues or maxAgeSeconds.', {
    status: 401,
    error: 'unmet_authentication_requirements',
  });
}

/** Whether an authentication is of one of the classes, and `provedAt` (Unix seconds) recent enough. */
export function meets(acr: unknown, provedAt: unknown, asked: SignInRequest, atSeconds: number): boolean {
  const { acrValues, maxAgeSeconds } = asked;
  const isOfClass = acrValues === undefined || acrValues.some((one) => one === acr);
  if (maxAgeSeconds === undefined) return isOfClass;
  return isOfClass && typeof provedAt === 'number' && atSeconds - provedAt <= maxAgeSeconds;
}

function checkOptions(options: RelyingPartyOptions): void {
  const fail = (problem: string): never => {
    throw new OAuthExchangeError('INVALID_OPTIONS', problem);
  };
  if (typeof options !== 'object' || options === null) fail('options must be an object.');
  for (const name of ['baseUrl', 'clientId', 'apiKey'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') fail(`${name} is required.`);
  }
  checkApiKey(options.apiKey);
  checkAddress('baseUrl', options.baseUrl, options.allowInsecureHttp);
  const fault = faultOf(options) ?? brokenRule(options, rules);
  if (fault) fail(fault);
  if (options.redirectUri != null) checkAddress('redirectUri', options.redirectUri, options.allowInsecureHttp);
}

const rules = { onError: callback, replayStore: having('remember', 'forget'), scope: text };

/** Throws `OAuthExchangeError` for a handler that is not a function. @param optional handlers that may be absent */
export function checkHandlers(required: object, optional: object = {}): void {
  const missing = Object.entries(required).find(([, handler]) => handler == null);
  const handlers = { ...required, ...optional };
  const rules = Object.fromEntries(Object.keys(handlers).map((name) => [name, callback]));
  const fault = missing ? `${missing[0]} must be a function.` : brokenRule(handlers, rules);
  if (fault) throw new OAuthExchangeError('INVALID_OPTIONS', fault);
}

/** Throws `OAuthExchangeError` for an address that is not a URL, or not secure. */
export function checkAddress(name: string, url: string, allowInsecureHttp?: boolean): URL {
  try {
    return checkedUrl(url, allowInsecureHttp);
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    const code = error.fault === 'insecure-url' ? 'INSECURE_URL' : 'INVALID_OPTIONS';
    throw new OAuthExchangeError(code, `${name}: ${error.message}`);
  }
}

/** The reply to a failed sign-in. */
export function signInFailure(error: unknown, name = 'sign_in_failed'): Reply {
  return reply(statusOf(error), { error: name, code: codeOf(error) });
}

/** The reply to a logout token that was refused, or whose sessions could not be ended. */
export function logoutFailure(error: unknown): Reply {
  if (error instanceof BodyError || error instanceof JWTVerificationError) {
    return reply(logoutStatusOf(error), { error: 'invalid_request', error_description: error.message });
  }
  return reply(500, { error: 'server_error' });
}

export function reply(status: number, body: object | null = null, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      'Cache-Control': 'no-store',
      ...(status === 405 && { Allow: 'POST' }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  };
}

async function codeFrom(incoming: Incoming): Promise<{ code: string; codeVerifier: string | undefined }> {
  needPost(incoming);
  // Login CSRF: cross-site pages can send neither JSON nor a different Sec-Fetch-Site.
  if (incoming.header('sec-fetch-site') === 'cross-site')
    throw new BodyError(400, 'Cross-site requests are not allowed.');
  const body = await jsonBody(incoming);
  const verifier = body['code_verifier'] ?? body['codeVerifier'];
  const { code } = body;
  if (typeof code !== 'string' || code === '') throw new BodyError(400, 'code is required.');
  if (verifier !== undefined && (typeof verifier !== 'string' || verifier === '')) {
    throw new BodyError(400, 'code_verifier must be a string.');
  }
  return { code, codeVerifier: verifier as string | undefined };
}

async function logoutTokenFrom(incoming: Incoming): Promise<string> {
  needPost(incoming);
  const { logout_token: token } = await formBody(incoming);
  if (typeof token !== 'string' || token === '') throw new BodyError(400, 'logout_token is required.');
  return token;
}

function needPost({ method }: Incoming): void {
  if (method !== 'POST') throw new BodyError(405, 'The method must be POST.');
}

const outOfReach = [
  ...['TEMPORARILY_UNAVAILABLE', 'NETWORK', 'TIMEOUT', 'SERVER_ERROR', 'JWKS_UNAVAILABLE'],
  ...['DISCOVERY_UNAVAILABLE', 'REVOCATIONS_FAILED'],
];

function statusOf(error: unknown): number {
  if (error instanceof BodyError) return error.status;
  const code = codeOf(error);
  if (code === 'INVALID_GRANT' || code === 'SIGN_IN_REFUSED') return 401;
  if (code === 'CALLBACK_REJECTED') return 400;
  return outOfReach.includes(code) ? 503 : 500;
}

/** The service treats 400 as final and retries after higher statuses. */
function logoutStatusOf(error: BodyError | JWTVerificationError): number {
  if (error instanceof BodyError) return error.status;
  return error.code.startsWith('JWKS_') || error.code.startsWith('KEY_') || error.code === 'REPLAY_STORE_FAILED'
    ? 503
    : 400;
}

function codeOf(error: unknown): string {
  if (error instanceof BodyError) return 'INVALID_REQUEST';
  return error instanceof LatchkeyNodeError ? error.code : 'FAILED';
}
