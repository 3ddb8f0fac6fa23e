import type { IncomingMessage, ServerResponse } from 'node:http';
import { JWTVerificationError, OAuthExchangeError } from './error.ts';
import { checkApiKey, exchangeCodeForTokenAndClaims, type TokenAndClaims } from './exchange.ts';
import { beginSignIn, finishSignIn } from './hosted-sign-in.ts';
import { checkLogoutToken, forgetLogoutToken, type LogoutClaims, rememberLogoutToken } from './logout-token.ts';
import { checkedUrl, OutgoingError } from './outgoing.ts';
import type { PublicKeyInput } from './public-key.ts';
import type { ReplayStore } from './replay-store.ts';
import { BodyError, formBody, jsonBody, type RequestLike } from './request-body.ts';

export interface LatchkeyMiddlewareOptions {
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
  /** For the hosted page: URL of `callback()`, as registered at the client. */
  redirectUri?: string;
  /** For the hosted page. Default: `openid profile email phone`. */
  scope?: string;
  /** Allows plain http to hosts other than loopback, for a network of containers. Logged. Default: false. */
  allowInsecureHttp?: boolean;
  /** Called on each failure, for logging. */
  onError?: (error: unknown, req: IncomingMessage) => void;
}

/** A handler for Express, Connect and compatible frameworks. */
export type Handler<Req, Res> = (req: Req, res: Res, next: (error?: unknown) => void) => Promise<void>;

/** Creates your session from a verified sign-in. Regenerate the session ID, and store `claims.sub` and `claims.sid`. */
export type OnSignIn<Req, Res> = (signIn: TokenAndClaims, req: Req, res: Res) => unknown;

/** Ends your sessions: that of `sid` if present, else all of `sub`. */
export type OnLogout<Req> = (logout: LogoutClaims, req: Req) => unknown;

export interface LatchkeyMiddleware {
  /**
   * `POST`: takes `{code, code_verifier?}` as JSON from your page, exchanges it and calls `onSignIn`. Responds 204
   * unless `onSignIn` has responded; 401 if the code is invalid, 503 if the service cannot be reached.
   */
  signIn<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers: {
    onSignIn: OnSignIn<Req, Res>;
  }): Handler<Req, Res>;
  /** `GET`: redirects to the hosted sign-in page. `returnTo` is a path of your site. */
  begin<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers?: {
    returnTo?: (req: Req) => string | undefined;
  }): Handler<Req, Res>;
  /** `GET`, at `redirectUri`: handles the authorization response, then redirects unless `onSignIn` has responded. */
  callback<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers: {
    onSignIn: OnSignIn<Req, Res>;
  }): Handler<Req, Res>;
  /**
   * `POST`: takes logout tokens. Responds 200 after `onLogout`, also for a repeated token; 400 for an invalid one; 500
   * or 503 if the service should retry.
   */
  backchannelLogout<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers: {
    onLogout: OnLogout<Req>;
  }): Handler<Req, Res>;
}

/** Handlers for a relying party's routes. Throws `OAuthExchangeError` for options that are missing or invalid. */
export function createLatchkeyMiddleware(options: LatchkeyMiddlewareOptions): LatchkeyMiddleware {
  checkOptions(options);
  const issuer = options.baseUrl.replace(/\/+$/, '');
  const { allowInsecureHttp = false, apiKey, clientId, leeway, publicKey } = options;
  const keys = publicKey === undefined ? { jwksUrl: `${issuer}/.well-known/jwks.json` } : { publicKey };
  const trust = { ...keys, allowInsecureHttp, clientId, issuer, ...(leeway === undefined ? {} : { leeway }) };
  const report = (error: unknown, req: IncomingMessage) => options.onError?.(error, req);

  const exchange = (code: string, more: { codeVerifier?: string; redirectUri?: string; nonce?: string }) =>
    exchangeCodeForTokenAndClaims({ ...trust, ...more, apiKey, code, oauthTokenUrl: `${issuer}/oauth2/token` });
  const hosted = () => {
    const { redirectUri, scope = 'openid profile email phone' } = options;
    if (redirectUri === undefined) throw new OAuthExchangeError('INVALID_OPTIONS', 'redirectUri is required.');
    return { issuer, clientId, redirectUri, scope };
  };

  return {
    signIn: ({ onSignIn }) =>
      handled(async (req, res) => {
        const signedIn = await codeFrom(req)
          .then(({ code, codeVerifier }) => exchange(code, codeVerifier === undefined ? {} : { codeVerifier }))
          .catch((error: unknown) => {
            report(error, req);
            answer(res, statusOf(error), { error: 'sign_in_failed', code: codeOf(error) });
          });
        if (!signedIn) return;
        await onSignIn(signedIn, req, res);
        if (!res.headersSent) res.writeHead(204, { 'Cache-Control': 'no-store' }).end();
      }),

    begin: ({ returnTo } = {}) => handled(async (req, res) => beginSignIn(res, hosted(), returnTo?.(req))),

    callback: ({ onSignIn }) =>
      handled(async (req, res) => {
        try {
          const { code, codeVerifier, nonce, returnTo } = finishSignIn(req, res, hosted());
          await onSignIn(await exchange(code, { codeVerifier, nonce, redirectUri: hosted().redirectUri }), req, res);
          if (!res.headersSent) res.writeHead(303, { Location: returnTo, 'Cache-Control': 'no-store' }).end();
        } catch (error) {
          report(error, req);
          throw error;
        }
      }),

    backchannelLogout: ({ onLogout }) =>
      handled(async (req, res) => {
        try {
          const token = await logoutTokenFrom(req);
          const claims = await checkLogoutToken(token, trust);
          if (await isNew(claims, options.replayStore))
            await doneOrForgotten(claims, onLogout, req, options.replayStore);
          res.writeHead(200, { 'Cache-Control': 'no-store' }).end();
        } catch (error) {
          report(error, req);
          if (error instanceof BodyError || error instanceof JWTVerificationError) {
            answer(res, logoutStatusOf(error), { error: 'invalid_request', error_description: error.message });
          } else answer(res, 500, { error: 'server_error' });
        }
      }),
  };
}

