/**
 * Errors of this library. Each has a stable `code`, an optional `cause`, and a message that states the problem and the
 * fix. Messages never contain codes, keys or tokens.
 */
/** Names of an error's classes. Shared by all copies of this library in a process: ES modules, CommonJS, bundles. */
const kinds = Symbol.for('@latchkey/node/error');

/** Base class of all errors of this library. `instanceof` also recognizes errors of another copy of it. */
export abstract class LatchkeyNodeError extends Error {
  static readonly kind: string = 'LatchkeyNodeError';
  /** Stable; for `switch`. */
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, kinds, { value: kindsOf(new.target) });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // An application's subclass has no kind.
    if (!Object.hasOwn(this, 'kind')) return Function.prototype[Symbol.hasInstance].call(this, value);
    const own = typeof value === 'object' && value !== null ? (value as { [kinds]?: unknown })[kinds] : undefined;
    return Array.isArray(own) && own.includes(this.kind);
  }
}

function kindsOf(type: Function): string[] {
  const kind = Object.hasOwn(type, 'kind') ? [(type as typeof LatchkeyNodeError).kind] : [];
  return type === Function.prototype ? [] : [...kind, ...kindsOf(Object.getPrototypeOf(type) as Function)];
}

/** Fix for each exchange error. */
const exchangeAdvice = {
  INVALID_OPTIONS: 'Fix the options: no request was sent.',
  INSECURE_URL:
    'Use https. Plain http is allowed for localhost, 127.0.0.1 and [::1], elsewhere with allowInsecureHttp.',
  INVALID_GRANT:
    'A code is valid once, for 60 seconds, for its client, and with the verifier of its challenge: have the user sign in again.',
  INVALID_CLIENT:
    'Check that apiKey (lk_sk_…), clientSecret (lk_cs_…) or privateKey belongs to clientId, and is not revoked.',
  INVALID_REQUEST:
    'Check that oauthTokenUrl is the token endpoint, and that clientId, code and codeVerifier are complete.',
  TEMPORARILY_UNAVAILABLE: 'Have the user sign in again after retryAfter seconds.',
  REFUSED: 'See the properties error (the OAuth error code) and errorDescription.',
  SERVER_ERROR: 'Retry; if it persists, send the property requestId to the operator of the service.',
  ENDPOINT_NOT_FOUND: 'Check oauthTokenUrl: it must end in /oauth2/token.',
  REDIRECTED: 'Set oauthTokenUrl to the final URL: redirects are not followed, because they could leak the code.',
  RESPONSE_INVALID: 'Check that oauthTokenUrl is the token endpoint, and that no proxy responds in its place.',
  RESPONSE_TOO_LARGE: 'Check that oauthTokenUrl is the token endpoint: its responses have a few kilobytes.',
  NETWORK: 'Check that this machine can reach oauthTokenUrl; see the property cause.',
  TIMEOUT: 'Check that this machine can reach oauthTokenUrl, or raise timeoutMs; then have the user sign in again.',
  ABORTED: 'The exchange was aborted by your signal.',
  CALLBACK_REJECTED: 'Start the sign-in again, and finish it in the same browser within ten minutes.',
  SIGN_IN_REFUSED: 'See the property error; then start the sign-in again.',
} as const;
export type OAuthExchangeErrorCode = keyof typeof exchangeAdvice;

/** Details of a failed exchange. */
export interface OAuthExchangeDetail {
  /** HTTP status. */
  status?: number | undefined;
  /** OAuth error code (RFC 6749 §5.2), such as `invalid_grant`. */
  error?: string | undefined;
  errorDescription?: string | undefined;
  /** Seconds. */
  retryAfter?: number | undefined;
  /** Request ID in the service's log. */
  requestId?: string | undefined;
}

/** The exchange failed: no token was issued. */
export class OAuthExchangeError extends LatchkeyNodeError {
  static override readonly kind = 'OAuthExchangeError';
  override readonly name = 'OAuthExchangeError';
  readonly code: OAuthExchangeErrorCode;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;

  constructor(code: OAuthExchangeErrorCode, problem: string, detail: OAuthExchangeDetail & ErrorOptions = {}) {
    super(`${problem} ${exchangeAdvice[code]}`, causeOf(detail));
    this.code = code;
    this.status = detail.status;
    this.error = detail.error;
    this.errorDescription = detail.errorDescription;
    this.retryAfter = detail.retryAfter;
    this.requestId = detail.requestId;
  }
}

