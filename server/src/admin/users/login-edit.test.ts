import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { Message } from '../../domain/delivery/message.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { type UserRecord, valuesOf } from '../../domain/users/user-record.ts';
import { freshSeconds } from '../api/caller-checks.ts';

let harness: AdminHarness;
let project: Project;
let id: string;
let own: { email: string; userName: string; phone: string | null };
let count = 0;

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await new Factories(harness.services, harness.clock).project({ name: 'Acme' });
});
afterAll(() => harness.close());
beforeEach(async () => {
  count += 1;
  own = { email: `ada-${count}@example.com`, userName: `ada-${count}@example.com`, phone: `+4179${1_000_000 + count}` };
  const { email, phone } = own;
  const created = await harness.call('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
    input: { projectId: project.id, email, phone },
  });
  id = created.data.createUser.id;
});

const update = (input: object, headers?: Record<string, string>) =>
  harness.call(
    'mutation ($input: UpdateUserInput!) { updateUser(input: $input) { email userName phone } }',
    { input: { id, ...input } },
    headers,
  );
const changed = async (input: object) => (await update(input)).data.updateUser;
const fault = async (input: object) => (await update(input)).errors[0]?.message;
const stored = async () => {
  const user = await harness.services.accounts.find(project.id, id);
  return { version: user?.version, userName: user?.userName, attributes: user?.attributes };
};
const notices = async () => {
  const recipient = [own.email, own.email.toUpperCase()];
  const where = { project: project.id, template: 'login-changed', recipient: { $in: recipient } };
  return (await harness.services.db.reader().find(Message, where)).length;
};

