import type { Problem } from '../../domain/kernel/problem.ts';

/** Message and extensions of a refusal, in addition to its code. */
interface Content {
  message: string;
  [extension: string]: unknown;
}

/**
 * The GraphQL error of each refusal. `extensions.code` is the problem's code; fields that are not named here are not
 * sent.
 */
const contents: { [Code in Problem['code']]: (problem: Extract<Problem, { code: Code }>) => Content } = {
  'not-found': ({ what }) => ({ message: `This ${what} does not exist, or you have no access to it.`, what }),
  taken: ({ what, field, isReserved }) => ({
    message: isReserved
      ? `This ${field} is reserved for a deactivated ${what}, for 30 days after the deactivation.`
      : `Another ${what} has this ${field} already.`,
    what,
    field,
  }),
  invalid: ({ field, reason }) => ({ message: `${field} ${reason}.`, field, reason }),
  conflict: ({ what }) => ({ message: `This ${what} has changed since you read it. Read it again.`, what }),
  unauthenticated: () => ({ message: 'Sign in, or send a valid token.' }),
  forbidden: ({ reason }) => ({ message: `This is not allowed: ${reason}.`, reason }),
  'too-many': ({ retryAfterSeconds }) => ({ message: 'Too many attempts. Try again later.', retryAfterSeconds }),
  'code-rejected': () => ({ message: 'The code is not accepted.' }),
  'grant-rejected': () => ({ message: 'The grant is not accepted.' }),
  'client-rejected': () => ({ message: 'The client is not accepted.' }),
  'transaction-expired': () => ({ message: 'This sign-in has expired.' }),
  'flow-expired': () => ({ message: 'This sign-in has expired.' }),
  'out-of-order': () => ({ message: 'This step is out of order.' }),
  'nonce-rejected': () => ({ message: 'The nonce is not accepted.' }),
  'proof-required': () => ({ message: 'A proof of the device is required.' }),
  'proof-rejected': () => ({ message: 'The proof of the device is not accepted.' }),
  'mfa-method-not-allowed': ({ method }) => ({ message: `The method ${method} is not allowed here.`, method }),
  'device-revoked': () => ({ message: 'The device key was revoked.' }),
  'account-inactive': () => ({ message: 'The user is deactivated.' }),
  'passkey-rejected': () => ({ message: 'The passkey is not accepted.' }),
  'passkey-verification-required': () => ({ message: 'The passkey must verify its user.' }),
  'passkey-model-not-allowed': () => ({ message: 'This model of passkey is not allowed.' }),
  'passkeys-not-allowed': () => ({ message: 'Passkeys are off.' }),
  'last-sign-in-method': () => ({ message: 'The user could not sign in without it.' }),
  'passkey-required': () => ({ message: 'A passkey is required.' }),
  'hosted-page-required': () => ({ message: 'A third-party application needs the hosted page.' }),
  'connection-required': () => ({ message: 'A connection of an organization must sign in the user.' }),
  'approval-required': () => ({ message: 'An admin must approve the user first.' }),
  'no-access': () => ({ message: 'The user has no access to this application.' }),
  'pkce-required': () => ({ message: 'The client requires PKCE.' }),
  'phone-not-allowed': () => ({ message: 'SMS to this number is not allowed.' }),
  'phone-invalid': () => ({ message: 'The phone number is not valid.' }),
  'phone-locked': () => ({ message: 'The directory owns this phone number.' }),
  unavailable: ({ detail, retryAfterSeconds }) => ({
    message: detail ?? 'Temporarily unavailable. Try again.',
    retryAfterSeconds,
  }),
};

/** A refusal as a GraphQL error, without the library, which loads at the first operation. */
export function errorContent(problem: Problem): { message: string; extensions: Record<string, unknown> } {
  const { message, ...extensions } = (contents[problem.code] as (problem: Problem) => Content)(problem);
  return { message, extensions: { code: problem.code, ...extensions } };
}
