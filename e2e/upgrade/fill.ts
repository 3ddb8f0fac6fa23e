import { generateKeyPairSync } from 'node:crypto';
import { type App, Person } from '../chaos/support/person.ts';
import type { World } from '../chaos/support/world.ts';
import type { Fixture } from './fixture.ts';

const redirectUri = 'http://127.0.0.1:9/callback';
const deliveryAddress = 'http://127.0.0.1:9/logout';

/** Fills a database through the interfaces of its release. Requests use features of the first release only. */
export async function fill(world: World): Promise<Omit<Fixture, 'baseUrl' | 'masterKey'>> {
  const acme = await createProject(world, 'Acme', { mfaPolicy: 'OFF' });
  const sdkApp = await createApp(world, acme, { name: 'Acme app' });
  const hostedApp = await createApp(world, acme, { name: 'Acme portal', backchannelLogoutUri: deliveryAddress });
  const globex = await createProject(world, 'Globex', { mfaPolicy: 'REQUIRED', offeredFactors: ['TOTP'] });
  const factorApp = await createApp(world, globex, { name: 'Globex app' });
  const sdk = await signIn(sdkApp, 'sdk', 8, (person) => person.signIn());
  const hosted = await signIn(hostedApp, 'hosted', 8, (person) => person.signInHosted());
  const factors = await signIn(factorApp, 'factor', 3, (person) => person.signIn());
  const directory = await fillDirectory(world);
  await administer(world, acme, hostedApp.clientId);
  const adminToken = await issueAdminToken(world, {});
  await end(world, sdkApp, hostedApp);
  const saved = (people: readonly Person[]) => people.map((person) => person.save());
  return {
    adminToken,
    sdk: { app: sdkApp, people: saved(sdk) },
    factors: { app: factorApp, people: saved(factors) },
    hosted: { app: hostedApp, people: saved(hosted) },
    directory,
  };
}

async function createProject({ admin }: World, name: string, policies: object): Promise<string> {
  const id = await admin.createProject(name);
  const query = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await admin.run(query, { input: { id, testMode: true, ...policies } });
  return id;
}

async function createApp({ admin, issuer }: World, projectId: string, settings: object): Promise<App> {
  const query = `mutation ($input: CreateClientInput!) {
    createClient(input: $input) { client { clientId } publishableKey secretKey } }`;
  type Created = { createClient: { client: { clientId: string }; publishableKey: string; secretKey: string } };
  const input = { projectId, redirectUris: [redirectUri], ...settings };
  const { client, ...keys } = (await admin.run<Created>(query, { input })).createClient;
  return { issuer, projectId, redirectUri, clientId: client.clientId, ...keys };
}

async function signIn(app: App, name: string, count: number, how: (person: Person) => Promise<void>) {
  const people = Array.from({ length: count }, (_, index) => new Person(app, `${name}-${index}@example.com`));
  for (const person of people) await how(person);
  return people;
}

