import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { rolesOfUser } from '../domain/roles/role-lists.ts';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(async () => {
  expect(app.bugs).toEqual([]);
  await app.close();
});

const application = async (project: ScimProject, name: string): Promise<Client> =>
  (await app.make.client({ id: project.id } as never, { name })).client;
const role = async ({ project, id }: Client, key: string, name = key, description: string | null = null) =>
  (await app.services.roles.create(keyIn(project.id, id), { key, name, description }, system)).id;
const claimOf = async (client: Client, userId: string) =>
  (
    await app.services.claims.forUserInfo(app.services.db.alone, {
      client: keyIn(client.project.id, client.id),
      userId,
      scopes: ['roles'],
    })
  )?.['roles'];
const user = async (project: ScimProject, values: object = {}) => {
  const made = await project.request('POST', '/Users', { userName: `u-${Math.random()}`, ...values });
  expect(made.status, made.text).toBe(201);
  return made.body.id as string;
};
const patch = (project: ScimProject, path: string, ...Operations: object[]) =>
  project.request('PATCH', path, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });

describe('/Roles and /Entitlements (draft-ietf-scim-roles-entitlements)', () => {
  // The assertions of Okta's file Okta-SCIM-20-Entitlements-Test.json, for each endpoint.
  it.each(['/Roles', '/Entitlements'])('pass the entitlement tests of Okta at %s', async (endpoint) => {
    const project = await app.project();
    const wiki = await application(project, 'Wiki');
    await role(wiki, 'editor');
    await role(wiki, 'reader');
    const { status, body } = await project.request('GET', `${endpoint}?count=1&startIndex=1`);
    expect(status).toBe(200);
    expect(body.Resources).not.toEqual([]);
    expect(body.schemas).toContain('urn:ietf:params:scim:api:messages:2.0:ListResponse');
    expect(body.startIndex).toBe(1);
    expect(body.itemsPerPage).toBe(1);
    expect(body.totalResults).toBe(2);
  });

  it('show only the roles of this project, by key, or by id if two applications have the key', async () => {
    const project = await app.project();
    const [wiki, shop] = [await application(project, 'Wiki'), await application(project, 'Shop')];
    await role(await application(await app.project(), 'Foreign'), 'foreign');
    const editor = await role(wiki, 'editor', 'Editor', 'Edits pages');
    const [one, two] = [await role(wiki, 'admin'), await role(shop, 'admin')];
    const { body } = await project.request('GET', '/Roles?sortBy=value');
    expect(body.Resources.map(({ value }: { value: string }) => value)).toEqual([one, two, 'editor'].sort());
    const read = await project.request('GET', `/Roles/${editor}`);
    expect(read.body).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Role', 'urn:okta:scim:schemas:core:1.0:Role'],
      id: editor,
      ...{ value: 'editor', display: 'Editor', type: 'Wiki', supported: true },
      ...{ displayName: 'Editor (Wiki)', description: 'Edits pages' },
      meta: {
        ...{ resourceType: 'Role', created: expect.any(String), lastModified: expect.any(String) },
        location: `${project.baseUrl}/Roles/${editor}`,
      },
    });
    const names = async (path: string) =>
      (await project.request('GET', path)).body.Resources?.map(({ value }: { value: string }) => value);
    expect(await names('/Roles?filter=value eq "editor"')).toEqual(['editor']);
    expect(await names('/Roles?filter=displayName sw "Editor (W"')).toEqual(['editor']);
    expect(await names('/Entitlements?filter=type eq "shop" and supported eq true')).toEqual([two]);
    expect((await names('/Roles?cursor=&count=2')).length).toBe(2);
    expect((await project.request('GET', `/Roles/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await (await app.project()).request('GET', `/Roles/${editor}`)).status).toBe(404);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect((await project.request(method, method === 'POST' ? '/Roles' : `/Roles/${editor}`, {})).status).toBe(405);
    }
  });

  it('are announced: two resource types of the draft, and one that Okta reads', async () => {
    const project = await app.project();
    const types = (await project.request('GET', '/ResourceTypes')).body.Resources as Record<string, string>[];
    expect(types.map(({ id, endpoint, schema }) => [id, endpoint, schema])).toEqual([
      ['User', '/Users', 'urn:ietf:params:scim:schemas:core:2.0:User'],
      ['Group', '/Groups', 'urn:ietf:params:scim:schemas:core:2.0:Group'],
      ['Role', '/Roles', 'urn:ietf:params:scim:schemas:core:2.0:Role'],
      ['ApplicationRole', '/Roles', 'urn:okta:scim:schemas:core:1.0:Role'],
      ['Entitlement', '/Entitlements', 'urn:ietf:params:scim:schemas:core:2.0:Entitlement'],
    ]);
    for (const { schema } of types) expect((await project.request('GET', `/Schemas/${schema}`)).status).toBe(200);
    const { RolesAndEntitlements } = (await project.request('GET', '/ServiceProviderConfig')).body;
    expect(RolesAndEntitlements.roles).toMatchObject({ supported: true, multipleRolesSupported: true });
    expect(RolesAndEntitlements.entitlements.supported).toBe(true);
  });
});

describe('groups in groups', () => {
  const group = async (project: ScimProject, displayName: string, ...ids: string[]) => {
    const members = ids.map((value) => ({ value }));
    const made = await project.request('POST', '/Groups', { displayName, members });
    expect(made.status, made.text).toBe(201);
    return made.body.id as string;
  };
  const groupsClaim = async (client: Client, userId: string) => {
    const request = { client: keyIn(client.project.id, client.id), userId, scopes: ['groups'] };
    return (await app.services.claims.forUserInfo(app.services.db.alone, request))?.['groups'];
  };

  it('are members of type Group, found by filters and removed by PATCH', async () => {
    const project = await app.project();
    const person = await user(project);
    const inner = await group(project, 'Inner', person);
    const outer = await group(project, 'Outer', inner, person);
    const { members } = (await project.request('GET', `/Groups/${outer}`)).body;
    expect(members).toHaveLength(2);
    expect(members).toContainEqual({
      ...{ value: inner, type: 'Group', display: 'Inner', $ref: `${project.baseUrl}/Groups/${inner}` },
    });
    const names = async (filter: string) =>
      (await project.request('GET', `/Groups?filter=${encodeURIComponent(filter)}`)).body.Resources.map(
        ({ displayName }: { displayName: string }) => displayName,
      );
    expect(await names(`members.value eq "${inner}"`)).toEqual(['Outer']);
    expect(await names(`members[type eq "Group" and display eq "inner"]`)).toEqual(['Outer']);
    expect(await names(`members.$ref eq "${project.baseUrl}/Groups/${inner}"`)).toEqual(['Outer']);
    await patch(project, `/Groups/${outer}`, { op: 'remove', path: `members[type eq "Group"]` });
    expect(await names(`members.value eq "${inner}"`)).toEqual([]);
    await patch(project, `/Groups/${outer}`, { op: 'replace', path: 'members', value: [{ value: inner }] });
    expect((await project.request('GET', `/Groups/${outer}`)).body.members).toHaveLength(1);
    await project.request('DELETE', `/Groups/${inner}`);
    expect((await project.request('GET', `/Groups/${outer}`)).body.members).toEqual([]);
  });

  it('give their groups and roles to the members of inner groups, ten levels up', async () => {
    const project = await app.project();
    const wiki = await application(project, 'Wiki');
    const person = await user(project);
    const ids = [await group(project, 'g1', person)];
    for (let level = 2; level <= 12; level += 1) ids.push(await group(project, `g${level}`, ids.at(-1) as string));
    const editor = await role(wiki, 'editor');
    await app.services.roles.assign(keyIn(project.id, editor), { groupId: ids[9] as string }, system);
    const owner = await role(wiki, 'owner');
    await app.services.roles.assign(keyIn(project.id, owner), { groupId: ids[10] as string }, system);
    expect(await groupsClaim(wiki, person)).toEqual(Array.from({ length: 10 }, (_, index) => `g${index + 1}`).sort());
    expect(await claimOf(wiki, person)).toEqual(['editor']);
    await patch(project, `/Groups/${ids[1]}`, { op: 'remove', path: `members[value eq "${ids[0]}"]` });
    expect([await groupsClaim(wiki, person), await claimOf(wiki, person)]).toEqual([['g1'], []]);
  });

  it('refuse a cycle and a group of another project; claims end on a cycle of an import', async () => {
    const project = await app.project();
    const wiki = await application(project, 'Wiki');
    const person = await user(project);
    const one = await group(project, 'one', person);
    const two = await group(project, 'two', one);
    const add = (to: string, value: string) =>
      patch(project, `/Groups/${to}`, { op: 'add', path: 'members', value: [{ value }] });
    for (const member of [two, one, await group(await app.project(), 'foreign')]) {
      const refused = await add(one, member);
      expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidValue']);
    }
    expect(await groupsClaim(wiki, person)).toEqual(['one', 'two']);
    await app.services.db.transaction((em) =>
      em.execute(`insert into group_nestings (project_id, group_id, member_id, created_at)
        values ('${project.id}', '${one}', '${two}', now())`),
    );
    expect(await groupsClaim(wiki, person)).toEqual(['one', 'two']);
  });

  it('refuse one of two requests that close a cycle together', async () => {
    const project = await app.project();
    const add = (to: string, value: string) =>
      patch(project, `/Groups/${to}`, { op: 'add', path: 'members', value: [{ value }] });
    for (let round = 1; round <= 30; round += 1) {
      const [b, d] = [await group(project, `b${round}`), await group(project, `d${round}`)];
      const [a, c] = [await group(project, `a${round}`, b), await group(project, `c${round}`, d)];
      const answers = await Promise.all([add(b, c), add(d, a)]);
      expect([round, ...answers.map(({ status }) => status).sort()]).toEqual([round, 200, 400]);
    }
  });
});

describe('roles and entitlements of users', () => {
  it('assign the role of that id or key until they are removed', async () => {
    const project = await app.project();
    const wiki = await application(project, 'Wiki');
    const [editor] = [await role(wiki, 'editor'), await role(wiki, 'reader')];
    const id = await user(project, { roles: [{ value: editor }], entitlements: [{ value: 'reader' }] });
    expect(await claimOf(wiki, id)).toEqual(['editor', 'reader']);
    await patch(project, `/Users/${id}`, { op: 'remove', path: `roles[value eq "${editor}"]` });
    expect(await claimOf(wiki, id)).toEqual(['reader']);
    await project.request('PUT', `/Users/${id}`, { userName: `p-${id}` });
    expect(await claimOf(wiki, id)).toEqual([]);
  });

  it('are accepted as the JSON of app roles that Entra ID sends', async () => {
    const project = await app.project();
    const wiki = await application(project, 'Wiki');
    await role(wiki, 'editor');
    const id = await user(project);
    const json = (value: string) => JSON.stringify({ id: crypto.randomUUID(), value, displayName: 'Editor' });
    const added = await patch(project, `/Users/${id}`, {
      op: 'Add',
      path: 'roles',
      value: [{ value: json('editor') }, { value: json('unknown') }],
    });
    expect(added.body.roles).toEqual([
      { value: 'editor', display: 'Editor' },
      { value: 'unknown', display: 'Editor' },
    ]);
    expect(await claimOf(wiki, id)).toEqual(['editor']);
    await patch(project, `/Users/${id}`, { op: 'Remove', path: 'roles', value: [{ value: json('editor') }] });
    expect(await claimOf(wiki, id)).toEqual([]);
    const single = { op: 'Add', path: 'roles[primary eq "True"].value', value: json('editor') };
    expect((await patch(project, `/Users/${id}`, single)).body.roles).toContainEqual({
      ...{ primary: true, value: 'editor', display: 'Editor' },
    });
    expect(await claimOf(wiki, id)).toEqual(['editor']);
    const put = (roles: readonly string[]) =>
      project.request('PUT', `/Users/${id}`, { userName: id, roles: roles.map((value) => ({ value })) });
    expect((await put(['{', 'null', '{"value":" "}'])).body.roles).toEqual([{ value: '{' }, { value: 'null' }]);
    expect((await put(['{}'])).body).toMatchObject({
      scimType: 'invalidValue',
      detail: 'roles.value is JSON without a value.',
    });
    expect((await put(['{"value":7}'])).body).toMatchObject({ scimType: 'invalidValue' });
  });

  it('assign nothing if they name no role of the project, or a key of two applications', async () => {
    const project = await app.project();
    const [wiki, shop] = [await application(project, 'Wiki'), await application(project, 'Shop')];
    const foreign = await role(await application(await app.project(), 'Foreign'), 'foreign');
    const [admin] = [await role(wiki, 'admin'), await role(shop, 'admin')];
    const values = [foreign, 'foreign', 'admin', crypto.randomUUID(), 'owner', "' or true --"];
    const id = await user(project, { roles: values.map((value) => ({ value })) });
    expect([await claimOf(wiki, id), await claimOf(shop, id)]).toEqual([[], []]);
    await patch(project, `/Users/${id}`, {
      op: 'replace',
      path: 'entitlements',
      value: [{ value: admin.toUpperCase() }],
    });
    expect([await claimOf(wiki, id), await claimOf(shop, id)]).toEqual([['admin'], []]);
  });

  it('do not change assignments by admins, and show where a role comes from', async () => {
    const project = await app.project();
    const wiki = await application(project, 'Wiki');
    const id = await user(project, { roles: [{ value: 'editor' }] });
    const [editor, reader] = [await role(wiki, 'editor'), await role(wiki, 'reader')];
    await app.services.roles.assign(keyIn(project.id, reader), { userId: id }, system);
    const held = () =>
      app.services.db.transaction(async (em) =>
        (await rolesOfUser(em, keyIn(project.id, id))).map((each) => [each.role.id, each.direct, each.directory]),
      );
    expect(await held()).toEqual([
      [editor, false, true],
      [reader, true, false],
    ]);
    // A directory sends back the roles that it read, and so cannot take over or remove those that an admin assigned.
    const { body } = await project.request('GET', `/Users/${id}`);
    expect(body.roles).toEqual([{ value: 'editor' }]);
    await project.request('PUT', `/Users/${id}`, { ...body, roles: [] });
    expect(await held()).toEqual([[reader, true, false]]);
    await app.services.roles.unassign(keyIn(project.id, reader), { userId: id }, system);
    expect(await claimOf(wiki, id)).toEqual([]);
  });
});
