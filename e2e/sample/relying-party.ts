import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';

/** Settings of the sample's client. Contains secrets. */
export interface Settings {
  /** Latchkey's base URL. */
  baseUrl: string;
  projectId: string;
  clientId: string;
  /** For the page. */
  publishableKey: string;
  /** For the back end. */
  secretKey: string;
  /** Encrypts the sample's own sessions. */
  sessionSecret: string;
  /** Delegation keys in PEM: the sample's private keys and Latchkey's public keys. */
  spSigningKey: string;
  spEncryptionKey: string;
  idpVerifyKey: string;
  idpEncryptionKey: string;
}

/** Calls the admin API. */
export type AdminCall = <T>(query: string, variables?: object) => Promise<T>;

export function adminCall(baseUrl: string, token: string): AdminCall {
  return async <T>(query: string, variables: object = {}) => {
    const response = await fetch(`${baseUrl}/admin/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data?: T; errors?: unknown };
    if (!data || errors) throw new Error(`admin API error: ${JSON.stringify(errors)}`);
    return data;
  };
}

/** The demo project, created by the embedded database's first start. */
export async function demoProject(admin: AdminCall): Promise<string> {
  type Projects = { projects: { edges: { node: { id: string; builtIn: string | null } }[] } };
  const { edges } = (await admin<Projects>('{ projects(first: 100) { edges { node { id builtIn } } } }')).projects;
  const demo = edges.find(({ node }) => node.builtIn === 'DEMO');
  if (!demo) throw new Error('demo project not found: it was deleted, or this is not the embedded database');
  return demo.node.id;
}

/** Creates the sample's client in a project, with keys for page, back end and delegation. */
export async function registerSample(
  admin: AdminCall,
  target: { baseUrl: string; projectId: string; origin: string },
): Promise<Settings> {
  const { baseUrl, origin, projectId } = target;
  type Created = { createClient: { client: { clientId: string }; publishableKey: string; secretKey: string } };
  const { createClient } = await admin<Created>(
    `mutation ($input: CreateClientInput!) {
       createClient(input: $input) { client { clientId } publishableKey secretKey } }`,
    {
      input: {
        projectId,
        name: 'Sample shop',
        redirectUris: [`${origin}/callback`],
        postLogoutRedirectUris: [`${origin}/`],
        backchannelLogoutUri: `${origin}/auth/backchannel-logout`,
        pkceRequired: true,
      },
    },
  );
  const { client, publishableKey, secretKey } = createClient;
  const [spSigningKey, spEncryptionKey] = [pemOf('ed25519'), pemOf('x25519')];
  await admin('mutation ($input: RegisterDelegationKeysInput!) { registerDelegationKeys(input: $input) { id } }', {
    input: {
      clientId: client.clientId,
      signingKey: publicPem(spSigningKey),
      encryptionKey: publicPem(spEncryptionKey),
    },
  });
  type Key = { party: string; signingPublicPem: string; encryptionPublicPem: string };
  const shown = await admin<{ client: { delegationKeys: Key[] } }>(
    'query ($id: ID!) { client(id: $id) { delegationKeys { party signingPublicPem encryptionPublicPem } } }',
    { id: client.clientId },
  );
  const theirs = shown.client.delegationKeys.find(({ party }) => party === 'IDP');
  if (!theirs) throw new Error('the client has no delegation keys');
  return {
    baseUrl,
    projectId,
    clientId: client.clientId,
    publishableKey,
    secretKey,
    sessionSecret: randomBytes(32).toString('base64url'),
    spSigningKey,
    spEncryptionKey,
    idpVerifyKey: theirs.signingPublicPem,
    idpEncryptionKey: theirs.encryptionPublicPem,
  };
}

function pemOf(type: 'ed25519' | 'x25519'): string {
  const { privateKey } = generateKeyPairSync(type as 'ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function publicPem(privatePem: string): string {
  return createPublicKey(createPrivateKey(privatePem)).export({ type: 'spki', format: 'pem' }).toString();
}