function checkOptions(options: LatchkeyMiddlewareOptions): void {
  const fail = (problem: string): never => {
    throw new OAuthExchangeError('INVALID_OPTIONS', problem);
  };
  if (typeof options !== 'object' || options === null) fail('options must be an object.');
  for (const name of ['baseUrl', 'clientId', 'apiKey'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') fail(`${name} is required.`);
  }
  checkApiKey(options.apiKey);
  try {
    checkedUrl(options.baseUrl, options.allowInsecureHttp);
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    throw new OAuthExchangeError(
      error.fault === 'insecure-url' ? 'INSECURE_URL' : 'INVALID_OPTIONS',
      `baseUrl: ${error.message}`,
    );
  }
}

function handled<Req, Res>(work: (req: Req, res: Res) => Promise<unknown>): Handler<Req, Res> {
  return async (req, res, next) => {
    try {
      await work(req, res);
    } catch (error) {
      next(error);
    }
  };
}

async function codeFrom(req: RequestLike): Promise<{ code: string; codeVerifier: string | undefined }> {
  needPost(req);
  // Login CSRF: cross-site pages can send neither JSON nor a different Sec-Fetch-Site.
  if (req.headers['sec-fetch-site'] === 'cross-site') throw new BodyError(400, 'Cross-site requests are not allowed.');
  const body = await jsonBody(req);
  const verifier = body['code_verifier'] ?? body['codeVerifier'];
  const { code } = body;
  if (typeof code !== 'string' || code === '') throw new BodyError(400, 'code is required.');
  if (verifier !== undefined && (typeof verifier !== 'string' || verifier === '')) {
    throw new BodyError(400, 'code_verifier must be a string.');
  }
  return { code, codeVerifier: verifier as string | undefined };
}

async function logoutTokenFrom(req: RequestLike): Promise<string> {
  needPost(req);
  const { logout_token: token } = await formBody(req);
  if (typeof token !== 'string' || token === '') throw new BodyError(400, 'logout_token is required.');
  return token;
}

function needPost(req: RequestLike): void {
  if (req.method !== 'POST') throw new BodyError(405, 'The method must be POST.');
}

async function isNew(claims: LogoutClaims, store: ReplayStore | undefined): Promise<boolean> {
  try {
    await rememberLogoutToken(claims, store);
    return true;
  } catch (error) {
    // The service did not receive the first response and retries: report success.
    if (error instanceof JWTVerificationError && error.code === 'REPLAYED') return false;
    throw error;
  }
}

async function doneOrForgotten<Req>(
  claims: LogoutClaims,
  onLogout: OnLogout<Req>,
  req: Req,
  store: ReplayStore | undefined,
): Promise<void> {
  try {
    await onLogout(claims, req);
  } catch (error) {
    await forgetLogoutToken(claims, store);
    throw error;
  }
}

const outOfReach = ['TEMPORARILY_UNAVAILABLE', 'NETWORK', 'TIMEOUT', 'SERVER_ERROR', 'JWKS_UNAVAILABLE'];

function statusOf(error: unknown): number {
  if (error instanceof BodyError) return error.status;
  const code = codeOf(error);
  if (code === 'INVALID_GRANT') return 401;
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
  return error instanceof OAuthExchangeError || error instanceof JWTVerificationError ? error.code : 'FAILED';
}

function answer(res: ServerResponse, status: number, body: object): void {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  res.writeHead(status, status === 405 ? { ...headers, Allow: 'POST' } : headers).end(JSON.stringify(body));
}
