/**
 * The requests of products and libraries at their defaults, after their sources as of November 2026: no more and no fewer
 * parameters, the same client authentication, and the same checks of the answer.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from 'jose';

/** Discovery, of which each product reads only some members. */
export interface Metadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  userinfo_endpoint: string;
  jwks_uri: string;
  end_session_endpoint: string;
  id_token_signing_alg_values_supported: string[];
  token_endpoint_auth_methods_supported: string[];
}

export interface ProductShape {
  name: string;
  scope: string;
  /** False: it compares no state. */
  sendsState?: false;
  sendsNonce: boolean;
  /** It sends a challenge by itself. */
  hasPkce?: boolean;
  /** Further parameters of the authorization request. */
  authorize?: Record<string, string>;
  /**
   * Its client authentication: by header, by header with both parts form-encoded (RFC 6749 section 2.3.1), in the form,
   * or the first in discovery that it supports.
   */
  authentication: 'basic' | 'encoded-basic' | 'post' | 'first-of-discovery';
  /** Further parameters of the token request. */
  token?: (sent: { state: string; clientId: string; scope: string }) => Record<string, string>;
  tokenHeaders?: Record<string, string>;
  /**
   * `key-of-type`: looks at RSA keys only. `any-key`: by `kid`, and requires `alg` to match. `every-key`: parses the whole set
   * first, and fails at a curve that it does not support. `audience`: compares that alone. `none`: does not read the
   * token.
   */
  verifies: 'any-key' | 'key-of-type' | 'every-key' | 'audience' | 'none';
  /** Absent: the claims of the ID token are enough. */
  userInfo?: { method?: string; query?: string; accept?: string };
  /** Claims that it needs in addition to `sub`. */
  needs?: readonly string[];
  /** It refreshes its tokens, with these further parameters. */
  refresh?: (sent: { verifier: string }) => Record<string, string>;
  /** Its logout sends the ID token and the address of the return, at `/` unless a path is named, and a state if it compares one. */
  logout?: { path?: string; withState?: boolean; withClientId?: boolean };
}

const json = 'application/json';
const accept = { Accept: json };
/** The default of older PHP clients, which does not prefer JSON to HTML. */
const anyText =
  'text/xml,application/xml,application/xhtml+xml,text/html,text/plain,image/png,image/jpeg,image/gif,*/*';

