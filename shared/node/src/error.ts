/**
 * What this library throws. Each error has a stable `code`, where there is one a `cause`, and a message of two parts:
 * what happened, and how to mend it. Codes, keys and tokens never stand in a message.
 */

/** Whatever this library throws, but for bugs. */
export abstract class LatchkeyNodeError extends Error {
  /** Stable: made for `switch`, as messages are made for people. */
  abstract readonly code: string;
}

/** How to mend each failure of an exchange. */
const exchangeAdvice = {
  INVALID_OPTIONS: 'Nothing was sent: mend the options, and the code is still good.',
  INSECURE_URL: 'Use https; plain http only goes to localhost, 127.0.0.1 or [::1].',
  INVALID_GRANT:
    'A code is good once, for 60 seconds, for the client that it was made for, and with the verifier of its challenge: let the user sign in again.',
  INVALID_CLIENT: 'Check that apiKey is a secret key (lk_sk_…) that is not revoked, and that clientId is its client.',
  INVALID_REQUEST:
    'Check that oauthTokenUrl is the token endpoint, and that clientId, code and codeVerifier are whole.',
  TEMPORARILY_UNAVAILABLE: 'Let the user sign in again in a moment; retryAfter says when, in seconds.',
  REFUSED: 'The property error holds the OAuth error code, errorDescription what the service says of it.',
  SERVER_ERROR: 'Try again; if it stays, give the property requestId to whoever runs the service.',
  ENDPOINT_NOT_FOUND: 'Check oauthTokenUrl: it ends in /oauth2/token.',
  REDIRECTED:
    'Redirects are not followed, since they would carry the code elsewhere: set oauthTokenUrl to the final address.',
  RESPONSE_INVALID: 'Check that oauthTokenUrl is the token endpoint itself, and not a proxy that answers in its place.',
  RESPONSE_TOO_LARGE: 'Check that oauthTokenUrl is the token endpoint: its answers have a few kilobytes.',
  NETWORK: 'Check that this machine reaches oauthTokenUrl; the property cause says what failed.',
  TIMEOUT: 'Check that this machine reaches oauthTokenUrl, or raise timeoutMs; let the user sign in again.',
  ABORTED: 'Your own signal ended the exchange.',
  CALLBACK_REJECTED: 'Begin the sign-in again, in the same browser and within ten minutes.',
  SIGN_IN_REFUSED: 'The property error says why; begin the sign-in again.',
} as const;
export type OAuthExchangeErrorCode = keyof typeof exchangeAdvice;

/** What is known of a refused exchange. */
export interface OAuthExchangeDetail {
  /** HTTP status. */
  status?: number | undefined;
  /** OAuth error code (RFC 6749 §5.2), such as `invalid_grant`. */
  error?: string | undefined;
  errorDescription?: string | undefined;
  /** Seconds. */
  retryAfter?: number | undefined;
  /** Names the request in the service's log. */
  requestId?: string | undefined;
}

/** The exchange failed: no token came back. */
export class OAuthExchangeError extends LatchkeyNodeError {
  override readonly name = 'OAuthExchangeError';
  readonly code: OAuthExchangeErrorCode;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;

  constructor(code: OAuthExchangeErrorCode, what: string, detail: OAuthExchangeDetail & ErrorOptions = {}) {
    super(`${what} ${exchangeAdvice[code]}`, causeOf(detail));
    this.code = code;
    this.status = detail.status;
    this.error = detail.error;
    this.errorDescription = detail.errorDescription;
    this.retryAfter = detail.retryAfter;
    this.requestId = detail.requestId;
  }
}

/** How to mend each fault of a public key. */
const keyAdvice = {
  KEY_MISSING: 'Give publicKey (a PEM, or the path of one) or jwksUrl.',
  KEY_FILE_UNREADABLE:
    'Give the PEM itself ("-----BEGIN PUBLIC KEY-----…"), or the path of a file that this process can read.',
  KEY_MALFORMED: 'A public key in PEM begins with "-----BEGIN PUBLIC KEY-----"; keep its line breaks.',
  KEY_IS_PRIVATE:
    'Verifying needs the public half only: keep the private one where it signs, and replace it if it was shared.',
  KEY_TYPE_UNSUPPORTED:
    'Use RSA of at least 2048 bits, EC on P-256, P-384 or P-521, or Ed25519; the service signs with P-521.',
} as const;
export type InvalidPublicKeyErrorCode = keyof typeof keyAdvice;

