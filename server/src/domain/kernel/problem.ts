import type { Noun } from './nouns/names.ts';

/** The reason why a grant is refused, for log and events. */
export type GrantFault =
  /** The credential itself. */
  | 'unknown'
  | 'malformed'
  | 'used'
  | 'expired'
  | 'revoked'
  /** Issued to another client, or by another issuer. */
  | 'wrong-client'
  | 'wrong-issuer'
  | 'wrong-redirect-uri'
  /** The code needs another authentication of the client. */
  | 'wrong-authentication'
  | 'missing-verifier'
  | 'unexpected-verifier'
  | 'wrong-verifier'
  /** A DPoP proof is missing, or of another key. */
  | 'missing-proof'
  | 'wrong-proof-key'
  /** Another API, or more scopes, than was authorized. */
  | 'target'
  | 'scope'
  /** The client may no longer use the API. */
  | 'api-not-granted'
  /** The user does not allow it to the third-party client. */
  | 'no-consent'
  /** The user has no access to the client. */
  | 'no-access'
  | 'user'
  | 'session-ended'
  /** The sign-in no longer meets it. */
  | 'policy'
  | 'mismatch'
  /** The project's policy for clients that introduced themselves. */
  | 'client-policy'
  /** Of a token exchange: a third-party application. */
  | 'third-party'
  /** An earlier token of the chain, its application, or what the user allows it, has ended. */
  | 'subject-ended'
  /** The actor token has ended, or is not one of the application. */
  | 'actor'
  /** The application has acted before in the chain, or the chain is too long. */
  | 'act-loop'
  | 'act-depth'
  /** The API accepts none. */
  | 'exchange'
  /** Of an identity assertion: no connection accepts those of its issuer, or the keys of the issuer cannot be read. */
  | 'untrusted-issuer'
  | 'unreachable'
  | 'signature'
  | 'wrong-audience'
  | 'unsupported-claim'
  /** No user is linked to its subject. */
  | 'no-account'
  /** The application gets no assertions for the authorization server. */
  | 'no-cross-app-access';

/** The reason why the domain refused. Contains no status: each protocol maps it to its own. */
export type Problem =
  | { code: 'not-found'; what: Noun }
  /** The value is not unique. `isReserved`: an inactive user had it, and may return (decisions/0300). */
  | { code: 'taken'; what: Noun; field: string; isReserved?: boolean }
  | { code: 'invalid'; field: string; reason: string }
  /** Changed since it was read. */
  | { code: 'conflict'; what: Noun }
  /** Credential missing, wrong, expired or revoked. */
  | { code: 'unauthenticated' }
  /** The caller is authenticated and not authorized. */
  | { code: 'forbidden'; reason: string }
  /** Rate limit exceeded. `network`: the one that has requested too many codes. `ofAddress`: too many for a typed address. */
  | { code: 'too-many'; retryAfterSeconds: number; network?: string; ofAddress?: true }
  /** A one-time code was wrong, expired or used; the response does not reveal which. */
  | { code: 'code-rejected'; attemptsLeft: number }
  /** `scope`: the one that the policy of clients excludes. */
  | { code: 'grant-rejected'; reason: GrantFault; scope?: string }
  /** Client authentication failed (RFC 6749 §5.2); the reason is for the log, `detail` for the caller. */
  | { code: 'client-rejected'; reason: string; detail?: string }
  /** The sign-in transaction is unknown, expired, finished or of another caller. */
  | { code: 'transaction-expired' }
  /** The hosted flow is unknown, expired, finished or of another browser. */
  | { code: 'flow-expired' }
  /** The step does not fit the transaction's state. */
  | { code: 'out-of-order'; step: string; state: string }
  | { code: 'nonce-rejected' }
  | { code: 'proof-required' }
  /** The proof of possession is not valid; the reason is for the log, `detail` for the caller. */
  | { code: 'proof-rejected'; reason: string; detail?: string }
  /** The device key was revoked; it never becomes valid again. */
  | { code: 'device-revoked' }
  /** The user is deactivated; only for a caller who proved to be this user, by a key that the deactivation suspended. */
  | { code: 'account-inactive' }
  /** A passkey is not accepted; the reason is for the log. `unknown`: no project has it; known after the step. */
  | { code: 'passkey-rejected'; reason: string; unknown?: boolean }
  /** The passkey proved no PIN or biometrics, and this sign-in needs that. */
  | { code: 'passkey-verification-required' }
  /** The project allows only some models of passkeys, and the new one did not prove to be one of them. */
  | { code: 'passkey-model-not-allowed' }
  /** The project does not use passkeys, or a page of this origin cannot. */
  | { code: 'passkeys-not-allowed' }
  /** The user could not sign in without it. */
  | { code: 'last-sign-in-method' }
  /** The sign-in needs a passkey, which a page of this origin cannot use. */
  | { code: 'passkey-required' }
  /** A third-party application signs its users in on the hosted page, which asks for their consent. */
  | { code: 'hosted-page-required' }
  /** The user has no access to the client (decisions/0371); only for a caller who proved to be this user. */
  | { code: 'no-access' }
  /**
   * A connection of an organization must sign in (decisions/0398): of the domain of the typed address, or of the context. Null: it has none
   * now.
   */
  | { code: 'connection-required'; connectionId: string | null }
  /** The address was verified and waits for an admin to let it sign up (decisions/0351). */
  | { code: 'approval-required' }
  /** The client requires a code_challenge (RFC 7636). */
  | { code: 'pkce-required' }
  | { code: 'mfa-method-not-allowed'; method: string }
  /** No SMS is sent to this number: its country or kind of number is not allowed. */
  | { code: 'phone-not-allowed' }
  | { code: 'phone-invalid' }
  /** The directory owns this user's phone (service.md 3.1). */
  | { code: 'phone-locked' }
  /** The reason is for the log, `detail` for the caller. */
  | { code: 'unavailable'; reason: string; detail?: string; retryAfterSeconds: number };

/** An expected refusal. The domain throws nothing else; any other error is a bug. */
export class Refusal extends Error {
  readonly problem: Problem;

  // No parameter property: tests of the embedded database run these sources without a build.
  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.code, options);
    this.name = 'Refusal';
    this.problem = problem;
  }
}

/** Throws a {@link Refusal}. */
export function refuse(problem: Problem): never {
  throw new Refusal(problem);
}

/** Throws `invalid`. */
export function invalid(field: string, reason: string): never {
  refuse({ code: 'invalid', field, reason });
}

/** Returns the value, or throws `not-found` if it is missing. */
export function found<T>(value: T | null | undefined, what: Noun): T {
  return value ?? refuse({ code: 'not-found', what });
}

/** Runs a check that writes nothing, and returns its refusal as a value. */
export async function problemOf(checking: Promise<unknown>): Promise<Problem | null> {
  try {
    await checking;
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.problem;
    throw error;
  }
}

/** An error that the operator can fix: printed as one line, without a stack trace. */
export class OperatorError extends Error {}
