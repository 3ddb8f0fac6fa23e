/** Connections of organizations (decisions/0397): homes, links by verified domains, and what stops them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { ConnectWorld } from '../../test/connect-world.ts';
import { OrganizationDirectory } from '../../test/organization-directory.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress } from '../../test/signin-world.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import type { NewConnection } from '../domain/connections/connections.ts';
import { newProfile } from '../domain/connections/profile.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const own = ConnectWorld.ofTests();
const { world } = own;
const services = () => world.app.services;
let places: Places;
let [acme, globex]: Place[] = [];
let connection: Connection;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true });
  places = new Places(world.app, world.project);
  [acme, globex] = [await places.organization('acme'), await places.organization('globex')];
  await services().organizationRoles.create(world.project.id, { key: 'staff', name: 'Staff' }, system);
  await services().organizations.update(keyOf(acme), { defaultRoleKeys: ['staff'] }, system);
  await verify(acme, 'example.com');
  connection = await connect(acme);
});

const keyOf = (place: Place | undefined) => keyIn(world.project.id, place?.id ?? '');
const verify = async (place: Place | undefined, domain: string) => {
  const { organizationDomains } = services();
  const added = await organizationDomains.add(keyOf(place), domain, system);
  return organizationDomains.verify(added, 'Test', system);
};
const connect = (place: Place | undefined, over: Partial<NewConnection> = {}) =>
  own.connect({ organizationId: place?.id, ...over });
const person = (values: Record<string, unknown> = {}) => {
  const email = String(values['email'] ?? newAddress());
  Object.assign(own.provider.person, { email, email_verified: undefined, ...values });
  return email;
};
/** A user at home in the organization, or in the project. */
const employee = async (place: Place | null | undefined, userName = newAddress(), email = userName) => {
  const home = { projectId: world.project.id, organizationId: place?.id ?? null };
  const { db, users } = services();
  const values = { ...newProfile(email, {}), userName };
  const { id } = await db.transaction((em) => users.create(em, home, values, 'local', system));
  return { id, email };
};
const through = async (by = connection) => {
  const browser = await own.browser();
  const to = locationOf(await browser.browser.get(own.provider.agree(await own.start(browser, by)).href));
  return { browser, to };
};
const signIn = async (by = connection) => {
  const { browser, to } = await through(by);
  expect(to.pathname).toBe('/authorize/resume');
  return browser.claimsAt(locationOf(await browser.browser.get(to.href)));
};
/** The outcome at the page, without a session or a new identity. */
const refusedWith = async (by = connection) => {
  const before = await own.identities();
  const { to } = await through(by);
  expect([await own.sessions(), await own.identities()]).toEqual([0, before]);
  return to.searchParams.get('connect') ?? to.pathname;
};
const membersOf = (place: Place | undefined) =>
  rows<{ user: string; source: string; state: string; roles: string[] }>(
    services().db,
    `select m.user_id as "user", m.source, m.state, array(select r.key from organization_membership_roles h
        join organization_roles r on r.project_id = h.project_id and r.id = h.role_id
        where h.project_id = m.project_id and h.membership_id = m.id) as roles
      from organization_memberships m where m.project_id = ? and m.organization_id = ? order by m.id`,
    [world.project.id, place?.id],
  );

