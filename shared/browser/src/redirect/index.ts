/**
 * Entry point for applications without a back end: sign-in on the hosted page, by redirect. The browser is a public client
 * (authorization code flow with PKCE, OAuth 2.0 for Browser-Based Applications §6.3) and keeps the session of its tab.
 */
import { fields, invalid, text } from '../arguments.ts';
import { randomText } from '../encoding.ts';
import { checkBrowser } from '../environment.ts';
import { LatchkeyError } from '../error.ts';
import { createPkce } from '../pkce.ts';

export { LatchkeyError, type LatchkeyErrorCategory, type LatchkeyErrorCode } from '../error.ts';

export type RedirectConfig = {
  /** The base URL of your Latchkey, or the issuer of your project. */
  issuer: string;
  /** A public client: its client authentication is PKCE. */
  clientId: string;
  /** A registered redirect URI, at which the page runs {@link Redirect.session}. */
  redirectUri: string;
  /** Default: `openid profile email`. */
  scope?: string | undefined;
};

export type RedirectSession = {
  /** Claims of the ID token: `sub`, and `email` and others by scope. */
  user: { sub: string; email?: string } & Record<string, unknown>;
  /** For UserInfo, and for your APIs at the issuer of the project. */
  accessToken: string;
  /** End of the access token, in seconds since 1970. */
  expiresAt: number;
};

export type Redirect = {
  /**
   * Leaves for the hosted page. `prompt: 'login'` asks again, `loginHint` fills in the address, `connection` (an id) begins at an identity
   * provider, `organization` (slug or id) signs in to it, both at the issuer of a project. `returnTo`: path or URL of this
   * origin, default `redirectUri`, that {@link Redirect.session} puts into the address bar after the sign-in. Rejects with
   * `LatchkeyError` INVALID_ARGUMENT at an origin other than that of `redirectUri`, where this tab could not read the
   * response.
   */
  signIn(options?: {
    loginHint?: string;
    prompt?: string;
    connection?: string;
    organization?: string;
    returnTo?: string;
  }): Promise<void>;
  /**
   * The session of this tab; undefined: signed out, or the access token has expired. Then `signIn` returns without a question
   * while the session at the service lasts. After the return from the hosted page it exchanges the code first, and
   * removes it from the address. Rejects with `LatchkeyError`: then offer another `signIn`. At an origin other than
   * that of `redirectUri` it rejects like `signIn`.
   */
  session(): Promise<RedirectSession | undefined>;
  /**
   * Ends the session of this tab and, by redirect, the one at the service. @param options `returnTo`: a registered
   * post-logout redirect URI
   */
  signOut(options?: { returnTo?: string }): void;
};

/** A sign-in that has begun in this tab. */
type Pending = { state: string; nonce: string; codeVerifier: string; returnTo?: string | undefined };
type Stored = { session: RedirectSession; idToken: string };
type Tokens = { id_token: string; access_token: string; expires_in: number };

