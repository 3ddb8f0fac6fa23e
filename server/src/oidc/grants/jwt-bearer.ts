import type { AcceptedResponse } from '../../domain/tokens/mint.ts';
import { OAuthError } from '../oauth-error.ts';
import { faultOf, type GrantDeps, onlyResource, requireGrant, type TokenRequest, wantedScope } from './grant.ts';

/**
 * `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 section 2.1), for identity assertions alone
 * (draft-ietf-oauth-identity-assertion-authz-grant section 4.4).
 */
export async function jwtBearer(
  { identityAssertions }: GrantDeps,
  request: TokenRequest,
): Promise<AcceptedResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  requireGrant(caller.client, 'jwt_bearer');
  if (by === 'none') {
    throw new OAuthError('unauthorized_client', 'An assertion needs an application with client authentication.');
  }
  if (parameters.get('organization') !== undefined) {
    throw new OAuthError('invalid_request', 'The organization is that of the issuer: omit organization.');
  }
  const text = parameters.get('assertion');
  if (text === undefined) throw new OAuthError('invalid_request', 'assertion is missing.');
  const sent = { text, resource: onlyResource(parameters), scope: wantedScope(parameters) };
  return identityAssertions.accept({ ...caller, ...sent, issuer, proof, actor }).catch(refused);
}

/** RFC 7521 section 4.1.1: an assertion that is not accepted is an invalid grant. The reasons are in the events. */
function refused(error: unknown): never {
  const reason = faultOf(error);
  if (reason === undefined || reason === 'client-policy') throw error;
  if (reason === 'scope') {
    const description = 'scope exceeds that of the assertion, or what the application was granted for the API.';
    throw new OAuthError('invalid_scope', description, { reason });
  }
  if (reason === 'target' || reason === 'api-not-granted') {
    throw new OAuthError('invalid_target', 'The assertion or resource must name one API of the application.', {
      reason,
    });
  }
  throw new OAuthError('invalid_grant', 'The assertion is not accepted.', { reason });
}