describe('a new person', () => {
  it('with an address in a verified domain gets an account at home, whatever the sign-up mode', async () => {
    await world.set({ signUp: 'provisioned_only' });
    const email = person({ given_name: 'Ada' });
    const { sub } = await signIn();
    expect(await world.findUser(email)).toMatchObject({ id: sub, organizationId: acme?.id, givenName: 'Ada' });
    expect(await membersOf(acme)).toEqual([{ user: sub, source: 'connection', state: 'active', roles: ['staff'] }]);
    expect(await own.identities()).toEqual([[sub, own.provider.person['sub']]]);
    expect((await signIn())['sub']).toBe(sub);
  });

  it('who comes by a provider of the project is a guest of the organization whose directory named the address', async () => {
    await world.set({ scimEnabled: true, signUp: 'provisioned_only' });
    const north = await OrganizationDirectory.of(world, 'north');
    const email = person({ email: 'ada@other.example', email_verified: true });
    const record = await north.names(email);
    const { sub } = await signIn(await own.connect());
    expect(await world.findUser(email)).toMatchObject({ id: sub, organizationId: null });
    expect(await north.row(record)).toEqual({ email: null, withheld: email, account: sub });
    expect(await north.member(String(sub))).toMatchObject({ state: 'active', source: 'directory' });
  });

  it('whose address another directory named gets an account at home by the connection, and is a guest there', async () => {
    await world.set({ scimEnabled: true });
    const north = await OrganizationDirectory.of(world, 'north');
    const email = person();
    const record = await north.names(email);
    const { sub } = await signIn();
    expect(await world.findUser(email)).toMatchObject({ id: sub, organizationId: acme?.id });
    expect(await north.row(record)).toMatchObject({ account: sub });
  });

  it('in three windows at once gets one account', async () => {
    person();
    const windows = await Promise.all([own.browser(), own.browser(), own.browser()]);
    const backs: URL[] = [];
    for (const window of windows) backs.push(own.provider.agree(await own.start(window, connection)));
    const ends = await Promise.all(windows.map((window, index) => window.browser.get(String(backs[index]))));
    for (const end of ends) expect(locationOf(end).pathname).toBe('/authorize/resume');
    expect([(await own.identities()).length, (await membersOf(acme)).length]).toEqual([1, 1]);
  });

  it.each([
    [
      'an address in another domain, which the provider says is verified',
      { email: 'ada@other.example', email_verified: true },
    ],
    ['an address below the domain', { email: 'ada@eu.example.com', email_verified: true }],
    ['an address that the provider has not verified', { email_verified: false }],
    ['a text instead of a boolean', { email_verified: 'true' }],
  ])('with %s proves it first, and is then a guest', async (_, values) => {
    const email = person(values);
    const { browser, to } = await through();
    expect(to.pathname).toBe('/signin');
    expect(await world.findUser(email)).toBeNull();
    expectStatus(await world.register(browser.page, email), 'SUCCESS');
    const user = await world.findUser(email);
    expect(user).toMatchObject({ organizationId: null });
    expect(await membersOf(acme)).toMatchObject([{ user: user?.id, source: 'connection' }]);
    expect((await own.identities()).map(([id]) => id)).toEqual([user?.id]);
  });

  it('signs in freshly by the connection at home there, and as a guest by a code', async () => {
    const fresh = async () => {
      own.provider.lies = { claims: { auth_time: Math.floor(world.app.clock.now().getTime() / 1000) } };
      const browser = await own.browser({ prompt: 'login' });
      const back = own.provider.agree(await own.start(browser, connection));
      return locationOf(await browser.browser.get(back.href)).pathname;
    };
    person();
    await signIn();
    expect(await fresh()).toBe('/authorize/resume');
    const email = person({ sub: 'guest', email: 'guest@other.example' });
    const { browser } = await through();
    expectStatus(await world.register(browser.page, email), 'SUCCESS');
    expect((await through()).to.pathname).toBe('/signin');
    expect(await fresh()).toBe('/signin');
  });

  it('is unknown to the connection again once the membership ends, and proves the account again', async () => {
    const email = person({ email: 'grace@other.example' });
    const { browser } = await through();
    expectStatus(await world.register(browser.page, email), 'SUCCESS');
    // A link to a provider of the project stays.
    await through(own.connection).then((other) => world.register(other.browser.page, email));
    expect(await own.identities()).toHaveLength(2);
    const [membership] = await rows<{ id: string }>(
      services().db,
      'select id from organization_memberships where organization_id = ?',
      [acme?.id],
    );
    await services().memberships.remove(keyIn(world.project.id, membership?.id ?? ''), system);
    expect(await own.identities()).toHaveLength(1);
    expect((await through()).to.pathname).toBe('/signin');
    expect(await membersOf(acme)).toEqual([]);
  });

  it('gets no account where the connection creates none, or the domain was lost', async () => {
    await services().connections.update(connection, { jit: false }, system);
    const email = person();
    expect(await refusedWith()).toBe('no-account');
    await services().connections.update(connection, { jit: true }, system);
    const [domain] = await rows<{ id: string }>(
      services().db,
      'select id from organization_domains where organization_id = ?',
      [acme?.id],
    );
    await services().organizationDomains.remove(keyIn(world.project.id, domain?.id ?? ''), system);
    expect(await refusedWith()).toBe('/signin');
    expect(await world.findUser(email)).toBeNull();
    expect(await membersOf(acme)).toEqual([]);
  });
});

