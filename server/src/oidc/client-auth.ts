import type { Request } from 'express';
import { apiKeyPrefixes, isApiKey } from '../domain/clients/api-key.ts';
import type { CheckedAssertion, ClientAssertions } from '../domain/clients/assertions/client-assertions.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { CheckedClient, ClientSource } from '../domain/clients/client-registry.ts';
import { isClientSecret } from '../domain/clients/client-secrets.ts';
import { hasSecret } from '../domain/clients/clients.ts';
import { refuse } from '../domain/kernel/problem.ts';
import { digest } from '../domain/kernel/secret.ts';
import { type Issuer, projectIssuerUrl } from '../domain/projects/issuer.ts';
import { type Parameters, parametersOf } from '../http/parameters.ts';
import { clientsAt, issuerOf } from './issuer.ts';
import { OAuthError } from './oauth-error.ts';
import { parameterFault } from './parameter-fault.ts';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface ClientAuthDeps {
  assertions: Pick<ClientAssertions, 'check'>;
}

/** Client credential of a request. */
type ClientCredential =
  | { by: 'none'; clientId: string }
  | { by: 'secret'; clientId: string | undefined; secret: string }
  | { by: 'assertion'; clientId: string | undefined; assertion: string }
  | { by: 'api-key'; clientId: string | undefined; apiKey: string };

/** An authenticated client; each statement that grants something checks that it is unchanged. */
export interface AuthenticatedClient extends CheckedClient {
  by: ClientCredential['by'];
  assertion?: CheckedAssertion;
}

/**
 * The form of a client's request. Throws `invalid_request`.
 *
 * @param issuer set: the request may name several APIs
 */
export function formOf(req: Request, issuer?: Issuer): Parameters {
  const parameters = parametersOf(req);
  if (parameters.wrongContentType) {
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
  }
  const fault = parameterFault(parameters, issuer);
  if (fault) throw fault;
  return parameters;
}

/**
 * The credential of a request to the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2): a secret key in `X-Api-Key`, a client
 * secret (HTTP Basic or `client_secret`), a client assertion, or, for a public client, its id alone, also as Basic with an
 * empty password. One at a time. Refuses `client-rejected`.
 */
function credentialOf(req: Request, parameters: Parameters): ClientCredential {
  const apiKey = req.get('x-api-key');
  const assertion = parameters.get('client_assertion');
  const type = parameters.get('client_assertion_type');
  const basic = basicOf(req);
  const clientId = parameters.get('client_id') ?? basic?.clientId;
  const hasAssertion = assertion !== undefined || type !== undefined;
  if (basic !== undefined && basic.clientId !== clientId) {
    reject('client_id is not the user name of HTTP Basic', 'client_id and the user name of HTTP Basic differ.');
  }
  const secrets = [basic?.secret, parameters.get('client_secret')].filter((secret) => secret !== undefined);
  const ways = secrets.length + (apiKey === undefined ? 0 : 1) + (hasAssertion ? 1 : 0);
  if (ways > 1) throw new OAuthError('invalid_request', 'Use only one client authentication method.');
  if (secrets[0] !== undefined) return { by: 'secret', clientId, secret: secrets[0] };
  if (apiKey !== undefined) return { by: 'api-key', clientId, apiKey };
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
  { assertions }: ClientAuthDeps,
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

/** User name and password of HTTP Basic, both form-encoded (RFC 6749 §2.3.1); an empty password counts as absent. */
function basicOf(req: Request): { clientId: string; secret: string | undefined } | undefined {
  const header = req.get('authorization');
  if (header === undefined) return undefined;
  const credentials = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(header)?.[1];
  const [, clientId, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials ?? '', 'base64').toString()) ?? [];
  if (!clientId) return reject('the Authorization header is not HTTP Basic', 'Authorization must be HTTP Basic.');
  return { clientId: formDecoded(clientId), secret: secret === '' ? undefined : formDecoded(secret ?? '') };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The client id of a request, not authenticated. */
export function namedClient(req: Request, parameters: Parameters): string | undefined {
  const named = parameters.get('client_id') ?? claimedIssuer(parameters.get('client_assertion') ?? '');
  if (named !== undefined) return named;
  try {
    return basicOf(req)?.clientId;
  } catch {
    return undefined;
  }
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

/** @param detail for the caller */
function reject(reason: string, detail: string): never {
  return refuse({ code: 'client-rejected', reason, detail });
}
