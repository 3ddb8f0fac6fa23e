import type { AssertionResponse } from '../../domain/tokens/mint.ts';
import { OAuthError } from '../oauth-error.ts';
import { faultOf, type GrantDeps, requireGrant, type TokenRequest, wantedScope } from './grant.ts';

/** Types of tokens that prove the user (RFC 8693 section 3). */
export const subjectTypes = {
  'urn:ietf:params:oauth:token-type:id_token': 'id_token',
  'urn:ietf:params:oauth:token-type:refresh_token': 'refresh_token',
} as const;

/**
 * A token exchange that requests an identity assertion for another server (draft-ietf-oauth-identity-assertion-authz-grant section 4.3).
 * The caller has checked grant, client authentication and `organization`.
 */
export async function issuedAssertion(
  { identityAssertions }: GrantDeps,
  request: TokenRequest,
): Promise<AssertionResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by: _, ...caller } = request.caller;
  const token = parameters.get('subject_token');
  if (token === undefined) throw new OAuthError('invalid_request', 'subject_token is missing.');
  const type = subjectTypes[parameters.get('subject_token_type') as keyof typeof subjectTypes];
  if (type === undefined) {
    throw new OAuthError('invalid_request', `subject_token_type must be ${Object.keys(subjectTypes).join(' or ')}.`);
  }
  if (type === 'refresh_token') requireGrant(caller.client, 'refresh_token');
  for (const name of ['actor_token', 'actor_token_type', 'authorization_details']) {
    if (parameters.get(name) !== undefined) throw new OAuthError('invalid_request', `${name} is not supported.`);
  }
  const [audience, another] = new Set(parameters.all('audience'));
  if (audience === undefined || another !== undefined) {
    throw new OAuthError('invalid_target', 'audience must name one authorization server, by its issuer.');
  }
  const sent = {
    type,
    token,
    audience,
    resources: [...new Set(parameters.all('resource'))],
    scope: wantedScope(parameters),
  };
  return identityAssertions.issue({ ...caller, ...sent, issuer, proof, actor }).catch(refused);
}

/** RFC 8693 section 2.2.2. */
function refused(error: unknown): never {
  const reason = faultOf(error);
  if (reason === undefined || reason === 'client-policy') throw error;
  if (reason === 'scope') {
    throw new OAuthError('invalid_scope', 'scope exceeds the cross-app access of the application.', { reason });
  }
  if (reason === 'target' || reason === 'no-cross-app-access') {
    const description = 'audience or resource is beyond the cross-app access of the application.';
    throw new OAuthError('invalid_target', description, { reason });
  }
  throw new OAuthError('invalid_request', 'The subject token is not accepted.', { reason });
}
