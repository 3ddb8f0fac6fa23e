import type { Request } from 'express';
import { isApiKey } from '../domain/clients/api-key.ts';
import type { ClientAssertions, JudgedAssertion } from '../domain/clients/client-assertions.ts';
import type { ClientSource, JudgedClient } from '../domain/clients/client-registry.ts';
import { refuse } from '../domain/kernel/problem.ts';
import { digest } from '../domain/kernel/secret.ts';
import type { Parameters } from '../http/parameters.ts';
import { OAuthError } from './oauth-error.ts';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface ClientAuthDeps {
  assertions: Pick<ClientAssertions, 'judge'>;
}

/** Client credential of a request. */
export type ClientCredential =
  | { by: 'none'; clientId: string }
  | { by: 'assertion'; clientId: string | undefined; assertion: string }
  | { by: 'api-key'; clientId: string | undefined; apiKey: string };

/** An authenticated client; each statement that grants something checks that it is unchanged. */
export interface AuthenticatedClient extends JudgedClient {
  by: ClientCredential['by'];
  assertion?: JudgedAssertion;
}

/**
 * The credential of a request to the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2): a secret key in `X-Api-Key`, a client
 * assertion, or, for a public client, its id alone. One at a time. Refuses `client-rejected`.
 */
export function credentialOf(req: Request, parameters: Parameters): ClientCredential {
  const apiKey = req.get('x-api-key');
  const assertion = parameters.get('client_assertion');
  const type = parameters.get('client_assertion_type');
  const clientId = parameters.get('client_id');
  const hasAssertion = assertion !== undefined || type !== undefined;
  if (req.get('authorization') !== undefined || parameters.get('client_secret') !== undefined) {
    refuse({ code: 'client-rejected', reason: 'client secrets are not supported' });
  }
  if (apiKey !== undefined) {
    if (hasAssertion) throw new OAuthError('invalid_request', 'Use one way of client authentication at a time.');
    return { by: 'api-key', clientId, apiKey };
  }
  if (!hasAssertion) {
    if (clientId === undefined) throw new OAuthError('invalid_request', 'client_id is missing.');
    return { by: 'none', clientId };
  }
  if (assertion === undefined) throw new OAuthError('invalid_request', 'client_assertion is missing.');
  if (type !== assertionType) {
    throw new OAuthError('invalid_request', `client_assertion_type must be ${assertionType}.`);
  }
  const issuer = claimedIssuer(assertion);
  if (clientId !== undefined && clientId !== issuer) {
    refuse({ code: 'client-rejected', reason: 'client_id is not the assertion’s client' });
  }
  return { by: 'assertion', clientId: issuer, assertion };
}

/** Authenticates the client from the source `clients`. Refuses `client-rejected`. */
export async function authenticateClient(
  { assertions }: ClientAuthDeps,
  credential: ClientCredential,
  clients: ClientSource,
): Promise<AuthenticatedClient> {
  const { by, clientId } = credential;
  if (by === 'api-key') {
    const holder = isApiKey(credential.apiKey) ? await clients.byKeyHash(digest(credential.apiKey)) : null;
    if (holder?.kind !== 'secret') refuse({ code: 'client-rejected', reason: 'the secret key is unknown or revoked' });
    if (clientId !== undefined && clientId !== holder.client.id) {
      refuse({ code: 'client-rejected', reason: 'client_id is not the key’s client' });
    }
    return { by, client: holder.client, key: holder };
  }
  const client = clientId === undefined ? null : await clients.byId(clientId);
  if (!client) refuse({ code: 'client-rejected', reason: 'the client is unknown or disabled' });
  if (by === 'none') {
    if (client.tokenEndpointAuthMethod !== 'none') {
      refuse({ code: 'client-rejected', reason: 'the client must send a client assertion' });
    }
    return { by, client };
  }
  if (client.tokenEndpointAuthMethod !== 'private_key_jwt') {
    refuse({ code: 'client-rejected', reason: 'the client is not registered for private_key_jwt' });
  }
  return { by, client, assertion: await assertions.judge(client, credential.assertion) };
}

/** The client id of a request, not authenticated. */
export function namedClient(parameters: Parameters): string | undefined {
  return parameters.get('client_id') ?? claimedIssuer(parameters.get('client_assertion') ?? '');
}

/** The unverified `iss`, only for selecting the key. */
function claimedIssuer(assertion: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString());
    const issuer = (payload as { iss?: unknown } | null)?.iss;
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}
