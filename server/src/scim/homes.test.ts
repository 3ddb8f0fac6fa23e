/**
 * The directories of a project and of two of its organizations, with equal userNames, externalIds, addresses, numbers and groups: each
 * sees its own users and groups only (decisions/0401).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, type ScimReply, startScimApp } from '../../test/scim-app.ts';
import { decidedFor } from '../domain/ceremonies/account.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import { organizationClaims } from '../domain/organizations/organization-claims.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { rolesOfUser } from '../domain/roles/role-lists.ts';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
  await app.services.keys.maintain();
});
afterAll(() => app.close());

interface Filled {
  directory: ScimProject;
  user: string;
  boss: string;
  group: string;
}

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const person = {
  userName: 'Ada@example.com',
  externalId: 'e-1',
  displayName: 'Ada',
  emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
  phoneNumbers: [{ value: '+41791234567', type: 'mobile' }],
};

async function filled(directory: ScimProject): Promise<Filled> {
  const { body: boss } = await directory.request('POST', '/Users', { userName: 'boss', displayName: 'Boss' });
  const { body: user } = await directory.request('POST', '/Users', {
    ...person,
    [enterprise]: { manager: { value: boss.id } },
  });
  const members = [{ value: user.id }];
  const { body: group } = await directory.request('POST', '/Groups', {
    displayName: 'Staff',
    externalId: 'g-1',
    members,
  });
  return { directory, user: user.id, boss: boss.id, group: group.id };
}

let ofProject: Filled;
let north: Filled;
let south: Filled;
let all: Filled[];
beforeEach(async () => {
  const project = await app.project();
  ofProject = await filled(project);
  north = await filled(await app.organization(project));
  south = await filled(await app.organization(project));
  all = [ofProject, north, south];
});

const projectOf = ({ directory }: Filled) => app.services.db.reader().findOneOrFail(Project, directory.id);
const patch = (op: string, path: string, value?: unknown) => ({ Operations: [{ op, path, value }] });

/** A response without ids, addresses of resources, times and versions. */
function shape({ status, text }: ScimReply, { directory, user, boss, group }: Filled) {
  const known = [
    [directory.baseUrl, 'base'],
    [user, 'user'],
    [boss, 'boss'],
    [group, 'group'],
  ] as const;
  const named = known.reduce((left, [value, name]) => left.replaceAll(value, name), text);
  const timeless = named.replace(/"(created|lastModified|version)":"(?:[^"\\]|\\.)*"/g, '"$1"');
  return { status, text: timeless };
}