describe('a user at home', () => {
  it('with the address is linked at once, and gets a mail', async () => {
    const user = await employee(acme);
    person({ email: user.email.toUpperCase() });
    expect((await signIn())['sub']).toBe(user.id);
    expect(await own.identities()).toEqual([[user.id, own.provider.person['sub']]]);
    await world.app.runJobs();
    expect(world.app.mailbox.at(-1)).toMatchObject({ to: user.email });
  });

  it('is not linked to a second subject: a new employee with the address, or one who changed theirs', async () => {
    const user = await employee(acme);
    person({ email: user.email });
    await signIn();
    own.provider.person['sub'] = 'another';
    const { browser, to } = await through();
    expect(to.pathname).toBe('/signin');
    expect(await own.identities()).toHaveLength(1);
    // A code to the mailbox proves it.
    expectStatus(await world.register(browser.page, user.email), 'SUCCESS');
    expect(await own.identities()).toHaveLength(2);
  });

  it('is not linked if deactivated', async () => {
    const user = await employee(acme);
    await services().accountAccess.deactivate(world.project.id, user.id, system);
    person({ email: user.email });
    expect(await refusedWith()).toBe('inactive');
  });

  it('of another home keeps the profile of that home', async () => {
    await services().connections.update(connection, { refreshesProfile: true }, system);
    const guest = await employee(null, 'guest@other.example');
    person({ email: guest.email, given_name: 'Mallory' });
    const { browser } = await through();
    expectStatus(await world.register(browser.page, guest.email), 'SUCCESS');
    expect((await through()).to.pathname).toBe('/signin');
    expect((await world.findUser(guest.email))?.givenName).toBeFalsy();
  });
});

