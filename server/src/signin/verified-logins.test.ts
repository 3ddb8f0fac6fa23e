/** Login addresses of users of a directory follow the verified domains of their organization (decisions/0408). */
import { beforeEach, expect, it } from 'vitest';
import { OrganizationDirectory } from '../../test/organization-directory.ts';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import { editedLogin } from '../domain/users/edits/login-edit.ts';

const world = SigninWorld.ofTests();
const services = () => world.app.services;
let north: OrganizationDirectory;
let south: OrganizationDirectory;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true, scimEnabled: true });
  north = await OrganizationDirectory.of(world, 'north');
  south = await OrganizationDirectory.of(world, 'south');
});

const prove = async (address: string) => {
  expectStatus(await world.register(await world.page(), address), 'SUCCESS');
  const user = await world.findUser(address);
  if (!user) throw new Error(`no account of ${address}`);
  return user;
};
const changedLogins = async () => {
  const text = `select subject_id as id from audit_log where project_id = ? and type = 'user.updated'
    and detail -> 'changed' = '["email"]' order by id`;
  return (await rows<{ id: string }>(services().db, text, [world.project.id])).map(({ id }) => id);
};

it('are given when the domain is verified, and SCIM does not change', async () => {
  const addresses = [newAddress(), newAddress(), 'ada@elsewhere.example', 'ada@sub.example.com'];
  const ids: string[] = [];
  for (const address of addresses) ids.push(await north.names(address));
  const before = (await north.send('GET', '/Users')).text;
  await north.verify('example.com');
  expect((await north.send('GET', '/Users')).text).toBe(before);
  for (const [at, id] of ids.entries()) {
    const [email, withheld] = at < 2 ? [addresses[at], null] : [null, addresses[at]];
    expect(await north.row(id)).toEqual({ email, withheld, account: null });
  }
  expect(await changedLogins()).toEqual(ids.slice(0, 2).toSorted());
  expect(await prove(addresses[0] ?? '')).toMatchObject({ id: ids[0], organizationId: north.id });
  await north.patch(ids[0] ?? '', { active: false });
  expect(await world.findUser(addresses[0] ?? '')).toMatchObject({ active: false });
});

it('are given in an international domain, in whichever form the directory writes it', async () => {
  const ids = [await north.names('ada@bücher.example'), await north.names('bob@xn--bcher-kva.example')];
  await north.verify('bücher.example');
  for (const id of ids) expect(await north.row(id)).toMatchObject({ withheld: null });
});

it('are given to more users than one statement takes', async () => {
  const [one] = [await north.names('1@example.com')];
  await rows(
    services().db,
    `insert into users (project_id, id, organization_id, user_name, user_name_key, withheld_email_key, attributes, active, provenance,
        version, created_at, updated_at)
      select project_id, gen_random_uuid(), organization_id, 'u' || n, 'u' || n, n || '@example.com',
        jsonb_build_object('emails', jsonb_build_array(jsonb_build_object('value', n || '@example.com'))), true, 'scim', 1, created_at, updated_at
      from users, generate_series(2, 1200) n where project_id = ? and id = ?`,
    [world.project.id, one],
  );
  const given = async () =>
    rows<{ given: number }>(services().db, 'select count(email)::int as given from users where project_id = ?', [
      world.project.id,
    ]);
  const domain = await north.verify('example.com');
  expect(await given()).toEqual([{ given: 1200 }]);
  expect(await changedLogins()).toHaveLength(1200);
  await services().organizationDomains.remove(domain, system);
  expect(await given()).toEqual([{ given: 0 }]);
});

it('stay with the account of a person who came first, a guest', async () => {
  const address = newAddress();
  const record = await north.names(address);
  const account = await prove(address);
  await north.verify('example.com');
  expect(await north.row(record)).toEqual({ email: null, withheld: address, account: account.id });
  expect(await world.findUser(address)).toMatchObject({ id: account.id, organizationId: null });
  // A new user of the directory takes the account home, as ever.
  await north.send('DELETE', `/Users/${record}`);
  expect(await north.names(address)).toBe(account.id);
});

