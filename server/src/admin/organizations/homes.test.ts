/** Homes of users: the project, or an organization (decisions/0400). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { changed, rows } from '../../../test/rows.ts';
import { decidedFor } from '../../domain/ceremonies/account.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { rolesOfUser } from '../../domain/roles/role-lists.ts';
import { valuesOf } from '../../domain/users/user-record.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let north: string;
let south: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
});
afterAll(() => harness.close());

beforeEach(async () => {
  project = await make.project({ name: 'Acme' });
  await harness.services.projects.update(project.id, { organizationsEnabled: true }, system);
  await harness.services.organizationRoles.create(project.id, { key: 'staff', name: 'Staff' }, system);
  const created = async (slug: string) =>
    (await harness.services.organizations.create(project.id, { slug, name: slug, defaultRoleKeys: ['staff'] }, system))
      .id;
  [north, south] = [await created('north'), await created('south')];
});

const shown =
  'id userName email home { id } organizationMemberships { edges { node { id isHome source roles { key } } } }';
const create = (input: object) =>
  harness.call(`mutation ($input: CreateUserInput!) { createUser(input: $input) { ${shown} } }`, {
    input: { projectId: project.id, ...input },
  });
const made = async (input: object) => (await create(input)).data.createUser;
const faultOf = async (input: object) => (await create(input)).errors[0]?.extensions;
const membershipOf = (user: { organizationMemberships: { edges: { node: { id: string } }[] } }) =>
  user.organizationMemberships.edges[0]?.node.id as string;
const remove = (organizationId: string, people = '') =>
  harness.call(`mutation { deleteOrganization(input: { id: "${organizationId}" ${people} }) }`);
const eventsOf = (id: string) =>
  rows<{ type: string; detail: Record<string, unknown> }>(
    harness.services.db,
    'select type, detail from audit_log where project_id = ? and subject_id = ? order by id',
    [project.id, id],
  );
const usersIn = (filter: string) =>
  harness.call(`{ users(projectId: "${project.id}", filter: { ${filter} }) { edges { node { userName } } } }`);
const namesIn = async (filter: string) =>
  (await usersIn(filter)).data.users.edges.map(({ node }: { node: { userName: string } }) => node.userName);

describe('a user at home in an organization', () => {
  it('is its member, with its default roles and events of both', async () => {
    const user = await made({ userName: 'ada', organizationId: north });
    expect(user).toMatchObject({
      home: { id: north },
      organizationMemberships: { edges: [{ node: { isHome: true, source: 'ADMIN', roles: [{ key: 'staff' }] } }] },
    });
    expect(await eventsOf(user.id)).toMatchObject([
      { type: 'user.created', detail: { organizationId: north } },
      { type: 'organization-membership.created', detail: { organizationId: north, roles: ['staff'] } },
    ]);
    expect(await namesIn(`homeId: "${north}"`)).toEqual(['ada']);
    expect(await namesIn(`homeId: "${south}"`)).toEqual([]);
  });

  it('is refused for an organization of another project, which gets no user', async () => {
    const other = await make.project({ name: 'Other' });
    const { id } = await harness.services.organizations.create(other.id, { slug: 'x', name: 'X' }, system);
    for (const organizationId of [id, 'north', '']) {
      expect(await faultOf({ userName: 'ada', organizationId })).toMatchObject({ code: 'not-found' });
    }
    expect(await namesIn('')).toEqual([]);
    expect(harness.bugs).toEqual([]);
  });

  it('keeps the membership of its home: no admin ends it, and the user cannot leave', async () => {
    const user = await made({ userName: 'ada', organizationId: north });
    const id = membershipOf(user);
    const ended = await harness.call(`mutation { removeOrganizationMember(id: "${id}") }`);
    expect(ended.code).toBe('forbidden');
    const { db, memberships } = harness.services;
    const leaving = db.transaction((em) => memberships.leave(em, keyIn(project.id, user.id), id, system));
    await expect(leaving).rejects.toMatchObject({ problem: { code: 'not-found' } });
    const guest = await make.user(project);
    const { id: ofGuest } = await memberships.add(keyIn(project.id, north), { userId: guest.id }, system);
    const removed = await harness.call(`mutation { removeOrganizationMember(id: "${ofGuest}") }`);
    expect(removed.data.removeOrganizationMember).toBe(ofGuest);
  });

  it('shares userNames with other homes, and addresses and phones with no one', async () => {
    const homes = [{}, { organizationId: north }, { organizationId: south }];
    for (const home of homes) expect(await made({ userName: 'Ada', ...home })).toBeTruthy();
    for (const home of homes) expect(await faultOf({ userName: 'ada', ...home })).toMatchObject({ code: 'taken' });
    await made({ email: 'eve@example.com', phone: '+41791234567', organizationId: north });
    for (const home of homes) {
      const email = { userName: 'x', email: 'Eve@example.com', ...home };
      expect(await faultOf(email)).toMatchObject({ code: 'taken', field: 'email' });
      const phone = { userName: 'x', phone: '+41791234567', ...home };
      expect(await faultOf(phone)).toMatchObject({ code: 'taken', field: 'phone' });
    }
  });

  it('is created once by 40 concurrent requests', async () => {
    const tries = Array.from({ length: 40 }, () => create({ userName: 'race', organizationId: north }));
    const answers = await Promise.all(tries);
    expect(answers.filter(({ data }) => data?.createUser)).toHaveLength(1);
    expect(harness.bugs).toEqual([]);
  });
});

describe('the userName of a deactivated user', () => {
  it('is reserved at its home only: a directory could otherwise keep a person from signing up', async () => {
    const ada = await made({ userName: 'eve@example.com', email: 'ada@example.com', organizationId: north });
    const { accounts } = harness.services;
    await accounts.setActive(project.id, ada.id, false, system);
    await accounts.change(project.id, ada.id, (user) => ({ ...valuesOf(user), userName: 'ada' }), system);
    expect(await faultOf({ userName: 'eve@example.com', organizationId: north })).toMatchObject({ code: 'taken' });
    expect(await made({ userName: 'eve@example.com', email: 'e@example.com', organizationId: south })).toBeTruthy();
    expect(await made({ email: 'eve@example.com' })).toBeTruthy();
  });
});

describe('a typed userName', () => {
  const decided = async (address: string, organizationId: string | null) =>
    (await decidedFor(harness.services.db.reader(), project.id, address, organizationId)).account;
  const named = async (email: string, organizationId?: string) =>
    (await made({ userName: 'ada@old.example', email, organizationId })).id as string;

  it('identifies the user of the organization of the sign-in, else of the project, else of the verified domain', async () => {
    const { organizationDomains } = harness.services;
    await named('2@example.com', south);
    // South could otherwise take the sign-up of the person who has this address.
    for (const context of [null, north, south]) expect(await decided('ada@old.example', context)).toBeNull();
    const ofNorth = await named('1@example.com', north);
    const domain = await organizationDomains.add(keyIn(project.id, north), 'old.example', system);
    expect(await decided('ada@old.example', null)).toBeNull();
    await organizationDomains.verify(domain, 'Test', system);
    for (const context of [null, north, south]) expect(await decided('ada@old.example', context)).toBe(ofNorth);
    const ofProject = await named('3@example.com');
    for (const context of [null, south]) expect(await decided('ada@old.example', context)).toBe(ofProject);
    expect(await decided('ada@old.example', north)).toBe(ofNorth);
    const byAddress = (await made({ email: 'ada@old.example', userName: 'by-address', organizationId: south })).id;
    for (const context of [null, north, south]) expect(await decided('ada@old.example', context)).toBe(byAddress);
  });
});

describe('deleteOrganization', () => {
  it('asks what happens to people at home there', async () => {
    await made({ userName: 'ada', organizationId: north });
    expect((await remove(north)).errors[0]?.extensions).toMatchObject({ code: 'invalid', field: 'people' });
    expect((await remove(south)).data.deleteOrganization).toBe(south);
  });

  it('erases them, and keeps guests', async () => {
    await made({ userName: 'ada', organizationId: north });
    const guest = await make.user(project);
    await harness.services.memberships.add(keyIn(project.id, north), { userId: guest.id }, system);
    expect((await remove(north, 'people: ERASE')).data.deleteOrganization).toBe(north);
    expect(await namesIn('')).toEqual([guest.userName]);
  });

  it('moves them to the project, each with an event; not where a userName is taken', async () => {
    const ada = await made({ userName: 'ada', organizationId: north });
    const other = await made({ userName: 'Ada' });
    const refused = await remove(north, 'people: MOVE');
    expect(refused.errors[0]?.extensions).toMatchObject({ code: 'invalid', field: 'people' });
    expect(await namesIn(`homeId: "${north}"`)).toEqual(['ada']);
    await harness.services.accounts.remove(project.id, other.id, system);
    const { client } = await make.client(project);
    await harness.services.roles.create(keyIn(project.id, client.id), { key: 'owner', name: 'Owner' }, system);
    await changed(
      harness.services.db,
      `update users set provenance = 'scim',
        attributes = '{"roles": [{"value": "owner"}], "entitlements": [{"value": "owner"}], "title": "CTO"}' where id = ?`,
      [ada.id],
    );
    expect((await remove(north, 'people: MOVE')).data.deleteOrganization).toBe(north);
    const { data } = await harness.call(`{ user(id: "${ada.id}") { ${shown} provenance } }`);
    expect(data.user).toMatchObject({ home: null, provenance: 'LOCAL', organizationMemberships: { edges: [] } });
    // The directory of the organization gave no roles of applications.
    expect(await rolesOfUser(harness.services.db.reader(), keyIn(project.id, ada.id))).toEqual([]);
    const attributes = 'select attributes from users where project_id = ? and id = ?';
    expect(await rows(harness.services.db, attributes, [project.id, ada.id])).toEqual([
      { attributes: { title: 'CTO' } },
    ]);
    expect((await eventsOf(ada.id)).at(-1)).toMatchObject({
      type: 'user.moved',
      detail: { before: { organizationId: north }, after: { organizationId: null }, organizationId: north },
    });
  });

  it('leaves no one at home in a deleted organization, whatever comes first', async () => {
    const users = Array.from({ length: 8 }, (_, n) => create({ userName: `u${n}`, organizationId: north }));
    const [removed] = await Promise.all([remove(north, 'people: ERASE'), ...users]);
    expect(removed?.data?.deleteOrganization).toBe(north);
    expect(await namesIn('')).toEqual([]);
    expect(harness.bugs).toEqual([]);
  });
});
