/** The nouns that a refusal can speak of. */
export type Noun =
  | 'project'
  | 'experience'
  | 'client'
  | 'api-key'
  | 'delegation-key'
  | 'user'
  | 'group'
  | 'device'
  | 'enrolment'
  | 'session'
  | 'scim-token'
  | 'setup-link'
  | 'membership'
  | 'admin-token'
  | 'message'
  | 'logout-delivery'
  | 'signing-key'
  | 'authorization-request';

/** Why the domain refused. Holds no status: each edge alone decides how its protocol says it. */
export type Problem =
  | { code: 'not-found'; what: Noun }
  /** Another one of this noun already has this value. */
  | { code: 'taken'; what: Noun; field: string }
  | { code: 'invalid'; field: string; reason: string }
  /** It was changed since it was read. */
  | { code: 'conflict'; what: Noun }
  /** The caller is not known: credential missing, wrong, expired or revoked. */
  | { code: 'unauthenticated' }
  /** The caller is known and may not. */
  | { code: 'forbidden'; reason: string }
  /** A budget is spent. */
  | { code: 'too-many'; retryAfterSeconds: number }
  /** A one-time code was wrong, expired or spent: always the same words. */
  | { code: 'code-rejected'; attemptsLeft: number }
  | { code: 'grant-rejected'; reason: 'unknown' | 'expired' | 'used' | 'mismatch' | 'user' }
  /** Client authentication failed (RFC 6749 §5.2); the reason is for the log. */
  | { code: 'client-rejected'; reason: string }
  /** The sign-in transaction is unknown, expired, finished or of another caller. */
  | { code: 'transaction-expired' }
  /** The hosted flow is unknown, expired, finished or of another browser. */
  | { code: 'flow-expired' }
  /** The step does not fit the transaction's state. */
  | { code: 'out-of-order'; step: string; state: string }
  | { code: 'nonce-rejected' }
  | { code: 'proof-required' }
  /** The reason is for the log. */
  | { code: 'proof-rejected'; reason: string }
  /** The device key was revoked; it never becomes valid again. */
  | { code: 'device-revoked' }
  /** The client requires a code_challenge (RFC 7636). */
  | { code: 'pkce-required' }
  | { code: 'mfa-method-not-allowed'; method: string }
  /** No SMS is sent to this number: its country or kind of number is not allowed. */
  | { code: 'phone-not-allowed' }
  | { code: 'phone-invalid' }
  /** The directory owns this user's phone (service.md 3.1). */
  | { code: 'phone-locked' }
  | { code: 'unavailable'; reason: string; retryAfterSeconds: number };

/** What the domain throws, and nothing else: an expected refusal. Anything else thrown is a bug. */
export class Refusal extends Error {
  constructor(
    readonly problem: Problem,
    options?: ErrorOptions,
  ) {
    super(problem.code, options);
    this.name = 'Refusal';
  }
}

/** Throws a {@link Refusal}. */
export function refuse(problem: Problem): never {
  throw new Refusal(problem);
}

/** Throws where `value` is missing; for a lookup whose noun must be there. */
export function found<T>(value: T | null | undefined, what: Noun): T {
  return value ?? refuse({ code: 'not-found', what });
}

/** Runs a judgement that writes nothing, and turns its refusal into a value. */
export async function problemOf(judging: Promise<unknown>): Promise<Problem | null> {
  try {
    await judging;
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.problem;
    throw error;
  }
}
