/** SAML connections of organizations (decisions/0397): the rules of OpenID Connect, for a kind without `email_verified`. */
import { beforeEach, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { rows } from '../../test/rows.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';
import { expectStatus, newAddress } from '../../test/signin-world.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import { newProfile } from '../domain/connections/profile.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const services = () => world.app.services;
let acme: Place;
let connection: Connection;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true });
  acme = await new Places(world.app, world.project).organization('acme');
  const { organizationDomains } = services();
  const domain = await organizationDomains.add(keyIn(world.project.id, acme.id), 'example.com', system);
  await organizationDomains.verify(domain, 'Test', system);
  connection = await saml.connect({ organizationId: acme.id }, { vouchesForEmail: false });
});

const employee = async (organizationId: string | null, email = newAddress()) => {
  const home = { projectId: world.project.id, organizationId };
  const { db, users } = services();
  const { id } = await db.transaction((em) => users.create(em, home, newProfile(email, {}), 'local', system));
  return { id, email };
};
const through = async () => {
  const browser = await own.browser();
  return { browser, to: await saml.through(browser, connection) };
};

it('links a user at home by the address, and creates others at home', async () => {
  const { email, id } = await employee(acme.id);
  saml.newPerson({ email });
  expect((await through()).to.pathname).toBe('/authorize/resume');
  expect((await own.identities()).map(([user]) => user)).toEqual([id]);
  const other = saml.newPerson();
  expect((await through()).to.pathname).toBe('/authorize/resume');
  expect(await world.findUser(other)).toMatchObject({ organizationId: acme.id });
});

it('does not link a user of another home, nor a second subject, without a proof', async () => {
  const victim = await employee(null);
  saml.newPerson({ email: victim.email });
  expect((await through()).to.pathname).toBe('/signin');
  const { email } = await employee(acme.id);
  saml.newPerson({ email });
  await through();
  saml.newPerson({ email });
  const { browser, to } = await through();
  expect(to.pathname).toBe('/signin');
  expect(await own.identities()).toHaveLength(1);
  expectStatus(await browser.register(email), 'SUCCESS');
  expect(await own.identities()).toHaveLength(2);
});

it('has addresses in other domains proved, also where it vouches for them', async () => {
  await services().connections.update(connection, { saml: { vouchesForEmail: true } }, system);
  saml.newPerson({ email: 'ada@other.example' });
  expect((await through()).to.pathname).toBe('/signin');
  expect(await world.findUser('ada@other.example')).toBeNull();
});

it('gives roles by the values of an attribute', async () => {
  const { connections, db, organizationRoles } = services();
  await organizationRoles.create(world.project.id, { key: 'admin', name: 'Admin' }, system);
  const roleMappings = { claim: 'memberOf', roles: { 'cn=admins,o=acme': 'admin' } };
  await connections.update(connection, { roleMappings }, system);
  saml.newPerson({ memberOf: 'cn=admins,o=acme' });
  expect((await through()).to.pathname).toBe('/authorize/resume');
  const text = `select r.key from organization_membership_roles h
    join organization_roles r on r.project_id = h.project_id and r.id = h.role_id where h.project_id = ?`;
  expect(await rows(db, text, [world.project.id])).toEqual([{ key: 'admin' }]);
});

it('stops with its organization between the answer and its use', async () => {
  const { email } = await employee(acme.id);
  saml.newPerson({ email });
  const browser = await own.browser();
  const delivered = locationOf(await saml.deliver(await saml.answer(browser, connection)));
  await services().organizations.update(keyIn(world.project.id, acme.id), { state: 'suspended' }, system);
  expect(locationOf(await browser.browser.get(delivered.href)).searchParams.get('connect')).toBe('off');
  expect([await own.sessions(), await own.identities()]).toEqual([0, []]);
});
