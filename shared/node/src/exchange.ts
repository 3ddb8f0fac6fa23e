import { abortSignal, brokenRule, timeout } from './checks.ts';
import { JWTVerificationError, OAuthExchangeError, type OAuthExchangeErrorCode } from './error.ts';
import { type Answer, checkedUrl, OutgoingError, objectIn, retryAfterOf, send } from './outgoing.ts';
import type { PublicKeyInput } from './public-key.ts';
import { faultOf, type KeySource, keySource, printable, verifyToken } from './verify-jwt.ts';

export interface ExchangeCodeForClaimsOptions {
  /** Authorization code from the browser. */
  code: string;
  /** URL of the token endpoint: `{base_url}/oauth2/token`. */
  oauthTokenUrl: string;
  clientId: string;
  /** The client's secret key, `lk_sk_…`. */
  apiKey: string;
  /** A PEM, or its path. Takes precedence over `jwksUrl` if both are given. */
  publicKey?: PublicKeyInput;
  /** URL of the keys: `{base_url}/.well-known/jwks.json`. One of `publicKey` and `jwksUrl` is required. */
  jwksUrl?: string;
  /** PKCE verifier, if the page sent a challenge (RFC 7636). Null, as from JSON, counts as none. */
  codeVerifier?: string | null;
  /** Expected `aud`. Default: `clientId`. */
  audience?: string;
  /** Expected `iss`: the service's base URL. */
  issuer?: string;
  /** Tolerated clock skew in seconds. Default: 0. */
  leeway?: number;
  /** Redirect URI, for a code of the hosted page. Codes of the browser SDK have none. */
  redirectUri?: string;
  /** Nonce of the authorization request, for a code of the hosted page. */
  nonce?: string;
  /** Default: `['ES512']`, the service's algorithm for ID tokens. */
  algorithms?: string[];
  /** Timeout of the whole request. Default: 10,000 ms. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Allows plain http to hosts other than loopback, for a network of containers. Logged. Default: false. */
  allowInsecureHttp?: boolean;
}

/** Verified claims of an ID token (OpenID Connect Core §2). */
export interface Claims {
  /** The user's stable ID at the service: use it as the key of your accounts. */
  sub: string;
  /** Absent only if the user has no address on record. */
  email: string;
  email_verified: boolean;
  /** Your client ID. */
  aud: string;
  iss: string;
  /** Unix seconds. */
  iat: number;
  /** Unix seconds. */
  exp: number;
  [claim: string]: unknown;
}

/** Token response with a verified ID token. */
export interface TokenAndClaims {
  /** The ID token as received. */
  idToken: string;
  /** Valid for UserInfo only. */
  accessToken: string;
  tokenType: string;
  /** Lifetime of the access token in seconds. */
  expiresIn: number;
  scope: string;
  claims: Claims;
}

const maxBytes = 64 * 1024;
const defaultTimeoutMs = 10_000;

/**
 * Exchanges an authorization code and verifies the ID token: signature, algorithm, `iss`, `aud`, times, and `nonce` if
 * given. Codes are single use, so options are validated first and requests are never retried.
 *
 * Throws `OAuthExchangeError` (no token was issued), `JWTVerificationError` (the token is invalid) and
 * `InvalidPublicKeyError` (the key is unusable).
 */
export async function exchangeCodeForClaims(options: ExchangeCodeForClaimsOptions): Promise<Claims> {
  return (await exchangeCodeForTokenAndClaims(options)).claims;
}

/** Like {@link exchangeCodeForClaims}, and returns the tokens. */
export async function exchangeCodeForTokenAndClaims(options: ExchangeCodeForClaimsOptions): Promise<TokenAndClaims> {
  if (typeof options !== 'object' || options === null) invalid('options must be an object.');
  checkExchange(options);
  need(options, ['apiKey']);
  checkApiKey(options.apiKey);
  return exchangeAuthenticated(options, { headers: { 'X-Api-Key': options.apiKey } });
}

