import { type GrantFault, type Problem, Refusal } from '../domain/kernel/problem.ts';

/** Error codes of RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core §3.1.2.6, RFC 6750 §3.1. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  /** RFC 8707 section 2. */
  | 'invalid_target'
  | 'invalid_token'
  /** RFC 7591 section 3.2.2. */
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'insufficient_scope'
  /** RFC 9449 §5 and §8. */
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'unsupported_grant_type'
  | 'unauthorized_client'
  | 'unsupported_response_type'
  | 'access_denied'
  /** RFC 8628 section 3.5. */
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  /** OpenID Connect Core Error Code unmet_authentication_requirements 1.0. */
  | 'unmet_authentication_requirements'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'server_error'
  | 'temporarily_unavailable';

/** An OAuth error; the description is for developers and contains no input. */
export class OAuthError extends Error {
  readonly retryAfterSeconds: number | undefined;
  /** The status of a JSON response. Not named `status`, which marks a fault of a body parser (`http/failure.ts`). */
  readonly httpStatus: number;
  /** Whether it follows from settings of the client, which may be stale. */
  readonly isOfClient: boolean;
  /** The refused grant, for the events. */
  readonly reason: GrantFault | undefined;

  constructor(
    readonly error: OAuthErrorCode,
    readonly description: string,
    {
      retryAfterSeconds,
      httpStatus = statusOf(error),
      isOfClient = error === 'unauthorized_client',
      reason = error === 'invalid_grant' ? 'malformed' : undefined,
    }: {
      retryAfterSeconds?: number | undefined;
      httpStatus?: number;
      isOfClient?: boolean;
      reason?: GrantFault | undefined;
    } = {},
  ) {
    super(error);
    this.retryAfterSeconds = retryAfterSeconds;
    this.httpStatus = httpStatus;
    this.isOfClient = isOfClient;
    this.reason = reason;
    this.name = 'OAuthError';
  }
}

type OAuthErrorRow = readonly [OAuthErrorCode, string];

const invalidGrant: OAuthErrorRow = [
  'invalid_grant',
  'The code is unknown, expired or already used, or does not match this request.',
];
const notHere: OAuthErrorRow = ['invalid_request', 'The request cannot be handled here.'];

/** Maps the domain's refusals to OAuth errors. Details are logged only. */
const table = {
  'grant-rejected': invalidGrant,
  'client-rejected': ['invalid_client', 'Client authentication failed.'],
  unauthenticated: ['invalid_client', 'Client authentication failed.'],
  'not-found': ['invalid_request', 'The requested resource does not exist.'],
  invalid: ['invalid_request', 'A parameter is malformed.'],
  taken: notHere,
  conflict: notHere,
  forbidden: ['access_denied', 'This is not allowed.'],
  'too-many': ['temporarily_unavailable', 'Too many requests; try again later.'],
  'flow-expired': ['access_denied', 'The sign-in has expired.'],
  'transaction-expired': ['access_denied', 'The sign-in has expired.'],
  'code-rejected': notHere,
  'out-of-order': notHere,
  'nonce-rejected': ['use_dpop_nonce', 'The DPoP proof must contain the nonce of the DPoP-Nonce header.'],
  'proof-required': ['invalid_dpop_proof', 'The application must send a DPoP proof with each token request.'],
  'proof-rejected': ['invalid_dpop_proof', 'The DPoP proof is not valid.'],
  'mfa-method-not-allowed': notHere,
  'device-revoked': notHere,
  'account-inactive': notHere,
  'passkey-rejected': notHere,
  'passkey-verification-required': notHere,
  'passkey-model-not-allowed': notHere,
  'passkeys-not-allowed': notHere,
  'last-sign-in-method': notHere,
  'passkey-required': notHere,
  'pkce-required': notHere,
  'hosted-page-required': notHere,
  'approval-required': notHere,
  'connection-required': notHere,
  'no-access': ['access_denied', 'The user has no access to this application.'],
  'phone-not-allowed': notHere,
  'phone-invalid': notHere,
  'phone-locked': notHere,
  unavailable: ['temporarily_unavailable', 'The service is temporarily unavailable.'],
} as const satisfies Record<Problem['code'], OAuthErrorRow>;

/**
 * The OAuth error for a thrown value: a refusal by the table, a lost database as unavailable, a bug as `server_error`.
 */
export function toOAuthError(thrown: unknown): OAuthError {
  if (thrown instanceof OAuthError) return thrown;
  if (thrown instanceof Refusal) {
    const [error, description] = table[thrown.problem.code];
    const { problem } = thrown;
    const detail = 'detail' in problem ? problem.detail : undefined;
    const retryAfterSeconds = 'retryAfterSeconds' in problem ? problem.retryAfterSeconds : undefined;
    return new OAuthError(error, detail ?? description, { retryAfterSeconds });
  }
  return new OAuthError('server_error', 'Unexpected error; search the log for the request id.');
}

/** The policy of the project excludes a scope, or the API, of a client that introduced itself (RFC 6749 §4.1.2.1 and §5.2). */
export function beyondPolicy(scope: string | undefined): OAuthError {
  const reason = 'client-policy';
  return scope === undefined
    ? new OAuthError('invalid_target', 'The project does not allow the application this API.', { reason })
    : new OAuthError('invalid_scope', `The project does not allow the application the scope ${scope}.`, { reason });
}

/** HTTP status of an error at the token endpoint (RFC 6749 §5.2). */
export function statusOf(error: OAuthErrorCode): number {
  if (error === 'invalid_client') return 401;
  if (error === 'temporarily_unavailable') return 503;
  if (error === 'server_error') return 500;
  return 400;
}
