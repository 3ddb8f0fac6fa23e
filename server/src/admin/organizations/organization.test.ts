/** Organizations, their roles and members, in the admin API (decisions/0382). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { rows } from '../../../test/rows.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import type { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
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
  [ada, bob] = [await make.user(project), await make.user(project)];
});

const shown = `id slug name state signIn fallback mfaPolicy idleTimeoutSeconds maxSessionSeconds joinByDomain metadata
  memberCount isMemberCountLimited defaultRoles { key }`;
const create = (input: object = {}, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { ${shown} } }`,
    { input: { projectId: project.id, slug: 'globex', name: 'Globex', ...input } },
    headers,
  );
const made = async (input: object = {}) => (await create(input)).data.createOrganization.id as string;
const update = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { ${shown} } }`,
    { input },
    headers,
  );
const remove = (id: string, people = '') =>
  harness.call(`mutation { deleteOrganization(input: { id: "${id}" ${people} }) }`);
const role = async (key: string) =>
  (await harness.services.organizationRoles.create(project.id, { key, name: key }, system)).id;
const memberShown = 'id state source lastUsedAt user { id } organization { id } roles { key }';
const add = (organizationId: string, userId: string, more: object = {}) =>
  harness.call(
    `mutation ($input: AddOrganizationMemberInput!) { addOrganizationMember(input: $input) { ${memberShown} } }`,
    { input: { organizationId, userId, ...more } },
  );
const added = async (organizationId: string, userId: string, more: object = {}) =>
  (await add(organizationId, userId, more)).data.addOrganizationMember.id as string;
const call = (operation: string) => harness.call(`mutation { ${operation} { ${memberShown} } }`);
const events = async () =>
  (
    await rows<{ type: string; detail: Record<string, unknown> }>(
      harness.services.db,
      `select type, detail from audit_log where project_id = ? and type like 'organization%' order by id`,
      [project.id],
    )
  ).map(({ type, detail }) => ({ type, ...detail }));

describe('an organization', () => {
  it('is created with defaults, changed, read and deleted; each change is an event', async () => {
    const { data } = await create();
    const { id, ...rest } = data.createOrganization;
    expect(rest).toEqual({
      ...{ slug: 'globex', name: 'Globex', state: 'ACTIVE', signIn: 'ANY', fallback: false, mfaPolicy: null },
      ...{ idleTimeoutSeconds: null, maxSessionSeconds: null, joinByDomain: 'OFF', metadata: {}, defaultRoles: [] },
      ...{ memberCount: 0, isMemberCountLimited: false },
    });
    await role('admin');
    const change = {
      ...{ slug: 'globex-corp', name: ' Globex Corp ', state: 'SUSPENDED' },
      ...{ mfaPolicy: 'REQUIRED', idleTimeoutSeconds: 60, maxSessionSeconds: 600 },
      ...{ metadata: { plan: 'gold', seats: [1, 2] }, defaultRoleKeys: ['admin'] },
    };
    const changed = await update({ id, ...change });
    const { defaultRoleKeys: _, ...settings } = change;
    const wanted = { ...rest, ...settings, name: 'Globex Corp', defaultRoles: [{ key: 'admin' }] };
    expect(changed.data.updateOrganization).toEqual({ id, ...wanted });
    const read = await harness.call(`{ organization(id: "${id}") { ${shown} project { id } } }`);
    expect(read.data.organization).toEqual({ id, ...wanted, project: { id: project.id } });
    const cleared = await update({ id, mfaPolicy: null, idleTimeoutSeconds: null, name: null, defaultRoleKeys: [] });
    expect(cleared.data.updateOrganization).toMatchObject({
      ...{ mfaPolicy: null, idleTimeoutSeconds: null, maxSessionSeconds: 600, name: 'Globex Corp', defaultRoles: [] },
    });
    // Repeated: no event.
    await update({ id, name: 'Globex Corp', defaultRoleKeys: [] });
    expect((await remove(id, 'people: ERASE')).data).toEqual({ deleteOrganization: id });
    expect((await remove(id)).code).toBe('not-found');
    const about = (name: string) => ({ organizationId: id, organization: name });
    expect(await events()).toMatchObject([
      { type: 'organization.created', ...about('Globex'), after: { slug: 'globex', name: 'Globex' } },
      { type: 'organization-role.created', key: 'admin' },
      {
        type: 'organization.updated',
        ...about('Globex Corp'),
        before: { state: 'active', defaultRoleKeys: [], metadata: {} },
        after: { state: 'suspended', defaultRoleKeys: ['admin'], metadata: { plan: 'gold' } },
      },
      { type: 'organization.updated', before: { mfaPolicy: 'required' }, after: { mfaPolicy: null } },
      { type: 'organization.deleted', ...about('Globex Corp'), slug: 'globex-corp', members: 0 },
    ]);
  });

  it.each([
    ['slug', { slug: 'Globex' }],
    ['slug', { slug: '-globex' }],
    ['slug', { slug: '' }],
    ['slug', { slug: 'x'.repeat(64) }],
    ['slug', { slug: none }],
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['idleTimeoutSeconds', { idleTimeoutSeconds: 0 }],
    ['maxSessionSeconds', { maxSessionSeconds: 366 * 24 * 3600 }],
    ['metadata', { metadata: { text: 'ü'.repeat(2048) } }],
  ])('is refused with a wrong %s: %o', async (field, input) => {
    const { code, errors } = await create(input);
    expect([code, errors[0]?.extensions?.['field']]).toEqual(['invalid', field]);
    expect(
      (await rows(harness.services.db, 'select from organizations where project_id = ?', [project.id])).length,
    ).toBe(0);
  });

  it('requires its connection, with a mail code as fallback, and lets people join by domain', async () => {
    const id = await made();
    const changed = await update({ id, signIn: 'CONNECTION', fallback: true, joinByDomain: 'ASK' });
    expect(changed.data.updateOrganization).toMatchObject({
      signIn: 'CONNECTION',
      fallback: true,
      joinByDomain: 'ASK',
    });
  });

  it('has metadata of 4 KB, with any text', async () => {
    const text = 'x'.repeat(4096 - '{"text":"\\\\u0000"}'.length);
    const metadata = { text: `${text}\\u0000` };
    expect((await create({ metadata })).data.createOrganization.metadata).toEqual(metadata);
    for (const stray of ['\0', '\ud800']) {
      const input = { slug: 'x', name: 'X', metadata: { text: stray } };
      const refused = async () => harness.services.organizations.create(project.id, input, system);
      await expect(refused()).rejects.toMatchObject({ problem: { code: 'invalid', field: 'metadata' } });
    }
  });

  it('has a slug of its own in the project, not in the instance', async () => {
    await made();
    const answer = await create();
    expect([answer.code, answer.errors[0]?.extensions]).toMatchObject([
      'taken',
      { what: 'organization', field: 'slug' },
    ]);
    const second = await made({ slug: 'initech' });
    expect((await update({ id: second, slug: 'globex' })).code).toBe('taken');
    const other = await make.project({ name: 'Other' });
    expect((await create({ projectId: other.id })).code).toBeUndefined();
    const codes = await Promise.all(Array.from({ length: 10 }, async () => (await create({ slug: 'hooli' })).code));
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 'taken')).toHaveLength(9);
  });

  it('is found by parts of name and slug, and listed by pages, newest first', async () => {
    const ids = [];
    for (const [slug, name] of [
      ['globex', 'Globex'],
      ['initech', 'Ïnitech'],
      ['hooli', 'Hooli'],
    ])
      ids.push(await made({ slug, name }));
    const list = async (args: string) => {
      const text = `{ organizations(projectId: "${project.id}" ${args}) { totalCount pageInfo { endCursor } edges { node { id } } } }`;
      const { totalCount, pageInfo, edges } = (await harness.call(text)).data.organizations;
      return { totalCount, end: pageInfo.endCursor, ids: edges.map(({ node }: { node: { id: string } }) => node.id) };
    };
    expect((await list('')).ids).toEqual(ids.toReversed());
    expect(await list('search: "INIT"')).toMatchObject({ totalCount: 1, ids: [ids[1]] });
    expect(await list('search: "oo"')).toMatchObject({ totalCount: 1, ids: [ids[2]] });
    expect(await list('search: "%"')).toMatchObject({ totalCount: 0, ids: [] });
    const first = await list('first: 2');
    expect(first).toMatchObject({ totalCount: 3, ids: [ids[2], ids[1]] });
    expect((await list(`first: 2, after: "${first.end}"`)).ids).toEqual([ids[0]]);
  });
});

describe('a member', () => {
  it('is added with roles, suspended, given and deprived of roles, and removed; each change is an event', async () => {
    await role('admin');
    await role('viewer');
    const organizationId = await made({ defaultRoleKeys: ['viewer'] });
    const { data } = await add(organizationId, ada.id);
    const { id } = data.addOrganizationMember;
    const state = {
      ...{ id, state: 'ACTIVE', source: 'ADMIN', lastUsedAt: null, user: { id: ada.id } },
      ...{ organization: { id: organizationId }, roles: [{ key: 'viewer' }] },
    };
    expect(data.addOrganizationMember).toEqual(state);
    const again = await add(organizationId, ada.id);
    expect([again.code, again.errors[0]?.extensions]).toMatchObject([
      'taken',
      { what: 'organization-membership', field: 'userId' },
    ]);
    const second = await add(organizationId, bob.id, { roleKeys: ['admin', 'admin'] });
    expect(second.data.addOrganizationMember.roles).toEqual([{ key: 'admin' }]);
    const both = [{ key: 'admin' }, { key: 'viewer' }];
    for (let n = 0; n < 2; n += 1) {
      const given = await call(`assignOrganizationRole(input: { membershipId: "${id}", roleKey: "admin" })`);
      expect(given.data.assignOrganizationRole.roles).toEqual(both);
    }
    for (let n = 0; n < 2; n += 1) {
      const taken = await call(`unassignOrganizationRole(input: { membershipId: "${id}", roleKey: "viewer" })`);
      expect(taken.data.unassignOrganizationRole.roles).toEqual([{ key: 'admin' }]);
    }
    for (const wanted of ['SUSPENDED', 'SUSPENDED', 'ACTIVE']) {
      const changed = await call(`updateOrganizationMember(input: { id: "${id}", state: ${wanted} })`);
      expect(changed.data.updateOrganizationMember.state).toBe(wanted);
    }
    const listed = await harness.call(`{ organization(id: "${organizationId}") { memberCount }
      organizationMembers(organizationId: "${organizationId}") { totalCount edges { node { user { id } roles { key } } } }
      user(id: "${ada.id}") { organizationMemberships { totalCount edges { node { organization { slug } state } } } }
      users(projectId: "${project.id}", filter: { organizationId: "${organizationId}" }) { totalCount edges { node { id } } } }`);
    expect(listed.data).toEqual({
      organization: { memberCount: 2 },
      organizationMembers: {
        totalCount: 2,
        edges: [
          { node: { user: { id: bob.id }, roles: [{ key: 'admin' }] } },
          { node: { user: { id: ada.id }, roles: [{ key: 'admin' }] } },
        ],
      },
      user: {
        organizationMemberships: {
          totalCount: 1,
          edges: [{ node: { organization: { slug: 'globex' }, state: 'ACTIVE' } }],
        },
      },
      users: { totalCount: 2, edges: [{ node: { id: bob.id } }, { node: { id: ada.id } }] },
    });
    const removal = `mutation { removeOrganizationMember(id: "${id}") }`;
    expect((await harness.call(removal)).data).toEqual({ removeOrganizationMember: id });
    expect((await harness.call(removal)).code).toBe('not-found');
    const of = { organizationId, organization: 'Globex' };
    expect((await events()).slice(3)).toMatchObject([
      { type: 'organization-membership.created', ...of, membershipId: id, source: 'admin', roles: ['viewer'] },
      { type: 'organization-membership.created', ...of, roles: ['admin'] },
      { type: 'organization-role.assigned', ...of, membershipId: id, key: 'admin' },
      { type: 'organization-role.unassigned', ...of, key: 'viewer' },
      { type: 'organization-membership.updated', ...of, before: { state: 'active' }, after: { state: 'suspended' } },
      { type: 'organization-membership.updated', ...of, after: { state: 'active' } },
      { type: 'organization-membership.ended', ...of, membershipId: id },
    ]);
  });

  it('is one, however often it is added at once', async () => {
    const organizationId = await made();
    const codes = await Promise.all(Array.from({ length: 20 }, async () => (await add(organizationId, ada.id)).code));
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 'taken')).toHaveLength(19);
  });

  it('never has a user or a role of another project, nor an unknown one', async () => {
    const other = await make.project({ name: 'Other' });
    await harness.services.organizationRoles.create(other.id, { key: 'theirs', name: 'Theirs' }, system);
    const organizationId = await made();
    const theirs = await make.user(other);
    for (const [userId, more, what] of [
      [theirs.id, {}, 'user'],
      [none, {}, 'user'],
      [ada.id, { roleKeys: ['theirs'] }, 'organization-role'],
    ] as const) {
      expect((await add(organizationId, userId, more)).errors[0]?.extensions).toMatchObject({
        code: 'not-found',
        what,
      });
    }
    expect((await create({ slug: 'x', defaultRoleKeys: ['theirs'] })).code).toBe('not-found');
    expect((await events()).map(({ type }) => type)).toEqual(['organization.created']);
  });

  it('goes with the user, and with the organization; the user stays', async () => {
    const organizationId = await made();
    await added(organizationId, ada.id);
    await added(organizationId, bob.id);
    await harness.services.accountAccess.erase(project.id, ada.id, system);
    const count = async () =>
      (await rows(harness.services.db, 'select from organization_memberships where project_id = ?', [project.id]))
        .length;
    expect(await count()).toBe(1);
    await remove(organizationId);
    expect(await count()).toBe(0);
    expect((await harness.call(`{ user(id: "${bob.id}") { active } }`)).data.user).toEqual({ active: true });
  });
});

describe('a role of organizations', () => {
  it('has a key of its own in the project, is renamed, and goes from members and defaults when it is deleted', async () => {
    const roleShown = 'id key name';
    const createRole = (key: string) =>
      harness.call(
        `mutation { createOrganizationRole(input: { projectId: "${project.id}", key: "${key}", name: "X" }) { ${roleShown} } }`,
      );
    const { id } = (await createRole('admin')).data.createOrganizationRole;
    expect((await createRole('admin')).code).toBe('taken');
    expect((await createRole('two words')).code).toBe('invalid');
    const renamed = await harness.call(
      `mutation { updateOrganizationRole(input: { id: "${id}", name: "Admins" }) { ${roleShown} } }`,
    );
    expect(renamed.data.updateOrganizationRole).toEqual({ id, key: 'admin', name: 'Admins' });
    const organizationId = await made({ defaultRoleKeys: ['admin'] });
    const membership = await added(organizationId, ada.id);
    expect((await harness.call(`mutation { deleteOrganizationRole(id: "${id}") }`)).data.deleteOrganizationRole).toBe(
      id,
    );
    const { data } = await harness.call(`{ organizationRoles(projectId: "${project.id}") { key }
      organization(id: "${organizationId}") { defaultRoles { key } }
      organizationMembership(id: "${membership}") { roles { key } } }`);
    expect(data).toEqual({
      organizationRoles: [],
      organization: { defaultRoles: [] },
      organizationMembership: { roles: [] },
    });
    expect((await events()).at(-1)).toMatchObject({ type: 'organization-role.deleted', key: 'admin', members: 1 });
  });
});

describe('the audit log', () => {
  it('has the events of one organization', async () => {
    const [one, other] = [await made(), await made({ slug: 'initech', name: 'Initech' })];
    await added(one, ada.id);
    await added(other, ada.id);
    const { data } = await harness.call(
      `{ auditEvents(projectId: "${project.id}", filter: { organizationId: "${one}" }) { edges { node { type } } } }`,
    );
    expect(data.auditEvents.edges.map(({ node }: { node: { type: string } }) => node.type)).toEqual([
      'organization-membership.created',
      'organization.created',
    ]);
    const wrong = await harness.call(
      `{ auditEvents(projectId: "${project.id}", filter: { organizationId: "x" }) { edges { cursor } } }`,
    );
    expect(wrong.code).toBe('invalid');
  });
});

describe('access by organization', () => {
  it('is given to active members, and is counted, shown and revoked', async () => {
    await harness.services.projects.update(project.id, { organizationsEnabled: true }, system);
    const { id: clientId } = (await make.client(project, { access: 'assigned' })).client;
    const organizationId = await made();
    const membership = await added(organizationId, ada.id);
    await added(organizationId, bob.id);
    const grant = `mutation { grantAccess(input: { clientId: "${clientId}", organizationId: "${organizationId}" })
      { id user { id } organization { slug } } }`;
    const rule = (await harness.call(grant)).data.grantAccess;
    expect(rule).toMatchObject({ user: null, organization: { slug: 'globex' } });
    expect((await harness.call(grant)).data.grantAccess.id).toBe(rule.id);
    const count = async () =>
      (await harness.call(`{ usersWithAccess(clientId: "${clientId}") { count } }`)).data.usersWithAccess.count;
    expect(await count()).toBe(2);
    await call(`updateOrganizationMember(input: { id: "${membership}", state: SUSPENDED })`);
    expect(await count()).toBe(1);
    await update({ id: organizationId, state: 'SUSPENDED' });
    expect(await count()).toBe(0);
    await update({ id: organizationId, state: 'ACTIVE' });
    await harness.services.projects.update(project.id, { organizationsEnabled: false }, system);
    expect(await count()).toBe(0);
    const revoked = await harness.call(`mutation { revokeAccess(id: "${rule.id}") }`);
    expect(revoked.data.revokeAccess).toBe(rule.id);
  });

  it('is deleted with the organization', async () => {
    const { id: clientId } = (await make.client(project, { access: 'assigned' })).client;
    const organizationId = await made();
    await harness.services.accessRules.grant({ project, id: clientId }, { organizationId }, system);
    await remove(organizationId);
    const list = await harness.call(`{ accessRules(clientId: "${clientId}") { totalCount } }`);
    expect(list.data.accessRules.totalCount).toBe(0);
  });
});

it('a viewer reads organizations and their members, and changes nothing', async () => {
  const organizationId = await made();
  const membership = await added(organizationId, ada.id);
  const headers = await harness.tokenOf('project_viewer', project.id);
  const read = `{ organization(id: "${organizationId}") { name } organizationMembers(organizationId: "${organizationId}") { totalCount } }`;
  expect((await harness.call(read, {}, headers)).data).toMatchObject({ organization: { name: 'Globex' } });
  expect((await create({ slug: 'x' }, headers)).code).toBe('forbidden');
  expect((await update({ id: organizationId, name: 'X' }, headers)).code).toBe('forbidden');
  const removal = `mutation { removeOrganizationMember(id: "${membership}") }`;
  expect((await harness.call(removal, {}, headers)).code).toBe('forbidden');
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
