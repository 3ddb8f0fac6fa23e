/**
 * The directory of an organization never decides which account an address outside the organization's verified domains reaches
 * (decisions/0408).
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { OrganizationDirectory } from '../../test/organization-directory.ts';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { decidedFor } from '../domain/ceremonies/account.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const world = SigninWorld.ofTests();
const services = () => world.app.services;
let north: OrganizationDirectory;
let south: OrganizationDirectory;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true, scimEnabled: true });
  north = await OrganizationDirectory.of(world, 'north');
  south = await OrganizationDirectory.of(world, 'south');
  for (const key of ['staff', 'lead'])
    await services().organizationRoles.create(world.project.id, { key, name: key }, system);
  await services().organizations.update(north.key, { defaultRoleKeys: ['staff'] }, system);
});

/** Signs up, or signs in, by a code to the mailbox. @returns the account */
const prove = async (address: string) => {
  expectStatus(await world.register(await world.page(), address), 'SUCCESS');
  const user = await world.findUser(address);
  if (!user) throw new Error(`no account of ${address}`);
  return user;
};
const guest = { state: 'active', source: 'directory', roles: ['staff'] };

describe('an address outside the verified domains', () => {
  it('reaches an account of its person, which the directory cannot change', async () => {
    const address = newAddress();
    const record = await north.names(address);
    const account = await prove(address);
    expect(account).toMatchObject({ organizationId: null, provenance: 'local', active: true });
    expect(account.id).not.toBe(record);
    await north.patch(record, { active: false });
    await north.patch(record, { emails: [{ value: newAddress() }] });
    expect((await north.send('DELETE', `/Users/${record}`)).status).toBe(204);
    expect(await prove(address)).toMatchObject({ id: account.id, active: true });
  });

  it('makes its person a guest, in either order, with the same end', async () => {
    const [before, after] = [newAddress(), newAddress()];
    const first = await north.names(before);
    const ends = [
      { record: first, account: await prove(before) },
      { account: await prove(after), record: await north.names(after) },
    ];
    for (const { account, record } of ends) {
      const [address] = [account.email];
      expect(await north.row(record)).toEqual({ email: null, withheld: address, account: account.id });
      expect(await north.member(account.id)).toMatchObject(guest);
      expect(await north.member(record)).toBeUndefined();
      await north.patch(record, { active: false });
      expect(await north.member(account.id)).toMatchObject({ ...guest, state: 'suspended' });
      await north.patch(record, { active: true });
      expect(await north.member(account.id)).toMatchObject(guest);
      expect((await north.send('DELETE', `/Users/${record}`)).status).toBe(204);
      expect(await north.member(account.id)).toBeUndefined();
      expect(await world.findUser(address ?? '')).toMatchObject({ id: account.id, active: true });
    }
  });

  it('changes nothing that the directory sees when its person comes', async () => {
    const address = newAddress();
    const phoneNumbers = [{ value: '+41791234567', type: 'mobile' }];
    const id = await north.names(address, { externalId: 'n-1', title: 'Lead', phoneNumbers });
    await north.send('POST', '/Groups', { displayName: 'Staff', members: [{ value: id }] });
    const seen = async () => [
      await north.send('GET', `/Users/${id}`),
      await north.send('GET', '/Users'),
      await north.send('GET', '/Groups'),
    ];
    const before = await seen();
    expect(before[0]?.body).toMatchObject({
      userName: address,
      emails: [{ value: address }],
      phoneNumbers,
      active: true,
    });
    const account = await prove(address);
    expect((await seen()).map(({ text }) => text)).toEqual(before.map(({ text }) => text));
    expect(account.phone ?? null).toBeNull();
    const held = 'select phone from users where project_id = ? and id = ?';
    expect(await rows(services().db, held, [world.project.id, id])).toEqual([{ phone: null }]);
    const again = await north.send('POST', '/Users', { userName: 'other', emails: [{ value: address }] });
    expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  });

  it('keeps the roles of the waiting user, and the suspension by an admin', async () => {
    const [ada, bob] = [newAddress(), newAddress()];
    const [first, second] = [await north.names(ada), await north.names(bob)];
    const keyOf = async (id: string) => keyIn(world.project.id, (await north.member(id))?.id ?? '');
    await services().memberships.assign(await keyOf(first), 'lead', system);
    await services().memberships.setState(await keyOf(second), 'suspended', system);
    expect(await north.member((await prove(ada)).id)).toMatchObject({ ...guest, roles: ['lead', 'staff'] });
    const { id } = await prove(bob);
    expect(await north.member(id)).toMatchObject({ state: 'suspended' });
    await north.patch(second, { active: false });
    await north.patch(second, { active: true });
    expect(await north.member(id)).toMatchObject({ state: 'suspended' });
  });

  it('of an inactive user makes a suspended guest', async () => {
    const address = newAddress();
    const record = await north.names(address, { active: false });
    const { id } = await prove(address);
    expect(await north.member(id)).toMatchObject({ ...guest, state: 'suspended' });
    await north.patch(record, { active: true });
    expect(await north.member(id)).toMatchObject(guest);
  });

  it('leaves a member as they are', async () => {
    const [address, other] = [newAddress(), newAddress()];
    const account = await prove(other);
    await services().memberships.add(north.key, { userId: account.id, roleKeys: ['lead'] }, system);
    const record = await north.names(address);
    await services().accounts.change(
      world.project.id,
      account.id,
      (user) => ({ ...user, userName: address, attributes: {} }) as never,
      system,
    );
    await prove(address);
    expect(await north.row(record)).toMatchObject({ account: account.id });
    expect(await north.member(account.id)).toMatchObject({ source: 'admin', state: 'active', roles: ['lead'] });
  });

  it('makes a guest of both organizations that named it', async () => {
    const address = newAddress();
    const records = [await north.names(address), await south.names(address)];
    const { id } = await prove(address);
    for (const [at, place] of [north, south].entries()) {
      expect(await place.row(records[at] ?? '')).toMatchObject({ account: id });
      expect(await place.member(id)).toMatchObject({ state: 'active', source: 'directory' });
    }
  });

  it('reaches no user by their userName, also in the context of the organization', async () => {
    await north.verify('example.com');
    const [stranger, name, own] = ['ada@elsewhere.example', 'ada', newAddress()];
    await north.names(own, { userName: stranger });
    const named = await north.names(newAddress(), { userName: name });
    const of = (address: string, organizationId: string | null) =>
      decidedFor(services().db.reader(), world.project.id, address, organizationId);
    for (const context of [null, north.id]) {
      expect(await of(stranger, context)).toEqual({ account: null, mailbox: stranger });
    }
    expect(await of(name, north.id)).toMatchObject({ account: named });
  });

  it('is lost to a user who gets another one, and is given back by the directory', async () => {
    await north.verify('example.com');
    const [own, outside] = [newAddress(), 'ada@elsewhere.example'];
    const id = await north.names(own);
    expect(await north.row(id)).toEqual({ email: own, withheld: null, account: null });
    for (const emails of [[{ value: outside }], []]) {
      await north.patch(id, { userName: outside, emails });
      expect(await north.row(id)).toEqual({ email: null, withheld: outside, account: null });
    }
    await north.patch(id, { emails: [{ value: own }] });
    expect(await north.row(id)).toEqual({ email: own, withheld: null, account: null });
  });

  it('makes no guest record of a user whom a person has used', async () => {
    await north.verify('example.com');
    const [own, outside] = [newAddress(), 'ada@elsewhere.example'];
    const id = await north.names(own);
    expect((await prove(own)).id).toBe(id);
    await north.patch(id, { emails: [{ value: outside }] });
    const { id: account } = await prove(outside);
    expect(await north.row(id)).toEqual({ email: null, withheld: outside, account: null });
    expect(await north.member(account)).toBeUndefined();
  });

  it('is withheld again when its account ends, and makes a guest of the next one', async () => {
    const address = newAddress();
    const record = await north.names(address);
    const first = await prove(address);
    await services().accounts.remove(world.project.id, first.id, system);
    expect(await north.row(record)).toEqual({ email: null, withheld: address, account: null });
    expect(await north.member(record)).toMatchObject(guest);
    const second = await prove(address);
    expect(await north.row(record)).toMatchObject({ account: second.id });
    expect(await north.member(second.id)).toMatchObject(guest);
  });

  it('becomes the login of a user who moves to the project', async () => {
    const [free, taken] = [newAddress(), newAddress()];
    await prove(taken);
    const id = await north.names(free, { userName: 'free' });
    await services().organizationEnds.delete(north.key, 'move', system);
    expect(await prove(free)).toMatchObject({ id, organizationId: null });
  });

  it('does not become the login of one whom a person has used: they have not proved it', async () => {
    await north.verify('example.com');
    const [own, outside] = [newAddress(), 'eve@elsewhere.example'];
    const id = await north.names(own, { userName: 'eve' });
    const page = await world.page();
    expectStatus(await world.register(page, own), 'SUCCESS');
    await north.patch(id, { emails: [{ value: outside }] });
    await services().organizationEnds.delete(north.key, 'move', system);
    expect(await world.findUser(outside)).toBeNull();
    expect((await prove(outside)).id).not.toBe(id);
  });
});

