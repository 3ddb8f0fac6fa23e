import type { Request, RequestHandler } from 'express';
import type { Apis } from '../domain/apis/apis.ts';
import { longestPush, type PushedRequests, pushedTtlSeconds } from '../domain/ceremonies/requests/pushed-requests.ts';
import { clientIdOf } from '../domain/clients/client-id.ts';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import { checkProof } from '../domain/clients/dpop/binding.ts';
import type { ClientDocuments } from '../domain/clients/introductions/client-documents.ts';
import { Refusal, refuse } from '../domain/kernel/problem.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import { actorOf, requestContext } from '../http/context.ts';
import { type DpopDeps, proofOf } from '../http/dpop.ts';
import { issuerOf } from '../http/issuer.ts';
import { formParameters, type Parameters } from '../http/parameters.ts';
import { check, checkTarget, named } from './authorization-request.ts';
import { type AuthenticatedClient, authenticateClient, type ClientAuthDeps } from './client-auth.ts';
import { formOf, namedClient } from './client-credential.ts';
import type { ConnectionIds } from './connection.ts';
import { OAuthError, toOAuthError } from './oauth-error.ts';
import type { OrganizationNames } from './organization.ts';

export interface PushDeps extends ClientAuthDeps, DpopDeps, OrganizationNames, ConnectionIds {
  clients: Pick<ClientRegistry, 'current'>;
  documents: Pick<ClientDocuments, 'meet'>;
  apis: Pick<Apis, 'usableBy'>;
  pushedRequests: Pick<PushedRequests, 'push'>;
  refusals: Pick<TokenRefusals, 'record'>;
}

const prefix = 'urn:ietf:params:oauth:request_uri:';
/** Parameters that authenticate the client, and are not part of the request. */
const credentials = ['client_secret', 'client_assertion', 'client_assertion_type'];

/** The handle of a `request_uri` that this server issued; null for any other. */
export function pushedHandle(parameters: Parameters): string | null {
  const uri = parameters.get('request_uri');
  return uri?.startsWith(prefix) === true ? uri.slice(prefix.length) : null;
}

/**
 * `POST {issuer}/oauth2/par` (RFC 9126): stores an authorization request, checked as at /authorize. A DPoP proof binds its
 * code to the proof's key (RFC 9449 §10.1).
 */
export function pushEndpoint(deps: PushDeps): RequestHandler {
  return async (req, res) => {
    const issuer = issuerOf(req);
    const parameters = formOf(req, issuer);
    const proof = await proofOf(deps, req, res, `${issuer.url}/oauth2/par`);
    if (!(await deps.documents.meet(issuer.project?.id, namedClient(req, parameters), actorOf(req)))) {
      refuse({ code: 'client-rejected', reason: 'the metadata document cannot be used' });
    }
    const caller = await authenticateClient(deps, req, parameters, deps.clients.current);
    if (proof) checkProof(caller.client, proof);
    const form = pushedForm(req, caller, proof?.jkt);
    await checkPushed(deps, req, formParameters(form), issuer, caller);
    const { by: _, ...checked } = caller;
    const push = { ...checked, issuer, parameters: form, proof };
    const handle = await deps.pushedRequests.push(push, requestContext(req).ip).catch(limited);
    res.status(201).json({ request_uri: `${prefix}${handle}`, expires_in: pushedTtlSeconds });
  };
}

/** Too many requests: 429 (RFC 9126 §2.3). Throws all other errors as they are. */
function limited(thrown: unknown): never {
  if (!(thrown instanceof Refusal) || thrown.problem.code !== 'too-many') throw thrown;
  const { error, description, retryAfterSeconds } = toOAuthError(thrown);
  throw new OAuthError(error, description, { httpStatus: 429, retryAfterSeconds });
}

/** The request as it is stored: without credentials, with the client's id, and the key of its proof. */
function pushedForm(req: Request, { client }: AuthenticatedClient, jkt: string | undefined): string {
  const form = new URLSearchParams(String(req.body));
  const requested = form.get('dpop_jkt');
  if (jkt !== undefined && requested && requested !== jkt) {
    throw new OAuthError('invalid_request', 'dpop_jkt must be the thumbprint of the key of the DPoP proof.');
  }
  for (const name of credentials) form.delete(name);
  form.set('client_id', clientIdOf(client));
  if (jkt !== undefined) form.set('dpop_jkt', jkt);
  const text = form.toString();
  if (text.length > longestPush) {
    throw new OAuthError('invalid_request', `The request is longer than ${longestPush} characters.`, {
      httpStatus: 413,
    });
  }
  return text;
}

/** Throws `OAuthError`. */
async function checkPushed(
  deps: PushDeps,
  req: Request,
  parameters: Parameters,
  issuer: Issuer,
  { client }: AuthenticatedClient,
): Promise<void> {
  if (parameters.get('request_uri') !== undefined) {
    throw new OAuthError('invalid_request', 'request_uri must not be pushed.');
  }
  const checked = await checkTarget(parameters, { byId: async () => client }, issuer);
  if (checked === 'client') return refuse({ code: 'client-rejected', reason: 'the client is unknown or disabled' });
  if (checked === 'redirect-uri') {
    const redirectUri = parameters.get('redirect_uri');
    const refusal = { type: 'authorization.refused', reason: checked, clientId: client.id, redirectUri } as const;
    await deps.refusals.record({ ...refusal, actor: actorOf(req) });
    throw new OAuthError('invalid_request', 'redirect_uri is missing, or not a redirect URI of the application.');
  }
  if (checked === 'parameters') throw new OAuthError('invalid_request', 'state is longer than 2,048 characters.');
  check(parameters, checked, issuer, { ...(await named(deps, parameters, client, issuer)), isPushed: true });
}