/** Fix for each key error. */
const keyAdvice = {
  KEY_MISSING: 'Pass publicKey (a PEM, or its path) or jwksUrl.',
  KEY_FILE_UNREADABLE:
    'Pass the PEM itself ("-----BEGIN PUBLIC KEY-----…"), or the path of a file that this process can read.',
  KEY_MALFORMED: 'Pass a PEM that begins with "-----BEGIN PUBLIC KEY-----", with its line breaks.',
  KEY_IS_PRIVATE: 'Pass the public key. Keep the private key with its signer, and replace it if it was shared.',
  KEY_TYPE_UNSUPPORTED:
    'Use RSA of 2048 to 8192 bits with the exponent 65537, EC on P-256, P-384 or P-521, or Ed25519; the service signs with P-521.',
} as const;
export type InvalidPublicKeyErrorCode = keyof typeof keyAdvice;

/** Fix for each token error. */
const tokenAdvice = {
  ...keyAdvice,
  INVALID_OPTIONS: 'Fix the options: nothing was verified.',
  MALFORMED: 'Pass the token as received: three base64url parts, joined by dots.',
  ALGORITHM_NOT_ALLOWED: 'Reject the token, or add its algorithm to the option algorithms if its issuer uses it.',
  KEY_TYPE_MISMATCH: 'Pass a key of the algorithm’s type: the service signs with ES512, whose keys are EC on P-521.',
  SIGNATURE_INVALID:
    'Reject the token; if every token fails, the key is not its issuer’s: fetch it again, or use jwksUrl.',
  UNKNOWN_KEY: 'Reject the token; if every token fails, jwksUrl is not that of its issuer.',
  EXPIRED: 'Have the user sign in again; if the token is new, set this machine’s clock, or allow a leeway in seconds.',
  NOT_YET_VALID: 'Set this machine’s clock, or allow a leeway in seconds.',
  ISSUER_MISMATCH: 'Reject the token, or set the option issuer to the service’s base URL, without a trailing slash.',
  AUDIENCE_MISMATCH:
    'Reject the token: it was issued to another client. If not, set the option audience to the client ID.',
  NONCE_MISMATCH: 'Reject the token: it belongs to another sign-in.',
  TYPE_MISMATCH: 'Reject the token: it has a different type than expected.',
  CLAIM_MISSING: 'Reject the token: a required claim is missing.',
  CLAIM_INVALID: 'Reject the token: a claim is invalid.',
  REPLAYED: 'Ignore the token: it was already processed.',
  REPLAY_STORE_FAILED: 'Fix the replay store; see the property cause. The token was not processed.',
  JWKS_INSECURE_URL:
    'Use https for jwksUrl. Plain http is allowed for localhost, 127.0.0.1 and [::1], elsewhere with allowInsecureHttp.',
  JWKS_UNAVAILABLE: 'Check that this machine can reach jwksUrl; see the property cause.',
  JWKS_INVALID: 'Check jwksUrl: it must end in /.well-known/jwks.json and return a JSON Web Key Set.',
} as const;
export type JWTVerificationErrorCode = keyof typeof tokenAdvice;

/** The token's signature or claims are invalid, or could not be verified. */
export class JWTVerificationError extends LatchkeyNodeError {
  static override readonly kind: string = 'JWTVerificationError';
  override readonly name: string = 'JWTVerificationError';
  readonly code: JWTVerificationErrorCode;

  constructor(code: JWTVerificationErrorCode, problem: string, options: ErrorOptions = {}) {
    super(`${problem} ${tokenAdvice[code]}`, causeOf(options));
    this.code = code;
  }
}

/** The public key is unusable. A subclass of {@link JWTVerificationError}: test for it first. */
export class InvalidPublicKeyError extends JWTVerificationError {
  static override readonly kind = 'InvalidPublicKeyError';
  override readonly name = 'InvalidPublicKeyError';
  declare readonly code: InvalidPublicKeyErrorCode;

  // Narrows the codes.
  constructor(code: InvalidPublicKeyErrorCode, problem: string, options: ErrorOptions = {}) {
    super(code, problem, options);
  }
}

