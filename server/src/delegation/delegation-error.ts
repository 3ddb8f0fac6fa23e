import type { DelegationErrorCode, DelegationFailure } from '@latchkey/contracts';
import { type Problem, Refusal } from '../domain/kernel/problem.ts';
import { bodyFault, failureOf } from '../http/failure.ts';

type DelegationErrorRow = readonly [status: number, code: DelegationErrorCode, message: string];

const wrongRequest: DelegationErrorRow = [400, 'INVALID_REQUEST', 'The request is malformed.'];
const wrongClient: DelegationErrorRow = [401, 'INVALID_CLIENT', 'Send a valid secret API key (lk_sk_…) in X-Api-Key.'];
const ended: DelegationErrorRow = [410, 'SESSION_EXPIRED', 'This change has ended. Start a new one.'];

/** Status, code and description of each refusal. */
const rows = {
  'not-found': [404, 'USER_NOT_FOUND', 'The user does not exist or is not active.'],
  invalid: wrongRequest,
  taken: [409, 'INVALID_REQUEST', 'Another user already has this value.'],
  conflict: [409, 'INVALID_REQUEST', 'Another request changed this at the same time.'],
  unauthenticated: wrongClient,
  'client-rejected': wrongClient,
  forbidden: [403, 'INVALID_CLIENT', 'This client is not allowed to do this.'],
  'too-many': [429, 'RATE_LIMITED', 'Too many attempts. Try again later.'],
  'code-rejected': [400, 'CODE_REJECTED', 'The code is wrong or no longer valid.'],
  'transaction-expired': ended,
  'flow-expired': ended,
  'out-of-order': ended,
  'grant-rejected': wrongRequest,
  'nonce-rejected': wrongRequest,
  'proof-required': wrongRequest,
  'proof-rejected': wrongRequest,
  'mfa-method-not-allowed': [400, 'MFA_METHOD_NOT_ALLOWED', 'This second factor cannot be used for this user.'],
  'device-revoked': wrongRequest,
  'account-inactive': wrongRequest,
  'passkey-rejected': wrongRequest,
  'passkey-verification-required': wrongRequest,
  'passkey-model-not-allowed': wrongRequest,
  'passkeys-not-allowed': wrongRequest,
  'last-sign-in-method': wrongRequest,
  'passkey-required': wrongRequest,
  'pkce-required': wrongRequest,
  'hosted-page-required': wrongRequest,
  'approval-required': wrongRequest,
  'connection-required': wrongRequest,
  'no-access': wrongRequest,
  'phone-not-allowed': [400, 'PHONE_NOT_ALLOWED', 'SMS to this number is not allowed. Use another number.'],
  'phone-invalid': [400, 'PHONE_INVALID', 'The phone number must include its country code: +49…'],
  'phone-locked': [
    403,
    'PHONE_LOCKED_BY_PROVISIONING',
    "The phone number is managed by the organization's directory and can be changed there only.",
  ],
  unavailable: [503, 'TEMPORARILY_UNAVAILABLE', 'The service is temporarily unavailable. Try again later.'],
} as const satisfies Record<Problem['code'], DelegationErrorRow>;

const bug: DelegationErrorRow = [500, 'SERVER_ERROR', 'Something went wrong on our side. Try again.'];

/** Errors outside the domain: faults of the envelope and of HTTP. */
const own = {
  NOT_CONFIGURED: [409, 'NOT_CONFIGURED', 'No public keys are registered for this client.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'UNSUPPORTED_MEDIA_TYPE', 'Send application/jose.'],
  REQUEST_TOO_LARGE: [413, 'REQUEST_TOO_LARGE', 'The request is larger than 64 KB.'],
  REQUEST_REJECTED: [400, 'REQUEST_REJECTED', 'The request is not from this client or not for this service.'],
  STALE: [400, 'STALE', 'The request has expired, or iat is in the future.'],
  REPLAYED: [409, 'REPLAYED', 'This request was already used.'],
  INVALID_REQUEST: wrongRequest,
} as const satisfies Partial<Record<DelegationErrorCode, DelegationErrorRow>>;

/** HTTP statuses of a {@link DelegationFailure} that is not encrypted. */
export const delegationFailureStatuses: readonly number[] = [
  ...[...Object.values(rows), ...Object.values(own)].map(([status]) => status),
  bug[0],
];

/** A rejected request. The reason is logged, not sent. */
export class DelegationRefusal extends Error {
  constructor(
    readonly code: keyof typeof own,
    reason: string,
    /** Description for the caller, instead of the default. */
    readonly detail?: string,
  ) {
    super(reason);
    this.name = 'DelegationRefusal';
  }
}

export interface Failure {
  status: number;
  retryAfterSeconds: number | undefined;
  body: DelegationFailure;
  /** True if the server is at fault. */
  isBug: boolean;
}

/** Maps a thrown error to a response. */
export function toFailure(thrown: unknown, requestId: string): Failure {
  const failure = failureOf(thrown);
  const [status, code, message] = rowFor(failure);
  const problem = failure instanceof Refusal ? failure.problem : undefined;
  const retryAfterSeconds = problem && 'retryAfterSeconds' in problem ? problem.retryAfterSeconds : undefined;
  const error = {
    code,
    message,
    ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    request_id: requestId,
  };
  return { status, retryAfterSeconds, body: { error }, isBug: status === bug[0] };
}

function rowFor(failure: unknown): DelegationErrorRow {
  if (failure instanceof DelegationRefusal) {
    const [status, code, message] = own[failure.code];
    return [status, code, failure.detail ?? message];
  }
  if (failure instanceof Refusal) {
    const { problem } = failure;
    const [status, code, message] = rows[problem.code];
    return [status, code, problem.code === 'unavailable' ? (problem.detail ?? message) : message];
  }
  const status = bodyFault(failure);
  if (status === 413) return own.REQUEST_TOO_LARGE;
  if (status === 405) return [405, 'INVALID_REQUEST', 'Method not allowed.'];
  return status === undefined ? bug : [status, 'REQUEST_REJECTED', own.REQUEST_REJECTED[2]];
}

/** The reason of a refusal, for the log. */
export function reasonOf(thrown: unknown): string | undefined {
  if (thrown instanceof Refusal) return thrown.problem.code;
  return thrown instanceof Error ? thrown.message : undefined;
}