export type Exchange = Omit<ExchangeCodeForClaimsOptions, 'apiKey'>;

/** Client authentication of one request (RFC 6749 §2.3): headers, or parameters of the body. */
export interface Authentication {
  headers?: Record<string, string>;
  form?: Record<string, string>;
}

/** Exchanges a code of an authenticated client. The options must be valid ({@link checkExchange}). */
export async function exchangeAuthenticated(
  options: Exchange,
  authentication: Authentication,
): Promise<TokenAndClaims> {
  const source = await keySource(options);
  const tokens = await post(options, authentication);
  return { ...tokens, claims: await verifyIdToken(tokens.idToken, source, options) };
}

/** Throws `OAuthExchangeError` for missing or invalid options. */
export function checkExchange(options: Exchange): void {
  need(options, ['code', 'oauthTokenUrl', 'clientId']);
  const { redirectUri, jwksUrl } = options;
  const texts = { codeVerifier: options.codeVerifier ?? undefined, redirectUri, jwksUrl };
  for (const [name, value] of Object.entries(texts)) {
    if (value !== undefined && (typeof value !== 'string' || value === '')) invalid(`${name} must not be empty.`);
  }
  const fault = brokenRule(options, { timeoutMs: timeout, signal: abortSignal }) ?? faultOf(options);
  if (fault) invalid(fault);
  checkUrl('oauthTokenUrl', options.oauthTokenUrl, options);
  if (options.jwksUrl !== undefined) checkUrl('jwksUrl', options.jwksUrl, options);
}

function checkUrl(name: string, url: string, { allowInsecureHttp }: Exchange): void {
  try {
    checkedUrl(url, allowInsecureHttp);
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    throw fromOutgoing(new OutgoingError(error.fault, `${name}: ${error.message}`, { cause: error }));
  }
}

function need<Options extends object>(options: Options, names: readonly (keyof Options & string)[]): void {
  for (const name of names) {
    const value: unknown = options[name];
    if (typeof value !== 'string' || value === '') invalid(`${name} is required.`);
  }
}

/** Throws `OAuthExchangeError` for a key that cannot be sent, or is a publishable one. */
export function checkApiKey(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) invalid('apiKey contains invalid characters.');
  if (apiKey.startsWith('lk_pk_')) invalid('apiKey is a publishable key (lk_pk_…); the server needs a secret key.');
}

async function post(options: Exchange, authentication: Authentication): Promise<Omit<TokenAndClaims, 'claims'>> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: options.code,
    client_id: options.clientId,
    ...authentication.form,
  });
  if (typeof options.codeVerifier === 'string') form.set('code_verifier', options.codeVerifier);
  if (options.redirectUri !== undefined) form.set('redirect_uri', options.redirectUri);
  const answer = await send(options.oauthTokenUrl, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
      ...authentication.headers,
    },
    body: form.toString(),
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    maxBytes,
    signal: options.signal,
    allowInsecureHttp: options.allowInsecureHttp,
  }).catch((error: unknown) => {
    throw fromOutgoing(error);
  });
  const body = objectIn(answer.body);
  if (answer.status !== 200) throw refusal(answer, body);
  const {
    id_token: idToken,
    access_token: accessToken,
    token_type: tokenType,
    expires_in: expiresIn,
    scope,
  } = body ?? {};
  if (typeof idToken !== 'string' || idToken === '') {
    throw new OAuthExchangeError('RESPONSE_INVALID', 'The token response has no ID token.', {
      status: answer.status,
      requestId: requestIdOf(answer),
    });
  }
  return {
    idToken,
    accessToken: typeof accessToken === 'string' ? accessToken : '',
    tokenType: typeof tokenType === 'string' ? tokenType : 'Bearer',
    expiresIn: typeof expiresIn === 'number' ? expiresIn : 0,
    scope: typeof scope === 'string' ? scope : '',
  };
}

