import type { Client } from '../domain/clients/client.entity.ts';
import type { JudgedProof } from '../domain/clients/dpop/dpop-proofs.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import type { GrantType } from '../domain/kernel/openid.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { RefreshTokens } from '../domain/tokens/refresh-tokens.ts';
import type { TokenResponse, Tokens } from '../domain/tokens/tokens.ts';
import type { Parameters } from '../http/parameters.ts';
import { mayOmitPkce } from './authorization-request.ts';
import type { AuthenticatedClient } from './client-auth.ts';
import { OAuthError } from './oauth-error.ts';

export interface GrantDeps {
  tokens: Pick<Tokens, 'exchange'>;
  refreshTokens: Pick<RefreshTokens, 'refresh'>;
}

/** A token request of an authenticated client. */
interface TokenRequest {
  parameters: Parameters;
  issuer: Issuer;
  caller: AuthenticatedClient;
  /** The DPoP proof of the request: the statement that grants something records it, see `usedProof`. */
  proof: JudgedProof | null;
  /** Thumbprint of the proof's key, which the tokens are bound to; null: bearer tokens. */
  proofKey: string | null;
  actor: Actor;
}

/** Null if the client has changed since it authenticated. */
type Grant = (deps: GrantDeps, request: TokenRequest) => Promise<TokenResponse | null>;

/** The grants of the token endpoint (RFC 6749 §4.1.3 and §6). */
export const grants: Record<GrantType, Grant> = { authorization_code: redeem, refresh_token: refresh };

/** RFC 7636 §4.1. */
const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/;

async function redeem(deps: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  const code = parameters.get('code');
  if (code === undefined) throw new OAuthError('invalid_request', 'code is missing.');
  const codeVerifier = parameters.get('code_verifier');
  const redirectUri = parameters.get('redirect_uri');
  // A code of the SDK has neither and requires a confidential client's credential; all others need both.
  const isRedirected = by === 'none' || redirectUri !== undefined;
  if (isRedirected && codeVerifier === undefined && !mayOmitPkce(issuer, caller.client)) {
    throw new OAuthError('invalid_request', 'code_verifier is missing.');
  }
  if (by === 'none' && redirectUri === undefined) throw new OAuthError('invalid_request', 'redirect_uri is missing.');
  if (codeVerifier !== undefined && !verifierSyntax.test(codeVerifier)) {
    throw new OAuthError('invalid_grant', 'code_verifier must be 43 to 128 characters of A–Z a–z 0–9 - . _ ~.');
  }
  return deps.tokens.exchange({
    ...caller,
    issuer,
    code,
    codeVerifier,
    redirectUri,
    authenticatedBy: by,
    proof,
    actor,
  });
}

async function refresh({ refreshTokens }: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by: _, ...caller } = request.caller;
  const token = parameters.get('refresh_token');
  if (token === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing.');
  requireGrant(caller.client, 'refresh_token');
  const wanted = parameters.get('scope');
  const scope = wanted === undefined ? undefined : [...new Set(wanted.split(' ').filter(Boolean))].join(' ');
  if (scope === '') throw new OAuthError('invalid_scope', 'scope is empty.');
  return refreshTokens.refresh({ ...caller, issuer, token, scope, proof, actor }).catch((error: unknown) => {
    if (!isScopeFault(error)) throw error;
    throw new OAuthError('invalid_scope', 'scope is more than was granted.');
  });
}

function requireGrant({ grantTypes }: Client, grantType: GrantType): void {
  if (grantTypes.includes(grantType)) return;
  throw new OAuthError('unauthorized_client', `The application may not use ${grantType}: change its grant types.`);
}

function isScopeFault(error: unknown): boolean {
  return error instanceof Refusal && error.problem.code === 'grant-rejected' && error.problem.reason === 'scope';
}
