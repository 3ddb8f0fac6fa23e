import type { Client } from '../domain/clients/client.entity.ts';
import type { CheckedProof } from '../domain/clients/dpop/dpop-proofs.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import { type GrantType, grantTypeNames } from '../domain/kernel/openid.ts';
import { type GrantFault, Refusal, refuse } from '../domain/kernel/problem.ts';
import { type Issuer, userScopes } from '../domain/projects/issuer.ts';
import type { ApiTokenResponse, ClientTokens } from '../domain/tokens/client-tokens.ts';
import { type DeviceAuthorizations, deviceRedirect } from '../domain/tokens/device/device-authorizations.ts';
import type { DeviceState } from '../domain/tokens/device/poll.ts';
import type { RefreshTokens } from '../domain/tokens/refresh-tokens.ts';
import type { TokenResponse, Tokens } from '../domain/tokens/tokens.ts';
import type { Parameters } from '../http/parameters.ts';
import { mayOmitPkce } from './authorization-request.ts';
import type { AuthenticatedClient } from './client-auth.ts';
import { OAuthError } from './oauth-error.ts';

export interface GrantDeps {
  tokens: Pick<Tokens, 'exchange'>;
  refreshTokens: Pick<RefreshTokens, 'refresh'>;
  clientTokens: Pick<ClientTokens, 'issue'>;
  deviceAuthorizations: Pick<DeviceAuthorizations, 'poll'>;
}

/** A token request of an authenticated client. */
interface TokenRequest {
  parameters: Parameters;
  issuer: Issuer;
  caller: AuthenticatedClient;
  /** The DPoP proof of the request: the statement that grants something records it, see `usedProof`. */
  proof: CheckedProof | null;
  /** Thumbprint of the proof's key, which the tokens are bound to; null: bearer tokens. */
  proofKey: string | null;
  actor: Actor;
}

export type GrantAnswer = TokenResponse | ApiTokenResponse;

/** Null if the client has changed since it authenticated. */
type Grant = (deps: GrantDeps, request: TokenRequest) => Promise<GrantAnswer | null>;

/** The grants of the token endpoint (RFC 6749 §4.1.3, §4.4 and §6, RFC 8628 §3.4). */
export const grants: Record<GrantType, Grant> = {
  authorization_code: redeem,
  refresh_token: refresh,
  client_credentials: actForItself,
  device_code: redeemDevice,
};

/** RFC 7636 §4.1. */
const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/;

async function redeem(deps: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  const code = parameters.get('code');
  if (code === undefined) throw new OAuthError('invalid_request', 'code is missing.');
  const codeVerifier = parameters.get('code_verifier');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === deviceRedirect)
    throw new OAuthError('invalid_grant', 'redirect_uri does not match the authorization request.');
  // A code of the SDK has neither and requires a confidential client's credential; all others need both.
  const isRedirected = by === 'none' || redirectUri !== undefined;
  if (isRedirected && codeVerifier === undefined && !mayOmitPkce(issuer, caller.client)) {
    throw new OAuthError('invalid_request', 'code_verifier is missing.', { isOfClient: by !== 'none' });
  }
  // FAPI requires pushed requests, and a code of the SDK was not pushed.
  const isWithoutRedirect = by === 'none' || caller.client.fapiProfile;
  if (isWithoutRedirect && redirectUri === undefined)
    throw new OAuthError('invalid_request', 'redirect_uri is missing.', { isOfClient: by !== 'none' });
  if (codeVerifier !== undefined && !verifierSyntax.test(codeVerifier)) {
    throw new OAuthError('invalid_grant', 'code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~.');
  }
  return deps.tokens
    .exchange({
      ...caller,
      issuer,
      code,
      codeVerifier,
      redirectUri,
      authenticatedBy: by,
      resource: issuer.capabilities.apis ? onlyResource(parameters) : undefined,
      proof,
      actor,
    })
    .catch(aboutTarget);
}

