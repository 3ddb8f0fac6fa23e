import type { IncomingMessage, ServerResponse } from 'node:http';
import { JWTVerificationError, OAuthExchangeError } from './error.ts';
import { exchangeCodeForTokenAndClaims, type TokenAndClaims } from './exchange.ts';
import { beginSignIn, finishSignIn } from './hosted-sign-in.ts';
import { forgetLogoutToken, judgeLogoutToken, type LogoutClaims, rememberLogoutToken } from './logout-token.ts';
import type { PublicKeyInput } from './public-key.ts';
import type { ReplayStore } from './replay-store.ts';
import { BodyError, formBody, jsonBody, type RequestLike } from './request-body.ts';

export interface LatchkeyMiddlewareOptions {
  /** The service's base address, which is its issuer. */
  baseUrl: string;
  clientId: string;
  /** The client's secret key, `lk_sk_…`. */
  apiKey: string;
  /** A PEM, or the path of one. Default: the keys at `{baseUrl}/.well-known/jwks.json`. */
  publicKey?: PublicKeyInput;
  /** Clock skew that is tolerated, in seconds. Default: 0. */
  leeway?: number;
  /** Where used logout tokens are noted. Default: the memory of this process. */
  replayStore?: ReplayStore;
  /** For the hosted page: where `callback()` is mounted, as registered at the client. */
  redirectUri?: string;
  /** For the hosted page. Default: `openid profile email phone`. */
  scope?: string;
  /** Told of each failure, for your log. */
  onError?: (error: unknown, req: IncomingMessage) => void;
}

/** A handler as Express, Connect and their kin mount it. */
export type Handler<Req, Res> = (req: Req, res: Res, next: (error?: unknown) => void) => Promise<void>;

/** Makes your own session out of a verified sign-in. Give the session a new id, and keep `claims.sub` and `claims.sid`. */
export type OnSignIn<Req, Res> = (signIn: TokenAndClaims, req: Req, res: Res) => unknown;

/** Ends your sessions: that of `sid` where there is one, else every session of `sub`. */
export type OnLogout<Req> = (logout: LogoutClaims, req: Req) => unknown;

export interface LatchkeyMiddleware {
  /**
   * `POST`: takes `{code, code_verifier?}` in JSON from your page, exchanges it and hands the sign-in over. Answers
   * 204, unless `onSignIn` has answered; 401 where the code is not good, 503 where the service is out of reach.
   */
  signIn<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers: {
    onSignIn: OnSignIn<Req, Res>;
  }): Handler<Req, Res>;
  /** `GET`: sends the browser to the hosted sign-in page. `returnTo` names a path of yours to come back to. */
  begin<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers?: {
    returnTo?: (req: Req) => string | undefined;
  }): Handler<Req, Res>;
  /** `GET`, at `redirectUri`: the way back from the hosted page. Then redirects, unless `onSignIn` has answered. */
  callback<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers: {
    onSignIn: OnSignIn<Req, Res>;
  }): Handler<Req, Res>;
  /**
   * `POST`: takes logout tokens. Answers 200 once `onLogout` is done, also for a token that comes again; 400 for one
   * that is not good; 500 or 503 where the service shall try again.
   */
  backchannelLogout<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers: {
    onLogout: OnLogout<Req>;
  }): Handler<Req, Res>;
}

/** Handlers for a relying party's own routes. */
export function createLatchkeyMiddleware(options: LatchkeyMiddlewareOptions): LatchkeyMiddleware {
  const issuer = options.baseUrl.replace(/\/+$/, '');
  const { apiKey, clientId, leeway, publicKey } = options;
  const keys = publicKey === undefined ? { jwksUrl: `${issuer}/.well-known/jwks.json` } : { publicKey };
  const trust = { ...keys, clientId, issuer, ...(leeway === undefined ? {} : { leeway }) };
  const told = (error: unknown, req: IncomingMessage) => options.onError?.(error, req);

  const exchange = (code: string, more: { codeVerifier?: string; redirectUri?: string; nonce?: string }) =>
    exchangeCodeForTokenAndClaims({ ...trust, ...more, apiKey, code, oauthTokenUrl: `${issuer}/oauth2/token` });
  const hosted = () => {
    const { redirectUri, scope = 'openid profile email phone' } = options;
    if (redirectUri === undefined)
      throw new OAuthExchangeError('INVALID_OPTIONS', 'The option redirectUri is missing.');
    return { issuer, clientId, redirectUri, scope };
  };

  return {
    signIn: ({ onSignIn }) =>
      handled(async (req, res) => {
        const signedIn = await codeFrom(req)
          .then(({ code, codeVerifier }) => exchange(code, codeVerifier === undefined ? {} : { codeVerifier }))
          .catch((error: unknown) => {
            told(error, req);
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
          told(error, req);
          throw error;
        }
      }),

    backchannelLogout: ({ onLogout }) =>
      handled(async (req, res) => {
        try {
          const token = await logoutTokenFrom(req);
          const claims = await judgeLogoutToken(token, trust);
          if (await isNew(claims, options.replayStore))
            await doneOrForgotten(claims, onLogout, req, options.replayStore);
          res.writeHead(200, { 'Cache-Control': 'no-store' }).end();
        } catch (error) {
          told(error, req);
          if (error instanceof BodyError || error instanceof JWTVerificationError) {
            answer(res, logoutStatusOf(error), { error: 'invalid_request', error_description: error.message });
          } else answer(res, 500, { error: 'server_error' });
        }
      }),
  };
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
  // A page of another site cannot sign its visitors in here: it can send neither JSON nor this header's other values.
  if (req.headers['sec-fetch-site'] === 'cross-site') throw new BodyError(400, 'The request is from another site.');
  const body = await jsonBody(req);
  const verifier = body['code_verifier'] ?? body['codeVerifier'];
  const { code } = body;
  if (typeof code !== 'string' || code === '') throw new BodyError(400, 'The body holds no code.');
  if (verifier !== undefined && (typeof verifier !== 'string' || verifier === '')) {
    throw new BodyError(400, 'code_verifier is no text.');
  }
  return { code, codeVerifier: verifier as string | undefined };
}

async function logoutTokenFrom(req: RequestLike): Promise<string> {
  needPost(req);
  const { logout_token: token } = await formBody(req);
  if (typeof token !== 'string' || token === '') throw new BodyError(400, 'The body holds no logout_token.');
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
    // The service did not hear our first answer: it is told once more that all is done.
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

/** 400 is final to the service; after anything above it tries again. */
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
