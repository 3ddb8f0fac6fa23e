import type { TokenAndClaims } from './exchange.ts';
import { ofRequest } from './incoming.ts';
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

export interface LatchkeyHandlersOptions extends RelyingPartyOptions {
  /** Called on each failure, for logging. */
  onError?: (error: unknown, request: Request) => void;
}

/**
 * Creates your session from a verified sign-in. Use a new session ID, and store `claims.sub` and `claims.sid`. Returns
 * headers to add to the response, usually `Set-Cookie`; or a response to send instead.
 */
export type OnSignInRequest = (
  signIn: TokenAndClaims,
  request: Request,
) => Promise<Headers | Response | undefined | void> | Headers | Response | undefined | void;

export interface LatchkeyHandlers {
  /**
   * `POST`: accepts `{code, code_verifier?}` as JSON from your page and exchanges it. Responds 204, 401 if the code is
   * invalid, 503 if the service cannot be reached, 400 for a malformed request.
   */
  signIn(handlers: { onSignIn: OnSignInRequest }): (request: Request) => Promise<Response>;
  /** `GET`: redirects to the hosted sign-in page. `returnTo` is a path of your site. */
  begin(handlers?: { returnTo?: (request: Request) => string | undefined }): (request: Request) => Promise<Response>;
  /**
   * `GET`, at `redirectUri`: handles the authorization response, then redirects. `onFailure` can show your own page;
   * default: the response of `signIn`.
   */
  callback(handlers: {
    onSignIn: OnSignInRequest;
    onFailure?: (error: unknown, request: Request) => Promise<Response> | Response;
  }): (request: Request) => Promise<Response>;
  /**
   * `POST`: accepts logout tokens. Responds 200 after `onLogout` has succeeded, also for a later repeat of the token;
   * 400 for an invalid one; 500 or 503 if the service should retry. `onLogout` must be idempotent: in another process,
   * and after a crash, a repeat calls it again until one call has succeeded.
   */
  backchannelLogout(handlers: {
    onLogout: (logout: LogoutClaims, request: Request) => unknown;
  }): (request: Request) => Promise<Response>;
}

/**
 * Handlers for a relying party's routes as functions from `Request` to `Response` (Fetch standard), for Hono, Next.js,
 * workers, Deno and Bun. Throws `OAuthExchangeError` for options that are missing or invalid.
 */
export function createLatchkeyHandlers(options: LatchkeyHandlersOptions): LatchkeyHandlers {
  const party = relyingParty(options);
  const report = (error: unknown, request: Request) => options.onError?.(error, request);
  return {
    signIn: ({ onSignIn }) => {
      checkHandlers({ onSignIn });
      return async (request) => {
        let signedIn: TokenAndClaims;
        try {
          signedIn = await party.signIn(ofRequest(request));
        } catch (error) {
          report(error, request);
          return responseOf(signInFailure(error));
        }
        return completed(await onSignIn(signedIn, request), reply(204));
      };
    },

    begin: ({ returnTo } = {}) => {
      checkHandlers({}, { returnTo });
      return async (request) => {
        const { cookies, location } = await party.begin(ofRequest(request), { returnTo: returnTo?.(request) });
        return cookies.reduce(withCookie, responseOf(reply(303, null, { Location: location })));
      };
    },

    callback: ({ onFailure, onSignIn }) => {
      checkHandlers({ onSignIn }, { onFailure });
      return async (request) => {
        const incoming = ofRequest(request);
        const setCookie = party.endOfSignIn(incoming);
        let done: Awaited<ReturnType<typeof party.callback>>;
        try {
          done = await party.callback(incoming);
        } catch (error) {
          report(error, request);
          return withCookie((await onFailure?.(error, request)) ?? responseOf(signInFailure(error)), setCookie);
        }
        const made = await onSignIn(done.signedIn, request);
        return withCookie(completed(made, reply(303, null, { Location: done.returnTo })), setCookie);
      };
    },

    backchannelLogout: ({ onLogout }) => {
      checkHandlers({ onLogout });
      return async (request) => {
        try {
          await party.logout(ofRequest(request), (claims) => onLogout(claims, request));
          return responseOf(reply(200));
        } catch (error) {
          report(error, request);
          return responseOf(logoutFailure(error));
        }
      };
    },
  };
}

/** The application's response, or the default one with the application's headers. */
function completed(made: Headers | Response | undefined | void, fallback: Reply): Response {
  if (made instanceof Response) return made;
  const response = responseOf(fallback);
  for (const [name, value] of made ?? []) response.headers.append(name, value);
  return response;
}

function withCookie(response: Response, setCookie: string): Response {
  // Headers of a redirect or of a fetched response are immutable.
  const { body, status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.append('Set-Cookie', setCookie);
  return new Response(body, { status, statusText, headers });
}

export function responseOf({ body, headers, status }: Reply): Response {
  return new Response(body, { status, headers });
}
