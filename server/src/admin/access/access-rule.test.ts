import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let other: Project;
let clientId: string;
let ada: User;
let bob: User;
const none = '00000000-0000-7000-8000-000000000000';

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
});
afterAll(() => harness.close());

beforeEach(async () => {
  project = await make.project({ name: 'Acme' });
  other = await make.project({ name: 'Other' });
  clientId = (await make.client(project, { name: 'Wiki', access: 'assigned' })).client.id;
  [ada, bob] = [await make.user(project), await make.user(project)];
});

const shown = 'id client { id } user { id } group { id } role { key }';
const grant = (input: object) =>
  harness.call(`mutation ($input: GrantAccessInput!) { grantAccess(input: $input) { ${shown} } }`, {
    input: { clientId, ...input },
  });
const revoke = (id: string) => harness.call('mutation ($id: ID!) { revokeAccess(id: $id) }', { id });
const group = async (members: string[], of = project) =>
  (await harness.services.groups.create(of.id, { displayName: 'Staff', externalId: null }, members, system)).id;
const role = (of = clientId) =>
  harness.services.roles.create(keyIn(project.id, of), { key: 'editor', name: 'Editor' }, system);
const count = async () =>
  (await harness.call(`{ usersWithAccess(clientId: "${clientId}") { count isLimited } }`)).data.usersWithAccess;
const applications = async (userId: string) => {
  const answer = await harness.call(
    `{ userApplications(userId: "${userId}") { totalCount edges { node { client { id } through { ${shown} } } } } }`,
  );
  return answer.data.userApplications.edges.map(
    ({ node }: { node: { client: { id: string }; through: { id: string }[] } }) => [
      node.client.id,
      node.through.map(({ id }) => id),
    ],
  );
};
const events = async () =>
  (
    await harness.services.db
      .reader()
      .find(AuditEvent, { projectId: project.id, type: { $in: ['access.granted', 'access.revoked'] } } as never, {
        orderBy: { id: 'asc' },
      })
  ).map(({ type, subjectKind, clientId: client }) => [type, subjectKind, client]);

describe('an access rule', () => {
  it('names a user, a group or a role of the application, and is listed, counted and revoked', async () => {
    const groupId = await group([ada.id]);
    await role();
    const made = [];
    for (const holder of [{ userId: bob.id }, { groupId }, { roleKey: 'editor' }]) {
      const { data, errors } = await grant(holder);
      expect(errors).toEqual([]);
      made.push(data.grantAccess);
      // Idempotent.
      expect((await grant(holder)).data.grantAccess.id).toBe(data.grantAccess.id);
    }
    expect(made).toMatchObject([
      { client: { id: clientId }, user: { id: bob.id }, group: null, role: null },
      { user: null, group: { id: groupId }, role: null },
      { user: null, group: null, role: { key: 'editor' } },
    ]);
    const ids = made.map(({ id }) => id).reverse();
    const list = await harness.call(`{ accessRules(clientId: "${clientId}") { totalCount edges { node { id } } }
      client(id: "${clientId}") { access } }`);
    expect(list.data.accessRules.totalCount).toBe(3);
    expect(list.data.accessRules.edges.map(({ node }: { node: { id: string } }) => node.id)).toEqual(ids);
    expect(list.data.client).toEqual({ access: 'ASSIGNED' });
    expect((await revoke(made[0].id)).data).toEqual({ revokeAccess: made[0].id });
    expect((await revoke(made[0].id)).code).toBe('not-found');
    expect(await events()).toEqual([
      ['access.granted', 'user', clientId],
      ['access.granted', 'group', clientId],
      ['access.granted', 'role', clientId],
      ['access.revoked', 'user', clientId],
    ]);
  });

  it('names exactly one holder', async () => {
    for (const holder of [{}, { userId: ada.id, groupId: none }, { userId: ada.id, roleKey: 'editor' }]) {
      expect((await grant(holder)).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'userId' });
    }
  });

  it('never names a user, group, role or client of another project, nor a role of another application', async () => {
    const theirs = await make.user(other);
    const theirClient = (await make.client(other)).client.id;
    const { id: second } = (await make.client(project)).client;
    await role(second);
    for (const [holder, what] of [
      [{ userId: theirs.id }, 'user'],
      [{ groupId: await group([], other) }, 'group'],
      [{ roleKey: 'editor' }, 'role'],
      [{ userId: none }, 'user'],
      [{ clientId: theirClient, userId: ada.id }, 'user'],
    ] as const) {
      expect((await grant(holder)).errors[0].extensions).toMatchObject({ code: 'not-found', what });
    }
    // Also past the service.
    for (const column of ['user_id', 'client_id']) {
      const insert = query(
        harness.services.db.alone,
        sql`insert into access_rules (project_id, id, client_id, user_id, created_at)
          values (${project.id}, gen_random_uuid(), ${column === 'client_id' ? theirClient : clientId},
            ${column === 'user_id' ? theirs.id : ada.id}, now())`,
      );
      await expect(insert).rejects.toMatchObject({ constraint: `access_rules_project_id_${column}_foreign` });
    }
  });

  it('is deleted with its user, group or role', async () => {
    const groupId = await group([ada.id]);
    const { id: roleId } = await role();
    for (const holder of [{ userId: bob.id }, { groupId }, { roleKey: 'editor' }]) await grant(holder);
    await harness.services.groups.remove(project.id, groupId, system);
    await harness.services.roles.delete(keyIn(project.id, roleId), system);
    await harness.services.accountAccess.erase(project.id, bob.id, system);
    expect((await harness.call(`{ accessRules(clientId: "${clientId}") { totalCount } }`)).data.accessRules).toEqual({
      totalCount: 0,
    });
  });
});

