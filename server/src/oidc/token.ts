import type { Request, RequestHandler } from 'express';
import type { ClientRegistry, ClientSource } from '../domain/clients/client-registry.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import type { TokenResponse, Tokens } from '../domain/tokens/tokens.ts';
import { actorOf } from '../http/context.ts';
import { type Parameters, parametersOf } from '../http/parameters.ts';
import { mayOmitPkce } from './authorization-request.ts';
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientAuthDeps,
  credentialOf,
  namedClient,
} from './client-auth.ts';
import { clientsAt, issuerOf } from './issuer.ts';
import { OAuthError } from './oauth-error.ts';

export interface TokenDeps extends ClientAuthDeps {
  clients: Pick<ClientRegistry, 'cached' | 'current'>;
  tokens: Pick<Tokens, 'exchange'>;
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
  const issuer = issuerOf(req);
  const stranger = actorOf(req);
  const asStranger = (error: unknown) => refused(deps, error, namedClient(req, parameters), stranger, stranger);
  // The cache, then the database: a cached client alone neither refuses nor grants.
  for (const clients of [deps.clients.cached, deps.clients.current]) {
    const isLast = clients === deps.clients.current;
    const caller = await authenticated(deps, req, issuer, parameters, clientsAt(issuer, clients)).catch(
      (error: unknown) => (isLast || !isClientRejected(error) ? asStranger(error) : null),
    );
    if (!caller) continue;
    const { id, name } = caller.client;
    const actor = actorOf(req, { kind: 'client', id, name });
    const answer = await redeem(deps, parameters, issuer, caller, actor).catch((error: unknown) =>
      refused(deps, error, id, actor, stranger),
    );
    if (answer) return answer;
  }
  return asStranger(new Refusal({ code: 'client-rejected', reason: 'the client changed during the request' }));
}

async function authenticated(
  deps: TokenDeps,
  req: Request,
  issuer: Issuer,
  parameters: Parameters,
  clients: ClientSource,
) {
  return authenticateClient(deps, issuer, credentialOf(req, parameters), clients);
}

function isClientRejected(error: unknown): boolean {
  return error instanceof Refusal && error.problem.code === 'client-rejected';
}

/** Null if the client has changed since it authenticated. */
async function redeem(
  deps: TokenDeps,
  parameters: Parameters,
  issuer: Issuer,
  { by, ...caller }: AuthenticatedClient,
  actor: Actor,
): Promise<TokenResponse | null> {
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
  return deps.tokens.exchange({ ...caller, issuer, code, codeVerifier, redirectUri, authenticatedBy: by, actor });
}

/** Records a refusal of the client (as anonymous) or of its code, and rethrows. */
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
