import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { atOnce } from '../../../test/at-once.ts';
import { Factories } from '../../../test/factories.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let other: Project;
let clientId: string;
let ada: User;
let staff: string;
let count = 0;
const none = '00000000-0000-7000-8000-000000000000';

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
  project = await make.project({ name: 'Acme' });
  other = await make.project({ name: 'Other' });
  clientId = (await make.client(project, { name: 'Wiki' })).client.id;
});
afterAll(() => harness.close());

beforeEach(async () => {
  count += 1;
  ada = await make.user(project, { userName: `ada${count}`, userNameKey: `ada${count}` });
  staff = (
    await harness.services.groups.create(
      project.id,
      { displayName: `Staff ${count}`, externalId: null },
      [ada.id],
      system,
    )
  ).id;
});

const create = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: CreateRoleInput!) { createRole(input: $input) { id key name description userCount groupCount client { id } } }`,
    { input },
    headers,
  );
const role = async (name = `role${count}`): Promise<string> =>
  (await create({ clientId, key: name, name })).data.createRole.id;
const assign = (input: object, verb = 'assignRole', headers?: Record<string, string>) =>
  harness.call(
    verb === 'assignRole'
      ? `mutation ($input: AssignRoleInput!) { assignRole(input: $input) { id role { id } user { id } group { id } } }`
      : `mutation ($input: UnassignRoleInput!) { unassignRole(input: $input) { id userCount groupCount } }`,
    { input },
    headers,
  );
const unassign = (input: object) => assign(input, 'unassignRole');
const rolesOf = async (userId: string) =>
  (
    await harness.call(`query ($id: ID!) { userRoles(userId: $id) { role { id } direct groups { id } } }`, {
      id: userId,
    })
  ).data.userRoles;
const events = async (about: string) =>
  (await harness.services.db.reader().find(AuditEvent, { subjectId: about }, { orderBy: { id: 'asc' } })).map(
    ({ type, subjectName, clientId: client, detail }) => ({ type, subjectName, client, detail }),
  );
const assignments = async (roleId: string) =>
  (await query(harness.services.db.alone, sql`select 1 from role_assignments where role_id = ${roleId}`)).length;

describe('a role of an application', () => {
  it('is created, listed by name, changed and deleted, each in the log', async () => {
    const { id: wiki } = (await make.client(project, { name: 'Wiki 2' })).client;
    const made = await create({ clientId: wiki, key: 'wiki.editor', name: ' Editor ', description: 'Edits pages' });
    expect(made.data.createRole).toMatchObject({
      ...{ key: 'wiki.editor', name: 'Editor', description: 'Edits pages', userCount: 0, groupCount: 0 },
      client: { id: wiki },
    });
    const { id } = made.data.createRole;
    await create({ clientId: wiki, key: 'admin', name: 'Admin' });
    const list = async () =>
      (await harness.call('query ($id: ID!) { roles(clientId: $id) { key name description } }', { id: wiki })).data
        .roles;
    expect((await list()).map(({ key }: { key: string }) => key)).toEqual(['admin', 'wiki.editor']);
    const update = `mutation ($input: UpdateRoleInput!) { updateRole(input: $input) { key name description } }`;
    const changed = await harness.call(update, { input: { id, name: 'Author', description: null } });
    expect(changed.data.updateRole).toEqual({ key: 'wiki.editor', name: 'Author', description: null });
    await harness.call(update, { input: { id, name: 'Author' } });
    expect((await harness.call(`mutation { deleteRole(id: "${id}") }`)).data).toEqual({ deleteRole: id });
    expect((await list()).map(({ key }: { key: string }) => key)).toEqual(['admin']);
    expect(await events(id)).toEqual([
      { type: 'role.created', subjectName: 'Editor', client: wiki, detail: { key: 'wiki.editor', client: 'Wiki 2' } },
      {
        type: 'role.updated',
        subjectName: 'Author',
        client: wiki,
        detail: {
          before: { name: 'Editor', description: 'Edits pages' },
          after: { name: 'Author', description: null },
          client: 'Wiki 2',
        },
      },
      {
        type: 'role.deleted',
        subjectName: 'Author',
        client: wiki,
        detail: { key: 'wiki.editor', assignments: 0, client: 'Wiki 2' },
      },
    ]);
    expect((await harness.call(`{ role(id: "${id}") { id } }`)).code).toBe('not-found');
  });

  it('has a valid key that is unique in the application', async () => {
    await role('unique');
    const taken = await create({ clientId, key: 'unique', name: 'Again' });
    expect(taken.errors[0].extensions).toMatchObject({ code: 'taken', what: 'role', field: 'key' });
    const { id: elsewhere } = (await make.client(project, { name: 'Elsewhere' })).client;
    expect((await create({ clientId: elsewhere, key: 'unique', name: 'Same' })).errors).toEqual([]);
    for (const key of ['', 'a b', '-a', 'ä', 'a'.repeat(101), '__proto__']) {
      expect((await create({ clientId, key, name: 'x' })).errors[0].extensions).toMatchObject({
        code: 'invalid',
        field: 'key',
      });
    }
    expect((await create({ clientId, key: 'k', name: ' ' })).errors[0].extensions.field).toBe('name');
    const description = 'x'.repeat(501);
    expect((await create({ clientId, key: 'k', name: 'x', description })).errors[0].extensions.field).toBe(
      'description',
    );
  });

  it('is limited to 200 in its application', async () => {
    const { id } = (await make.client(project)).client;
    await query(
      harness.services.db.alone,
      sql`insert into client_roles (project_id, id, client_id, key, name, created_at, updated_at)
        select ${project.id}, gen_random_uuid(), ${id}, 'k' || n, 'n', now(), now() from generate_series(1, 200) n`,
    );
    const refused = await create({ clientId: id, key: 'one-more', name: 'x' });
    expect(refused.errors[0].message).toBe('clientId already has 200 roles.');
  });

  it('is limited to 200 per application, even under concurrent creation', async () => {
    const { id } = (await make.client(project)).client;
    await query(
      harness.services.db.alone,
      sql`insert into client_roles (project_id, id, client_id, key, name, created_at, updated_at)
        select ${project.id}, gen_random_uuid(), ${id}, 'k' || n, 'n', now(), now() from generate_series(1, 199) n`,
    );
    const works = ['one', 'two', 'three'].map(
      (key) => () => harness.services.roles.create(keyIn(project.id, id), { key, name: 'x' }, system),
    );
    const made = await atOnce(harness.services.db, 'client_roles', works);
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is changed by admins of its project only', async () => {
    const id = await role();
    const viewer = await harness.tokenOf('project_viewer', project.id);
    const stranger = await harness.tokenOf('project_admin', other.id);
    expect((await create({ clientId, key: 'k', name: 'k' }, viewer)).code).toBe('forbidden');
    expect((await create({ clientId, key: 'k', name: 'k' }, stranger)).code).toBe('not-found');
    expect((await assign({ roleId: id, userId: ada.id }, 'assignRole', viewer)).code).toBe('forbidden');
    expect((await assign({ roleId: id, userId: ada.id }, 'assignRole', stranger)).code).toBe('not-found');
    expect((await harness.call(`mutation { deleteRole(id: "${id}") }`, {}, stranger)).code).toBe('not-found');
    expect((await harness.call(`{ role(id: "${id}") { key } }`, {}, viewer)).data.role).toBeTruthy();
    expect((await harness.call(`{ role(id: "${id}") { key } }`, {}, stranger)).code).toBe('not-found');
    expect(await assignments(id)).toBe(0);
  });
});

describe('an assignment', () => {
  it('gives a role to a user or a group, once, and is removed', async () => {
    const id = await role();
    const toUser = await assign({ roleId: id, userId: ada.id });
    expect(toUser.data.assignRole).toMatchObject({ role: { id }, user: { id: ada.id }, group: null });
    const again = await assign({ roleId: id, userId: ada.id });
    expect(again.data.assignRole.id).toBe(toUser.data.assignRole.id);
    const toGroup = await assign({ roleId: id, groupId: staff });
    expect(toGroup.data.assignRole).toMatchObject({ user: null, group: { id: staff } });
    expect(await rolesOf(ada.id)).toEqual([{ role: { id }, direct: true, groups: [{ id: staff }] }]);
    const held = await harness.call(
      `{ roleAssignments(roleId: "${id}") { edges { node { user { id } group { id } } } } }`,
    );
    expect(held.data.roleAssignments.edges.map(({ node }: { node: object }) => node)).toEqual([
      { user: null, group: { id: staff } },
      { user: { id: ada.id }, group: null },
    ]);
    expect(
      (await harness.call(`{ groupRoles(groupId: "${staff}") { id userCount groupCount } }`)).data.groupRoles,
    ).toEqual([{ id, userCount: 1, groupCount: 1 }]);
    expect((await unassign({ roleId: id, userId: ada.id })).data.unassignRole).toEqual({
      ...{ id, userCount: 0, groupCount: 1 },
    });
    await unassign({ roleId: id, userId: ada.id });
    expect(await rolesOf(ada.id)).toEqual([{ role: { id }, direct: false, groups: [{ id: staff }] }]);
    await unassign({ roleId: id, groupId: staff });
    expect(await rolesOf(ada.id)).toEqual([]);
    const detail = { role: `role${count}`, key: `role${count}`, client: 'Wiki' };
    const about = (subjectName: string) => [
      { type: 'role.assigned', subjectName, client: clientId, detail },
      { type: 'role.unassigned', subjectName, client: clientId, detail },
    ];
    expect(await events(ada.id)).toEqual(about(`ada${count}`));
    expect((await events(staff)).slice(1)).toEqual(about(`Staff ${count}`));
  });

  it('can be taken away while another admin gives it again', async () => {
    const { db } = harness.services;
    const roleId = await role();
    await assign({ roleId, userId: ada.id });
    // Stops `assignRole` between its write and its read.
    await execute(
      db.alone,
      sql`create function wait_for_test() returns trigger language plpgsql as $$ begin
        perform pg_advisory_xact_lock(1); return null; end $$`,
    );
    await execute(
      db.alone,
      sql`create trigger pause after insert on role_assignments for each statement execute function wait_for_test()`,
    );
    const { given, taken } = await db.transaction(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock(1)`);
      const given = assign({ roleId, userId: ada.id });
      await untilLockWaits(db, 1);
      let isTaken = false;
      const taken = unassign({ roleId, userId: ada.id }).finally(() => {
        isTaken = true;
      });
      await untilLockWaits(db, 2, () => isTaken);
      return { given, taken };
    });
    expect([(await given).errors, (await taken).errors]).toEqual([[], []]);
    expect(await assignments(roleId)).toBe(0);
    await execute(db.alone, sql`drop trigger pause on role_assignments`);
  });

  it('is separate from those of other roles, users and groups', async () => {
    const eve = await make.user(project, { userName: `eve${count}`, userNameKey: `eve${count}` });
    const [one, two] = [await role(), await role(`other${count}`)];
    for (const roleId of [one, two]) {
      for (const holder of [{ userId: eve.id }, { userId: ada.id }, { groupId: staff }]) {
        const [id] = Object.values(holder);
        const { user, group, ...made } = (await assign({ roleId, ...holder })).data.assignRole;
        expect([made.role.id, user?.id ?? group.id]).toEqual([roleId, id]);
      }
    }
    await unassign({ roleId: one, userId: ada.id });
    const groups = [{ id: staff }];
    expect(await rolesOf(ada.id)).toEqual([
      { role: { id: two }, direct: true, groups },
      { role: { id: one }, direct: false, groups },
    ]);
    expect(await rolesOf(eve.id)).toHaveLength(2);
    await harness.call(`mutation { deleteRole(id: "${one}") }`);
    expect((await events(one)).at(-1)).toMatchObject({ type: 'role.deleted', detail: { assignments: 2 } });
    expect(await assignments(two)).toBe(3);
  });

  it('names exactly one holder, in the project of the role', async () => {
    const id = await role();
    const stranger = await make.user(other);
    const abroad = await harness.services.groups.create(other.id, { displayName: 'X', externalId: null }, [], system);
    for (const verb of ['assignRole', 'unassignRole']) {
      const refused = async (holder: object) => {
        const { code, errors } = await assign({ roleId: id, ...holder }, verb);
        return [code, errors[0].extensions.field ?? errors[0].extensions.what];
      };
      expect(await refused({})).toEqual(['invalid', 'userId']);
      expect(await refused({ userId: ada.id, groupId: staff })).toEqual(['invalid', 'userId']);
      expect(await refused({ userId: stranger.id })).toEqual(['not-found', 'user']);
      expect(await refused({ groupId: abroad.id })).toEqual(['not-found', 'group']);
      expect(await refused({ userId: staff })).toEqual(['not-found', 'user']);
      expect(await refused({ groupId: ada.id })).toEqual(['not-found', 'group']);
      expect(await refused({ userId: 'x' })).toEqual(['not-found', 'user']);
      expect((await assign({ roleId: none, userId: ada.id }, verb)).code).toBe('not-found');
      expect((await assign({ roleId: 'x', userId: ada.id }, verb)).code).toBe('not-found');
    }
    expect(await assignments(id)).toBe(0);
  });

  it('cannot name two holders, none, or a holder of another project in the database either', async () => {
    const id = await role();
    const stranger = await make.user(other);
    const insert = (userId: string | null, groupId: string | null) =>
      query(
        harness.services.db.alone,
        sql`insert into role_assignments (project_id, id, role_id, user_id, group_id, created_at)
          values (${project.id}, gen_random_uuid(), ${id}, ${userId}::uuid, ${groupId}::uuid, now())`,
      );
    await expect(insert(null, null)).rejects.toThrow('role_assignments_holder');
    await expect(insert(ada.id, staff)).rejects.toThrow('role_assignments_holder');
    await expect(insert(stranger.id, null)).rejects.toThrow('foreign key');
  });

  it('is created once by 40 parallel requests, with one event', async () => {
    const id = await role();
    const { roles } = harness.services;
    const made = await Promise.all(
      Array.from({ length: 40 }, () => roles.assign(keyIn(project.id, id), { userId: ada.id }, system)),
    );
    expect(new Set(made.map((one) => one.id)).size).toBe(1);
    expect(await assignments(id)).toBe(1);
    expect(await events(ada.id)).toHaveLength(1);
  });

  it('requires a fresh sign-in of an admin', async () => {
    const id = await role();
    const person = await harness.person(`boss${count}@example.com`);
    const grants = { owner: true, projects: new Map(), organizations: new Map() };
    await harness.services.admins.grantRole(
      { email: `boss${count}@example.com`, role: 'owner' },
      { grants, actor: system },
    );
    const byDevice = await harness.sessionOf(person, 'device');
    expect((await assign({ roleId: id, userId: ada.id }, 'assignRole', byDevice)).code).toBe(
      'reauthentication-required',
    );
    expect(await assignments(id)).toBe(0);
  });

  it('is deleted with its user, its group, its role and its application', async () => {
    const [first, second] = [await role(`a${count}`), await role(`b${count}`)];
    await assign({ roleId: first, userId: ada.id });
    await assign({ roleId: first, groupId: staff });
    await assign({ roleId: second, groupId: staff });
    await harness.services.accounts.remove(project.id, ada.id, system);
    expect(await assignments(first)).toBe(1);
    await harness.services.groups.remove(project.id, staff, system);
    expect([await assignments(first), await assignments(second)]).toEqual([0, 0]);
    const { id: gone } = (await make.client(project)).client;
    const { id } = (await create({ clientId: gone, key: 'k', name: 'k' })).data.createRole;
    await harness.call(`mutation { deleteClient(id: "${gone}") }`);
    expect((await harness.call(`{ role(id: "${id}") { id } }`)).code).toBe('not-found');
  });

  it('is part of the export of its user', async () => {
    const id = await role();
    await assign({ roleId: id, userId: ada.id });
    const response = await fetch(`${harness.url}/admin/export/users/${ada.id}`, {
      headers: { Authorization: 'Bearer bootstrap-token-of-the-tests-0123456789' },
    });
    expect(((await response.json()) as { roles: object[] }).roles).toMatchObject([{ clientId, key: `role${count}` }]);
  });
});
