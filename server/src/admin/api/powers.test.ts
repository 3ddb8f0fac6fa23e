/** Powers that an application needs a further scope to give, and to give back after an admin has removed them. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { makePair } from '../../../test/back-end.ts';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { administer, machineOf, tokenOf } from '../../../test/machine.ts';
import type { Client } from '../../domain/clients/client.entity.ts';
import type { ClientSettings } from '../../domain/clients/client.resource.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let app: TestApp;
let project: Project;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
});

const uris = ['https://app.example.com/callback'];
/** The settings made by an admin, and the change with which an application gives the power. */
const changes: [power: string, present: Partial<ClientSettings>, change: string][] = [
  ['pages with passkeys', {}, 'relatedOrigins: true'],
  ['more pages with passkeys', { relatedOrigins: true }, 'redirectUris: ["https://evil.example/callback"]'],
  [
    'more pages with passkeys, while disabled',
    { relatedOrigins: true, disabled: true },
    'redirectUris: ["https://evil.example/callback"]',
  ],
  ['sign-in without consent', { thirdParty: true }, 'thirdParty: false'],
  ['passkeys of a third party', { thirdParty: true, relatedOrigins: true }, 'thirdParty: false'],
  ['a disabled application', { disabled: true }, 'disabled: false'],
  ['a disabled third party', { disabled: true, thirdParty: true }, 'disabled: false, thirdParty: false'],
  ['a disabled one, among other changes', { disabled: true }, 'name: "X", disabled: false, expectedVersion: 2'],
];
const scopesOfAll: AdminScope[][] = [
  ['clients:write'],
  ['clients:write', 'users:read'],
  ['clients:write', 'projects:write', 'users:read', 'consent:write', 'audit:read', 'profile:self', 'scim'],
];

const asApplication = async (scopes: AdminScope[]) => tokenOf(await machineOf(app, project, { adminScopes: scopes }));
const stored = async (client: Client) => {
  const found = await app.services.clients.find(app.services.db.reader(), client);
  const { adminScopes, disabledAt, name, redirectUris, relatedOrigins, thirdParty, version } = found as Client;
  return { adminScopes, disabledAt, name, redirectUris, relatedOrigins, thirdParty, version };
};

it.each(changes)(
  '%s needs `users:write` in addition to `clients:write`, and a refusal changes nothing',
  async (_, present, change) => {
    const { client } = await app.make.client(project, { redirectUris: uris });
    await app.services.clients.update(client, { name: 'Present', ...present }, system);
    const before = await stored(client);
    const update = `mutation { updateClient(input: { id: "${client.id}", ${change} }) { id } }`;
    for (const scopes of scopesOfAll) {
      const answer = await administer(app, await asApplication(scopes), update);
      expect([scopes, answer.code]).toEqual([scopes, 'forbidden']);
      expect(await stored(client)).toEqual(before);
    }
    const allowed = await administer(app, await asApplication(['clients:write', 'users:write']), update);
    expect([allowed.code, allowed.data]).toEqual([undefined, { updateClient: { id: client.id } }]);
  },
);

it.each<[string, Partial<ClientSettings>, string]>([
  ['takes each power away', { relatedOrigins: true }, 'relatedOrigins: false, thirdParty: true, disabled: true'],
  [
    'repeats what is set',
    { relatedOrigins: true },
    `relatedOrigins: true, thirdParty: false, disabled: false, redirectUris: ${JSON.stringify(uris)}`,
  ],
  ['changes pages without passkeys', {}, 'redirectUris: ["https://other.example.com/callback"]'],
  [
    'changes a disabled third party',
    { disabled: true, thirdParty: true },
    'name: "Other", disabled: true, thirdParty: true',
  ],
])('`clients:write` alone %s', async (_, present, change) => {
  const { client } = await app.make.client(project, { redirectUris: uris });
  await app.services.clients.update(client, present, system);
  const update = `mutation { updateClient(input: { id: "${client.id}", ${change} }) { id } }`;
  expect((await administer(app, await asApplication(['clients:write']), update)).data).toEqual({
    updateClient: { id: client.id },
  });
});

it('a new application gets no power that its creator cannot give', async () => {
  const create = (change: string) =>
    `mutation { createClient(input: { projectId: "${project.id}", name: "New", ${change} }) { client { id } } }`;
  const weak = await asApplication(['clients:write']);
  for (const change of ['relatedOrigins: true', 'adminScopes: ["users:read"]']) {
    expect([change, (await administer(app, weak, create(change))).code]).toEqual([change, 'forbidden']);
  }
  expect(await app.services.clients.count(app.services.db.reader(), project.id, { search: 'New' })).toBe(0);
  for (const change of ['thirdParty: true', 'thirdParty: false', 'adminScopes: ["clients:read"]']) {
    expect([change, (await administer(app, weak, create(change))).code]).toEqual([change, undefined]);
  }
});

it('an application that an admin makes a third party during the change stays one', async () => {
  const { client } = await app.make.client(project);
  const weak = await asApplication(['clients:write']);
  const update = `mutation { updateClient(input: { id: "${client.id}", thirdParty: false, disabled: false }) { id } }`;
  const { answer } = await app.services.db.transaction(async (em) => {
    await em.execute('update clients set third_party = true, version = version + 1 where id = ?', [client.id]);
    const waiting = administer(app, weak, update);
    await untilLockWaits(app.services.db, 1);
    return { answer: waiting };
  });
  expect((await answer).code).toBe('forbidden');
  expect(await stored(client)).toMatchObject({ thirdParty: true });
});

it.each<[string, (on: Client) => string, AdminScope]>([
  [
    'delegation keys',
    ({ id }) => {
      const { signing, encryption } = makePair().publicPem;
      const keys = `signingKey: ${JSON.stringify(signing)}, encryptionKey: ${JSON.stringify(encryption)}`;
      return `registerDelegationKeys(input: { clientId: "${id}", ${keys} }) { party }`;
    },
    'clients:write',
  ],
  [
    'test mode',
    ({ project: { id } }) => `updateProject(input: { id: "${id}", testMode: true }) { id }`,
    'projects:write',
  ],
  [
    'a directory that an admin has stopped',
    ({ project: { id } }) => `updateProject(input: { id: "${id}", scimEnabled: true }) { id }`,
    'projects:write',
  ],
  [
    'a custom domain',
    ({ project: { id } }) => `createCustomDomain(projectId: "${id}", host: "login.example.org") { id }`,
    'projects:write',
  ],
])('%s need `users:write` in addition to their own scope', async (_, operation, scope) => {
  const { client } = await app.make.client(project);
  const change = `mutation { ${operation(client)} }`;
  for (const scopes of [[scope], [scope, 'users:read'], ['users:write']] satisfies AdminScope[][]) {
    expect([scopes, (await administer(app, await asApplication(scopes), change)).code]).toEqual([scopes, 'forbidden']);
  }
  expect((await administer(app, await asApplication([scope, 'users:write']), change)).code).toBeUndefined();
});
