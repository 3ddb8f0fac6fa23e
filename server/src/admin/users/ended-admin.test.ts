/** Admins whose account passes to another person, or is erased. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapToken, buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { rows } from '../../../test/rows.ts';
import { newAddress } from '../../../test/signin-world.ts';
import { everything } from '../../domain/admins/permission.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let app: TestApp;
let console: Project;
let project: Project;
const by = { grants: everything, actor: system };

beforeAll(async () => {
  app = await buildTestApp();
  ({ console } = await app.services.seed.create({ demo: false }));
  project = await app.make.project();
  await app.services.admins.grantRole({ email: newAddress(), role: 'owner' }, by);
});
afterAll(() => app.close());

async function graphql(query: string, variables: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/admin/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bootstrapToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: Record<string, unknown>; errors?: object[] };
  expect(errors).toBeUndefined();
  return data;
}

/** An owner who is also an admin of the project, with an API token for each. */
async function admin() {
  const { admins } = app.services;
  const email = newAddress();
  const owner = await admins.grantRole({ email, role: 'owner' }, by);
  await admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
  const { id } = owner.user;
  const creator = { ...by, userId: id };
  const ofInstance = await admins.createToken({ name: `Instance of ${id}`, role: 'owner' }, creator);
  const ofProject = await admins.createToken(
    { name: `Project of ${id}`, role: 'project_admin', projectId: project.id },
    creator,
  );
  return { email, id, membershipId: owner.id, tokens: [ofInstance, ofProject] };
}

type Admin = Awaited<ReturnType<typeof admin>>;

/** Whether each of the admin's tokens is shown as revoked, as for an owner. */
async function revoked({ tokens }: Admin): Promise<boolean[]> {
  const { ofInstance, ofProject } = (await graphql(
    `query ($id: ID) { ofInstance: adminTokens { id revokedAt } ofProject: adminTokens(projectId: $id) { id revokedAt } }`,
    { id: project.id },
  )) as Record<string, { id: string; revokedAt: string | null }[]>;
  const shown = [...(ofInstance ?? []), ...(ofProject ?? [])];
  return tokens.map(({ adminToken }) => shown.find(({ id }) => id === adminToken.id)?.revokedAt != null);
}

/** The events that end the rights of the admin: type, project and name. */
async function endings({ id, tokens }: Admin): Promise<unknown[][]> {
  const events = await rows<{ type: string; project_id: string; subject_name: string }>(
    app.services.db,
    `select type, project_id, subject_name from audit_log where type in ('membership.revoked', 'admin-token.revoked')
      and (detail->>'userId' = ? or subject_id = any(?::text[])) order by type desc, project_id`,
    [id, tokens.map(({ adminToken }) => adminToken.id)],
  );
  return events.map(({ type, project_id, subject_name }) => [type, project_id === project.id, subject_name]);
}

async function change({ id }: Admin, action: 'ACTIVATE' | 'DEACTIVATE' | 'ERASE'): Promise<void> {
  const input = { projectId: console.id, userIds: [id], action };
  const { changeUsers } = await graphql(
    'mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done message } }',
    { input },
  );
  expect(changeUsers).toEqual([{ done: true, message: null }]);
}

describe('the roles and API tokens of an admin', () => {
  it('are revoked, with events in their projects, when the account passes to another person', async () => {
    const one = await admin();
    await change(one, 'DEACTIVATE');
    const input = { id: one.id, email: newAddress() };
    await graphql('mutation ($input: UpdateUserInput!) { updateUser(input: $input) { id } }', { input });
    await change(one, 'ACTIVATE');
    expect(await revoked(one)).toEqual([true, true]);
    expect(await endings(one)).toEqual(
      expect.arrayContaining([
        ['membership.revoked', true, one.email],
        ['membership.revoked', false, one.email],
        ['admin-token.revoked', true, `Project of ${one.id}`],
        ['admin-token.revoked', false, `Instance of ${one.id}`],
      ]),
    );
    expect(await endings(one)).toHaveLength(4);
  });

  it('are revoked when the user is erased, whom no event of a project names then', async () => {
    const one = await admin();
    await change(one, 'ERASE');
    expect(await revoked(one)).toEqual([true, true]);
    expect((await endings(one)).filter(([type]) => type === 'membership.revoked')).toHaveLength(2);
    const named = await rows(app.services.db, 'select from audit_log where subject_name = ? or detail::text like ?', [
      one.email,
      `%${one.email}%`,
    ]);
    expect(named).toEqual([]);
  });

  it('stay when the same person returns', async () => {
    const one = await admin();
    await change(one, 'DEACTIVATE');
    await change(one, 'ACTIVATE');
    expect([await revoked(one), await endings(one)]).toEqual([[false, false], []]);
  });

  it('end one by one: a token is revoked with the last role that it has rights from', async () => {
    const { admins, db } = app.services;
    const one = await admin();
    await admins.revokeRole(one.membershipId, by);
    // The token of the instance still has the rights of the project.
    expect(await revoked(one)).toEqual([false, false]);
    const left = (await admins.memberships(db.reader(), project.id)).find(({ user }) => user.id === one.id);
    await graphql('mutation ($id: ID!) { revokeRole(id: $id) }', { id: left?.id });
    expect(await revoked(one)).toEqual([true, true]);
    await admins.grantRole({ email: one.email, role: 'owner' }, by);
    const found = await Promise.all(one.tokens.map(({ token }) => admins.byToken(db.reader(), token)));
    expect(found).toEqual([null, null]);
  });

  it('work, also if the role was granted by a process whose clock is ahead', async () => {
    const { admins, db } = app.services;
    app.clock.turn(50);
    const { user } = await admins.grantRole({ email: newAddress(), role: 'owner' }, by);
    app.clock.turn(-50);
    const { token } = await admins.createToken({ name: 'Script', role: 'owner' }, { ...by, userId: user.id });
    expect((await admins.byToken(db.reader(), token))?.grants.owner).toBe(true);
  });
});