describe('roles by groups', () => {
  const map = (roles: Record<string, string>, claim = 'groups') =>
    services().connections.update(connection, { roleMappings: { claim, roles } }, system);
  const rolesOf = async () => (await membersOf(acme)).map(({ roles }) => roles.toSorted());

  beforeEach(async () => {
    for (const key of ['admin', 'editor', 'manual']) {
      await services().organizationRoles.create(world.project.id, { key, name: key }, system);
    }
    await map({ Admins: 'admin', Owners: 'admin', Writers: 'editor' });
  });

  it('are given and taken at each sign-in; others stay', async () => {
    person({ groups: ['Admins', 'Writers', 'Unknown', 7] });
    const { sub } = await signIn();
    expect(await rolesOf()).toEqual([['admin', 'editor', 'staff']]);
    const [membership] = await rows<{ id: string }>(
      services().db,
      'select id from organization_memberships where user_id = ?',
      [sub],
    );
    await services().memberships.assign(keyIn(world.project.id, membership?.id ?? ''), 'manual', system);
    own.provider.person['groups'] = 'Owners';
    await signIn();
    expect(await rolesOf()).toEqual([['admin', 'manual', 'staff']]);
    own.provider.person['groups'] = [];
    await signIn();
    expect(await rolesOf()).toEqual([['manual', 'staff']]);
    const changes = (await world.events()).filter(
      (type) => type.startsWith('organization-role.') && type.endsWith('signed'),
    );
    expect(changes).toEqual([
      ...['organization-role.assigned', 'organization-role.assigned', 'organization-role.assigned'],
      ...['organization-role.unassigned', 'organization-role.unassigned'],
    ]);
  });

  it('stay where the provider sends no groups, and without a mapping', async () => {
    person({ groups: ['Admins'] });
    await signIn();
    delete own.provider.person['groups'];
    await signIn();
    expect(await rolesOf()).toEqual([['admin', 'staff']]);
    own.provider.person['groups'] = [];
    await services().connections.update(connection, { roleMappings: {} }, system);
    await signIn();
    expect(await rolesOf()).toEqual([['admin', 'staff']]);
  });

  it('are those of a guest after the proof of the account', async () => {
    const email = person({ email: 'ada@other.example', groups: ['Writers'] });
    const { browser } = await through();
    expectStatus(await world.register(browser.page, email), 'SUCCESS');
    expect(await rolesOf()).toEqual([['editor', 'staff']]);
  });

  it('are in the organization of the connection alone', async () => {
    const { id } = await employee(acme, 'ada@example.com');
    await services().memberships.add(keyOf(globex), { userId: id, roleKeys: ['editor'] }, system);
    person({ email: 'ada@example.com', groups: ['Admins'] });
    await signIn();
    expect((await membersOf(globex)).map(({ roles }) => roles)).toEqual([['editor']]);
  });

  it.each<[string, unknown]>([
    ['roleMappings', []],
    ['roleMappings', { claim: 'groups', roles: { A: 'admin' }, more: 1 }],
    ['roleMappings.claim', { claim: '', roles: { A: 'admin' } }],
    ['roleMappings.roles', { claim: 'groups', roles: {} }],
    ['roleMappings.roles', { claim: 'groups', roles: { A: 1 } }],
    ['roleMappings.roles', { claim: 'groups', roles: { '': 'admin' } }],
  ])('are refused with a wrong %s: %o', async (field, roleMappings) => {
    expect(await problemOf(services().connections.update(connection, { roleMappings }, system))).toMatchObject({
      ...{ code: 'invalid', field },
    });
  });

  it('are refused for an unknown role, and for a connection of the project', async () => {
    expect(await problemOf(map({ A: 'none' }))).toMatchObject({ code: 'not-found', what: 'organization-role' });
    const roleMappings = { claim: 'groups', roles: { A: 'admin' } };
    expect(await problemOf(services().connections.update(own.connection, { roleMappings }, system))).toMatchObject({
      ...{ code: 'invalid', field: 'roleMappings' },
    });
    // A role that is deleted later is left out.
    const [role] = await rows<{ id: string }>(
      services().db,
      "select id from organization_roles where project_id = ? and key = 'editor'",
      [world.project.id],
    );
    await services().organizationRoles.delete(keyIn(world.project.id, role?.id ?? ''), system);
    await services().connections.update(connection, { name: 'Renamed' }, system);
    person({ groups: ['Admins', 'Writers'] });
    await signIn();
    expect(await rolesOf()).toEqual([['admin', 'staff']]);
  });
});

describe('a victim whose address an upstream names', () => {
  it('at home in the project or in another organization is not linked without a proof', async () => {
    for (const home of [null, globex]) {
      person({ email: (await employee(home)).email, email_verified: true });
      expect(await refusedWith()).toBe('/signin');
    }
    expect(await membersOf(acme)).toEqual([]);
  });

  it('is not linked by a connection of another organization, nor by one of the project', async () => {
    const user = await employee(acme);
    person({ email: user.email, email_verified: true });
    expect(await refusedWith(await connect(globex))).toBe('/signin');
    expect(await refusedWith(own.connection)).toBe('/signin');
  });

  it('is not linked by their userName', async () => {
    const address = newAddress();
    await employee(acme, address, newAddress());
    person({ email: address });
    expect(await refusedWith()).toBe('/signin');
  });
});