describe('three directories with equal contents', () => {
  const requests: [method: string, path: (own: Filled) => string, body?: (own: Filled) => unknown][] = [
    ['GET', () => '/Users'],
    ['GET', () => '/Users?count=0'],
    ['GET', () => '/Users?sortBy=userName&sortOrder=descending'],
    ['GET', () => '/Groups'],
    ['GET', () => '/Users?filter=userName%20eq%20%22ada@example.com%22'],
    ['GET', () => '/Users?filter=externalId%20eq%20%22e-1%22'],
    ['GET', () => '/Users?filter=emails.value%20eq%20%22ada@example.com%22'],
    ['GET', () => '/Users?filter=phoneNumbers%20pr'],
    ['GET', ({ group }) => `/Users?filter=groups.value%20eq%20%22${group}%22`],
    ['GET', ({ user }) => `/Groups?filter=members.value%20eq%20%22${user}%22`],
    ['GET', ({ user }) => `/Users/${user}`],
    ['GET', ({ group }) => `/Groups/${group}`],
    ['POST', () => '/.search', () => ({ filter: 'displayName eq "Ada" or displayName eq "Staff"' })],
    ['POST', () => '/Users', () => person],
    ['POST', () => '/Users', () => ({ userName: 'x', emails: person.emails })],
    ['POST', () => '/Users', () => ({ userName: 'x', phoneNumbers: person.phoneNumbers })],
    ['PATCH', ({ boss }) => `/Users/${boss}`, () => patch('replace', 'emails', person.emails)],
    ['PATCH', ({ boss }) => `/Users/${boss}`, () => patch('replace', 'phoneNumbers', person.phoneNumbers)],
    ['PATCH', ({ user }) => `/Users/${user}`, () => patch('replace', 'userName', 'boss')],
    ['PATCH', ({ user }) => `/Users/${user}`, () => patch('replace', 'title', 'Lead')],
    ['PATCH', ({ user }) => `/Users/${user}`, () => patch('replace', 'active', false)],
    ['PATCH', ({ group }) => `/Groups/${group}`, ({ boss }) => patch('add', 'members', [{ value: boss }])],
    ['DELETE', ({ user }) => `/Users/${user}`],
    ['GET', ({ group }) => `/Groups/${group}`],
    ['DELETE', ({ group }) => `/Groups/${group}`],
    ['GET', () => '/Users'],
  ];

  it('answer alike', async () => {
    for (const [method, path, body] of requests) {
      const [first, ...others] = await Promise.all(
        all.map(async (own) => shape(await own.directory.request(method, path(own), body?.(own)), own)),
      );
      for (const other of others) expect(other, `${method} ${path(north)}`).toEqual(first);
    }
    expect(app.bugs).toEqual([]);
  });

  it('have one account with the address and the number', async () => {
    const { db } = app.services;
    const { account } = await decidedFor(db.reader(), ofProject.directory.id, 'ada@example.com', null);
    expect(account).toBe(ofProject.user);
    const kept = await rows<{ email: string | null; phone: string | null }>(
      db,
      'select email, phone from users where project_id = ? and id in (?, ?)',
      [ofProject.directory.id, north.user, south.user],
    );
    expect(kept).toEqual([
      { email: null, phone: null },
      { email: null, phone: null },
    ]);
  });
});

