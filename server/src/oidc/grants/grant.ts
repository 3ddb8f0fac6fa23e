import type { Client } from '../../domain/clients/client.entity.ts';
import type { CheckedProof } from '../../domain/clients/dpop/dpop-proofs.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import { type GrantType, grantTypeNames } from '../../domain/kernel/openid.ts';
import { type GrantFault, Refusal } from '../../domain/kernel/problem.ts';
import type { Issuer } from '../../domain/projects/issuer.ts';
import type { IdentityAssertions } from '../../domain/tokens/assertions/identity-assertions.ts';
import type { ApiTokenResponse, ClientTokens } from '../../domain/tokens/client-tokens.ts';
import type { DeviceAuthorizations } from '../../domain/tokens/device/device-authorizations.ts';
import type { TokenExchanges } from '../../domain/tokens/exchange/exchanges.ts';
import type { AcceptedResponse, AssertionResponse, ExchangeResponse, TokenResponse } from '../../domain/tokens/mint.ts';
import type { Tokens } from '../../domain/tokens/tokens.ts';
import type { Parameters } from '../../http/parameters.ts';
import type { AuthenticatedClient } from '../client-auth.ts';
import { OAuthError } from '../oauth-error.ts';

export interface GrantDeps {
  identityAssertions: Pick<IdentityAssertions, 'accept' | 'issue'>;
  tokens: Pick<Tokens, 'exchange' | 'refresh'>;
  clientTokens: Pick<ClientTokens, 'issue'>;
  deviceAuthorizations: Pick<DeviceAuthorizations, 'poll'>;
  tokenExchanges: Pick<TokenExchanges, 'exchange'>;
}

/** A token request of an authenticated client. */
export interface TokenRequest {
  parameters: Parameters;
  issuer: Issuer;
  caller: AuthenticatedClient;
  /** The DPoP proof of the request: the write that grants something records it. */
  proof: CheckedProof | null;
  actor: Actor;
}

export type GrantAnswer = TokenResponse | ApiTokenResponse | ExchangeResponse | AssertionResponse | AcceptedResponse;

/** Null if the client has changed since it authenticated. */
export type Grant = (deps: GrantDeps, request: TokenRequest) => Promise<GrantAnswer | null>;

/** `scope` without duplicates; absent: all that was granted. */
export function wantedScope(parameters: Parameters): string | undefined {
  const wanted = parameters.get('scope');
  if (wanted === undefined) return undefined;
  const scope = [...new Set(wanted.split(' ').filter(Boolean))].join(' ');
  if (scope === '') throw new OAuthError('invalid_scope', 'scope is empty.');
  return scope;
}

/** Rethrows, a refused target as `invalid_target`. */
export function aboutTarget(error: unknown): never {
  if (!isFault(error, 'target')) throw error;
  const description = 'resource must be one of those of the authorization request.';
  throw new OAuthError('invalid_target', description, { reason: 'target' });
}

/** A token is for one API (RFC 8707 section 2.2). */
export function onlyResource(parameters: Parameters): string | undefined {
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

export function requireGrant({ grantTypes }: Client, grantType: GrantType): void {
  if (grantTypes.includes(grantType)) return;
  throw new OAuthError(
    'unauthorized_client',
    `The application may not use ${grantTypeNames[grantType]}: change its grant types.`,
  );
}

/** The reason of a refused grant. */
export function faultOf(error: unknown): GrantFault | undefined {
  return error instanceof Refusal && error.problem.code === 'grant-rejected' ? error.problem.reason : undefined;
}

export const isFault = (error: unknown, reason: GrantFault): boolean => faultOf(error) === reason;
