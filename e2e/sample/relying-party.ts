import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';

/** What the sample needs to know of its client. It holds secrets: whoever keeps it keeps it to themselves. */
export interface Settings {
  /** Latchkey's base address. */
  baseUrl: string;
  projectId: string;
  clientId: string;
  /** For the page. */
  publishableKey: string;
  /** For the back end. */
  secretKey: string;
  /** Keys of delegation: ours, and Latchkey's public halves. PEM. */
  spSigningKey: string;
  spEncryptionKey: string;
  idpVerifyKey: string;
  idpEncryptionKey: string;
}

/** The admin API, as a tool calls it. */
export type AdminCall = <T>(query: string, variables?: object) => Promise<T>;

export function adminCall(baseUrl: string, token: string): AdminCall {
  return async <T>(query: string, variables: object = {}) => {
    const response = await fetch(`${baseUrl}/admin/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data?: T; errors?: unknown };
    if (!data || errors) throw new Error(`The admin API refused: ${JSON.stringify(errors)}`);
    return data;
  };
}

/** The demo project, which the embedded database has from its first start. */
export async function demoProject(admin: AdminCall): Promise<string> {
  type Projects = { projects: { edges: { node: { id: string; builtIn: string | null } }[] } };
  const { edges } = (await admin<Projects>('{ projects(first: 100) { edges { node { id builtIn } } } }')).projects;
  const demo = edges.find(({ node }) => node.builtIn === 'DEMO');
  if (!demo) throw new Error('There is no demo project here: it was deleted, or this is not the embedded database.');
  return demo.node.id;
}

/** Makes the sample's client in a project, with keys for the page, the back end and delegation. */
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
        backchannelLogoutUri: `${origin}/backchannel-logout`,
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
  if (!theirs) throw new Error('Latchkey has made no delegation keys for this client.');
  return {
    baseUrl,
    projectId,
    clientId: client.clientId,
    publishableKey,
    secretKey,
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
