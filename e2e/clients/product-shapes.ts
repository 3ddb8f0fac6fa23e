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
  id_token_signing_alg_values_supported: string[];
  token_endpoint_auth_methods_supported: string[];
}

export interface ProductShape {
  name: string;
  scope: string;
  sendsNonce: boolean;
  /** It sends a challenge by itself. */
  hasPkce?: boolean;
  /** Further parameters of the authorization request. */
  authorize?: Record<string, string>;
  /**
   * Its client authentication: by header, by header with both parts form-encoded (RFC 6749 section 2.3.1), in the form, or the
   * first of discovery that it knows.
   */
  authentication: 'basic' | 'encoded-basic' | 'post' | 'first-of-discovery';
  /** Further parameters of the token request. */
  token?: (sent: { state: string; clientId: string; scope: string }) => Record<string, string>;
  tokenHeaders?: Record<string, string>;
  /** `key-of-type`: looks at RSA keys only. `any-key`: by `kid`, and requires `alg` to match. `none`: does not verify. */
  verifies: 'any-key' | 'key-of-type' | 'none';
  userInfo?: { method?: string; query?: string; accept?: string };
}

const accept = { Accept: 'application/json' };

export const productShapes: readonly ProductShape[] = [
  {
    name: 'Authlib',
    scope: 'openid email profile',
    sendsNonce: true,
    authentication: 'basic',
    tokenHeaders: { ...accept, 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8' },
    verifies: 'any-key',
    userInfo: {},
  },
  {
    name: 'jumbojett/OpenID-Connect-PHP',
    scope: 'profile email openid',
    sendsNonce: true,
    authentication: 'encoded-basic',
    verifies: 'key-of-type',
    userInfo: { query: '?schema=openid', accept: 'application/json' },
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
  },
  {
    name: 'OpenID Connect Generic for WordPress',
    scope: 'email profile openid',
    sendsNonce: false,
    authentication: 'post',
    token: ({ scope }) => ({ scope }),
    verifies: 'none',
    userInfo: { method: 'POST' },
  },
  {
    name: 'OAuth2 plugin of Kanboard',
    scope: 'openid profile email',
    sendsNonce: false,
    authentication: 'post',
    token: ({ state }) => ({ state }),
    tokenHeaders: accept,
    verifies: 'none',
    userInfo: {},
  },
  {
    name: 'oauthenticator of JupyterHub',
    scope: 'openid email',
    sendsNonce: false,
    hasPkce: true,
    authentication: 'post',
    tokenHeaders: accept,
    verifies: 'none',
    userInfo: { accept: 'application/json' },
  },
  {
    name: 'Directus',
    scope: 'openid profile email',
    sendsNonce: true,
    hasPkce: true,
    authorize: { access_type: 'offline' },
    authentication: 'encoded-basic',
    verifies: 'any-key',
    userInfo: {},
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

/** Signs in as the product does. Resolves to the claims it has then; throws at the first answer that it would refuse. */
export async function signInAs(shape: ProductShape, registered: Registered, visit: Visit): Promise<JWTPayload> {
  const { metadata, clientId, redirectUri } = registered;
  const [state, nonce, verifier] = [random(), random(), random()];
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: shape.scope, state },
    ...(shape.sendsNonce && { nonce }),
    ...(shape.hasPkce && { code_challenge: challenge, code_challenge_method: 'S256' }),
    ...shape.authorize,
  });
  const back = await visit(`${metadata.authorization_endpoint}?${query}`);
  const code = back.searchParams.get('code');
  if (code === null || back.searchParams.get('state') !== state) throw new Error(`no code: ${back.search}`);
  if (back.searchParams.get('iss') !== metadata.issuer) throw new Error('another issuer');
  const tokens = await exchange(shape, registered, {
    ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
    ...(shape.hasPkce && { code_verifier: verifier }),
    ...shape.token?.({ state, clientId, scope: shape.scope }),
  });
  const claims = await verified(shape, registered, tokens['id_token'] ?? '');
  if (shape.sendsNonce && claims['nonce'] !== nonce) throw new Error('another nonce');
  if (shape.userInfo === undefined) return claims;
  const { accept: accepted = '*/*', method = 'GET', query: more = '' } = shape.userInfo;
  const headers = { Authorization: `Bearer ${tokens['access_token']}`, Accept: accepted };
  const response = await fetch(metadata.userinfo_endpoint + more, { method, headers });
  const user = (await response.json()) as JWTPayload;
  if (response.status !== 200 || user.sub !== claims.sub) throw new Error(`UserInfo: ${JSON.stringify(user)}`);
  return { ...claims, ...user };
}

async function exchange(
  { authentication, tokenHeaders }: ProductShape,
  { metadata, clientId, secret }: Registered,
  form: Record<string, string>,
): Promise<Record<string, string>> {
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
  const body = (await response.json()) as Record<string, string>;
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  if (body['token_type']?.toLowerCase() !== 'bearer') throw new Error(`token_type ${body['token_type']}`);
  return body;
}

async function verified(
  { verifies }: ProductShape,
  { metadata, clientId }: Registered,
  idToken: string,
): Promise<JWTPayload> {
  if (verifies === 'none') return decodeJwt(idToken);
  const { alg, kid } = decodeProtectedHeader(idToken);
  // All of them refuse or skip others, or are told RS256 by their documentation.
  if (alg !== 'RS256' || !metadata.id_token_signing_alg_values_supported.includes(alg)) throw new Error(`alg ${alg}`);
  const { keys } = (await (await fetch(metadata.jwks_uri)).json()) as JSONWebKeySet;
  const fitting = keys.filter((key) => {
    if (verifies === 'key-of-type') return key.kty === 'RSA' && key.kid === kid && (key.use ?? 'sig') === 'sig';
    return key.kid === kid && (key.alg ?? alg) === alg;
  });
  if (fitting.length !== 1) throw new Error(`${fitting.length} keys for ${kid}`);
  const options = { algorithms: ['RS256'], issuer: metadata.issuer, audience: clientId };
  const { payload } = await jwtVerify(idToken, createLocalJWKSet({ keys: fitting }), options);
  return payload;
}

const random = () => randomBytes(32).toString('base64url');
