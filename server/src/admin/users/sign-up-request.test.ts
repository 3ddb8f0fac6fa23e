import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import type { Client } from '../../domain/clients/client.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let client: Client;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
});
afterAll(() => harness.close());

beforeEach(async () => {
  project = await make.project({ name: 'Acme', signUp: 'approval' });
  client = (await make.client(project)).client;
});

const list = (state?: string) =>
  harness.call(
    `query ($projectId: ID!) { signUpRequests(projectId: $projectId${state ? `, state: ${state}` : ''}) {
      totalCount edges { node { id address state createdAt expiresAt } } } }`,
    { projectId: project.id },
  );
const nodes = async (state?: string) =>
  (await list(state)).data?.['signUpRequests'].edges.map(({ node }: { node: { id: string } }) => node.id);
const approve = (id: string, headers?: Record<string, string>) =>
  harness.call('mutation ($id: ID!) { approveSignUp(id: $id) { id userName email } }', { id }, headers);
const decline = (id: string) => harness.call('mutation ($id: ID!) { declineSignUp(id: $id) { id state } }', { id });

describe('requests to sign up', () => {
  it('are listed newest first, by state, without expired ones', async () => {
    const first = await harness.signUpRequestOf(client);
    const second = await harness.signUpRequestOf(client);
    expect(await nodes()).toEqual([second, first]);
    await decline(second);
    expect([await nodes(), await nodes('DECLINED')]).toEqual([[first], [second]]);
    harness.clock.turn(30 * 24 * 3600);
    expect([await nodes(), await nodes('DECLINED')]).toEqual([[], []]);
  });

  it('become users when they are approved', async () => {
    const id = await harness.signUpRequestOf(client);
    const { approveSignUp: user } = (await approve(id)).data ?? {};
    expect(user).toMatchObject({ userName: user.email });
    expect(await nodes()).toEqual([]);
    expect((await approve(id)).errors).toMatchObject([{ extensions: { code: 'not-found' } }]);
  });

  it('are decided by admins of their project, not by viewers or by admins of another one', async () => {
    const id = await harness.signUpRequestOf(client);
    const other = await make.project({ name: 'Other' });
    const owner = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    const tokenFor = async (projectId: string, role: 'project_admin' | 'project_viewer') =>
      (await harness.services.admins.createToken({ projectId, name: role, role }, owner)).token;
    const refused = [await tokenFor(project.id, 'project_viewer'), await tokenFor(other.id, 'project_admin')];
    for (const token of refused) {
      const { errors } = await approve(id, { Authorization: `Bearer ${token}` });
      expect(errors).toMatchObject([{ extensions: { code: expect.stringMatching(/forbidden|not-found/) } }]);
    }
    expect(await nodes()).toEqual([id]);
    const token = await tokenFor(project.id, 'project_admin');
    expect((await approve(id, { Authorization: `Bearer ${token}` })).data?.['approveSignUp']).toMatchObject({
      id: expect.any(String),
    });
  });
});
