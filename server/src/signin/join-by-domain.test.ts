/** Membership by the domain of the login address (decisions/0396). */
import { beforeEach, expect, it } from 'vitest';
import { type Place, Places } from '../../test/organizations.ts';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const world = SigninWorld.ofTests();
let places: Places;
let acme: Place;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true });
  places = new Places(world.app, world.project);
  acme = await places.organization('acme');
  await world.app.services.organizationRoles.create(world.project.id, { key: 'staff', name: 'Staff' }, system);
  await configure({ joinByDomain: 'on', defaultRoleKeys: ['staff'] });
});

const keyOf = ({ id }: { id: string }) => keyIn(world.project.id, id);
const configure = (settings: Parameters<typeof world.app.services.organizations.update>[1]) =>
  world.app.services.organizations.update(keyOf(acme), settings, system);
const verify = async (domain = 'example.com', place = acme) => {
  const { organizationDomains } = world.app.services;
  return organizationDomains.verify(await organizationDomains.add(keyOf(place), domain, system), 'Test', system);
};
const signIn = async (address = newAddress()) => {
  expectStatus(await world.register(await world.page(), address), 'SUCCESS');
  return address;
};
/** [slug, state, source, roles] of the memberships of a user. */
const membershipsOf = async (address: string) => {
  const text = `select o.slug, m.state, m.source, m.id, array(select r.key from organization_membership_roles h
      join organization_roles r on r.project_id = h.project_id and r.id = h.role_id
      where h.project_id = m.project_id and h.membership_id = m.id) as roles
    from organization_memberships m join organizations o on o.project_id = m.project_id and o.id = m.organization_id
      join users u on u.project_id = m.project_id and u.id = m.user_id
    where m.project_id = ? and u.email = ?`;
  const found = await rows<{ slug: string; state: string; source: string; id: string; roles: string[] }>(
    world.app.services.db,
    text,
    [world.project.id, address],
  );
  return found;
};
const member = { slug: 'acme', state: 'active', source: 'domain', roles: ['staff'] };

it('begins with a sign-in by a code at an address in a verified domain', async () => {
  await verify();
  const address = await signIn();
  expect(await membershipsOf(address)).toMatchObject([member]);
  expect(await world.events()).toContain('organization-membership.created');
  // Later sign-ins change nothing.
  await signIn(address);
  expect(await membershipsOf(address)).toHaveLength(1);
});

it('does not begin in a domain that is only claimed, or was lost', async () => {
  const claim = await world.app.services.organizationDomains.add(keyOf(acme), 'example.com', system);
  expect(await membershipsOf(await signIn())).toEqual([]);
  await world.app.services.organizationDomains.verify(claim, 'Test', system);
  await world.app.services.organizationDomains.remove(claim, system);
  expect(await membershipsOf(await signIn())).toEqual([]);
});

it('does not begin in a domain above or below the verified one', async () => {
  await verify('eu.example.com');
  expect(await membershipsOf(await signIn())).toEqual([]);
  expect(await membershipsOf(await signIn(newAddress().replace('@', '@x.eu.')))).toEqual([]);
  expect(await membershipsOf(await signIn(newAddress().replace('@', '@eu.')))).toMatchObject([member]);
});

it('does not begin where it is off, the organization is suspended, or the project has none', async () => {
  await verify();
  await configure({ joinByDomain: 'off' });
  expect(await membershipsOf(await signIn())).toEqual([]);
  await configure({ joinByDomain: 'on', state: 'suspended' });
  expect(await membershipsOf(await signIn())).toEqual([]);
  await configure({ state: 'active' });
  await world.set({ organizationsEnabled: false });
  expect(await membershipsOf(await signIn())).toEqual([]);
});

it('does not begin by a trusted browser: the address may have changed since its code', async () => {
  const address = await signIn();
  await verify();
  const page = await world.page();
  const user = await world.findUser(address);
  expectStatus(await world.register(page, address), 'SUCCESS');
  const [{ id } = { id: '' }] = await membershipsOf(address);
  await world.app.services.memberships.remove(keyOf({ id }), system);
  await page.challenge();
  expectStatus(await page.step('authenticate', { userid: user?.email ?? '' }, 'use'), 'SUCCESS');
  expect(await membershipsOf(address)).toEqual([]);
});

it('leaves a suspended member suspended', async () => {
  await verify();
  const address = await signIn();
  const [{ id } = { id: '' }] = await membershipsOf(address);
  await world.app.services.memberships.setState(keyOf({ id }), 'suspended', system);
  await signIn(address);
  expect(await membershipsOf(address)).toMatchObject([{ ...member, state: 'suspended' }]);
});

it('does not begin for a user at home in another organization, whose directory can change the address afterwards', async () => {
  await verify();
  const other = await places.organization('other');
  const address = newAddress();
  const values = {
    ...{ userName: address, externalId: null, displayName: null, givenName: null, familyName: null, active: true },
    attributes: {},
  };
  const { db, users } = world.app.services;
  const home = { projectId: world.project.id, organizationId: other.id };
  await db.transaction((em) => users.create(em, home, values, 'local', system));
  await signIn(address);
  expect(await membershipsOf(address)).toMatchObject([{ slug: 'other' }]);
});

it('waits for an admin with ASK, who accepts or declines it', async () => {
  await verify();
  await configure({ joinByDomain: 'ask' });
  const [ada, bob, eve] = [await signIn(), await signIn(), await signIn()];
  const requested = { ...member, state: 'requested' };
  for (const one of [ada, bob, eve]) expect(await membershipsOf(one)).toMatchObject([requested]);
  expect(await world.events()).toContain('organization-membership.requested');
  const { memberships, db } = world.app.services;
  const isMember = async (address: string) => {
    const user = await world.findUser(address);
    const text = `select from organization_memberships m join organizations o on o.project_id = m.project_id
      and o.id = m.organization_id where m.project_id = ? and m.user_id = ? and m.state = 'active'`;
    return (await rows(db, text, [world.project.id, user?.id])).length > 0;
  };
  expect(await isMember(ada)).toBe(false);
  const idOf = async (address: string) => keyOf((await membershipsOf(address))[0] ?? { id: '' });
  await memberships.setState(await idOf(ada), 'active', system);
  await memberships.setState(await idOf(bob), 'suspended', system);
  expect(await isMember(ada)).toBe(true);
  // Another sign-in does not ask again, and ON does not accept a request.
  await configure({ joinByDomain: 'on' });
  for (const one of [bob, eve]) await signIn(one);
  expect(await membershipsOf(bob)).toMatchObject([{ ...requested, state: 'suspended' }]);
  expect(await membershipsOf(eve)).toMatchObject([requested]);
});

it('an admin who adds a user accepts their request', async () => {
  await verify();
  await configure({ joinByDomain: 'ask' });
  const address = await signIn();
  const user = await world.findUser(address);
  const added = await world.app.services.memberships.add(keyOf(acme), { userId: user?.id ?? '' }, system);
  expect(await membershipsOf(address)).toMatchObject([{ id: added.id, state: 'active', source: 'admin' }]);
});