/** How to mend each refusal of a token. */
const tokenAdvice = {
  ...keyAdvice,
  INVALID_OPTIONS: 'Mend the options: nothing was verified.',
  MALFORMED: 'Pass the token as it was received: three parts of base64url, joined by dots.',
  ALGORITHM_NOT_ALLOWED:
    'Refuse the token, or list its algorithm in the option algorithms if its issuer signs with that.',
  KEY_TYPE_MISMATCH:
    'Give the key that belongs to the algorithm: the service signs with ES512, whose keys are EC on P-521.',
  SIGNATURE_INVALID:
    'Refuse the token; if every token fails, the key is not its issuer’s: fetch it anew, or use jwksUrl.',
  UNKNOWN_KEY: 'Refuse the token; if every token fails, jwksUrl is not that of its issuer.',
  EXPIRED: 'Let the user sign in again; if it is fresh, set this machine’s clock, or allow a leeway in seconds.',
  NOT_YET_VALID: 'Set this machine’s clock, or allow a leeway in seconds.',
  ISSUER_MISMATCH:
    'Refuse the token, or set the option issuer to the service’s base address, without a slash at its end.',
  AUDIENCE_MISMATCH:
    'Refuse the token: it was made for another client. If it was not, set the option audience to the client id.',
  NONCE_MISMATCH: 'Refuse the token: it answers another sign-in than the one that was begun here.',
  TYPE_MISMATCH: 'Refuse the token: it is of another kind than the one that is expected here.',
  CLAIM_MISSING: 'Refuse the token: it lacks what every token of its kind has.',
  CLAIM_INVALID: 'Refuse the token: it holds what no token of its kind holds.',
  REPLAYED: 'Do nothing: this token has done its work already.',
  REPLAY_STORE_FAILED: 'Nothing was done: mend the replay store; the property cause says what failed.',
  JWKS_INSECURE_URL: 'Use https for jwksUrl; plain http only goes to localhost, 127.0.0.1 or [::1].',
  JWKS_UNAVAILABLE: 'Check that this machine reaches jwksUrl; the property cause says what failed.',
  JWKS_INVALID: 'Check jwksUrl: it ends in /.well-known/jwks.json and answers a JSON Web Key Set.',
} as const;
export type JWTVerificationErrorCode = keyof typeof tokenAdvice;

/** A token's signature or claims are not what they must be, or could not be judged. */
export class JWTVerificationError extends LatchkeyNodeError {
  override readonly name: string = 'JWTVerificationError';
  readonly code: JWTVerificationErrorCode;

  constructor(code: JWTVerificationErrorCode, what: string, options: ErrorOptions = {}) {
    super(`${what} ${tokenAdvice[code]}`, causeOf(options));
    this.code = code;
  }
}

/** The key cannot verify anything. A {@link JWTVerificationError} too, so test for this class first. */
export class InvalidPublicKeyError extends JWTVerificationError {
  override readonly name = 'InvalidPublicKeyError';
  declare readonly code: InvalidPublicKeyErrorCode;

  // It narrows the codes.
  constructor(code: InvalidPublicKeyErrorCode, what: string, options: ErrorOptions = {}) {
    super(code, what, options);
  }
}

/** How to mend each failure of delegation. */
const delegationAdvice = {
  INVALID_CONFIGURATION: 'Take the values from the client’s delegation keys, as Latchkey’s admins see them.',
  INVALID_INPUT: 'Nothing was sent: mend the input.',
  INSECURE_URL: 'Use https for baseUrl; plain http only goes to localhost, 127.0.0.1 or [::1].',
  INVALID_CLIENT: 'Check that apiKey is a secret key (lk_sk_…) of the client spId, and that it is not revoked.',
  NOT_CONFIGURED: 'Let an admin of Latchkey register your public keys at the client (registerDelegationKeys).',
  REQUEST_REJECTED:
    'Check that all four keys are the client’s present delegation keys, and that spId is its client id.',
  STALE: 'Set this machine’s clock: a request is good for 60 seconds.',
  REPLAYED: 'Send each request once: call the method again instead.',
  REQUEST_TOO_LARGE: 'Shorten the input: a request has at most 64 KB.',
  RATE_LIMITED: 'Wait; retryAfter says how long, in seconds.',
  TEMPORARILY_UNAVAILABLE: 'Try again in a moment; retryAfter says when, in seconds.',
  SERVER_ERROR: 'Try again; if it stays, give the property requestId to whoever runs the service.',
  RESPONSE_REJECTED:
    'Do not trust the answer. Check that idpVerifyKey is the client’s present one, and that nothing stands between.',
  RESPONSE_INVALID: 'Check that baseUrl is the service’s address, and not that of a proxy that answers in its place.',
  RESPONSE_TOO_LARGE: 'Check that baseUrl is the service’s address: its answers have a few kilobytes.',
  REDIRECTED: 'Redirects are not followed: set baseUrl to the final address.',
  NETWORK: 'Check that this machine reaches baseUrl; the property cause says what failed.',
  TIMEOUT: 'Check that this machine reaches baseUrl, or raise timeoutMs. Whether the request was done is not known.',
  ABORTED: 'Your own signal ended the request. Whether it was done is not known.',
} as const;
export type DelegationErrorCode = keyof typeof delegationAdvice;

/** Delegation could not be asked, or its answer not be trusted. What the service refuses is a result, not an error. */
export class DelegationError extends LatchkeyNodeError {
  override readonly name = 'DelegationError';
  readonly code: DelegationErrorCode;
  /** Each fault of the configuration, so that all can be mended at once. */
  readonly faults: readonly string[];
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(
    code: DelegationErrorCode,
    what: string,
    detail: ErrorOptions & {
      faults?: readonly string[];
      retryAfter?: number | undefined;
      requestId?: string | undefined;
    } = {},
  ) {
    super(`${what} ${delegationAdvice[code]}`, causeOf(detail));
    this.code = code;
    this.faults = detail.faults ?? [];
    this.retryAfter = detail.retryAfter;
    this.requestId = detail.requestId;
  }
}

/** An absent cause must not become the property `cause: undefined`. */
function causeOf(options: ErrorOptions): ErrorOptions {
  return options.cause === undefined ? {} : { cause: options.cause };
}

/** Every code with its advice, for the table in the README. */
export const advice = {
  OAuthExchangeError: exchangeAdvice,
  InvalidPublicKeyError: keyAdvice,
  JWTVerificationError: tokenAdvice,
  DelegationError: delegationAdvice,
};