/** Fix for each delegation error. */
const delegationAdvice = {
  INVALID_CONFIGURATION: 'Copy the values from the client’s delegation keys in the Latchkey console.',
  INVALID_INPUT: 'Fix the input. No request was sent.',
  INSECURE_URL:
    'Use https for baseUrl. Plain http is allowed for localhost, 127.0.0.1 and [::1], elsewhere with allowInsecureHttp.',
  INVALID_CLIENT: 'Check that apiKey is a secret key (lk_sk_…) of the client spId, and that it is not revoked.',
  NOT_CONFIGURED: 'Have a Latchkey admin register your public keys at the client (registerDelegationKeys).',
  REQUEST_REJECTED:
    'Check that all four keys are the client’s current delegation keys, and that spId is its client ID.',
  STALE: 'Set this machine’s clock: a request is valid for 60 seconds.',
  REPLAYED: 'Call the method again instead of resending the request.',
  REQUEST_TOO_LARGE: 'Shorten the input: a request has at most 64 KB.',
  RATE_LIMITED: 'Wait for retryAfter seconds.',
  TEMPORARILY_UNAVAILABLE: 'Retry after retryAfter seconds.',
  SERVER_ERROR: 'Retry; if it persists, send the property requestId to the operator of the service.',
  RESPONSE_REJECTED:
    'Do not trust the response. Check that idpVerifyKey is the client’s current key, and that no proxy alters responses.',
  RESPONSE_INVALID: 'Check that baseUrl is the service’s URL, and that no proxy responds in its place.',
  RESPONSE_TOO_LARGE: 'Check that baseUrl is the service’s URL: its responses have a few kilobytes.',
  REDIRECTED: 'Set baseUrl to the final URL: redirects are not followed.',
  NETWORK: 'Check that this machine can reach baseUrl; see the property cause.',
  TIMEOUT: 'Check that this machine can reach baseUrl, or raise timeoutMs. The request may have been executed.',
  ABORTED: 'The request was aborted by your signal. It may have been executed.',
} as const;
export type DelegationErrorCode = keyof typeof delegationAdvice;

/**
 * A delegation request failed or its response is not trustworthy. Errors of the service are results, not exceptions.
 */
export class DelegationError extends LatchkeyNodeError {
  static override readonly kind = 'DelegationError';
  override readonly name = 'DelegationError';
  readonly code: DelegationErrorCode;
  /** All problems of the configuration. */
  readonly faults: readonly string[];
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** Request ID in the service's log. */
  readonly requestId: string | undefined;

  constructor(
    code: DelegationErrorCode,
    problem: string,
    detail: ErrorOptions & {
      faults?: readonly string[];
      retryAfter?: number | undefined;
      requestId?: string | undefined;
    } = {},
  ) {
    super(`${problem} ${delegationAdvice[code]}`, causeOf(detail));
    this.code = code;
    this.faults = detail.faults ?? [];
    this.retryAfter = detail.retryAfter;
    this.requestId = detail.requestId;
  }
}

/** Fix for each error of an application's sessions and of the service's documents. */
const partyAdvice = {
  DISCOVERY_UNAVAILABLE: 'Check that this machine can reach issuer; see the property cause.',
  DISCOVERY_INVALID: 'Set issuer to the address of the application’s page in the console, without a trailing slash.',
  ACCESS_TOKEN_REJECTED: 'Have the user sign in again: an access token is valid for five minutes.',
  USERINFO_UNAVAILABLE: 'Retry; see the properties status and cause.',
  USERINFO_INVALID: 'Do not use the response: it is not about this user, or not of the service.',
  SESSION_TOO_LARGE: 'Return less from onSignIn: a cookie has at most 4 KB.',
  REVOCATIONS_FAILED: 'Fix session.revocations; see the property cause.',
} as const;
export type RelyingPartyErrorCode = keyof typeof partyAdvice;

/** An operation of `createLatchkey` failed. */
export class RelyingPartyError extends LatchkeyNodeError {
  static override readonly kind = 'RelyingPartyError';
  override readonly name = 'RelyingPartyError';
  readonly code: RelyingPartyErrorCode;
  /** HTTP status of the service's response. */
  readonly status: number | undefined;

  constructor(code: RelyingPartyErrorCode, problem: string, detail: ErrorOptions & { status?: number } = {}) {
    super(`${problem} ${partyAdvice[code]}`, causeOf(detail));
    this.code = code;
    this.status = detail.status;
  }
}

/** Omits an undefined `cause`. */
function causeOf(options: ErrorOptions): ErrorOptions {
  return options.cause === undefined ? {} : { cause: options.cause };
}

/** Fix per code, for the table in the README. */
export const advice = {
  OAuthExchangeError: exchangeAdvice,
  InvalidPublicKeyError: keyAdvice,
  JWTVerificationError: tokenAdvice,
  DelegationError: delegationAdvice,
  RelyingPartyError: partyAdvice,
};
