import { type AssertionResponse, accessTokenType, type ExchangeResponse, idJagType } from '../../domain/tokens/mint.ts';
import { OAuthError } from '../oauth-error.ts';
import { faultOf, type GrantDeps, requireGrant, type TokenRequest, wantedScope } from './grant.ts';
import { issuedAssertion } from './issued-assertion.ts';

/** `urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693). */
export async function tokenExchange(
  deps: GrantDeps,
  request: TokenRequest,
): Promise<ExchangeResponse | AssertionResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  requireGrant(caller.client, 'token_exchange');
  if (by === 'none') {
    throw new OAuthError('unauthorized_client', 'A token exchange needs an application with client authentication.');
  }
  if (parameters.get('organization') !== undefined) {
    throw new OAuthError('invalid_request', 'The organization is that of the subject token: omit organization.');
  }
  if (parameters.get('requested_token_type') === idJagType) return issuedAssertion(deps, request);
  requireType('requested_token_type', parameters.get('requested_token_type') ?? accessTokenType);
  const subjectToken = parameters.get('subject_token');
  if (subjectToken === undefined) throw new OAuthError('invalid_request', 'subject_token is missing.');
  requireType('subject_token_type', parameters.get('subject_token_type'));
  const actorToken = parameters.get('actor_token');
  const actorType = parameters.get('actor_token_type');
  if (actorToken !== undefined) requireType('actor_token_type', actorType);
  else if (actorType !== undefined) throw new OAuthError('invalid_request', 'actor_token is missing.');
  const [resource, another] = new Set([...parameters.all('resource'), ...parameters.all('audience')]);
  if (resource === undefined || another !== undefined) {
    throw new OAuthError('invalid_target', 'resource or audience must name one API.');
  }
  const sent = { subjectToken, actorToken, resource, scope: wantedScope(parameters) };
  return deps.tokenExchanges.exchange({ ...caller, ...sent, issuer, proof, actor }).catch(refused);
}

function requireType(name: string, type: string | undefined): void {
  if (type === accessTokenType) return;
  throw new OAuthError('invalid_request', `${name} must be ${accessTokenType}.`);
}

/** RFC 8693 section 2.2.2: a token that is not accepted is an invalid request. */
function refused(error: unknown): never {
  const reason = faultOf(error);
  if (reason === undefined || reason === 'client-policy') throw error;
  if (reason === 'scope') {
    const description = 'scope exceeds that of the subject token, or what the application was granted for the API.';
    throw new OAuthError('invalid_scope', description, { reason });
  }
  if (reason === 'api-not-granted' || reason === 'exchange') {
    throw new OAuthError('invalid_target', 'The application may not exchange tokens for this API.', { reason });
  }
  throw new OAuthError('invalid_request', 'The subject token or the actor token is not accepted.', { reason });
}