/** OpenID Connect Core §3.1.3.7. */
export async function verifyIdToken(
  idToken: string,
  source: KeySource,
  options: Pick<Exchange, 'algorithms' | 'audience' | 'clientId' | 'issuer' | 'leeway' | 'nonce'>,
): Promise<Claims> {
  const { algorithms = ['ES512'], audience = options.clientId, issuer, leeway, nonce } = options;
  const claims = await verifyToken(idToken, source, {
    algorithms,
    audience,
    ...(issuer === undefined ? {} : { issuer }),
    ...(leeway === undefined ? {} : { leeway }),
    ...(nonce === undefined ? {} : { nonce }),
    types: ['jwt', undefined],
    requiredClaims: ['iss', 'sub', 'iat', 'exp'],
  });
  if (typeof claims.sub !== 'string' || claims.sub === '') {
    throw new JWTVerificationError('CLAIM_INVALID', 'The token’s sub is invalid.');
  }
  const party = claims['azp'];
  const isShared = [claims.aud].flat().some((one) => one !== audience && one !== options.clientId);
  if (party === undefined ? isShared : party !== options.clientId) {
    throw new JWTVerificationError('AUDIENCE_MISMATCH', 'The token was issued to another client.');
  }
  return claims as Claims;
}

const codes: Record<string, OAuthExchangeErrorCode> = {
  invalid_grant: 'INVALID_GRANT',
  invalid_client: 'INVALID_CLIENT',
  invalid_request: 'INVALID_REQUEST',
  temporarily_unavailable: 'TEMPORARILY_UNAVAILABLE',
  server_error: 'SERVER_ERROR',
};

function refusal(answer: Answer, body: Record<string, unknown> | null): OAuthExchangeError {
  const { status } = answer;
  const error = typeof body?.['error'] === 'string' ? printable(body['error']) : undefined;
  const description = body?.['error_description'];
  const code = (error === undefined ? undefined : codes[error]) ?? codeOf(status, error);
  const reason = typeof description === 'string' && description !== '' ? ` (${oneLine(description)})` : '';
  const suffix = error === undefined ? '' : `: ${error}${reason}`;
  return new OAuthExchangeError(code, `The token endpoint responded with status ${status}${suffix}.`, {
    status,
    error,
    errorDescription: typeof description === 'string' ? description.slice(0, 500) : undefined,
    retryAfter: retryAfterOf(answer.headers),
    requestId: requestIdOf(answer),
  });
}

/** Without control characters, for a log. */
const oneLine = (text: string): string => text.replace(/\p{C}/gu, ' ').slice(0, 300);

function codeOf(status: number, error: string | undefined): OAuthExchangeErrorCode {
  if (status === 503 || status === 429) return 'TEMPORARILY_UNAVAILABLE';
  if (status >= 500) return 'SERVER_ERROR';
  if (error !== undefined) return 'REFUSED';
  if (status === 404 || status === 405) return 'ENDPOINT_NOT_FOUND';
  return 'RESPONSE_INVALID';
}

const outgoingCodes = {
  'invalid-url': 'INVALID_OPTIONS',
  'insecure-url': 'INSECURE_URL',
  redirected: 'REDIRECTED',
  'too-large': 'RESPONSE_TOO_LARGE',
  timeout: 'TIMEOUT',
  aborted: 'ABORTED',
  network: 'NETWORK',
} as const;

function fromOutgoing(error: unknown): unknown {
  if (!(error instanceof OutgoingError)) return error;
  return new OAuthExchangeError(outgoingCodes[error.fault], `The token request failed. ${error.message}`, {
    cause: error,
  });
}

function requestIdOf({ headers }: Answer): string | undefined {
  const id = headers.get('x-request-id');
  return id === null ? undefined : printable(id);
}

function invalid(problem: string): never {
  throw new OAuthExchangeError('INVALID_OPTIONS', problem);
}
