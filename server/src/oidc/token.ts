import type { Request, RequestHandler } from 'express';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Exchange, TokenResponse } from '../domain/tokens/tokens.ts';
import { actorOf } from '../http/context.ts';
import { parametersOf } from '../http/parameters.ts';
import { authenticateClient, type ClientAuthDeps, publicClient } from './client-auth.ts';
import { OAuthError } from './oauth-error.ts';

export interface TokenDeps extends ClientAuthDeps {
  tokens: { exchange(exchange: Exchange): Promise<TokenResponse> };
}

/** RFC 7636 §4.1. */
const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/;

/** `POST /oauth2/token` (RFC 6749 §4.1.3, service.md 4.2). */
export function tokenEndpoint(deps: TokenDeps): RequestHandler {
  return async (req, res) => {
    res.json(await exchange(deps, req));
  };
}

async function exchange(deps: TokenDeps, req: Request): Promise<TokenResponse> {
  const parameters = parametersOf(req);
  if (parameters.wrongContentType) {
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
  }
  if (parameters.faults.length > 0) throw new OAuthError('invalid_request', 'A parameter is repeated or malformed.');
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing.');
  if (grantType !== 'authorization_code') {
    throw new OAuthError('unsupported_grant_type', 'Only authorization_code is supported.');
  }
  const { client, by } = await authenticateClient(deps, req, parameters);
  const code = parameters.get('code');
  if (code === undefined) throw new OAuthError('invalid_request', 'code is missing.');
  const codeVerifier = parameters.get('code_verifier');
  const redirectUri = parameters.get('redirect_uri');
  // Only a back end's credential redeems a code of the SDK, which has neither; all others must send both.
  if (by === 'none' && codeVerifier === undefined) throw new OAuthError('invalid_request', 'code_verifier is missing.');
  if (by === 'none' && redirectUri === undefined) throw new OAuthError('invalid_request', 'redirect_uri is missing.');
  if (codeVerifier !== undefined && !verifierSyntax.test(codeVerifier)) {
    throw new OAuthError('invalid_grant', 'code_verifier must be 43 to 128 characters of A–Z a–z 0–9 - . _ ~.');
  }
  const actor = actorOf(req, { kind: 'client', id: client.id, name: client.name });
  const asked = { code, clientId: client.id, codeVerifier, redirectUri, authenticatedBy: by, actor };
  if (by !== 'none') return deps.tokens.exchange(asked);
  try {
    return await deps.tokens.exchange(asked);
  } catch (error) {
    // The code was refused together with its client, should that have been disabled meanwhile: then the client is told.
    if (error instanceof Refusal && error.problem.code === 'grant-rejected') await publicClient(deps, client.id);
    throw error;
  }
}