describe('a project without open sign-up', () => {
  beforeEach(() => world.set({ signUp: 'provisioned_only' }));
  const isLetIn = async (address: string) => {
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }), 'OTP_NEEDED');
    return (await world.subjectsFor(address)).length > 0;
  };

  it('lets the person in whom a directory named', async () => {
    const address = newAddress();
    await north.names(address);
    const account = await prove(address);
    expect(account.organizationId ?? null).toBeNull();
    expect(await north.member(account.id)).toMatchObject(guest);
    expect(await isLetIn(newAddress())).toBe(false);
  });

  it.each([
    ['the user is inactive', (id: string) => north.patch(id, { active: false })],
    ['the user has another address now', (id: string) => north.patch(id, { emails: [{ value: newAddress() }] })],
    ['the user is deleted', (id: string) => north.send('DELETE', `/Users/${id}`)],
    ['the organization is suspended', () => services().organizations.update(north.key, { state: 'suspended' }, system)],
    ['the project has no organizations', () => world.set({ organizationsEnabled: false })],
  ])('does not, if %s', async (_name, change: (id: string) => Promise<unknown>) => {
    const address = newAddress();
    await change(await north.names(address, { userName: 'ada' }));
    expect(await isLetIn(address)).toBe(false);
  });
});

it('200 creations at once with the sign-ups of their people make one account and its guests of each', async () => {
  const people = [];
  for (let count = 0; count < 20; count += 1) {
    const [address, page] = [newAddress(), await world.page()];
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }), 'OTP_NEEDED');
    people.push({ address, page, otp: await world.codeFor(address) });
  }
  const created: number[] = [];
  const create = async (of: OrganizationDirectory, address: string) => {
    created.push((await of.send('POST', '/Users', { userName: address, emails: [{ value: address }] })).status);
  };
  await Promise.all(
    people.map(async ({ address, otp, page }) => {
      const creations = [north, south].flatMap((of) => Array.from({ length: 5 }, () => create(of, address)));
      expectStatus(await page.step('verify-email-otp', { userid: address, otp }), 'SUCCESS');
      expectStatus(await page.step('verify-device', { userid: address }, 'registration'), 'SUCCESS');
      await Promise.all(creations);
    }),
  );
  expect(created.filter((status) => status === 201)).toHaveLength(40);
  expect(created.filter((status) => status === 409)).toHaveLength(160);
  for (const { address } of people) {
    const account = await world.findUser(address);
    expect(account).toMatchObject({ organizationId: null });
    const records = await rows(
      services().db,
      'select account_id from users where project_id = ? and withheld_email_key = ?',
      [world.project.id, address],
    );
    expect(records).toEqual([{ account_id: account?.id }, { account_id: account?.id }]);
    for (const place of [north, south])
      expect(await place.member(account?.id ?? '')).toMatchObject({ state: 'active' });
  }
}, 120_000);