describe('the users who may use an application', () => {
  it('are counted once each, by all rules, and are the same as those who have it', async () => {
    const inner = await group([ada.id]);
    const outer = await group([inner, bob.id]);
    const carl = await make.user(project, { attributes: { roles: [{ value: 'editor' }] } });
    const dora = await make.user(project);
    const eve = await make.user(project, { active: false });
    const { id: roleId } = await role();
    await harness.services.roles.assign(keyIn(project.id, roleId), { userId: dora.id }, system);
    expect(await count()).toEqual({ count: 0, isLimited: false });
    await grant({ userId: ada.id });
    await grant({ userId: eve.id });
    expect(await count()).toEqual({ count: 1, isLimited: false });
    await grant({ groupId: outer });
    expect(await count()).toEqual({ count: 2, isLimited: false });
    await grant({ roleKey: 'editor' });
    expect(await count()).toEqual({ count: 4, isLimited: false });
    const having = [];
    for (const user of [ada, bob, carl, dora]) {
      having.push((await applications(user.id)).map(([id]: [string]) => id));
    }
    expect(having).toEqual(Array(4).fill([clientId]));
    await harness.call(`mutation { updateClient(input: { id: "${clientId}", access: EVERYONE }) { access } }`);
    expect(await count()).toEqual({ count: 4, isLimited: false });
    await make.user(project);
    expect(await count()).toEqual({ count: 5, isLimited: false });
    // The count with `ASSIGNED`, before the change.
    const { data } = await harness.call(
      `{ assigned: usersWithAccess(clientId: "${clientId}", access: ASSIGNED) { count } }`,
    );
    expect(data.assigned).toEqual({ count: 4 });
  });

  it('see each application with the rules that give access', async () => {
    const { client: open } = await make.client(project);
    await make.client(project, { access: 'assigned' });
    const groupId = await group([ada.id]);
    const rules = [
      (await grant({ userId: ada.id })).data.grantAccess.id,
      (await grant({ groupId })).data.grantAccess.id,
    ];
    expect(await applications(ada.id)).toEqual([
      [open.id, []],
      [clientId, rules.reverse()],
    ]);
    expect(await applications(bob.id)).toEqual([[open.id, []]]);
  });
});

it('a preview of a sign-in says that the user has no access', async () => {
  const { data } = await harness.call(
    `{ viewAs(clientId: "${clientId}", userId: "${ada.id}", scopes: ["openid"]) { signIns { denied } } }`,
  );
  expect(data.viewAs.signIns).toEqual([{ denied: 'NO_ACCESS' }]);
});
