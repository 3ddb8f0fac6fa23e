import type { SigninErrorCategory, SigninErrorCode, SigninFailure, SigninStep } from '@latchkey/contracts';
import { StepRefusal } from '../domain/ceremonies/flow.ts';
import { type Problem, Refusal } from '../domain/kernel/problem.ts';
import { bodyFault, failureOf } from '../http/failure.ts';

type SigninErrorRow = readonly [status: number, code: SigninErrorCode, category: SigninErrorCategory, message: string];

const wrongRequest: SigninErrorRow = [400, 'INVALID_REQUEST', 'fatal', 'The request is malformed.'];
const flowEnded: SigninErrorRow = [
  410,
  'FLOW_EXPIRED',
  'user_action',
  'This sign-in has ended. Start again at the application.',
];

/** Status, code and description of each refusal (decisions §8). The exact reason is only logged. */
const rows = {
  invalid: wrongRequest,
  taken: [409, 'PHONE_TAKEN', 'user_action', 'Another user already has this phone number.'],
  conflict: [409, 'INVALID_REQUEST', 'retryable', 'Another request changed this at the same time. Try again.'],
  'not-found': flowEnded,
  'flow-expired': flowEnded,
  'grant-rejected': wrongRequest,
  'client-rejected': wrongRequest,
  unauthenticated: [401, 'INVALID_API_KEY', 'fatal', 'Send a valid publishable API key (lk_pk_…) in X-Api-Key.'],
  forbidden: [403, 'ORIGIN_NOT_ALLOWED', 'fatal', "Origin must match one of the client's redirect URIs."],
  'too-many': [429, 'RATE_LIMITED', 'retryable', 'Too many attempts. Try again later.'],
  'code-rejected': [400, 'CODE_REJECTED', 'user_action', 'The code is wrong or no longer valid.'],
  'transaction-expired': [
    410,
    'TRANSACTION_EXPIRED',
    'user_action',
    'This sign-in has ended. Call authenticate again.',
  ],
  'out-of-order': [409, 'OUT_OF_ORDER', 'fatal', 'This step is not allowed at this point of the sign-in.'],
  'nonce-rejected': [401, 'NONCE_REJECTED', 'retryable', 'The proof must contain the latest nonce. Sign again.'],
  'proof-required': [401, 'PROOF_REQUIRED', 'fatal', 'This step needs a device proof (Device-Proof).'],
  'proof-rejected': [401, 'PROOF_REJECTED', 'user_action', 'The device proof is invalid. Call authenticate again.'],
  'device-revoked': [
    403,
    'DEVICE_REVOKED',
    'user_action',
    'This device key was revoked. Create a new key and sign in.',
  ],
  'account-inactive': [
    403,
    'ACCOUNT_INACTIVE',
    'user_action',
    'This account is deactivated. Its administrator can activate it.',
  ],
  'passkey-rejected': [
    401,
    'PASSKEY_REJECTED',
    'user_action',
    'The passkey is not accepted. Get new options and try another one, or call authenticate.',
  ],
  'passkey-verification-required': [
    403,
    'PASSKEY_VERIFICATION_REQUIRED',
    'user_action',
    'This sign-in needs a passkey that verifies its user by PIN or biometrics.',
  ],
  'last-sign-in-method': wrongRequest,
  'passkey-model-not-allowed': [
    403,
    'PASSKEY_MODEL_NOT_ALLOWED',
    'user_action',
    'This project allows only some models of security keys, and the passkey did not prove to be one of them.',
  ],
  'passkeys-not-allowed': [403, 'PASSKEYS_NOT_ALLOWED', 'user_action', 'Passkeys cannot be used here.'],
  'passkey-required': [
    403,
    'PASSKEY_REQUIRED',
    'fatal',
    'This application requires passkeys, which this page cannot use. Redirect to the hosted page.',
  ],
  'hosted-page-required': [
    403,
    'HOSTED_PAGE_REQUIRED',
    'fatal',
    'A third-party application signs users in on the hosted page: redirect to the authorization endpoint.',
  ],
  'approval-required': [
    403,
    'APPROVAL_REQUIRED',
    'user_action',
    'An administrator must approve this address. A mail follows. Then call authenticate again.',
  ],
  'connection-required': [
    403,
    'CONNECTION_REQUIRED',
    'user_action',
    'An identity provider of the organization must sign in this address: go to `url`.',
  ],
  'no-access': [
    403,
    'NO_ACCESS',
    'user_action',
    'This account has no access to this application. Its administrator can give access.',
  ],
  'pkce-required': [400, 'PKCE_REQUIRED', 'fatal', 'code_challenge is required for this client (RFC 7636, S256).'],
  'phone-not-allowed': [
    400,
    'PHONE_NOT_ALLOWED',
    'user_action',
    'SMS to this number is not allowed. Use another number.',
  ],
  'mfa-method-not-allowed': [
    400,
    'MFA_METHOD_NOT_ALLOWED',
    'user_action',
    'This second factor cannot be used. Choose another one, or use a recovery code.',
  ],
  'phone-invalid': [400, 'PHONE_INVALID', 'user_action', 'The phone number must include its country code: +49…'],
  'phone-locked': [
    403,
    'PHONE_LOCKED_BY_PROVISIONING',
    'user_action',
    "The phone number is managed by the organization's directory and can be changed there only.",
  ],
  unavailable: [
    503,
    'TEMPORARILY_UNAVAILABLE',
    'retryable',
    'The service is temporarily unavailable. Try again later.',
  ],
} as const satisfies Record<Problem['code'], SigninErrorRow>;