describe('Mutation.updateUser, login', () => {
  it('changes the login address, and the userName if it was the same', async () => {
    const email = `lovelace-${count}@example.com`;
    expect(await changed({ email })).toEqual({ ...own, email, userName: email });
    expect((await stored()).attributes).toMatchObject({ emails: [{ value: email, type: 'work', primary: true }] });
    expect(await notices()).toBe(1);
  });

  it('keeps a userName that differs from the address, and can change it alone', async () => {
    const userName = `lovelace-${count}`;
    expect(await changed({ userName })).toEqual({ ...own, userName });
    const email = `countess-${count}@example.com`;
    expect(await changed({ email })).toEqual({ ...own, email, userName });
    expect(await changed({ email: null })).toEqual({ ...own, email: null, userName });
    expect((await stored()).attributes).not.toHaveProperty('emails');
    expect(await changed({ email })).toEqual({ ...own, email, userName });
  });

  it('leaves a userName of a directory that an admin could not set, unless it is edited', async () => {
    const { accounts, admissions } = harness.services;
    const names = { externalId: null, displayName: null, givenName: null, familyName: null };
    const address = `kept-${count}@example.com`;
    const provision = async (userName: string) => {
      const values = { ...names, userName, active: true, attributes: { emails: [{ value: address }] } };
      ({ id } = await admissions.provision(project.id, values, system));
      return { email: address, userName, phone: null };
    };
    const spaced = await provision(` Ada\u202e ${count} `);
    expect(await changed({ email: address, userName: spaced.userName, givenName: 'Ada' })).toEqual(spaced);
    await accounts.remove(project.id, id, system);
    const upper = await provision(address.toUpperCase());
    expect(await changed({ givenName: 'Ada' })).toEqual(upper);
  });

  it('keeps the login address of a user whose userName was the only address', async () => {
    const address = `only-${count}@example.com`;
    const input = { projectId: project.id, userName: address };
    const created = await harness.call('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
      input,
    });
    id = created.data.createUser.id;
    expect(await changed({ userName: `only-${count}` })).toMatchObject({ email: address, userName: `only-${count}` });
  });

  it('replaces only the login values among several, and removes every number that could become the phone', async () => {
    const emails = [
      { value: own.email, type: 'work', primary: true },
      { value: `home-${count}@example.com`, type: 'home' },
    ];
    const { accounts } = harness.services;
    const withHome = ({ attributes }: { attributes: object }) => ({ ...attributes, emails });
    await accounts.change(
      project.id,
      id,
      (current) => ({ ...(current as never as object), attributes: withHome(current) }) as never,
      system,
    );
    const [email, phone] = [`new-${count}@example.com`, `+4178${1_000_000 + count}`];
    expect(await changed({ email, phone })).toEqual({ email, userName: email, phone });
    expect((await stored()).attributes).toMatchObject({
      emails: [
        { value: `home-${count}@example.com`, type: 'home', primary: false },
        { value: email, type: 'work', primary: true },
      ],
      phoneNumbers: [{ value: phone, type: 'mobile', primary: true }],
    });
    expect(await changed({ phone: null })).toMatchObject({ phone: null });
    expect((await stored()).attributes).not.toHaveProperty('phoneNumbers');
  });

  it('leaves contacts that are no login values', async () => {
    const others = [{ value: 'unknown', type: 'other' }, { type: 'other' }];
    const attributes = {
      emails: [{ value: own.email, type: 'home' }, { value: `home-${count}@example.com` }, ...others],
      phoneNumbers: [{ value: own.phone, type: 'work' }],
    };
    const edit = (current: UserRecord) => ({ ...valuesOf(current), attributes });
    await harness.services.accounts.change(project.id, id, edit, system);
    await changed({ userName: `lovelace-${count}` });
    expect((await stored()).attributes).toEqual(attributes);
    await changed({ email: null });
    expect((await stored()).attributes).toEqual({ ...attributes, emails: others });
  });

  it('refuses values that are wrong or taken, naming the field, and changes nothing', async () => {
    const before = await stored();
    expect(await fault({ email: 'ada' })).toBe('email must be an email address.');
    expect(await fault({ email: null })).toBe('email is the userName, too.');
    expect(await fault({ userName: ' ' })).toBe('userName is required.');
    expect(await fault({ email: null, userName: own.userName })).toBe(
      'userName is an address, which would receive the codes.',
    );
    expect(await fault({ phone: '079 123 45 67' })).toBe('phone must be an E.164 number such as +41791234567.');
    const other = { email: `other-${count}@example.com`, phone: `+4177${1_000_000 + count}` };
    await harness.call('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
      input: { projectId: project.id, userName: `other-${count}`, ...other },
    });
    expect(await fault({ email: other.email.toUpperCase(), userName: own.userName })).toBe(
      'Another user has this email already.',
    );
    expect(await fault({ phone: other.phone })).toBe('Another user has this phone already.');
    expect(await fault({ userName: `OTHER-${count}` })).toBe('Another user has this userName already.');
    expect(await stored()).toEqual(before);
    expect(await notices()).toBe(0);
  });

  it('refuses the phone, and no other field, where the directory is authoritative', async () => {
    const { admissions, projects } = harness.services;
    const names = { externalId: null, displayName: null, givenName: null, familyName: null };
    const attributes = { emails: [{ value: `scim-${count}@example.com` }] };
    const values = { userName: `scim-${count}`, ...names, active: true, attributes };
    ({ id } = await admissions.provision(project.id, values, system));
    await projects.update(project.id, { scimAuthoritative: true }, system);
    const refused = 'phone is managed by the directory: change it there.';
    expect(await fault({ phone: '+41791234567' })).toBe(refused);
    expect(await fault({ email: `x-${count}@example.com`, phone: '+41791234567' })).toBe(refused);
    expect(await stored()).toMatchObject({ version: 1 });
    const moved = { email: `x-${count}@example.com`, userName: `x-${count}` };
    // The same value is not a change.
    expect(await changed({ ...moved, phone: null })).toEqual({ ...moved, phone: null });
    await projects.update(project.id, { scimAuthoritative: false }, system);
    expect(await changed({ phone: `+4176${1_000_000 + count}` })).toMatchObject({ phone: `+4176${1_000_000 + count}` });
  });

  it('needs a fresh sign-in, as the admin could sign in as the user', async () => {
    const email = `admin-${count}@example.com`;
    const adminId = await harness.person(email);
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await harness.services.admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
    const headers = await harness.sessionOf(adminId);
    harness.clock.turn(freshSeconds + 1);
    const codes = [];
    for (const change of [{ email: 'x@example.com' }, { userName: 'x' }, { phone: null }, { givenName: 'Ada' }]) {
      codes.push((await update(change, headers)).code);
    }
    const stale = 'reauthentication-required';
    expect(codes).toEqual([stale, stale, stale, undefined]);
    expect(await stored()).toMatchObject({ userName: own.userName, version: 2 });
  });

  it('records the values before and after', async () => {
    const email = `lovelace-${count}@example.com`;
    await update({ email });
    const [event] = await harness.services.db.reader().find(AuditEvent, { type: 'user.updated', subjectId: id });
    const contact = (value: string) => ({ value, type: 'work', primary: true });
    expect(event?.detail).toEqual({
      before: { userName: own.userName, emails: [contact(own.email)] },
      after: { userName: email, emails: [contact(email)] },
    });
  });

  it('limits the notices of one address', async () => {
    const codes = [];
    for (let at = 0; at < 11; at += 1) {
      codes.push((await update({ email: own.email.toUpperCase() })).code);
      codes.push((await update({ email: `away-${count}-${at}@example.com` })).code);
      await update({ email: own.email });
    }
    expect(codes.filter((code) => code !== undefined)).toEqual(['too-many']);
    expect(await notices()).toBe(10);
    harness.clock.turn(24 * 3600 + 1);
    expect((await update({ email: `later-${count}@example.com` })).code).toBeUndefined();
  });
});