/** @throws LatchkeyError NOT_A_BROWSER, INSECURE_CONTEXT, INVALID_ARGUMENT */
export function createRedirect(config: RedirectConfig): Redirect {
  checkBrowser();
  const { scope = 'openid profile email', ...given } = fields(config, 'config');
  const issuer = text(given.issuer, 'issuer').replace(/\/+$/, '');
  const clientId = text(given.clientId, 'clientId');
  const redirectUri = text(given.redirectUri, 'redirectUri');
  const kept = (kind: string) => `latchkey ${kind} ${issuer} ${clientId}`;
  let returning: Promise<RedirectSession | undefined> | undefined;

  /** A tab keeps its sign-in for one origin: 127.0.0.1 and localhost are different ones. */
  const checkOrigin = () => {
    const { origin } = new URL(redirectUri, location.href);
    if (origin !== location.origin)
      throw invalid(`Open this page at ${origin}, where redirectUri is: it is at ${location.origin}.`);
  };

  const leave = (path: string, parameters: Record<string, string | undefined>) => {
    const present = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
    location.assign(`${issuer}${path}?${new URLSearchParams(present)}`);
  };

  const finish = async (pending: Pending, answer: URLSearchParams): Promise<RedirectSession> => {
    // RFC 9207 §2.4: the response of another issuer.
    if (answer.get('iss') !== issuer) throw rejected(`The response is not of ${issuer}: check \`issuer\`.`);
    const error = answer.get('error');
    if (error !== null) throw refused(error, answer.get('error_description'));
    const tokens = await exchange(issuer, {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code: answer.get('code') ?? '',
      code_verifier: pending.codeVerifier,
    });
    const user = claimsOf(tokens.id_token, { issuer, clientId, nonce: pending.nonce });
    const expiresAt = Math.floor(Date.now() / 1000) + tokens.expires_in;
    const session = { user, accessToken: tokens.access_token, expiresAt };
    storage.set(kept('session'), { session, idToken: tokens.id_token } satisfies Stored);
    return session;
  };

  const current = async (): Promise<RedirectSession | undefined> => {
    checkOrigin();
    const answer = new URLSearchParams(location.search);
    const pending = storage.get<Pending>(kept('sign-in'));
    // Of another tab or an earlier visit: not the answer to a question of this tab.
    if (pending === undefined || answer.get('state') !== pending.state) {
      const session = storage.get<Stored>(kept('session'))?.session;
      return session && session.expiresAt * 1000 > Date.now() ? session : undefined;
    }
    storage.remove(kept('sign-in'));
    history.replaceState(history.state, '', pending.returnTo ?? redirectUri);
    return finish(pending, answer);
  };

  return {
    async signIn({ connection, loginHint, organization, prompt, returnTo } = {}) {
      checkOrigin();
      if (returnTo !== undefined && new URL(returnTo, location.href).origin !== location.origin)
        throw invalid(`\`returnTo\` must be a path, or a URL of ${location.origin}.`);
      const { codeVerifier, codeChallenge, codeChallengeMethod } = await createPkce();
      const pending: Pending = { state: randomText(16), nonce: randomText(16), codeVerifier, returnTo };
      storage.set(kept('sign-in'), pending);
      leave('/authorize', {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: codeChallenge,
        code_challenge_method: codeChallengeMethod,
        login_hint: loginHint,
        prompt,
        connection,
        organization,
      });
    },
    session() {
      // A code works once: two calls while the page loads get one result.
      returning ??= current().finally(() => (returning = undefined));
      return returning;
    },
    signOut({ returnTo } = {}) {
      const idToken = storage.get<Stored>(kept('session'))?.idToken;
      storage.remove(kept('session'));
      leave('/oauth2/end_session', {
        client_id: clientId,
        id_token_hint: idToken,
        post_logout_redirect_uri: returnTo,
      });
    },
  };
}

/** The tab's own storage: it ends with the tab, and other tabs cannot read it. */
const storage = {
  get: <Value>(name: string): Value | undefined =>
    available(() => JSON.parse(sessionStorage.getItem(name) ?? 'null') as Value | null) ?? undefined,
  set: (name: string, value: object): void => available(() => sessionStorage.setItem(name, JSON.stringify(value))),
  remove: (name: string): void => available(() => sessionStorage.removeItem(name)),
};

function available<Value>(use: () => Value): Value {
  try {
    return use();
  } catch (cause) {
    const message = 'The browser refuses site data: use another window.';
    throw new LatchkeyError('STORAGE_UNAVAILABLE', 'user_action', message, { cause });
  }
}

async function exchange(issuer: string, form: Record<string, string>): Promise<Tokens> {
  let response: Response;
  try {
    const init = { method: 'POST', body: new URLSearchParams(form), credentials: 'omit', cache: 'no-store' } as const;
    response = await fetch(`${issuer}/oauth2/token`, init);
  } catch (cause) {
    const message = `${issuer} could not be reached. Try again; if it keeps failing, check issuer and redirectUri.`;
    throw new LatchkeyError('NETWORK', 'retryable', message, { cause });
  }
  const body = (await response.json().catch(() => ({}))) as Partial<Tokens> & Record<string, string>;
  if (response.ok && body.id_token && body.access_token) return body as Tokens;
  throw rejected(body['error_description'] ?? `The service responded with status ${response.status}.`);
}

/**
 * Claims of an ID token. It came from the token endpoint, so that TLS replaces the check of its signature (OpenID Connect
 * Core §3.1.3.7, step 6).
 */
function claimsOf(
  idToken: string,
  expected: { issuer: string; clientId: string; nonce: string },
): RedirectSession['user'] {
  const [, payload = ''] = idToken.split('.');
  const bytes = Uint8Array.from(atob(payload.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0));
  const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  const isOurs =
    claims['iss'] === expected.issuer && claims['aud'] === expected.clientId && claims['nonce'] === expected.nonce;
  if (!isOurs || typeof claims['sub'] !== 'string') throw rejected('The ID token is not for this sign-in.');
  return claims as RedirectSession['user'];
}

const rejected = (message: string) => new LatchkeyError('SIGN_IN_REJECTED', 'fatal', message);

/** An error that the hosted page returned (RFC 6749 §4.1.2.1). */
function refused(error: string, description: string | null): LatchkeyError {
  const category = error === 'temporarily_unavailable' || error === 'server_error' ? 'retryable' : 'user_action';
  return new LatchkeyError(error.toUpperCase(), category, description ?? `The sign-in ended with ${error}.`);
}
