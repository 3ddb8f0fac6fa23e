import type { Request, RequestHandler } from 'express';
import type { JudgedAssertion } from '../domain/clients/client-assertions.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import { Refusal, refuse } from '../domain/kernel/problem.ts';
import type { Exchange } from '../domain/tokens/redemption.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import type { TokenResponse, Tokens } from '../domain/tokens/tokens.ts';
import { actorOf } from '../http/context.ts';
import { type Parameters, parametersOf } from '../http/parameters.ts';
import {
  type AuthenticatedClient,
  assertingClient,
  authenticateClient,
  type ClientAuthDeps,
  namedClient,
  publicClient,
} from './client-auth.ts';
import { OAuthError } from './oauth-error.ts';

export interface TokenDeps extends ClientAuthDeps {
  tokens: Pick<Tokens, 'exchange' | 'exchangeWith'>;
  refusals: Pick<TokenRefusals, 'record'>;
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
  const caller = await authenticateClient(deps, req, parameters).catch((error: unknown) =>
    refused(deps, error, namedClient(parameters), actorOf(req), actorOf(req)),
  );
  const actor = actorOf(req, { kind: 'client', id: caller.client.id, name: caller.client.name });
  return redeem(deps, parameters, caller, actor).catch((error: unknown) =>
    refused(deps, error, caller.client.id, actor, actorOf(req)),
  );
}

async function redeem(
  deps: TokenDeps,
  parameters: Parameters,
  { client, by, assertion }: AuthenticatedClient,
  actor: Actor,
): Promise<TokenResponse> {
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
  const asked = { code, clientId: client.id, codeVerifier, redirectUri, authenticatedBy: by, actor };
  if (assertion) return exchangeWith(deps, asked, assertion, parameters.get('client_assertion') as string);
  if (by !== 'none') return deps.tokens.exchange(asked);
  try {
    return await deps.tokens.exchange(asked);
  } catch (error) {
    // The code was refused together with its client, should that have been disabled meanwhile: then the client is told.
    if (error instanceof Refusal && error.problem.code === 'grant-rejected') await publicClient(deps, client.id);
    throw error;
  }
}

/** Records a refusal of the client (a stranger, then) or of its code, and throws on whatever was thrown. */
async function refused(
  deps: TokenDeps,
  error: unknown,
  clientId: string | undefined,
  actor: Actor,
  stranger: Actor,
): Promise<never> {
  if (error instanceof OAuthError && error.error === 'invalid_grant') {
    await deps.refusals.record({ type: 'token.refused', reason: 'malformed', clientId, actor });
  }
  if (error instanceof Refusal) {
    const { problem } = error;
    if (problem.code === 'grant-rejected') {
      await deps.refusals.record({ type: 'token.refused', reason: problem.reason, clientId, actor });
    }
    if (problem.code === 'client-rejected') {
      await deps.refusals.record({ type: 'client.rejected', reason: problem.reason, clientId, actor: stranger });
    }
  }
  throw error;
}

/** By a client that was remembered: should it have changed meanwhile, it is judged once more as it is now. */
async function exchangeWith(
  deps: TokenDeps,
  asked: Exchange,
  assertion: JudgedAssertion,
  text: string,
): Promise<TokenResponse> {
  const answer = await deps.tokens.exchangeWith(assertion, asked);
  if (answer) return answer;
  const { assertion: anew } = await assertingClient(deps, asked.clientId, text);
  const second = anew && (await deps.tokens.exchangeWith(anew, asked));
  return second ?? refuse({ code: 'client-rejected', reason: 'the client was changed meanwhile' });
}
