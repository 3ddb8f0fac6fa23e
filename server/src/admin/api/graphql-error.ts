import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type Problem, Refusal } from '../../domain/kernel/problem.ts';
import { failureOf } from '../../http/failure.ts';
import { errorContent } from './error-content.ts';

/** A refusal as a GraphQL error. */
export function errorFor(problem: Problem): GraphQLError {
  const { message, extensions } = errorContent(problem);
  return new GraphQLError(message, { extensions });
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
    const { message, extensions } = errorContent(original.problem);
    return { message, ...place, extensions };
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
