import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenAndClaims } from './exchange.ts';
import { ofNode, type RequestLike } from './incoming.ts';
import type { LogoutClaims } from './logout-token.ts';
import {
  checkHandlers,
  logoutFailure,
  type RelyingPartyOptions,
  type Reply,
  relyingParty,
  reply,
  signInFailure,
} from './relying-party.ts';

export interface LatchkeyMiddlewareOptions extends RelyingPartyOptions {
  /** Called on each failure, for logging. */
  onError?: (error: unknown, req: IncomingMessage) => void;
}

/** A handler for Express, Connect and compatible frameworks. */
export type Handler<Req, Res> = (req: Req, res: Res, next: (error?: unknown) => void) => Promise<void>;

/** Creates your session from a verified sign-in. Regenerate the session ID, and store `claims.sub` and `claims.sid`. */
export type OnSignIn<Req, Res> = (signIn: TokenAndClaims, req: Req, res: Res) => unknown;

/**
 * Ends your sessions: that of `sid` if present, else all of `sub`. Must be idempotent: in another process, and after a crash,
 * a repeated token calls it again until one call has succeeded.
 */
export type OnLogout<Req> = (logout: LogoutClaims, req: Req) => unknown;

export interface LatchkeyMiddleware {
  /**
   * `POST`: accepts `{code, code_verifier?}` as JSON from your page, exchanges it and calls `onSignIn`. Responds 204
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
   * `POST`: accepts logout tokens. Responds 200 after `onLogout` has succeeded, also for a later repeat of the token;
   * 400 for an invalid one; 500 or 503 if the service should retry.
   */
  backchannelLogout<Req extends RequestLike = RequestLike, Res extends ServerResponse = ServerResponse>(handlers: {
    onLogout: OnLogout<Req>;
  }): Handler<Req, Res>;
}

/** Handlers for a relying party's routes. Throws `OAuthExchangeError` for options that are missing or invalid. */
export function createLatchkeyMiddleware(options: LatchkeyMiddlewareOptions): LatchkeyMiddleware {
  const party = relyingParty(options);
  const report = (error: unknown, req: IncomingMessage) => options.onError?.(error, req);
  return {
    signIn: ({ onSignIn }) => {
      checkHandlers({ onSignIn });
      return handled(async (req, res) => {
        const signedIn = await party.signIn(ofNode(req)).catch((error: unknown) => {
          report(error, req);
          send(res, signInFailure(error));
        });
        if (!signedIn) return;
        await onSignIn(signedIn, req, res);
        if (!res.headersSent) send(res, reply(204));
      });
    },

    begin: ({ returnTo } = {}) => {
      checkHandlers({}, { returnTo });
      return handled(async (req, res) => {
        const { cookies, location } = await party.begin(ofNode(req), { returnTo: returnTo?.(req) });
        for (const cookie of cookies) res.appendHeader('Set-Cookie', cookie);
        send(res, reply(303, null, { Location: location }));
      });
    },

    callback: ({ onSignIn }) => {
      checkHandlers({ onSignIn });
      return handled(async (req, res) => {
        try {
          const incoming = ofNode(req);
          res.appendHeader('Set-Cookie', party.endOfSignIn(incoming));
          const { returnTo, signedIn } = await party.callback(incoming);
          await onSignIn(signedIn, req, res);
          if (!res.headersSent) send(res, reply(303, null, { Location: returnTo }));
        } catch (error) {
          report(error, req);
          throw error;
        }
      });
    },

    backchannelLogout: ({ onLogout }) => {
      checkHandlers({ onLogout });
      return handled(async (req, res) => {
        try {
          await party.logout(ofNode(req), (claims) => onLogout(claims, req));
          send(res, reply(200));
        } catch (error) {
          report(error, req);
          send(res, logoutFailure(error));
        }
      });
    },
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

function send(res: ServerResponse, { body, headers, status }: Reply): void {
  res.writeHead(status, headers).end(body ?? undefined);
}
