import { type Problem, Refusal } from '../domain/kernel/problem.ts';

/** Keywords of RFC 7644 §3.12 and RFC 9865 §2.1. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidCursor'
  | 'expiredCursor'
  | 'invalidCount';

export interface ScimErrorOptions {
  scimType?: ScimType | undefined;
  headers?: Readonly<Record<string, string>>;
}

/** A SCIM error. `detail` explains the fix to the directory's administrator. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, { scimType, headers = {} }: ScimErrorOptions = {}) {
    super(detail);
    this.name = 'ScimError';
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }

  /** The error response of RFC 7644 §3.12. */
  toJSON(): object {
    return {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(this.status),
      ...(this.scimType === undefined ? {} : { scimType: this.scimType }),
      detail: this.message,
    };
  }
}

/** A 400 error with a keyword. */
export function badRequest(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, detail, { scimType });
}

type ScimErrorRow = readonly [status: number, scimType: ScimType | undefined, detail: (problem: never) => string];
type Of<Code extends Problem['code']> = Extract<Problem, { code: Code }>;

const nouns: Partial<Record<string, string>> = { user: 'User', group: 'Group', project: 'SCIM service' };
/** Attributes of which only the login email and login phone are unique. */
const uniqueNames: Partial<Record<string, string>> = {
  emails: 'emails.value (the login email)',
  phoneNumbers: 'phoneNumbers.value (the login phone)',
};
const notHere = () => 'The request is not supported.';

/** Maps the domain's refusals to SCIM errors (RFC 7644 §3.12, service.md 7.1). */
const rows = {
  'not-found': [404, undefined, ({ what }: Of<'not-found'>) => `${nouns[what] ?? 'Resource'} not found.`],
  taken: [
    409,
    'uniqueness',
    ({ what, field }: Of<'taken'>) =>
      `${nouns[what] ?? 'Resource'}: another one of this project has this value of ${uniqueNames[field] ?? field}.`,
  ],
  invalid: [400, 'invalidValue', ({ field, reason }: Of<'invalid'>) => `${field} ${reason}.`],
  conflict: [412, undefined, () => 'The resource has changed since it was read.'],
  unauthenticated: [401, undefined, () => 'Send Authorization: Bearer with a SCIM token of this project.'],
  forbidden: [403, undefined, ({ reason }: Of<'forbidden'>) => `This is not allowed: ${reason}.`],
  'too-many': [429, undefined, () => 'Too many requests. Try again after the time in Retry-After.'],
  unavailable: [503, undefined, ({ detail }: Of<'unavailable'>) => detail ?? 'The service is temporarily unavailable.'],
  'device-revoked': [400, undefined, notHere],
  'account-inactive': [400, undefined, notHere],
  'passkey-rejected': [400, undefined, notHere],
  'passkey-verification-required': [400, undefined, notHere],
  'passkey-model-not-allowed': [400, undefined, notHere],
  'passkeys-not-allowed': [400, undefined, notHere],
  'last-sign-in-method': [400, undefined, notHere],
  'passkey-required': [400, undefined, notHere],
  'hosted-page-required': [400, undefined, notHere],
  'connection-required': [400, undefined, notHere],
  'approval-required': [400, undefined, notHere],
  'no-access': [400, undefined, notHere],
  'pkce-required': [400, undefined, notHere],
  'phone-not-allowed': [400, undefined, notHere],
  'phone-invalid': [400, 'invalidValue', () => 'The phone number is not valid.'],
  'phone-locked': [403, undefined, notHere],
  'code-rejected': [400, undefined, notHere],
  'grant-rejected': [400, undefined, notHere],
  'client-rejected': [401, undefined, notHere],
  'transaction-expired': [400, undefined, notHere],
  'flow-expired': [400, undefined, notHere],
  'out-of-order': [400, undefined, notHere],
  'nonce-rejected': [400, undefined, notHere],
  'proof-required': [400, undefined, notHere],
  'proof-rejected': [400, undefined, notHere],
  'mfa-method-not-allowed': [400, undefined, notHere],
} as const satisfies Record<Problem['code'], ScimErrorRow>;

/** The SCIM error for a thrown value. An unexpected error reveals only the request id. */
export function toScimError(thrown: unknown, requestId: string): ScimError {
  if (thrown instanceof ScimError) return thrown;
  if (!(thrown instanceof Refusal))
    return new ScimError(500, `Unexpected error. Look for request ${requestId} in the log.`);
  const { problem } = thrown;
  const [status, scimType, detail] = rows[problem.code] as ScimErrorRow;
  return new ScimError(status, detail(problem as never), { scimType, headers: headersOf(problem) });
}

function headersOf(problem: Problem): Record<string, string> {
  return 'retryAfterSeconds' in problem ? { 'Retry-After': String(problem.retryAfterSeconds) } : {};
}