it('stay with a user who has the address, without a mail code, and are not reserved for an inactive one', async () => {
  const [taken, reserved] = [newAddress(), newAddress()];
  const ids = [await north.names(taken), await north.names(reserved)];
  const account = await world.user({ userName: taken, userNameKey: taken, email: taken, emailKey: taken });
  const held = await world.user({ userName: 'held', userNameKey: 'held', email: reserved, emailKey: reserved });
  await services().accounts.setActive(world.project.id, held.id, false, system);
  const rename = (user: object) => ({ ...user, userName: 'renamed', attributes: {} }) as never;
  await services().accounts.change(world.project.id, held.id, rename, system);
  await north.verify('example.com');
  for (const id of ids) expect(await north.row(id)).toMatchObject({ email: null });
  expect(await world.findUser(taken)).toMatchObject({ id: account.id });
  // The person proves it, and is a guest.
  await prove(taken);
  expect(await north.row(ids[0] ?? '')).toMatchObject({ account: account.id });
});

it('go to the organization that verifies the domain, of two that named the address; the other one gets a guest', async () => {
  const address = newAddress();
  const [own, other] = [await north.names(address), await south.names(address)];
  await north.verify('example.com');
  const account = await prove(address);
  expect(account).toMatchObject({ id: own, organizationId: north.id });
  expect(await south.row(other)).toEqual({ email: null, withheld: address, account: own });
  expect(await south.member(own)).toMatchObject({ state: 'active', source: 'directory' });
  await south.patch(other, { active: false });
  expect(await world.findUser(address)).toMatchObject({ active: true });
});

it('are withheld when the domain is removed, except from people who have signed in, and given back', async () => {
  const [used, unused] = [newAddress(), newAddress()];
  const domain = await north.verify('example.com');
  const [first, second] = [await north.names(used), await north.names(unused)];
  await prove(used);
  await services().organizationDomains.remove(domain, system);
  expect(await north.row(first)).toEqual({ email: used, withheld: null, account: null });
  expect(await north.row(second)).toEqual({ email: null, withheld: unused, account: null });
  expect((await prove(used)).id).toBe(first);
  // Unique at home, also while the domain is lost.
  for (const value of [used, unused]) {
    const again = await north.send('POST', '/Users', { userName: 'again', emails: [{ value }] });
    expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  }
  await north.verify('example.com');
  expect(await north.row(second)).toEqual({ email: unused, withheld: null, account: null });
});

it('of a removed domain reach an account of the person who proves the mailbox', async () => {
  const address = newAddress();
  const domain = await north.verify('example.com');
  const record = await north.names(address);
  await services().organizationDomains.remove(domain, system);
  const account = await prove(address);
  expect(account).toMatchObject({ organizationId: null });
  await north.verify('example.com');
  expect(await north.row(record)).toEqual({ email: null, withheld: address, account: account.id });
});

it('are given to an inactive user, who returns as the same person', async () => {
  const address = newAddress();
  const id = await north.names(address);
  await north.use(id);
  await north.patch(id, { active: false });
  await north.verify('example.com');
  await north.patch(id, { active: true });
  expect(await north.row(id)).toMatchObject({ email: address });
  expect(await world.events()).not.toContain('user.handed_over');
});

it('are given to each user who is created while the domain is verified', async () => {
  const { organizationDomains } = services();
  const added = await organizationDomains.add(north.key, 'example.com', system);
  const addresses = Array.from({ length: 40 }, newAddress);
  const creations = addresses.map((address) => north.names(address));
  const [ids] = await Promise.all([Promise.all(creations), organizationDomains.verify(added, 'Test', system)]);
  for (const [at, id] of ids.entries()) expect(await north.row(id)).toMatchObject({ email: addresses[at] });
});

it('that are withheld cannot be set by an admin', async () => {
  const address = newAddress();
  const id = await north.names(address);
  const user = await services().users.find(services().db.reader(), world.project.id, id);
  if (!user) throw new Error('no user');
  const edit = async () => editedLogin(user, { email: address }, { isLocked: false });
  expect(await problemOf(edit())).toMatchObject({ code: 'invalid', field: 'email' });
});
