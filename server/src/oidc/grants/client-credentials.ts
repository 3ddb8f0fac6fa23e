import { userScopes } from '../../domain/projects/issuer.ts';
import type { ApiTokenResponse } from '../../domain/tokens/client-tokens.ts';
import { OAuthError } from '../oauth-error.ts';
import { type GrantDeps, isFault, onlyResource, requireGrant, type TokenRequest, wantedScope } from './grant.ts';

/** `client_credentials` (RFC 6749 §4.4). */
export async function clientCredentials(
  { clientTokens }: GrantDeps,
  request: TokenRequest,
): Promise<ApiTokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  requireGrant(caller.client, 'client_credentials');
  if (by === 'none') {
    throw new OAuthError('unauthorized_client', 'client_credentials needs an application with client authentication.');
  }
  const scope = wantedScope(parameters);
  if (scope?.split(' ').some((one) => userScopes.includes(one))) {
    throw new OAuthError('invalid_scope', 'client_credentials gives no tokens for users: omit openid and its scopes.');
  }
  const resource = onlyResource(parameters);
  return clientTokens.issue({ ...caller, issuer, resource, scope, proof, actor }).catch((error: unknown) => {
    if (isFault(error, 'scope')) {
      const description = 'scope exceeds what the application was granted for the API.';
      throw new OAuthError('invalid_scope', description, { reason: 'scope' });
    }
    if (!isFault(error, 'target')) throw error;
    const description =
      resource === undefined
        ? 'resource is missing: the application may use no API, or several.'
        : 'resource is not an API that the application may use.';
    throw new OAuthError('invalid_target', description, { reason: 'target' });
  });
}