export const productShapes: readonly ProductShape[] = [
  {
    name: 'Authlib',
    scope: 'openid email profile',
    sendsNonce: true,
    authentication: 'basic',
    tokenHeaders: { ...accept, 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8' },
    verifies: 'any-key',
    needs: ['iat', 'email', 'name'],
    refresh: () => ({ scope: 'openid email profile' }),
    logout: { withState: true },
  },
  {
    name: 'jumbojett/OpenID-Connect-PHP',
    scope: 'profile email openid',
    sendsNonce: true,
    authentication: 'encoded-basic',
    verifies: 'key-of-type',
    userInfo: { query: '?schema=openid', accept: json },
    logout: {},
  },
  {
    name: 'mozilla-django-oidc',
    scope: 'openid email',
    sendsNonce: true,
    authentication: 'post',
    verifies: 'any-key',
    userInfo: {},
  },
  {
    name: 'lua-resty-openidc',
    scope: 'openid email profile',
    sendsNonce: true,
    authentication: 'first-of-discovery',
    token: ({ state }) => ({ state }),
    verifies: 'key-of-type',
    userInfo: {},
    logout: {},
  },
  {
    name: 'OpenID Connect Generic for WordPress',
    scope: 'email profile openid',
    sendsNonce: false,
    authentication: 'post',
    token: ({ scope }) => ({ scope }),
    verifies: 'none',
    userInfo: {},
    logout: {},
  },
  {
    name: 'OAuth2 plugin of Kanboard',
    scope: 'openid profile email',
    sendsNonce: false,
    authentication: 'post',
    token: ({ state }) => ({ state }),
    tokenHeaders: accept,
    verifies: 'none',
    userInfo: { accept: json },
    needs: ['email', 'name', 'preferred_username'],
  },
  {
    // Python writes the absent `data` of its request handler as the word None.
    name: 'oauthenticator of JupyterHub',
    scope: 'openid profile email',
    sendsNonce: false,
    hasPkce: true,
    authentication: 'post',
    token: () => ({ data: 'None' }),
    tokenHeaders: { ...accept, 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
    verifies: 'none',
    userInfo: { accept: json },
    needs: ['preferred_username'],
    refresh: () => ({}),
  },
  {
    // Its setting for state is off. Its authorization method is Bearer. It refreshes tokens that last less than an hour.
    name: 'DokuWiki with oauthgeneric',
    scope: 'openid email profile',
    sendsState: false,
    sendsNonce: false,
    authorize: { type: 'web_server' },
    authentication: 'post',
    tokenHeaders: { Accept: anyText, 'Accept-Encoding': 'gzip' },
    verifies: 'none',
    userInfo: { accept: anyText },
    needs: ['preferred_username', 'name', 'email'],
    refresh: () => ({ type: 'web_server' }),
  },
  {
    // Dovecot asks UserInfo about the token of each IMAP login.
    name: 'Roundcube 1.6 with Dovecot',
    scope: 'openid email',
    sendsNonce: false,
    authentication: 'post',
    verifies: 'audience',
    userInfo: {},
    needs: ['email'],
    refresh: () => ({}),
  },
  {
    name: 'Roundcube 1.7 with Dovecot',
    scope: 'openid email',
    sendsNonce: true,
    hasPkce: true,
    authentication: 'post',
    verifies: 'every-key',
    userInfo: {},
    needs: ['email'],
    refresh: ({ verifier }) => ({ code_verifier: verifier }),
    logout: { withClientId: true },
  },
];

export interface Registered {
  metadata: Metadata;
  clientId: string;
  secret: string;
  redirectUri: string;
}

/** Opens an address in the browser of a signed-in user; resolves to the address at the redirect URI. */
type Visit = (address: string) => Promise<URL>;

/**
 * Signs in as the product does. Resolves to the claims it has then; throws at the first answer that it would refuse.
 *
 * @param logouts gets its logout, which ends the session of all products
 */
export async function signInAs(
  shape: ProductShape,
  registered: Registered,
  visit: Visit,
  logouts: (() => Promise<void>)[] = [],
): Promise<JWTPayload> {
  const { metadata, clientId, redirectUri } = registered;
  const [state, nonce, verifier] = [random(), random(), random()];
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: shape.scope },
    ...(shape.sendsState !== false && { state }),
    ...(shape.sendsNonce && { nonce }),
    ...(shape.hasPkce && { code_challenge: challenge, code_challenge_method: 'S256' }),
    ...shape.authorize,
  });
  const back = await visit(`${metadata.authorization_endpoint}?${query}`);
  const code = back.searchParams.get('code');
  const returned = shape.sendsState === false ? null : state;
  if (code === null || back.searchParams.get('state') !== returned) throw new Error(`no code: ${back.search}`);
  if (back.searchParams.get('iss') !== metadata.issuer) throw new Error('another issuer');
  const tokens = await exchange(shape, registered, {
    ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
    ...(shape.hasPkce && { code_verifier: verifier }),
    ...shape.token?.({ state, clientId, scope: shape.scope }),
  });
  const claims = await verified(shape, registered, tokens);
  if (shape.sendsNonce && claims['nonce'] !== nonce) throw new Error('another nonce');
  const { refresh, logout } = shape;
  const latest = refresh ? await refreshed(shape, registered, tokens, refresh({ verifier })) : tokens;
  const user = shape.userInfo ? await userInfoOf(metadata, shape.userInfo, latest) : claims;
  if (user.sub !== claims.sub) throw new Error('another user');
  const missing = (shape.needs ?? []).filter((name) => user[name] === undefined);
  if (missing.length > 0) throw new Error(`without ${missing}`);
  if (logout) logouts.push(() => loggedOut(registered, tokens, logout));
  return { ...claims, ...user };
}

type Tokens = Record<string, string>;

/** With another access token; it keeps a new refresh token, if there is one. */
async function refreshed(shape: ProductShape, registered: Registered, tokens: Tokens, more: Record<string, string>) {
  if (tokens['refresh_token'] === undefined) throw new Error('no refresh token');
  const form = { grant_type: 'refresh_token', refresh_token: tokens['refresh_token'], ...more };
  const next = await exchange(shape, registered, form);
  if (next['access_token'] === undefined || next['access_token'] === tokens['access_token'])
    throw new Error('no token');
  return next;
}

