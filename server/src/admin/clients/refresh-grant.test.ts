import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import type { Client } from '../../domain/clients/client.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import type { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let project: Project;
const users: User[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  harness = await openAdminHarness();
  const { services } = harness;
  project = await services.projects.create({ name: 'Acme' }, system);
  for (const name of ['ada', 'grace']) {
    users.push(
      await services.db.transaction((em) => services.users.signUp(em, project.id, `${name}@example.com`, system)),
    );
    const settings = { projectId: project.id, name, grantTypes: ['refresh_token' as const] };
    clients.push((await services.clients.create(settings, system)).client);
  }
  for (const client of clients) for (const user of users) await harness.refreshGrantOf(client, user);
});
afterAll(() => harness.close());

const list = `query ($projectId: ID!, $userId: ID, $clientId: ID, $first: Int, $after: String) {
  refreshGrants(projectId: $projectId, userId: $userId, clientId: $clientId, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id scope offline expiresAt client { id } user { id } } } } }`;
const revoke = 'mutation ($id: ID!) { revokeRefreshGrant(id: $id) }';
const revokeAll = 'mutation ($clientId: ID!) { revokeRefreshGrants(clientId: $clientId) }';
const update = 'mutation ($input: UpdateClientInput!) { updateClient(input: $input) { refreshTokenIdleSeconds } }';

type Node = { id: string; expiresAt: string; client: { id: string }; user: { id: string } };
async function grants(of: object = {}): Promise<{ totalCount: number; nodes: Node[]; endCursor: string }> {
  const { data, errors } = await harness.call(list, { projectId: project.id, ...of });
  expect(errors).toEqual([]);
  const { edges, pageInfo, totalCount } = data.refreshGrants;
  return { totalCount, nodes: edges.map(({ node }: { node: Node }) => node), endCursor: pageInfo.endCursor };
}
const eventsOf = async (type: string) =>
  (
    await harness.call(`query ($id: ID!) { auditEvents(projectId: $id) { edges { node { type subject { id } } } } }`, {
      id: project.id,
    })
  ).data.auditEvents.edges
    .map(({ node }: { node: { type: string } }) => node)
    .filter((node: { type: string }) => node.type === type);

describe('refresh grants', () => {
  it('are listed by user and client, page by page, with the time at which they end', async () => {
    expect((await grants()).totalCount).toBe(4);
    const [ada] = users;
    const ofAda = await grants({ userId: ada?.id });
    expect(ofAda.nodes.map(({ user }) => user.id)).toEqual([ada?.id, ada?.id]);
    const ofBoth = await grants({ userId: ada?.id, clientId: clients[1]?.id });
    expect(ofBoth.nodes.map(({ client }) => client.id)).toEqual([clients[1]?.id]);
    const first = await grants({ first: 3 });
    const rest = await grants({ first: 3, after: first.endCursor });
    expect(new Set([...first.nodes, ...rest.nodes].map(({ id }) => id)).size).toBe(4);
    expect((await harness.call(list, { projectId: project.id, userId: 'x' })).errors[0]?.extensions).toMatchObject({
      field: 'userId',
    });
    const days = (Date.parse(first.nodes[0]?.expiresAt ?? '') - harness.clock.now().getTime()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
  });

  it('end sooner if the client has a shorter lifetime, and never later', async () => {
    const input = { id: clients[0]?.id, refreshTokenIdleSeconds: 3600 };
    expect((await harness.call(update, { input })).data.updateClient).toEqual({ refreshTokenIdleSeconds: 3600 });
    const ends = async (index: number) =>
      Date.parse((await grants({ clientId: clients[index]?.id })).nodes[0]?.expiresAt ?? '') -
      harness.clock.now().getTime();
    expect(await ends(0)).toBeLessThanOrEqual(3600_000);
    await harness.call(update, { input: { id: clients[1]?.id, refreshTokenIdleSeconds: 80 * 86_400 } });
    expect(await ends(1)).toBeLessThanOrEqual(7 * 86_400_000);
    const refused = await harness.call(update, { input: { id: clients[0]?.id, refreshTokenTtlSeconds: 59 } });
    expect(refused.errors[0]?.extensions).toMatchObject({ code: 'invalid', field: 'refreshTokenTtlSeconds' });
    harness.clock.turn(3601);
    expect((await grants({ clientId: clients[0]?.id })).totalCount).toBe(0);
    const cleared = await harness.call(update, { input: { id: clients[0]?.id, refreshTokenIdleSeconds: null } });
    expect(cleared.data.updateClient).toEqual({ refreshTokenIdleSeconds: null });
    expect((await grants({ clientId: clients[0]?.id })).totalCount).toBe(2);
  });

  it('are left out while their sign-in does not meet the policy, also of pages that begin or end with such', async () => {
    const [ada] = users;
    await harness.services.projects.update(project.id, { mfaPolicy: 'required' }, system);
    await harness.services.db.transaction(async (em) => {
      const factor = { user: ada as User, deviceId: null, method: 'totp', phone: null } as const;
      (await harness.services.mfa.begin(em, factor)).verifiedAt = harness.clock.now();
    });
    const first = await grants({ first: 1 });
    const second = await grants({ first: 1, after: first.endCursor });
    expect([first.totalCount, (await grants({ first: 1, after: second.endCursor })).nodes]).toEqual([2, []]);
    expect([...first.nodes, ...second.nodes].map(({ user, client }) => [user.id, client.id])).toEqual([
      [ada?.id, clients[1]?.id],
      [ada?.id, clients[0]?.id],
    ]);
    await harness.services.projects.update(project.id, { mfaPolicy: 'off' }, system);
  });

  it('are revoked one by one, or all of a client, with one event each', async () => {
    const [one] = (await grants({ clientId: clients[0]?.id })).nodes;
    for (let times = 0; times < 2; times += 1) {
      expect((await harness.call(revoke, { id: one?.id })).data.revokeRefreshGrant).toBe(one?.id);
    }
    expect(await eventsOf('refresh-grant.revoked')).toEqual([
      { type: 'refresh-grant.revoked', subject: { id: one?.user.id } },
    ]);
    expect((await grants()).totalCount).toBe(3);
    for (let times = 0; times < 2; times += 1) await harness.call(revokeAll, { clientId: clients[1]?.id });
    expect((await grants()).nodes.map(({ client }) => client.id)).toEqual([clients[0]?.id]);
    expect(await eventsOf('refresh-grants.revoked')).toHaveLength(1);
  });
});
