import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { system } from '../../domain/kernel/actor.ts';
import { keyIn } from '../../domain/projects/tenant.ts';

let harness: AdminHarness;
let id: string;
let other: string;
let webhookId: string;
let clientId: string;

beforeAll(async () => {
  // On https, test mode depends on the number of users.
  harness = await openAdminHarness({ issuer: 'https://id.example.com' });
  const { clients, projects, webhooks } = harness.services;
  id = (await projects.create({ name: 'Acme', testMode: true }, system)).id;
  other = (await projects.create({ name: 'Acme two', testMode: true }, system)).id;
  clientId = (await clients.create({ projectId: id, name: 'App' }, system)).client.id;
  const settings = { url: 'https://hooks.example.com/', types: ['group.deleted'], description: '' };
  webhookId = (await webhooks.create(id, settings, system)).webhook.id;
});
afterAll(() => harness.close());

const project = 'project { contents(exact: true) { sessions } few: contents { sessions } testMode usage { users } }';
/** Lists of nodes of one project, with the fields that run statements. */
const lists: Record<string, { query: string; add(name: string): Promise<unknown> }> = {
  users: {
    query: `users(projectId: "%project", first: 100) { edges { node { ${project} customValues { hasValue } } } }`,
    add: (name) =>
      harness.services.db.transaction((em) => harness.services.users.signUp(em, id, `${name}@e.com`, system)),
  },
  groups: {
    query: `groups(projectId: "%project", first: 100) { edges { node { memberCount(exact: true) isMemberCountLimited ${project} } } }`,
    add: (name) => harness.services.localGroups.create(id, name, system),
  },
  clients: {
    query: `clients(projectId: "%project", first: 50) { edges { node { apiKeys { id } clientSecrets { id } delegationKeys { id } ${project} } } }`,
    add: (name) => harness.services.clients.create({ projectId: id, name }, system),
  },
  roles: {
    query: `roles(clientId: "%client") { userCount groupCount client { name ${project} } }`,
    add: (name) => harness.services.roles.create(keyIn(id, clientId), { key: name, name }, system),
  },
  webhookDeliveries: {
    query: 'webhookDeliveries(webhookId: "%webhook", first: 100) { edges { node { payload } } }',
    add: async () =>
      harness.services.webhooks.test(
        await harness.services.webhooks.get(harness.services.db.reader(), keyIn(id, webhookId)),
        system,
      ),
  },
  auditEvents: {
    query: `auditEvents(projectId: "%project", first: 100) { edges { node { person { name } client { name } ${project} } } }`,
    add: (name) => harness.services.localGroups.create(id, name, system),
  },
};

it.each(Object.entries(lists))('%s need as many statements for ten nodes as for two', async (name, { query, add }) => {
  const text = query.replace('%project', id).replace('%client', clientId).replace('%webhook', webhookId);
  const statements = () =>
    statementsDuring(async () => {
      const { errors } = await harness.call(`{ ${text} }`);
      expect(errors).toEqual([]);
    });
  for (let at = 0; at < 2; at += 1) await add(`${name}${at}`);
  await statements();
  const few = await statements();
  for (let at = 2; at < 10; at += 1) await add(`${name}${at}`);
  expect(await statements()).toHaveLength(few.length);
});

it('counts the contents of each project of a list', async () => {
  const { data } = await harness.call(
    '{ projects(search: "Acme") { edges { node { id contents(exact: true) { clients users } } } } }',
  );
  const counted = data.projects.edges.map(({ node }: { node: { id: string; contents: object } }) => [
    node.id,
    node.contents,
  ]);
  expect(counted).toEqual([
    [other, { clients: 0, users: 0 }],
    [id, { clients: expect.any(Number), users: 10 }],
  ]);
});
