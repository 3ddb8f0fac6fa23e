/** What a failure asks of the caller: try the same again, ask the person, or give up. */
export type LatchkeyErrorCategory = 'retryable' | 'user_action' | 'fatal';

/** Refusals of the service, as they come over the wire. */
export type ServiceErrorCode =
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
  | 'PKCE_REQUIRED'
  | 'CODE_REJECTED'
  | 'RATE_LIMITED'
  | 'MFA_METHOD_NOT_ALLOWED'
  | 'PHONE_INVALID'
  | 'PHONE_NOT_ALLOWED'
  | 'PHONE_TAKEN'
  | 'PHONE_LOCKED_BY_PROVISIONING'
  | 'TEMPORARILY_UNAVAILABLE'
  | 'SERVER_ERROR';

/** What the SDK itself finds wrong, before or instead of an answer. */
export type BrowserErrorCode =
  | 'NOT_INITIALIZED'
  | 'INVALID_ARGUMENT'
  | 'NOT_A_BROWSER'
  | 'INSECURE_CONTEXT'
  | 'STORAGE_UNAVAILABLE'
  | 'DEVICE_KEY_LOST'
  | 'OFFLINE'
  | 'NETWORK'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'UNEXPECTED_RESPONSE';

/** A newer service may answer with a code that this version does not list: judge by `category` then. */
export type LatchkeyErrorCode = ServiceErrorCode | BrowserErrorCode | (string & {});

/** The only error that the SDK throws. Its message says what happened and how to mend it. */
export class LatchkeyError extends Error {
  override readonly name = 'LatchkeyError';
  readonly code: LatchkeyErrorCode;
  readonly category: LatchkeyErrorCategory;
  /** Seconds to wait before the next try, where the service gave them. */
  readonly retryAfter: number | undefined;
  /** The service's id of the failed request, for its log. */
  readonly requestId: string | undefined;

  constructor(
    code: LatchkeyErrorCode,
    category: LatchkeyErrorCategory,
    message: string,
    detail: { retryAfter?: number | undefined; requestId?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.category = category;
    this.retryAfter = detail.retryAfter;
    this.requestId = detail.requestId;
  }
}