describe('a connection of an organization', () => {
  it('stops with its organization: at the start, and at an answer that is under way', async () => {
    const user = await employee(acme);
    person({ email: user.email });
    const browser = await own.browser();
    const back = own.provider.agree(await own.start(browser, connection));
    await services().organizations.update(keyOf(acme), { state: 'suspended' }, system);
    expect(locationOf(await browser.browser.get(back.href)).searchParams.get('connect')).toBe('off');
    expect((await own.start(await own.browser(), connection)).searchParams.get('connect')).toBe('off');
    await services().organizations.update(keyOf(acme), { state: 'active' }, system);
    await world.set({ organizationsEnabled: false });
    expect((await own.start(await own.browser(), connection)).searchParams.get('connect')).toBe('off');
    expect([await own.sessions(), await own.identities()]).toEqual([0, []]);
  });

  it('does not link an answer that waits for a proof once the organization is suspended', async () => {
    const email = person({ email: 'ada@other.example' });
    const { browser } = await through();
    await services().organizations.update(keyOf(acme), { state: 'suspended' }, system);
    expectStatus(await world.register(browser.page, email), 'SUCCESS');
    expect(await own.identities()).toEqual([]);
  });

  it('does not take the answer of another connection', async () => {
    const user = await employee(acme);
    person({ email: user.email });
    const browser = await own.browser();
    const back = own.provider.agree(await own.start(browser, await connect(globex)));
    back.pathname = `/connect/${connection.id}/callback`;
    expect((await browser.browser.get(back.href)).status).not.toBe(303);
    expect([await own.sessions(), await own.identities()]).toEqual([0, []]);
  });

  it('is offered by no page of the project, and deleted with its organization', async () => {
    const browser = await own.browser();
    const text = await (await browser.browser.get(`${world.app.url}/signin?flow=${browser.flow}`)).text();
    expect([text.includes(own.connection.id), text.includes(connection.id)]).toEqual([true, false]);
    await services().organizationEnds.delete(keyOf(acme), null, system);
    const left = await rows(services().db, 'select id from connections where project_id = ?', [world.project.id]);
    expect(left).toEqual([{ id: own.connection.id }]);
  });

  it('is one of ten, and of an organization of its project', async () => {
    for (let count = 1; count < 10; count += 1) await connect(acme);
    expect(await problemOf(connect(acme))).toMatchObject({ code: 'invalid', field: 'organizationId' });
    const other = await world.app.make.project();
    const foreign = await new Places(world.app, other).organization('acme');
    expect(await problemOf(connect(foreign))).toMatchObject({ code: 'not-found', what: 'organization' });
  });
});

it('a test of settings that have changed meanwhile does not count', async () => {
  const draft = await services().connections.create(
    {
      ...{
        projectId: world.project.id,
        organizationId: acme?.id ?? '',
        kind: 'oidc' as const,
        preset: 'generic',
        name: 'Draft',
      },
      oidc: { issuer: own.provider.issuer, clientId: own.provider.clientId, clientSecret: own.provider.secret },
    },
    system,
  );
  await services().connections.update(draft, { oidc: { scopes: ['openid'] } }, system);
  expect(await services().connections.tested({ ...keyIn(world.project.id, draft.id), version: 1 }, system)).toBe(false);
  expect(await services().connections.tested({ ...keyIn(world.project.id, draft.id), version: 2 }, system)).toBe(true);
});

it.each([
  ['google', {}, 'oidc.hostedDomain'],
  ['microsoft', {}, 'oidc.issuer'],
  ['gitlab', {}, 'oidc.issuer'],
  ['generic', { issuer: 'https://accounts.google.com' }, 'oidc.issuer'],
] as const)('a provider at which anyone can have an account is refused: %s', async (preset, settings, field) => {
  const { connections } = services();
  const of = { projectId: world.project.id, kind: 'oidc', preset, name: 'Open' } as const;
  const oidc = { clientId: 'latchkey', ...settings };
  const draft = await connections.create({ ...of, organizationId: acme?.id, oidc }, system);
  const refused = { code: 'invalid', field };
  expect(await problemOf(connections.setState(draft, 'enabled', system))).toMatchObject(refused);
  expect(await connections.setState(await connections.create({ ...of, oidc }, system), 'enabled', system)).toBeTruthy();
  if (preset !== 'google') return;
  await connections.update(draft, { oidc: { hostedDomain: 'example.com' } }, system);
  await connections.setState(draft, 'enabled', system);
  expect(await problemOf(connections.update(draft, { oidc: { hostedDomain: '' } }, system))).toMatchObject(refused);
});
