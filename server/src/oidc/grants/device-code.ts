import { deviceRedirect } from '../../domain/tokens/device/device-authorizations.ts';
import type { DeviceState } from '../../domain/tokens/device/poll.ts';
import type { TokenResponse } from '../../domain/tokens/mint.ts';
import { OAuthError } from '../oauth-error.ts';
import { type GrantDeps, isFault, refuseResource, requireGrant, type TokenRequest } from './grant.ts';

/** Refusals of a device that is not approved (RFC 8628 section 3.5). */
const unapproved: Record<Exclude<DeviceState, 'approved'>, OAuthError> = {
  pending: new OAuthError('authorization_pending', 'The user has not decided yet.'),
  hurried: new OAuthError('slow_down', 'Wait 5 seconds longer between two requests.'),
  denied: new OAuthError('access_denied', 'The user denied the request.'),
  expired: new OAuthError('expired_token', 'The device code has expired: start again.'),
};

/** `urn:ietf:params:oauth:grant-type:device_code` (RFC 8628 §3.4). Once a person has approved it, the device code is redeemed as an authorization code. */
export async function deviceCode(deps: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  const code = parameters.get('device_code');
  if (code === undefined) throw new OAuthError('invalid_request', 'device_code is missing.');
  requireGrant(caller.client, 'device_code');
  refuseResource(parameters);
  const state = await deps.deviceAuthorizations.poll({ ...caller, issuer, deviceCode: code });
  if (state === null) return null;
  if (state !== 'approved') throw unapproved[state];
  const asCode = { code, codeVerifier: undefined, redirectUri: deviceRedirect, checksPolicy: true };
  const exchange = { ...caller, ...asCode, issuer, authenticatedBy: by, isAssertionRecorded: true, proof, actor };
  return deps.tokens.exchange(exchange).catch((error: unknown) => {
    throw isFault(error, 'expired') ? unapproved.expired : error;
  });
}
