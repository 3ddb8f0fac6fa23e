import { fromBase64url, sha256, textOf, toBase64url, utf8 } from './bytes.ts';
import { OAuthExchangeError } from './error.ts';
import { cookiesOf, type Incoming, urlOf } from './incoming.ts';
import { printable } from './verify-jwt.ts';

export interface HostedClient {
  issuer: string;
  clientId: string;
  redirectUri: string;
  scope: string;
}

/** Options of a sign-in. */
export interface SignInRequest {
  /** A path of your site. Default: `/`. */
  returnTo?: string | undefined;
  /** Accepted classes of authentication, such as `phr`; the sign-in fails without one of them. */
  acrValues?: readonly string[] | undefined;
  /** Maximum age of the user's last proof, in seconds. A sign-in by a device key alone does not count. */
  maxAgeSeconds?: number | undefined;
  /** Slug or id of the organization to sign in to, at a project issuer. */
  organization?: string | undefined;
}

/** Adds options that only this library sets. */
export interface HostedRequest extends SignInRequest {
  /** The user must prove themselves again, even if the service has a session (OpenID Connect Core §3.1.2.1). */
  prompt?: 'login' | undefined;
}

/** A pending sign-in and its authorization response. */
export interface Begun extends HostedRequest {
  /** Start time in Unix seconds. */
  at: number;
  code: string;
  codeVerifier: string;
  nonce: string;
  returnTo: string;
}

const lifetimeSeconds = 600;
/**
 * Maximum number of cookies of pending sign-ins: another site can begin many, and servers reject requests with large
 * headers.
 */
const maxPending = 6;
/** Maximum characters of the earlier ones. With the new one and a session, less than the 16 KB that Node accepts. */
const maxPendingLength = 6000;
const maxReturnTo = 1000;

/**
 * The URL of the hosted page (RFC 6749 §4.1.1 with PKCE), and the `Set-Cookie` to send with the redirect. It holds
 * verifier, nonce and return path, in a cookie per `state`, so that concurrent tabs do not interfere.
 */
export async function beginSignIn(
  client: HostedClient,
  { acrValues, maxAgeSeconds, organization, prompt, returnTo }: HostedRequest = {},
  authorizationEndpoint = `${client.issuer}/authorize`,
): Promise<{ location: string; setCookie: string }> {
  const [state, nonce, codeVerifier] = [secret(), secret(), secret()];
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: client.scope,
    state,
    nonce,
    code_challenge: await sha256(codeVerifier),
    code_challenge_method: 'S256',
    ...(acrValues && { acr_values: acrValues.join(' ') }),
    ...(maxAgeSeconds !== undefined && { max_age: `${maxAgeSeconds}` }),
    ...(organization && { organization }),
    ...(prompt && { prompt }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const at = Math.floor(Date.now() / 1000);
  const asked = { returnTo: local(returnTo), acrValues, maxAgeSeconds, organization, prompt };
  const begun = { at, state, nonce, codeVerifier, ...asked };
  const value = toBase64url(utf8(JSON.stringify(begun)));
  return { location: url.href, setCookie: cookie(client, state, value, lifetimeSeconds) };
}

/** The `Set-Cookie`s that end the oldest sign-ins of a browser, if there are too many. Browsers send older cookies first. */
export function abandonedSignIns(incoming: Incoming, client: HostedClient): string[] {
  const prefix = cookieName(client, '');
  const newestFirst = cookiesOf(incoming)
    .filter(([name]) => name.startsWith(prefix))
    .reverse();
  let length = 0;
  return newestFirst.flatMap(([name, value], index) => {
    length += name.length + value.length;
    const isKept = index + 1 < maxPending && length <= maxPendingLength;
    return isKept ? [] : [cookie(client, name.slice(prefix.length), '', 0)];
  });
}

/** The `Set-Cookie` that ends the sign-in of this response. */
export function endOfSignIn(incoming: Incoming, client: HostedClient): string {
  return cookie(client, urlOf(incoming).searchParams.get('state') ?? '', '', 0);
}

/**
 * Validates the authorization response to a sign-in of this browser and returns its code (RFC 6749 §4.1.2, RFC 9207).
 * Throws `OAuthExchangeError`.
 */
export function finishSignIn(incoming: Incoming, client: HostedClient): Begun {
  const query = urlOf(incoming).searchParams;
  const state = query.get('state') ?? '';
  const begun = cookieOf(incoming, cookieName(client, state));
  if (state === '' || begun?.['state'] !== state) rejected('The response belongs to no sign-in of this browser.');
  if (query.get('iss') !== client.issuer) rejected('The response is from another issuer.');
  const error = query.get('error');
  if (error !== null) {
    throw new OAuthExchangeError('SIGN_IN_REFUSED', `The sign-in failed: ${printable(error)}.`, {
      status: 401,
      error: printable(error),
      errorDescription: query.get('error_description')?.slice(0, 500),
    });
  }
  const { acrValues, at, codeVerifier, maxAgeSeconds, nonce, organization, prompt, returnTo } = begun;
  const code = query.get('code');
  if (!code || typeof codeVerifier !== 'string' || typeof nonce !== 'string') rejected('The response has no code.');
  return {
    ...{ code, codeVerifier, nonce },
    at: Number(at),
    returnTo: local(returnTo),
    acrValues: Array.isArray(acrValues) ? acrValues.map(String) : undefined,
    maxAgeSeconds: typeof maxAgeSeconds === 'number' ? maxAgeSeconds : undefined,
    organization: typeof organization === 'string' ? organization : undefined,
    prompt: prompt === 'login' ? prompt : undefined,
  };
}

/** Restricts the return path to this site, to prevent open redirects. */
export function local(path: unknown): string {
  return typeof path === 'string' && path.length <= maxReturnTo && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/';
}

function cookieName({ redirectUri }: HostedClient, state: string): string {
  const name = `latchkey-sign-in-${state.slice(0, 10).replace(/[^A-Za-z0-9_-]/g, '')}`;
  return redirectUri.startsWith('https:') ? `__Host-${name}` : name;
}

function cookie(client: HostedClient, state: string, value: string, maxAgeSeconds: number): string {
  const secure = client.redirectUri.startsWith('https:') ? '; Secure' : '';
  const name = cookieName(client, state);
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieOf(incoming: Incoming, name: string): Record<string, unknown> | undefined {
  for (const [found, text] of cookiesOf(incoming)) {
    if (found !== name) continue;
    try {
      const value: unknown = JSON.parse(textOf(fromBase64url(text)));
      if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
    } catch {
      // Not set by this library: ignore it.
    }
  }
  return undefined;
}

function rejected(problem: string): never {
  throw new OAuthExchangeError('CALLBACK_REJECTED', problem, { status: 400 });
}

function secret(): string {
  return toBase64url(crypto.getRandomValues(new Uint8Array(32)));
}
