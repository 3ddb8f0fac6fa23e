import type { TokenResponse } from '../../domain/tokens/mint.ts';
import { OAuthError } from '../oauth-error.ts';
import {
  aboutTarget,
  type GrantDeps,
  isFault,
  onlyResource,
  requireGrant,
  type TokenRequest,
  wantedScope,
} from './grant.ts';

/** `refresh_token` (RFC 6749 §6). */
export async function refreshToken({ tokens }: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by: _, ...caller } = request.caller;
  const token = parameters.get('refresh_token');
  if (token === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing.');
  requireGrant(caller.client, 'refresh_token');
  const scope = wantedScope(parameters);
  const resource = onlyResource(parameters);
  const organization = issuer.capabilities.organizations ? parameters.get('organization') : undefined;
  return tokens
    .refresh({ ...caller, issuer, token, resource, scope, organization, proof, actor })
    .catch((error: unknown) => {
      if (!isFault(error, 'scope')) return aboutTarget(error);
      throw new OAuthError('invalid_scope', 'scope exceeds what was granted.', { reason: 'scope' });
    });
}
