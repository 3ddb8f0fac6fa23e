import type { Request } from 'express';
import { apiKeyPrefixes, isApiKey } from '../domain/clients/api-key.ts';
import type { CheckedAssertion, ClientAssertions } from '../domain/clients/assertions/client-assertions.ts';
import { type WorkloadTokens, workloadRuleOf } from '../domain/clients/assertions/workload-tokens.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { CheckedClient, ClientSource } from '../domain/clients/client-registry.ts';
import { isClientSecret } from '../domain/clients/client-secrets.ts';
import { hasSecret } from '../domain/clients/clients.ts';
import { refuse } from '../domain/kernel/problem.ts';
import { digest } from '../domain/kernel/secret.ts';
import { type Issuer, projectIssuerUrl } from '../domain/projects/issuer.ts';
import { clientsAt, issuerOf } from '../http/issuer.ts';
import type { Parameters } from '../http/parameters.ts';
import { type ClientCredential, credentialOf, reject } from './client-credential.ts';

export interface ClientAuthDeps {
  assertions: Pick<ClientAssertions, 'check'>;
  workloadTokens: Pick<WorkloadTokens, 'check'>;
}

/** An authenticated client; each statement that grants something checks that it is unchanged. */
export interface AuthenticatedClient extends CheckedClient {
  by: ClientCredential['by'];
  assertion?: CheckedAssertion;
}

/**
 * Authenticates the client of a request, from the source `clients`, by its registered method, if the issuer offers it.
 * Refuses `client-rejected`; its text depends on the request and on public settings of the named client, never on
 * whether a secret exists.
 */
export async function authenticateClient(
  deps: ClientAuthDeps,
  req: Request,
  parameters: Parameters,
  clients: ClientSource,
): Promise<AuthenticatedClient> {
  const issuer = issuerOf(req);
  const caller = await byCredential(deps, issuer, credentialOf(req, parameters), clientsAt(issuer, clients));
  if (caller.client.fapiProfile && caller.by !== 'assertion') {
    reject(
      'FAPI needs a client assertion',
      'The application uses the FAPI 2.0 Security Profile: it must send a client assertion (private_key_jwt).',
    );
  }
  return caller;
}

async function byCredential(
  { assertions, workloadTokens }: ClientAuthDeps,
  issuer: Issuer,
  credential: ClientCredential,
  clients: ClientSource,
): Promise<AuthenticatedClient> {
  const { by, clientId } = credential;
  if (by === 'api-key') return byApiKey(issuer, credential, clients);
  const client = clientId === undefined ? null : await clients.byId(clientId);
  if (!client) refuse({ code: 'client-rejected', reason: 'the client is unknown or disabled' });
  const method = client.tokenEndpointAuthMethod;
  if (by === 'secret' && !issuer.capabilities.authMethods.includes('client_secret_basic')) {
    reject('client secrets are not supported', secretsElsewhere(issuer, client));
  }
  if (by === 'secret') return bySecret(client, credential.secret, clients);
  if (!issuer.capabilities.authMethods.includes(method)) {
    reject(`the issuer does not offer ${method}`, secretsElsewhere(issuer, client));
  }
  if (by === 'none') {
    if (hasSecret(client)) reject('the client must send its secret', 'The application must send its client secret.');
    if (method !== 'none') {
      reject(
        'the client must send a client assertion',
        'The application must send a client assertion (private_key_jwt).',
      );
    }
    return { by, client };
  }
  if (method !== 'private_key_jwt') {
    reject(
      'the client is not registered for private_key_jwt',
      'The application is not registered for private_key_jwt: change its client authentication.',
    );
  }
  const rule = issuer.capabilities.workloads ? workloadRuleOf(client) : null;
  if (rule) return { by, client, assertion: await workloadTokens.check(client, rule, credential.assertion, issuer) };
  if (clientId !== credential.claimed) {
    refuse({ code: 'client-rejected', reason: 'client_id is not the assertion’s client' });
  }
  return { by, client, assertion: await assertions.check(client, credential.assertion, issuer) };
}

async function byApiKey(
  { capabilities }: Issuer,
  { by, clientId, apiKey }: Extract<ClientCredential, { by: 'api-key' }>,
  clients: ClientSource,
): Promise<AuthenticatedClient> {
  if (!capabilities.apiKeys) {
    reject('API keys are not supported', 'API keys work at the base issuer only: use a client secret here.');
  }
  const holder = isApiKey(apiKey) ? await clients.byKeyHash(digest(apiKey)) : null;
  if (holder?.kind !== 'secret') refuse({ code: 'client-rejected', reason: 'the secret key is unknown or revoked' });
  if (clientId !== undefined && clientId !== holder.client.id) {
    refuse({ code: 'client-rejected', reason: 'client_id is not the key’s client' });
  }
  return { by, client: holder.client, key: holder };
}

/** Keys of an application that are not client secrets, by prefix. */
const otherKinds = [
  [apiKeyPrefixes.secret, 'a secret key of the server library'],
  [apiKeyPrefixes.publishable, 'a publishable key'],
] as const;

/** Both places of the secret are accepted, whichever is registered: libraries differ in their default. */
async function bySecret(client: Client, secret: string, clients: ClientSource): Promise<AuthenticatedClient> {
  if (!hasSecret(client)) {
    reject(
      'the client is not registered for a client secret',
      'The application does not authenticate with a client secret: change its client authentication, or send none.',
    );
  }
  // By the prefix alone, so that the answer reveals nothing about a key.
  const other = otherKinds.find(([prefix]) => secret.startsWith(prefix));
  if (other) {
    reject(
      'another kind of key was sent as the client secret',
      `The client secret is ${other[1]} (${other[0]}…): send the client secret (lk_cs_…).`,
    );
  }
  const holder = isClientSecret(secret) ? await clients.bySecretHash(digest(secret)) : null;
  if (holder?.client.id !== client.id) {
    return reject(
      'the client secret is unknown or revoked',
      'The client secret is not one of this application: it is wrong or was revoked.',
    );
  }
  return { by: 'secret', client: holder.client, key: holder };
}

function secretsElsewhere({ url }: Issuer, client: Client): string {
  const elsewhere = projectIssuerUrl(url, client.project.getEntity().slug);
  return `Client secrets do not work at this issuer: configure the issuer ${elsewhere} in the application.`;
}