async function refresh({ refreshTokens }: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by: _, ...caller } = request.caller;
  const token = parameters.get('refresh_token');
  if (token === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing.');
  requireGrant(caller.client, 'refresh_token');
  const scope = wantedScope(parameters);
  const resource = onlyResource(parameters);
  return refreshTokens.refresh({ ...caller, issuer, token, resource, scope, proof, actor }).catch((error: unknown) => {
    if (!isFault(error, 'scope')) return aboutTarget(error);
    throw new OAuthError('invalid_scope', 'scope exceeds what was granted.');
  });
}

async function actForItself({ clientTokens }: GrantDeps, request: TokenRequest): Promise<ApiTokenResponse | null> {
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
      throw new OAuthError('invalid_scope', 'scope exceeds what the application was granted for the API.');
    }
    if (!isFault(error, 'target')) throw error;
    const description =
      resource === undefined
        ? 'resource is missing: the application may use no API, or several.'
        : 'resource is not an API that the application may use.';
    throw new OAuthError('invalid_target', description);
  });
}

/** `scope` without duplicates; absent: all that was granted. */
function wantedScope(parameters: Parameters): string | undefined {
  const wanted = parameters.get('scope');
  if (wanted === undefined) return undefined;
  const scope = [...new Set(wanted.split(' ').filter(Boolean))].join(' ');
  if (scope === '') throw new OAuthError('invalid_scope', 'scope is empty.');
  return scope;
}

/** Rethrows, a refused target as `invalid_target`. */
function aboutTarget(error: unknown): never {
  if (!isFault(error, 'target')) throw error;
  throw new OAuthError('invalid_target', 'resource must be one of those of the authorization request.');
}

/** A token is for one API (RFC 8707 section 2.2). */
function onlyResource(parameters: Parameters): string | undefined {
  const [resource, another] = parameters.all('resource');
  if (another !== undefined) throw new OAuthError('invalid_target', 'resource must name one API for each token.');
  return resource;
}

/**
 * Refuses `resource` (RFC 8707 section 2): tokens of devices are only for UserInfo, and without a refusal the device
 * would send them to the API.
 */
export function refuseResource(parameters: Parameters): void {
  if (parameters.all('resource').length === 0) return;
  throw new OAuthError('invalid_target', 'A device gets no tokens for APIs: omit resource.');
}

/** Refusals of a device that is not approved (RFC 8628 section 3.5). */
const unapproved: Record<Exclude<DeviceState, 'approved' | 'unmet'>, OAuthError> = {
  pending: new OAuthError('authorization_pending', 'The user has not decided yet.'),
  hurried: new OAuthError('slow_down', 'Wait 5 seconds longer between two requests.'),
  denied: new OAuthError('access_denied', 'The user denied the request.'),
  expired: new OAuthError('expired_token', 'The device code has expired: start again.'),
};

/** Once a person has approved it, the device code is redeemed as an authorization code. */
async function redeemDevice(deps: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, assertion, ...caller } = request.caller;
  const deviceCode = parameters.get('device_code');
  if (deviceCode === undefined) throw new OAuthError('invalid_request', 'device_code is missing.');
  requireGrant(caller.client, 'device_code');
  refuseResource(parameters);
  const state = await deps.deviceAuthorizations.poll({ ...caller, issuer, deviceCode, assertion });
  if (state === null) return null;
  if (state === 'unmet') refuse({ code: 'grant-rejected', reason: 'policy' });
  if (state !== 'approved') throw unapproved[state];
  const code = { code: deviceCode, codeVerifier: undefined, redirectUri: deviceRedirect };
  // The poll has recorded the assertion.
  const exchange = { ...caller, ...code, issuer, authenticatedBy: by, proof, actor };
  return deps.tokens.exchange(exchange).catch((error: unknown) => {
    throw isFault(error, 'expired') ? unapproved.expired : error;
  });
}

export function requireGrant({ grantTypes }: Client, grantType: GrantType): void {
  if (grantTypes.includes(grantType)) return;
  throw new OAuthError(
    'unauthorized_client',
    `The application may not use ${grantTypeNames[grantType]}: change its grant types.`,
  );
}

function isFault(error: unknown, reason: GrantFault): boolean {
  return error instanceof Refusal && error.problem.code === 'grant-rejected' && error.problem.reason === reason;
}
