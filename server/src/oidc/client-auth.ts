import type { Request } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import type { JudgedAssertion } from '../domain/clients/client-assertions.ts';
import { Refusal, refuse } from '../domain/kernel/problem.ts';
import type { ClientAuthentication } from '../domain/tokens/redemption.ts';
import type { Parameters } from '../http/parameters.ts';
import { OAuthError } from './oauth-error.ts';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface ClientAuthDeps {
  clients: {
    /** The client, unless it does not exist or is disabled. */
    findEnabled(clientId: string): Promise<Client | null>;
    /** The same, perhaps from the cache. */
    cached(clientId: string): Promise<Client | null>;
    /** The client of a live secret key. */
    bySecretKey(key: string): Promise<Client | null>;
  };
  assertions: {
    judge(client: Client, assertion: string): Promise<JudgedAssertion>;
  };
}

export interface AuthenticatedClient {
  client: Client;
  by: ClientAuthentication;
  /** What it has authenticated with; whatever is granted on it notes it, and asks whether the client is still so. */
  assertion?: JudgedAssertion;
}

/**
 * Who calls the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2): by its secret key in `X-Api-Key`, by a client
 * assertion, or, a public client, by naming itself. One way at a time. Refuses `client-rejected`.
 */
export async function authenticateClient(
  deps: ClientAuthDeps,
  req: Request,
  parameters: Parameters,
): Promise<AuthenticatedClient> {
  const apiKey = req.get('x-api-key');
  const assertion = parameters.get('client_assertion');
  const type = parameters.get('client_assertion_type');
  const clientId = parameters.get('client_id');
  if (req.get('authorization') !== undefined || parameters.get('client_secret') !== undefined) {
    refuse({ code: 'client-rejected', reason: 'client secrets are not supported' });
  }
  if (apiKey !== undefined && (assertion !== undefined || type !== undefined)) {
    throw new OAuthError('invalid_request', 'Use one way of client authentication at a time.');
  }
  if (apiKey !== undefined) {
    const client = await deps.clients.bySecretKey(apiKey);
    if (!client) refuse({ code: 'client-rejected', reason: 'the secret key is unknown or revoked' });
    if (clientId !== undefined && clientId !== client.id) {
      refuse({ code: 'client-rejected', reason: 'client_id is not the key’s client' });
    }
    return { client, by: 'api-key' };
  }
  if (assertion !== undefined || type !== undefined) return byAssertion(deps, assertion, type, clientId);
  if (clientId === undefined) throw new OAuthError('invalid_request', 'client_id is missing.');
  const known = await deps.clients.cached(clientId);
  if (known?.tokenEndpointAuthMethod === 'none') return { client: known, by: 'none' };
  return { client: await publicClient(deps, clientId), by: 'none' };
}

/**
 * The public client of this id, as it is now. Refuses `client-rejected`. What is granted to one that was recalled is
 * granted by a statement that asks whether it is enabled; whoever is refused there is asked about here.
 */
export async function publicClient({ clients }: Pick<ClientAuthDeps, 'clients'>, clientId: string): Promise<Client> {
  const client = await clients.findEnabled(clientId);
  if (!client) refuse({ code: 'client-rejected', reason: 'the client is unknown or disabled' });
  if (client.tokenEndpointAuthMethod !== 'none') {
    refuse({ code: 'client-rejected', reason: 'the client must send a client assertion' });
  }
  return client;
}

async function byAssertion(
  deps: ClientAuthDeps,
  assertion: string | undefined,
  type: string | undefined,
  clientId: string | undefined,
): Promise<AuthenticatedClient> {
  if (assertion === undefined) throw new OAuthError('invalid_request', 'client_assertion is missing.');
  if (type !== assertionType)
    throw new OAuthError('invalid_request', `client_assertion_type must be ${assertionType}.`);
  const issuer = claimedIssuer(assertion);
  if (clientId !== undefined && clientId !== issuer) {
    refuse({ code: 'client-rejected', reason: 'client_id is not the assertion’s client' });
  }
  if (issuer === undefined) refuse({ code: 'client-rejected', reason: 'the client is unknown or disabled' });
  const known = await deps.clients.cached(issuer);
  if (known?.tokenEndpointAuthMethod === 'private_key_jwt' && known.jwk) {
    const judged = await deps.assertions.judge(known, assertion).catch((error: unknown) => {
      // Refused by a key of yesterday: today's decides.
      if (error instanceof Refusal && error.problem.code === 'client-rejected') return null;
      throw error;
    });
    if (judged) return { client: known, by: 'assertion', assertion: judged };
  }
  return assertingClient(deps, issuer, assertion);
}

/** The client of this id as it is now, by its assertion. Refuses `client-rejected`. */
export async function assertingClient(
  { clients, assertions }: ClientAuthDeps,
  clientId: string,
  assertion: string,
): Promise<AuthenticatedClient> {
  const client = await clients.findEnabled(clientId);
  if (!client) refuse({ code: 'client-rejected', reason: 'the client is unknown or disabled' });
  if (client.tokenEndpointAuthMethod !== 'private_key_jwt') {
    refuse({ code: 'client-rejected', reason: 'the client is not registered for private_key_jwt' });
  }
  return { client, by: 'assertion', assertion: await assertions.judge(client, assertion) };
}

/** The client that a request names, whether it has proved that or not. */
export function namedClient(parameters: Parameters): string | undefined {
  return parameters.get('client_id') ?? claimedIssuer(parameters.get('client_assertion') ?? '');
}

/** Whose key to verify with; believed for nothing else. */
function claimedIssuer(assertion: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString());
    const issuer = (payload as { iss?: unknown } | null)?.iss;
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}