const unknownPasskey: SigninErrorRow = [
  401,
  'PASSKEY_UNKNOWN',
  'user_action',
  'This passkey is no longer registered. Remove it from this device.',
];
const networkLimit: SigninErrorRow = [
  429,
  'RATE_LIMITED',
  'retryable',
  'Too many codes were requested from this network. Try again later, or from another network.',
];
const addressLimit: SigninErrorRow = [
  429,
  'RATE_LIMITED',
  'retryable',
  'Too many codes were requested for this address. Try again later.',
];
const bug: SigninErrorRow = [500, 'SERVER_ERROR', 'retryable', 'Something went wrong on our side. Try again.'];

/** HTTP statuses of {@link SigninFailure}. */
export const signinFailureStatuses: readonly number[] = [
  ...Object.values(rows).map(([status]) => status),
  413,
  415,
  bug[0],
];

/** A malformed request. `nonce` is that of {@link StepRefusal}. */
export class UnreadableRequest extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly nonce?: string,
  ) {
    super(message);
    this.name = 'UnreadableRequest';
  }
}

export interface SigninFailureAnswer {
  status: number;
  retryAfterSeconds: number | undefined;
  body: SigninFailure;
  /** True for unexpected errors that have not been logged. */
  isBug: boolean;
}

/**
 * Maps a thrown error to a response.
 *
 * @param connectionUrl the address at which a connection signs in; undefined: none
 */
export function toSigninFailure(
  thrown: unknown,
  requestId: string,
  connectionUrl?: (connectionId: string) => string | undefined,
): SigninFailureAnswer {
  const failure = failureOf(thrown);
  const { row, problem } = checked(failure);
  const [status, code, category, message] = row;
  const retryAfterSeconds = problem && 'retryAfterSeconds' in problem ? problem.retryAfterSeconds : undefined;
  const connectionId = problem?.code === 'connection-required' ? problem.connectionId : null;
  const url = connectionId === null ? undefined : connectionUrl?.(connectionId);
  const nonce = failure instanceof StepRefusal || failure instanceof UnreadableRequest ? failure.nonce : undefined;
  return {
    status,
    retryAfterSeconds,
    isBug: row === bug,
    body: {
      status: 'ERROR',
      error: {
        code,
        category,
        message,
        ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
        ...(url !== undefined && { url }),
        ...(row === networkLimit && { reason: 'network' }),
        ...(row === addressLimit && { reason: 'address' }),
        request_id: requestId,
      },
      ...(nonce !== undefined && { nonce }),
    },
  };
}

/** Requests that no step handled, by status. */
const faults: Partial<Record<number, string>> = {
  405: 'Method not allowed.',
  413: 'The body is larger than 64 KB.',
};

function checked(failure: unknown): { row: SigninErrorRow; problem?: Problem } {
  if (failure instanceof Refusal) return { row: detailed(failure.problem), problem: failure.problem };
  const status = failure instanceof UnreadableRequest ? failure.status : bodyFault(failure);
  if (status === undefined) return { row: bug };
  const message = failure instanceof UnreadableRequest ? failure.message : (faults[status] ?? wrongRequest[3]);
  return { row: [status, 'INVALID_REQUEST', 'fatal', message] };
}

/** Names the invalid field and its rule, never its value. */
function detailed(problem: Problem): SigninErrorRow {
  if (problem.code === 'passkey-rejected' && problem.unknown) return unknownPasskey;
  if (problem.code === 'too-many' && problem.network !== undefined) return networkLimit;
  if (problem.code === 'too-many' && problem.ofAddress) return addressLimit;
  if (problem.code === 'unavailable' && problem.detail !== undefined) {
    const [status, code, category] = rows.unavailable;
    return [status, code, category, problem.detail];
  }
  if (problem.code !== 'invalid') return rows[problem.code];
  return [400, 'INVALID_REQUEST', 'fatal', `${problem.field} ${problem.reason}.`];
}

/** Log fields of a refusal: code, step and reason. */
export function logFields(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Refusal)) return {};
  const step: SigninStep | undefined = thrown instanceof StepRefusal ? thrown.step : undefined;
  return { problem: thrown.problem.code, step, reason: 'reason' in thrown.problem ? thrown.problem.reason : undefined };
}