async function userInfoOf(
  { userinfo_endpoint }: Metadata,
  { accept: accepted = '*/*', method = 'GET', query = '' }: NonNullable<ProductShape['userInfo']>,
  tokens: Tokens,
): Promise<JWTPayload> {
  // With the type as it came.
  const headers = { Authorization: `${tokens['token_type']} ${tokens['access_token']}`, Accept: accepted };
  const response = await fetch(userinfo_endpoint + query, { method, headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`UserInfo: ${response.status} ${text}`);
  return JSON.parse(text) as JWTPayload;
}

/** Opens the logout as a browser without a session does. */
async function loggedOut(
  { metadata, clientId, redirectUri }: Registered,
  tokens: Tokens,
  { path = '/', withState, withClientId }: NonNullable<ProductShape['logout']>,
): Promise<void> {
  const to = new URL(path, redirectUri).href;
  const state = random();
  const query = new URLSearchParams({
    ...{ id_token_hint: tokens['id_token'] ?? '', post_logout_redirect_uri: to },
    ...(withState && { state }),
    ...(withClientId && { client_id: clientId }),
  });
  const response = await fetch(`${metadata.end_session_endpoint}?${query}`, { redirect: 'manual' });
  const location = response.headers.get('location');
  const expected = withState ? `${to}?${new URLSearchParams({ state })}` : to;
  if (location !== expected) throw new Error(`logout: ${response.status} ${location} ${await response.text()}`);
}

async function exchange(
  { authentication, tokenHeaders }: ProductShape,
  { metadata, clientId, secret }: Registered,
  form: Record<string, string>,
): Promise<Tokens> {
  const known = metadata.token_endpoint_auth_methods_supported.find((method) =>
    /^client_secret_(basic|post)$/.test(method),
  );
  const isPost =
    authentication === 'post' || (authentication === 'first-of-discovery' && known === 'client_secret_post');
  const encoded = (part: string) => (authentication === 'basic' ? part : encodeURIComponent(part));
  const basic = `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(secret)}`).toString('base64')}`;
  const response = await fetch(metadata.token_endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      ...tokenHeaders,
      ...(!isPost && { Authorization: basic }),
    },
    body: new URLSearchParams({ ...form, ...(isPost && { client_id: clientId, client_secret: secret }) }).toString(),
  });
  const body = (await response.json()) as Tokens;
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  if (body['token_type']?.toLowerCase() !== 'bearer') throw new Error(`token_type ${body['token_type']}`);
  return body;
}

async function verified(
  { verifies }: ProductShape,
  { metadata, clientId }: Registered,
  { id_token: idToken = '', access_token: accessToken = '' }: Tokens,
): Promise<JWTPayload> {
  if (verifies === 'none') return decodeJwt(idToken);
  if (verifies === 'audience') {
    const claims = decodeJwt(idToken);
    const { aud, azp = clientId } = claims;
    if (azp !== clientId || ![aud].flat().includes(clientId)) throw new Error(`another audience: ${aud} ${azp}`);
    return claims;
  }
  const { alg, kid } = decodeProtectedHeader(idToken);
  // All of them refuse or skip others, or their documentation requires RS256.
  if (alg !== 'RS256' || !metadata.id_token_signing_alg_values_supported.includes(alg)) throw new Error(`alg ${alg}`);
  const { keys } = (await (await fetch(metadata.jwks_uri)).json()) as JSONWebKeySet;
  if (verifies === 'every-key') {
    const unknown = keys.find(({ alg: own, crv = 'P-256' }) => own === undefined || !['P-256', 'P-384'].includes(crv));
    if (unknown) throw new Error(`the key set has a key of ${unknown.kty} ${unknown.crv}`);
  }
  const fitting = keys.filter((key) => {
    if (verifies === 'key-of-type') return key.kty === 'RSA' && key.kid === kid && (key.use ?? 'sig') === 'sig';
    return key.kid === kid && (key.alg ?? alg) === alg;
  });
  if (fitting.length !== 1) throw new Error(`${fitting.length} keys for ${kid}`);
  const options = { algorithms: ['RS256'], issuer: metadata.issuer, audience: clientId };
  const { payload } = await jwtVerify(idToken, createLocalJWKSet({ keys: fitting }), options);
  const hash = createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url');
  if ((payload['at_hash'] ?? hash) !== hash) throw new Error('another access token');
  return payload;
}

const random = () => randomBytes(32).toString('base64url');
