import type { Request, RequestHandler, Response } from 'express';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import { requireProof } from '../domain/clients/dpop/binding.ts';
import type { ClientDocuments } from '../domain/clients/introductions/client-documents.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import { type GrantType, grantTypeNames, grantTypes } from '../domain/kernel/openid.ts';
import { type Problem, Refusal } from '../domain/kernel/problem.ts';
import { deviceRedirect } from '../domain/tokens/device/device-authorizations.ts';
import type { TokenResponse } from '../domain/tokens/mint.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import { actorOf } from '../http/context.ts';
import { type DpopDeps, proofOf } from '../http/dpop.ts';
import { issuerOf } from '../http/issuer.ts';
import { omitsPkceAt } from './authorization-request.ts';
import { authenticateClient, type ClientAuthDeps } from './client-auth.ts';
import { formOf, namedClient } from './client-credential.ts';
import { clientCredentials } from './grants/client-credentials.ts';
import { deviceCode } from './grants/device-code.ts';
import {
  aboutTarget,
  type Grant,
  type GrantAnswer,
  type GrantDeps,
  onlyResource,
  type TokenRequest,
} from './grants/grant.ts';
import { jwtBearer } from './grants/jwt-bearer.ts';
import { refreshToken } from './grants/refresh-token.ts';
import { tokenExchange } from './grants/token-exchange.ts';
import { beyondPolicy, OAuthError } from './oauth-error.ts';

export interface TokenDeps extends ClientAuthDeps, GrantDeps, DpopDeps {
  clients: Pick<ClientRegistry, 'cached' | 'current'>;
  documents: Pick<ClientDocuments, 'used'>;
  refusals: Pick<TokenRefusals, 'record'>;
}

/** The grants of the token endpoint (RFC 6749 §4.1.3, §4.4 and §6, RFC 7523 §2.1, RFC 8628 §3.4, RFC 8693). */
const grants: Record<GrantType, Grant> = {
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
  client_credentials: clientCredentials,
  device_code: deviceCode,
  token_exchange: tokenExchange,
  jwt_bearer: jwtBearer,
};

/** `POST /oauth2/token` (RFC 6749 §4.1.3, service.md 4.2). */
export function tokenEndpoint(deps: TokenDeps): RequestHandler {
  return async (req, res) => {
    res.json(await exchange(deps, req, res));
  };
}

async function exchange(deps: TokenDeps, req: Request, res: Response): Promise<GrantAnswer> {
  const issuer = issuerOf(req);
  const parameters = formOf(req, issuer);
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing.');
  const offered = issuer.capabilities.grantTypes;
  const wanted = grantTypes.find((one) => grantTypeNames[one] === grantType);
  if (!wanted || !offered.includes(wanted)) {
    throw new OAuthError('unsupported_grant_type', notOffered(offered.map((one) => grantTypeNames[one])));
  }
  const proof = await proofOf(deps, req, res, `${issuer.url}/oauth2/token`);
  const anonymous = actorOf(req);
  const refuseAnonymous = (error: unknown) => refused(deps, error, namedClient(req, parameters), anonymous, anonymous);
  // The cache, then the database, because a cached client may be stale.
  for (const clients of [deps.clients.cached, deps.clients.current]) {
    const isLast = clients === deps.clients.current;
    const caller = await authenticateClient(deps, req, parameters, clients)
      .then((one) => requireProof(one, proof))
      .catch((error: unknown) => (isLast || !dependsOnClient(error) ? refuseAnonymous(error) : null));
    if (!caller) continue;
    const { id, name } = caller.client;
    const actor = actorOf(req, { kind: 'client', id, name });
    const request = { parameters, issuer, caller, proof, actor };
    const answer = await grants[wanted](deps, request)
      .catch(aboutPolicy)
      .catch((error: unknown) =>
        isLast || !isOfClient(error) ? refused(deps, error, id, actor, anonymous).catch(named(wanted)) : null,
      );
    if (!answer) continue;
    await deps.documents.used(caller.client);
    return answer;
  }
  return refuseAnonymous(new Refusal({ code: 'client-rejected', reason: 'the client changed during the request' }));
}

