/** Handling of an error: retry, ask the user, or give up. */
export type LatchkeyErrorCategory = 'retryable' | 'user_action' | 'fatal';

/** Error codes of the service. */
type ServiceErrorCode =
  | 'INVALID_REQUEST'
  | 'INVALID_API_KEY'
  | 'ORIGIN_NOT_ALLOWED'
  | 'FLOW_EXPIRED'
  | 'TRANSACTION_EXPIRED'
  | 'OUT_OF_ORDER'
  | 'NONCE_REJECTED'
  | 'PROOF_REQUIRED'
  | 'PROOF_REJECTED'
  | 'DEVICE_REVOKED'
  | 'ACCOUNT_INACTIVE'
  | 'NO_ACCESS'
  | 'APPROVAL_REQUIRED'
  | 'CONNECTION_REQUIRED'
  | 'PKCE_REQUIRED'
  | 'HOSTED_PAGE_REQUIRED'
  | 'CODE_REJECTED'
  | 'PASSKEY_REJECTED'
  | 'PASSKEY_UNKNOWN'
  | 'PASSKEY_VERIFICATION_REQUIRED'
  | 'PASSKEY_MODEL_NOT_ALLOWED'
  | 'PASSKEYS_NOT_ALLOWED'
  | 'PASSKEY_REQUIRED'
  | 'RATE_LIMITED'
  | 'MFA_METHOD_NOT_ALLOWED'
  | 'PHONE_INVALID'
  | 'PHONE_NOT_ALLOWED'
  | 'PHONE_TAKEN'
  | 'PHONE_LOCKED_BY_PROVISIONING'
  | 'TEMPORARILY_UNAVAILABLE'
  | 'SERVER_ERROR';

/** Error codes of the SDK itself. */
type BrowserErrorCode =
  | 'NOT_INITIALIZED'
  | 'INVALID_ARGUMENT'
  | 'NOT_A_BROWSER'
  | 'INSECURE_CONTEXT'
  | 'STORAGE_UNAVAILABLE'
  | 'DEVICE_KEY_LOST'
  | 'PASSKEY_CANCELLED'
  | 'PASSKEY_EXISTS'
  | 'PASSKEY_UNSUPPORTED'
  | 'OFFLINE'
  | 'NETWORK'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'INVALID_EMAIL'
  | 'CODE_INCOMPLETE'
  | 'INTERNAL_ERROR'
  | 'UNEXPECTED_RESPONSE';

/** A newer service may return unlisted codes: fall back to `category`. */
export type LatchkeyErrorCode = ServiceErrorCode | BrowserErrorCode | (string & {});

/** Marks the errors of all copies of the SDK in a page: ES modules, CommonJS, bundles. */
const brand = Symbol.for('@latchkey/browser/error');

/**
 * The only error class that the SDK throws. Its message states the problem and the fix. `instanceof` also recognizes
 * errors of another copy of the SDK.
 */
export class LatchkeyError extends Error {
  override readonly name = 'LatchkeyError';
  declare readonly code: LatchkeyErrorCode;
  declare readonly category: LatchkeyErrorCategory;
  /** Seconds to wait before a retry, if the service sent them. */
  declare readonly retryAfter: number | undefined;
  /**
   * With `RATE_LIMITED`. `network`: it has requested too many codes; another network can continue. `address`: too many codes
   * were requested for this address.
   */
  declare readonly reason: 'network' | 'address' | undefined;
  /**
   * With `CONNECTION_REQUIRED`: the address at which the organization signs in. It lacks the parameters of your application: use
   * `signIn({ connection })` of `@latchkey/browser/redirect` with its `connection`, or add them.
   */
  declare readonly url: string | undefined;
  /** ID of the failed request in the service's log. */
  declare readonly requestId: string | undefined;

  constructor(
    code: LatchkeyErrorCode,
    category: LatchkeyErrorCategory,
    message: string,
    detail: {
      retryAfter?: number | undefined;
      reason?: 'network' | 'address' | undefined;
      url?: string | undefined;
      requestId?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.category = category;
    ({ retryAfter: this.retryAfter, reason: this.reason, url: this.url, requestId: this.requestId } = detail);
    Object.defineProperty(this, brand, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // Subclasses have no brand.
    if (this !== LatchkeyError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && brand in value;
  }
}
