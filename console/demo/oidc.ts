/** OpenID Connect relying party: authorization code flow with PKCE (RFC 7636). */
export type Config = { issuer: string; client_id: string; redirect_uri: string };
export type Claims = Record<string, unknown> & { iss: string; sub: string; aud: string; exp: number; nonce?: string };
export type Identity = { idToken: string; claims: Claims; signature: string; userinfo: Record<string, unknown> };

const pendingKey = 'demo.pending';
type Pending = { state: string; nonce: string; verifier: string };

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '');
const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Redirects to the authorization endpoint; stores state, nonce and verifier to check the response. */
export async function signIn(
  { issuer, client_id, redirect_uri }: Config,
  more: Record<string, string> = {},
): Promise<void> {
  const pending: Pending = { state: random(), nonce: random(), verifier: random() };
  sessionStorage.setItem(pendingKey, JSON.stringify(pending));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    scope: 'openid profile email phone',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...more,
  });
  location.assign(`${issuer}/authorize?${query}`);
}

/**
 * Handles the authorization response: validates it, exchanges the code, calls UserInfo. Undefined without a response.
 */
export async function receive(config: Config, answer: URLSearchParams): Promise<Identity | undefined> {
  if (!answer.has('code') && !answer.has('error')) return undefined;
  const pending = JSON.parse(sessionStorage.getItem(pendingKey) ?? 'null') as Pending | null;
  sessionStorage.removeItem(pendingKey);
  // Check the issuer (RFC 9207) and that this tab started the sign-in (state).
  if (answer.get('iss') !== config.issuer)
    throw new Error(`The response came from ${answer.get('iss')}, not from ${config.issuer}.`);
  if (!pending || answer.get('state') !== pending.state)
    throw new Error('This response does not belong to a sign-in of this tab. Sign in again.');
  const refusal = answer.get('error');
  if (refusal) throw new Error(`The sign-in was refused: ${refusal}. ${answer.get('error_description') ?? ''}`);

  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: config.client_id,
    redirect_uri: config.redirect_uri,
    code: answer.get('code')!,
    code_verifier: pending.verifier,
  });
  const tokens = await call(`${config.issuer}/oauth2/token`, { method: 'POST', body: form });
  const idToken = String(tokens['id_token']);
  const claims = JSON.parse(new TextDecoder().decode(bytesOf(idToken.split('.')[1]!))) as Claims;
  if (claims.iss !== config.issuer || claims.aud !== config.client_id)
    throw new Error('The ID token has another issuer or audience.');
  if (claims.nonce !== pending.nonce) throw new Error('The ID token belongs to another sign-in.');
  const signature = await verify(idToken, config.issuer);
  const userinfo = await call(`${config.issuer}/userinfo`, {
    headers: { Authorization: `Bearer ${tokens['access_token']}` },
  });
  if (userinfo['sub'] !== claims.sub) throw new Error('The sub of UserInfo differs from that of the ID token.');
  return { idToken, claims, signature, userinfo };
}

/** RP-initiated logout: ends the session at the issuer and returns here. */
export function signOutUrl({ issuer, client_id, redirect_uri }: Config, idToken: string): string {
  const query = { client_id, id_token_hint: idToken, post_logout_redirect_uri: redirect_uri };
  return `${issuer}/oauth2/end_session?${new URLSearchParams(query)}`;
}

/** Verifies the ID token's signature against the issuer's JWKS; returns a description, throws if invalid. */
async function verify(idToken: string, issuer: string): Promise<string> {
  const [head, body, signature] = idToken.split('.') as [string, string, string];
  const { alg, kid } = JSON.parse(atob(head.replace(/-/g, '+').replace(/_/g, '/'))) as { alg: string; kid: string };
  const { keys } = (await call(`${issuer}/.well-known/jwks.json`)) as { keys: (JsonWebKey & { kid: string })[] };
  const jwk = keys.find((key) => key.kid === kid);
  if (!jwk || alg !== 'ES512') throw new Error('The ID token is signed with a key that the issuer does not publish.');
  const key = await crypto.subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-521' }, false, ['verify']);
  const input = new TextEncoder().encode(`${head}.${body}`);
  const valid = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-512' }, key, bytesOf(signature), input);
  if (!valid) throw new Error('The signature of the ID token is wrong.');
  return `Signature checked with the issuer's key ${kid} (${alg}).`;
}

async function call(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  const response = await fetch(url, init);
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.ok) return body;
  const { pathname } = new URL(url);
  throw new Error(`${pathname} answered ${response.status} ${body['error'] ?? ''}. ${body['error_description'] ?? ''}`);
}