/** RFC 7636 §4.1. */
const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/;

/** `authorization_code` (RFC 6749 §4.1.3): the parameters. The code is checked in `domain/tokens/grants`. */
async function authorizationCode({ tokens }: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  const code = parameters.get('code');
  if (code === undefined) throw new OAuthError('invalid_request', 'code is missing.');
  const codeVerifier = parameters.get('code_verifier');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === deviceRedirect) {
    const description = 'redirect_uri does not match the authorization request.';
    throw new OAuthError('invalid_grant', description, { reason: 'wrong-redirect-uri' });
  }
  // A code of the SDK has neither and requires a confidential client's credential; all others need both.
  const isRedirected = by === 'none' || redirectUri !== undefined;
  if (isRedirected && codeVerifier === undefined && !omitsPkceAt(issuer, caller.client)) {
    throw new OAuthError('invalid_request', 'code_verifier is missing.', { isOfClient: by !== 'none' });
  }
  // FAPI requires pushed requests, and a code of the SDK was not pushed.
  const isWithoutRedirect = by === 'none' || caller.client.fapiProfile;
  if (isWithoutRedirect && redirectUri === undefined)
    throw new OAuthError('invalid_request', 'redirect_uri is missing.', { isOfClient: by !== 'none' });
  if (codeVerifier !== undefined && !verifierSyntax.test(codeVerifier)) {
    throw new OAuthError('invalid_grant', 'code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~.');
  }
  return tokens
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

/** Rethrows, a grant beyond the policy of clients by the scope. */
function aboutPolicy(error: unknown): never {
  const problem = error instanceof Refusal ? error.problem : undefined;
  if (problem?.code !== 'grant-rejected' || problem.reason !== 'client-policy') throw error;
  throw beyondPolicy(problem.scope);
}

/** Texts of `invalid_grant` for credentials other than a code. */
const rejected: Partial<Record<GrantType, string>> = {
  refresh_token: 'The refresh token is unknown, expired, revoked or already used, or does not match this request.',
  device_code: 'The device code is unknown, expired or already used, or does not match this request.',
};

/** Rethrows, a rejected grant by the name of its credential. */
function named(grantType: GrantType) {
  return (error: unknown): never => {
    const description = rejected[grantType];
    const isRejected = error instanceof Refusal && error.problem.code === 'grant-rejected';
    throw isRejected && description !== undefined ? new OAuthError('invalid_grant', description) : error;
  };
}

/** The description of the error; with one grant type, as at the base issuer, in the words of the contract. */
function notOffered(offered: readonly string[]): string {
  return offered.length === 1 ? `Only ${offered[0]} is supported.` : `grant_type must be one of ${offered.join(', ')}.`;
}

/** Whether the refusal follows from the client or its settings, which may be stale. */
function dependsOnClient(error: unknown): boolean {
  const codes: readonly Problem['code'][] = ['client-rejected', 'proof-required', 'proof-rejected', 'nonce-rejected'];
  return error instanceof Refusal && codes.includes(error.problem.code);
}

function isOfClient(error: unknown): boolean {
  return error instanceof OAuthError && error.isOfClient;
}

/** Records a refusal of the client (as anonymous) or of its code, and rethrows. */
async function refused(
  deps: TokenDeps,
  error: unknown,
  clientId: string | undefined,
  actor: Actor,
  anonymous: Actor,
): Promise<never> {
  const reason = reasonOf(error);
  if (reason !== undefined) await deps.refusals.record({ type: 'token.refused', reason, clientId, actor });
  if (error instanceof Refusal && error.problem.code === 'client-rejected') {
    const { reason: fault } = error.problem;
    await deps.refusals.record({ type: 'client.rejected', reason: fault, clientId, actor: anonymous });
  }
  throw error;
}

/** Of a refused grant or proof. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof OAuthError) return error.reason;
  const problem = error instanceof Refusal ? error.problem : undefined;
  if (problem?.code === 'proof-required') return problem.code;
  return problem?.code === 'grant-rejected' || problem?.code === 'proof-rejected' ? problem.reason : undefined;
}