async function fillDirectory({ admin, issuer }: World): Promise<Fixture['directory']> {
  const projectId = await admin.createProject('Initech');
  const scimToken = await admin.issueScimToken(projectId);
  const scim = async (method: string, path: string, resource?: object): Promise<string> => {
    const answer = await fetch(`${issuer}/v1/scim/${projectId}${path}`, {
      method,
      headers: { Authorization: `Bearer ${scimToken}`, 'Content-Type': 'application/scim+json' },
      ...(resource && { body: JSON.stringify(resource) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? '' : (JSON.parse(text) as { id: string }).id;
  };
  const userIds: string[] = [];
  for (let index = 0; index < 30; index += 1) {
    userIds.push(
      await scim('POST', '/Users', {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: `employee-${index}@example.com`,
        externalId: `e-${index}`,
        displayName: `Employee ${index} Ünïcode "quoted" \\`,
        name: { givenName: 'Employee', familyName: String(index) },
        emails: [{ value: `employee-${index}@example.com`, type: 'work', primary: true }],
        phoneNumbers: [{ value: `+4930123${1000 + index}`, type: 'mobile' }],
        active: index % 10 !== 0,
      }),
    );
  }
  for (let index = 0; index < 3; index += 1) {
    const members = userIds.filter((_, user) => user % 3 === index).map((value) => ({ value }));
    const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: `Group ${index}`, members };
    await scim('POST', '/Groups', group);
  }
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
  const Operations = [{ op: 'replace', path: 'title', value: 'Manager' }];
  await scim('PATCH', `/Users/${userIds[1]}`, { schemas, Operations });
  await scim('DELETE', `/Users/${userIds.pop()}`);
  return { projectId, scimToken, userIds };
}

/** Admins, tokens, keys of a back end, branding. */
async function administer(world: World, projectId: string, clientId: string): Promise<void> {
  const { admin } = world;
  const grant = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }';
  await admin.run(grant, { input: { email: 'owner@example.com', role: 'OWNER' } });
  await admin.run(grant, { input: { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } });
  await issueAdminToken(world, { role: 'PROJECT_ADMIN', projectId });
  const [signing, encryption] = [generateKeyPairSync('ed25519'), generateKeyPairSync('x25519')].map(({ publicKey }) =>
    publicKey.export({ format: 'pem', type: 'spki' }),
  );
  await admin.run('mutation ($input: RegisterDelegationKeysInput!) { registerDelegationKeys(input: $input) { id } }', {
    input: { clientId, signingKey: signing, encryptionKey: encryption },
  });
  const save = 'mutation ($input: SaveExperienceDraftInput!) { saveExperienceDraft(input: $input) { draftVersion } }';
  await admin.run(save, { input: { projectId, displayName: 'Acme Inc.', accent: '#2f55d4' } });
  await admin.run('mutation ($input: PublishExperienceInput!) { publishExperience(input: $input) { draftVersion } }', {
    input: { projectId },
  });
  await admin.run(save, { input: { projectId, displayName: 'Acme (draft)', accent: '#112233' } });
  await admin.run('mutation { rotateSigningKeys { id } }');
}

async function issueAdminToken({ admin }: World, input: { role?: string; projectId?: string }): Promise<string> {
  const query = 'mutation ($input: IssueAdminTokenInput!) { issueAdminToken(input: $input) { token } }';
  const { issueAdminToken: issued } = await admin.run<{ issueAdminToken: { token: string } }>(query, {
    input: { name: 'automation', role: 'OWNER', ...input },
  });
  return issued.token;
}

/** Leaves ended and unfinished work: a session, a device, a key; a code, a pending notice. */
async function end(world: World, sdkApp: App, hostedApp: App): Promise<void> {
  const { admin } = world;
  const gone = new Person(hostedApp, 'gone@example.com');
  await gone.signInHosted();
  await endSessions(world, String(gone.sub));
  const revoked = new Person(sdkApp, 'revoked@example.com');
  await revoked.signIn();
  await admin.revokeDevices(String(revoked.sub));
  type Issued = { issueApiKey: { apiKey: { id: string } } };
  const issue = 'mutation ($id: ID!) { issueApiKey(clientId: $id, kind: SECRET) { apiKey { id } } }';
  const { apiKey } = (await admin.run<Issued>(issue, { id: sdkApp.clientId })).issueApiKey;
  await admin.run('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: apiKey.id });
  const deactivated = new Person(sdkApp, 'deactivated@example.com');
  await deactivated.signIn();
  await admin.run('mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done } }', {
    input: { projectId: sdkApp.projectId, userIds: [deactivated.sub], action: 'DEACTIVATE' },
  });
  await world.mail.close();
  await new Person(sdkApp, 'sdk-0@example.com').signIn();
  await new Person(sdkApp, 'unfinished@example.com').askForOtp();
}

async function endSessions({ admin }: World, userId: string): Promise<void> {
  const query = 'query ($id: ID!) { userAccess(userId: $id) { sessions { id } } }';
  type Access = { userAccess: { sessions: { id: string }[] } };
  for (const { id } of (await admin.run<Access>(query, { id: userId })).userAccess.sessions) {
    await admin.run('mutation ($id: ID!) { endUserSession(id: $id) }', { id });
  }
}
