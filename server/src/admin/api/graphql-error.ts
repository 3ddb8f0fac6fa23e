import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type Problem, Refusal } from '../../domain/kernel/problem.ts';
import { failureOf } from '../../http/failure.ts';

/** Message and extensions of a refusal, in addition to its code. */
interface ErrorContent {
  message: string;
  [extension: string]: unknown;
}

/**
 * The GraphQL error of each refusal. `extensions.code` is the problem's code; fields that are not named here are not
 * sent.
 */
const contents: { [Code in Problem['code']]: (problem: Extract<Problem, { code: Code }>) => ErrorContent } = {
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

/** A refusal as a GraphQL error. */
export function errorFor(problem: Problem): GraphQLError {
  const { message, ...extensions } = (contents[problem.code] as (problem: Problem) => ErrorContent)(problem);
  return new GraphQLError(message, { extensions: { code: problem.code, ...extensions } });
}

/** Codes of GraphQL's own errors, whose messages describe only the request. */
const ownCodes = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'reauthentication-required',
  'too-complex',
]);

/** Errors of the request itself have no path; the one that ends a list of 50 invalid values has no code either. */
function codeOf(error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return undefined;
  const { extensions, originalError, path } = error;
  return extensions['code'] ?? (path || originalError ? undefined : 'BAD_USER_INPUT');
}

/** The error as a client sees it: a refusal, GraphQL's own message about the request, or only a code. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const original = failureOf(unwrapResolverError(error));
  const place = formatted.path ? { path: formatted.path } : {};
  if (original instanceof Refusal) {
    const { message, extensions } = errorFor(original.problem);
    return { message, ...place, extensions: { ...extensions } };
  }
  const code = codeOf(original);
  if (typeof code === 'string' && ownCodes.has(code)) {
    const { stacktrace: _, ...extensions } = formatted.extensions ?? {};
    const locations = formatted.locations ? { locations: formatted.locations } : {};
    return { message: formatted.message, ...locations, ...place, extensions: { ...extensions, code } };
  }
  const message = 'Internal error. The server log has the details under the request id.';
  return { message, ...place, extensions: { code: 'INTERNAL_SERVER_ERROR' } };
}

/** True for unexpected errors worth alerting on, including an unreachable database. */
export function isBug(error: GraphQLError): boolean {
  const original = failureOf(unwrapResolverError(error));
  if (original instanceof Refusal) return original.problem.code === 'unavailable';
  const code = codeOf(original);
  return !(typeof code === 'string' && ownCodes.has(code));
}