describe('ids of another directory', () => {
  const foreign: [name: string, send: (own: Filled, other: Filled) => Promise<ScimReply>, expected: object][] = [
    ['GET of a user', (own, { user }) => own.directory.request('GET', `/Users/${user}`), { status: 404 }],
    ['GET of a group', (own, { group }) => own.directory.request('GET', `/Groups/${group}`), { status: 404 }],
    ['PUT of a user', (own, { user }) => own.directory.request('PUT', `/Users/${user}`, person), { status: 404 }],
    [
      'PUT of a group',
      (own, { group }) => own.directory.request('PUT', `/Groups/${group}`, { displayName: 'X' }),
      { status: 404 },
    ],
    [
      'PATCH of a user',
      (own, { user }) => own.directory.request('PATCH', `/Users/${user}`, patch('replace', 'active', false)),
      { status: 404 },
    ],
    [
      'PATCH of a group',
      (own, { group }) => own.directory.request('PATCH', `/Groups/${group}`, patch('replace', 'displayName', 'X')),
      { status: 404 },
    ],
    ['DELETE of a user', (own, { user }) => own.directory.request('DELETE', `/Users/${user}`), { status: 404 }],
    ['DELETE of a group', (own, { group }) => own.directory.request('DELETE', `/Groups/${group}`), { status: 404 }],
    [
      'a filter by id',
      (own, { user }) => own.directory.request('GET', `/Users?filter=id%20eq%20%22${user}%22`),
      { status: 200, body: { totalResults: 0 } },
    ],
    [
      'a filter by group',
      (own, { group }) => own.directory.request('GET', `/Users?filter=groups.value%20eq%20%22${group}%22`),
      { status: 200, body: { totalResults: 0 } },
    ],
    [
      'a filter by member',
      (own, { user }) => own.directory.request('GET', `/Groups?filter=members.value%20eq%20%22${user}%22`),
      { status: 200, body: { totalResults: 0 } },
    ],
    [
      'a filter by the address of a manager',
      (own, { boss, directory }) => {
        const filter = `${enterprise}:manager.value eq "${boss}" or meta.location eq "${directory.baseUrl}/Users/${boss}"`;
        return own.directory.request('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      },
      { status: 200, body: { totalResults: 0 } },
    ],
    [
      'a new group with a member',
      (own, { user }) => own.directory.request('POST', '/Groups', { displayName: 'X', members: [{ value: user }] }),
      { status: 400, body: { scimType: 'invalidValue' } },
    ],
    [
      'a group in a group, by its address',
      (own, { directory, group }) => {
        const member = { value: group, $ref: `${directory.baseUrl}/Groups/${group}` };
        return own.directory.request('PATCH', `/Groups/${own.group}`, patch('add', 'members', [member]));
      },
      { status: 400, body: { scimType: 'invalidValue' } },
    ],
    [
      'a manager, whose name it does not get',
      async (own, { boss }) => {
        await own.directory.request(
          'PATCH',
          `/Users/${own.user}`,
          patch('replace', `${enterprise}:manager`, { value: boss }),
        );
        const reply = await own.directory.request('GET', `/Users/${own.user}`);
        return { ...reply, body: { manager: reply.body[enterprise].manager.displayName ?? null } };
      },
      { status: 200, body: { manager: null } },
    ],
    [
      'Bulk',
      (own, { user, group }) =>
        own.directory.request('POST', '/Bulk', {
          schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
          Operations: [
            { method: 'PATCH', path: `/Users/${user}`, data: patch('replace', 'active', false) },
            { method: 'DELETE', path: `/Users/${user}` },
            { method: 'DELETE', path: `/Groups/${group}` },
            { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'X', members: [{ value: user }] } },
          ],
        }),
      {
        status: 200,
        body: { Operations: [{ status: '404' }, { status: '404' }, { status: '404' }, { status: '400' }] },
      },
    ],
    [
      'its token',
      (own, { directory }) =>
        app.send('GET', `${own.directory.baseUrl}/Users`, { authorization: `Bearer ${directory.token}` }),
      { status: 401 },
    ],
  ];

  it.each(foreign)('%s', async (_name, send, expected) => {
    const { db } = app.services;
    const [one, two, three] = all as [Filled, Filled, Filled];
    const id = ofProject.directory.id;
    const stateOf = (table: 'users' | 'groups' | 'group_members', other: Filled) =>
      rows(
        db,
        table === 'group_members'
          ? `select m.* from group_members m join groups g on g.project_id = m.project_id and g.id = m.group_id
              where g.project_id = ? and g.organization_id is not distinct from ? order by 1, 2, 3`
          : `select * from ${table} where project_id = ? and organization_id is not distinct from ? order by id`,
        [id, other.directory.organizationId],
      );
    const states = async (other: Filled) => [
      await stateOf('users', other),
      await stateOf('groups', other),
      await stateOf('group_members', other),
    ];
    for (const [own, other] of [
      [one, two],
      [two, one],
      [two, three],
    ] as const) {
      const before = await states(other);
      expect(await send(own, other)).toMatchObject(expected);
      expect(await states(other)).toEqual(before);
    }
    expect(app.bugs).toEqual([]);
  });

  it('cursors', async () => {
    const page = (of: Filled, cursor: string) =>
      of.directory.request('GET', `/Users?count=1&cursor=${encodeURIComponent(cursor)}`);
    const { body } = await page(north, '');
    expect(await page(north, body.nextCursor)).toMatchObject({ status: 200 });
    for (const other of [ofProject, south]) {
      expect(await page(other, body.nextCursor)).toMatchObject({ status: 400, body: { scimType: 'invalidCursor' } });
    }
  });
});

describe('the directory of an organization', () => {
  it('has people who are members, and tokens and records of its own', async () => {
    const { directories, requestRecords } = app.services;
    const { id, organizationId } = north.directory;
    const members = await rows(
      app.services.db,
      'select user_id, source from organization_memberships where project_id = ? and organization_id = ? order by user_id',
      [id, organizationId],
    );
    // Ada is a guest: her account is at home in the project.
    const expected = [north.boss, ofProject.user].sort().map((user_id) => ({ user_id, source: 'directory' }));
    expect(members).toEqual(expected);
    const place = { projectId: id, organizationId };
    expect(await directories.scimTokens(place)).toMatchObject([{ hint: north.directory.token.slice(-4) }]);
    const events = await rows(
      app.services.db,
      `select distinct detail ->> 'organizationId' as organization from audit_log where project_id = ? and actor_kind = 'scim'
        and type <> 'organization-membership.created' and actor_id = (select id::text from scim_tokens where organization_id = ?)`,
      [id, organizationId],
    );
    expect(events).toEqual([{ organization: organizationId }]);
    const recent = await requestRecords.recent(place, 10);
    expect(recent.map(({ path }) => path)).toEqual(['/Groups', '/Users', '/Users']);
  });

  it('gives no roles of applications, and sees none', async () => {
    const { roles } = app.services;
    const project = await projectOf(ofProject);
    const { client } = await app.make.client(project);
    const key = keyIn(project.id, client.id);
    const role = await roles.create(key, { key: 'admin', name: 'Admin' }, system);
    for (const [own, seen] of [
      [ofProject, 1],
      [north, 0],
    ] as const) {
      const { status } = await own.directory.request(
        'PATCH',
        `/Users/${own.user}`,
        patch('add', 'roles', [{ value: 'admin' }]),
      );
      expect(status).toBe(200);
      const held = await rolesOfUser(app.services.db.reader(), keyIn(project.id, own.user));
      expect(held).toHaveLength(seen);
      expect((await own.directory.request('GET', '/Roles')).body.totalResults).toBe(seen);
      expect((await own.directory.request('GET', `/Roles/${role.id}`)).status).toBe(seen === 1 ? 200 : 404);
    }
  });

  it.each([
    [
      'the organization is suspended',
      (id: string, of: string) => app.services.organizations.update(keyIn(id, of), { state: 'suspended' }, system),
    ],
    [
      'the project has no organizations',
      (id: string) => app.services.projects.update(id, { organizationsEnabled: false }, system),
    ],
    [
      'the project has directories switched off',
      (id: string) => app.services.projects.update(id, { scimEnabled: false }, system),
    ],
    [
      'the organization is deleted',
      (id: string, of: string) => app.services.organizationEnds.delete(keyIn(id, of), 'erase', system),
    ],
  ])('is gone if %s', async (_name, change) => {
    const { id, organizationId } = north.directory;
    await change(id, organizationId ?? '');
    expect((await north.directory.request('GET', '/Users')).status).toBe(404);
  });

  it('has unique custom values of its own', async () => {
    const { customAttributes } = app.services;
    const { id } = ofProject.directory;
    await customAttributes.create(id, { name: 'badge', type: 'string', uniqueness: 'server' }, system);
    const urn = 'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User';
    for (const own of all) {
      const give = (user: string) =>
        own.directory.request('PATCH', `/Users/${user}`, patch('add', `${urn}:badge`, 'B-1'));
      expect((await give(own.user)).status).toBe(200);
      expect(await give(own.boss)).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    }
  });

  it('takes nothing from a person at another home whose address it gives to a user', async () => {
    const { db, signUpRequests } = app.services;
    const { id: projectId } = ofProject.directory;
    const client = await app.make.client(await projectOf(ofProject));
    const address = 'zoe@example.com';
    const asked = { projectId, days: 1, clientId: client.client.id, address, locale: 'en', actor: system } as const;
    await db.transaction((em) => signUpRequests.ask(em, asked));
    const left = () => rows(db, 'select address from sign_up_requests where project_id = ?', [projectId]);
    const { body } = await north.directory.request('POST', '/Users', {
      userName: address,
      emails: [{ value: 'other@example.com' }],
    });
    await north.directory.request('DELETE', `/Users/${body.id}`);
    await north.directory.request('DELETE', `/Users/${north.user}`);
    expect(await left()).toEqual([{ address }]);
    const { account } = await decidedFor(db.reader(), projectId, 'ada@example.com', north.directory.organizationId);
    expect(account).toBe(ofProject.user);
  });

  it('has groups that give roles in the organization, to guests, too, and in no other', async () => {
    const { db, groupRoles, groups, organizationRoles } = app.services;
    const { id, organizationId } = north.directory;
    await organizationRoles.create(id, { key: 'admin', name: 'Admin' }, system);
    const group = keyIn(id, north.group);
    await groupRoles.assign(group, 'admin', system);
    await groupRoles.assign(group, 'admin', system);
    const rolesIn = async (userId: string, of = organizationId) =>
      (await organizationClaims(db.reader(), { projectId: id, userId, organizationId: of, listsAll: false }))[
        'org_roles'
      ];
    // Ada is in the group as a guest; her account is at home in the project.
    expect(await rolesIn(ofProject.user)).toEqual(['admin']);
    expect(await rolesIn(ofProject.user, south.directory.organizationId)).toEqual([]);
    expect(await rolesIn(north.boss)).toEqual([]);
    const outer = await north.directory.request('POST', '/Groups', {
      displayName: 'All',
      members: [{ value: north.group }],
    });
    await north.directory.request(
      'PATCH',
      `/Groups/${outer.body.id}`,
      patch('add', 'members', [{ value: north.boss }]),
    );
    await groupRoles.unassign(group, 'admin', system);
    await groupRoles.assign(keyIn(id, outer.body.id), 'admin', system);
    expect(await rolesIn(ofProject.user)).toEqual(['admin']);
    expect(await rolesIn(north.boss)).toEqual(['admin']);
    await north.directory.request('DELETE', `/Groups/${outer.body.id}`);
    expect(await rolesIn(north.boss)).toEqual([]);
    const local = await groups.create(id, { displayName: 'Local', externalId: null }, [], system);
    expect(await problemOf(groupRoles.assign(keyIn(id, local.id), 'admin', system))).toMatchObject({ code: 'invalid' });
    const events = await rows(
      db,
      `select type, subject_id from audit_log where project_id = ? and type like 'organization-role.%assigned' order by id`,
      [id],
    );
    expect(events).toEqual([
      { type: 'organization-role.assigned', subject_id: north.group },
      { type: 'organization-role.unassigned', subject_id: north.group },
      { type: 'organization-role.assigned', subject_id: outer.body.id },
    ]);
  });

  const loginOf = async (id: string) => {
    const [login] = await rows<{ email: string | null }>(
      app.services.db,
      'select email, phone from users where project_id = ? and id = ?',
      [north.directory.id, id],
    );
    return login;
  };

  it('gives login addresses in the verified domains of the organization only', async () => {
    const { organizationDomains } = app.services;
    const { id: projectId, organizationId } = south.directory;
    const domain = await organizationDomains.add(keyIn(projectId, organizationId ?? ''), 'south.example', system);
    const add = (name: string, of = north) =>
      of.directory.request('POST', '/Users', { userName: `${name}@south.example` });
    for (const place of [north, south]) {
      expect(await loginOf((await add('before', place)).body.id)).toMatchObject({ email: null });
    }
    await organizationDomains.verify(domain, 'Test', system);
    const { status, body } = await add('eve');
    expect(status).toBe(201);
    expect(await loginOf(body.id)).toMatchObject({ email: null });
    expect(await add('EVE')).toMatchObject({ status: 409 });
    const moved = patch('replace', 'emails', [{ value: 'boss@south.example' }]);
    expect((await north.directory.request('PATCH', `/Users/${north.boss}`, moved)).status).toBe(200);
    expect(await loginOf(north.boss)).toMatchObject({ email: null });
    expect(await loginOf((await add('eve', south)).body.id)).toMatchObject({ email: 'eve@south.example' });
    expect((await south.directory.request('PATCH', `/Users/${south.boss}`, moved)).status).toBe(200);
    expect(await loginOf(south.boss)).toMatchObject({ email: 'boss@south.example' });
    expect(await add('EVE', south)).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  });

  it('gives no login that is reserved for a deactivated user at another home', async () => {
    const { accounts } = app.services;
    const { id: projectId } = ofProject.directory;
    const [emails, phoneNumbers] = [[{ value: 'held@example.com' }], [{ value: '+41791234599', type: 'mobile' }]];
    const { body: held } = await ofProject.directory.request('POST', '/Users', {
      userName: 'held',
      emails,
      phoneNumbers,
    });
    await accounts.setActive(projectId, held.id, false, system);
    const bare = { emails: [], phoneNumbers: [] };
    await ofProject.directory.request('PATCH', `/Users/${held.id}`, { Operations: [{ op: 'replace', value: bare }] });
    const taken = await north.directory.request('POST', '/Users', { userName: 'x', emails, phoneNumbers });
    expect(taken.status).toBe(201);
    expect(await loginOf(taken.body.id)).toEqual({ email: null, phone: null });
    const both = { Operations: [{ op: 'replace', value: { emails, phoneNumbers } }] };
    expect((await ofProject.directory.request('PATCH', `/Users/${held.id}`, both)).status).toBe(200);
    expect(await loginOf(held.id)).toEqual({ email: 'held@example.com', phone: '+41791234599' });
  });

  it('gives an address to one user, also after the user at another home who had it is gone', async () => {
    const address = { emails: [{ value: 'gone@example.com' }] };
    const { body: other } = await ofProject.directory.request('POST', '/Users', { userName: 'gone', ...address });
    expect((await south.directory.request('POST', '/Users', { userName: 'one', ...address })).status).toBe(201);
    await ofProject.directory.request('DELETE', `/Users/${other.id}`);
    expect(await south.directory.request('POST', '/Users', { userName: 'two', ...address })).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    });
    const change = patch('replace', 'emails', address.emails);
    expect((await south.directory.request('PATCH', `/Users/${south.boss}`, change)).status).toBe(409);
  });

  it.each([
    ['address', { emails: [{ value: 'taken@example.com' }] }],
    ['phone', { phoneNumbers: [{ value: '+41791234598', type: 'mobile' }] }],
  ])('keeps its %s: the directory of the project gets 409, and a user there changes nothing', async (_name, value) => {
    const { directory, boss } = ofProject;
    const { organizationDomains } = app.services;
    const domain = await organizationDomains.add(
      keyIn(directory.id, north.directory.organizationId ?? ''),
      'example.com',
      system,
    );
    await organizationDomains.verify(domain, 'Test', system);
    expect((await north.directory.request('POST', '/Users', { userName: 'held', ...value })).status).toBe(201);
    const users = () =>
      rows(
        app.services.db,
        'select id, version, attributes, email, phone from users where project_id = ? order by id',
        [directory.id],
      );
    const before = await users();
    const [operation] = Object.entries(value).map(([path, given]) => patch('replace', path, given));
    for (const refused of [
      await directory.request('POST', '/Users', { userName: 'new', ...value }),
      await directory.request('PUT', `/Users/${boss}`, { userName: 'boss', ...value }),
      await directory.request('PATCH', `/Users/${boss}`, operation),
    ]) {
      expect(refused).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    }
    expect(await users()).toEqual(before);
  });

  it('ends sessions when it deactivates a user', async () => {
    const { body } = await north.directory.request('POST', '/Users', { userName: 'eve@example.com' });
    const { db, users } = app.services;
    const project = await projectOf(north);
    const user = await users.find(db.reader(), project.id, body.id);
    if (!user) throw new Error('no user');
    await app.make.session(project, user);
    await north.directory.request('PATCH', `/Users/${user.id}`, patch('replace', 'active', false));
    const open = 'select id from sessions where project_id = ? and user_id = ? and ended_at is null';
    expect(await rows(db, open, [project.id, user.id])).toEqual([]);
  });

  it('accepts no access token of an application of the project', async () => {
    const { directories } = app.services;
    const application = { id: 'x', name: 'x', projectId: north.directory.id };
    const credential = { authorization: undefined, application, ip: undefined };
    const atOrganization = directories.authenticate(north.directory.organizationId ?? '', credential);
    expect(await problemOf(atOrganization)).toMatchObject({ code: 'unauthenticated' });
    expect(await problemOf(directories.authenticate(north.directory.id, credential))).toBeNull();
  });
});
