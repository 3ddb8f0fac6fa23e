/** Second factors of users whose number a directory manages (service.md 3.1), and when that number is their login phone. */
import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import type { UserRecord } from '../domain/users/user-record.ts';
import { valuesOf } from '../domain/users/user-record.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'required', scimAuthoritative: true });
const scim: Actor = { kind: 'scim', name: 'Directory' };

let page: SigninPage;
let userid: string;
let number: string;
let serial = 0;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
  number = newNumber();
});

const newNumber = () => `+4917066${String(++serial).padStart(5, '0')}`;
const offices = (...values: string[]) => ({ phoneNumbers: values.map((value) => ({ value, type: 'work' })) });

/** Creates a user as a directory does. */
const provision = (address: string, attributes: Record<string, unknown> = {}) =>
  world.app.services.admissions.provision(
    world.project.id,
    {
      userName: address,
      ...{ externalId: null, displayName: null, givenName: null, familyName: null, active: true },
      attributes: { emails: [{ value: address, primary: true }], ...attributes },
    },
    scim,
  );
const change = (id: string, edit: (user: UserRecord) => Partial<UserRecord>) =>
  world.app.services.accounts.change(
    world.project.id,
    id,
    (user) => ({ ...valuesOf(user), ...edit(user) }) as ReturnType<typeof valuesOf>,
    scim,
  );
const phoneOf = async (address: string) => (await world.findUser(address))?.phone ?? null;
const enrol = (fields: object) => page.step('verify-device', { userid, mfa_method: 'sms', ...fields }, 'registration');

async function signInBySms(to: string): Promise<void> {
  expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED');
  expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(to) }, 'use'), 'SUCCESS');
}

describe('the number of an office', () => {
  it('becomes the login phone at the sign-in after its holder has left', async () => {
    const holder = await provision(newAddress(), offices(number));
    await provision(userid, offices(number));
    expect(await phoneOf(userid)).toBeNull();
    await world.app.services.accounts.remove(world.project.id, holder.id, scim);
    await world.verifyAddress(page, userid);
    expectStatus(await enrol({}), 'DEVICE_REGISTERED');
    expect(await phoneOf(userid)).toBe(number);
    await signInBySms(number);
  });

  it('becomes the login phone at a PUT of the same values, and leaves the version', async () => {
    const other = newAddress();
    const holder = await provision(other, offices(number));
    const { id, version } = await provision(userid, offices(number));
    await change(id, () => ({}));
    expect(await phoneOf(userid)).toBeNull();
    await change(holder.id, (user) => ({ attributes: { ...user.attributes, phoneNumbers: [] } }));
    expect(await change(id, () => ({}))).toMatchObject({ phone: number, version });
    const events = await rows(
      world.app.services.db,
      "select actor_kind, detail from audit_log where subject_id = ? and type = 'user.updated'",
      [id],
    );
    expect(events).toEqual([{ actor_kind: 'system', detail: { changed: ['phone'] } }]);
    await change(holder.id, (user) => ({ attributes: { ...user.attributes, ...offices(number) } }));
    expect(await phoneOf(other)).toBeNull();
  });

  it('stays with one user when several who wait for it change at once', async () => {
    const holder = await provision(newAddress(), offices(number));
    const waiting = await Promise.all(Array.from({ length: 10 }, () => provision(newAddress(), offices(number))));
    await world.app.services.accounts.remove(world.project.id, holder.id, scim);
    const done = await Promise.all(waiting.map(({ id }) => change(id, () => ({ displayName: 'New' }))));
    expect(done.map(({ displayName }) => displayName)).toEqual(waiting.map(() => 'New'));
    const held = await rows(world.app.services.db, 'select id from users where project_id = ? and phone = ?', [
      world.project.id,
      number,
    ]);
    expect(held).toHaveLength(1);
  });

  it('ends the suspension of the SMS factor of the user who gets it', async () => {
    const first = newNumber();
    await provision(userid, offices(first));
    await world.verifyAddress(page, userid);
    expectStatus(await enrol({}), 'DEVICE_REGISTERED');
    await signInBySms(first);
    const holder = await provision(newAddress(), offices(number));
    const { id } = (await world.findUser(userid)) as { id: string };
    await change(id, (user) => ({ attributes: { ...user.attributes, ...offices(number) } }));
    const factors = () =>
      rows<{ phone: string | null }>(world.app.services.db, 'select phone from enrolments where user_id = ?', [id]);
    expect(await factors()).toEqual([{ phone: null }]);
    await world.app.services.accounts.remove(world.project.id, holder.id, scim);
    await change(id, () => ({}));
    expect(await factors()).toEqual([{ phone: number }]);
    await signInBySms(number);
  });

  it('stays reserved for a deactivated holder for 30 days', async () => {
    const holder = await provision(newAddress(), offices(number));
    const { id } = await provision(userid, offices(number));
    await change(holder.id, () => ({ active: false }));
    await change(holder.id, (user) => ({ attributes: { ...user.attributes, phoneNumbers: [] } }));
    await change(id, () => ({}));
    expect(await phoneOf(userid)).toBeNull();
    world.app.clock.turn(30 * 24 * 3600);
    await change(id, () => ({}));
    expect(await phoneOf(userid)).toBe(number);
  });

  it('does not become the login phone of a deactivated user', async () => {
    const holder = await provision(newAddress(), offices(number));
    const { id } = await provision(userid, offices(number));
    await change(id, () => ({ active: false }));
    await world.app.services.accounts.remove(world.project.id, holder.id, scim);
    await change(id, () => ({ displayName: 'Away' }));
    expect(await phoneOf(userid)).toBeNull();
    await change(id, () => ({ active: true }));
    await change(id, () => ({ displayName: 'Back' }));
    expect(await phoneOf(userid)).toBe(number);
  });

  it('can be enrolled by a user whose directory states it while another user has it', async () => {
    await provision(newAddress(), offices(number));
    await provision(userid, offices(number));
    await world.verifyAddress(page, userid);
    expect(await enrol({ phone_number: newNumber() })).toMatchObject(refusal('PHONE_LOCKED_BY_PROVISIONING', 403));
    expectStatus(await enrol({}), 'DEVICE_REGISTERED');
    await signInBySms(number);
    expect(await phoneOf(userid)).toBeNull();
    await signInBySms(number);
  });
});

describe('a user whose directory states no number', () => {
  it('enrolls a first number, which is then locked', async () => {
    await provision(userid);
    await world.verifyAddress(page, userid);
    const offered = expectStatus(await page.step('verify-device', { userid }, 'registration'), 'MFA_ENROLLMENT_NEEDED');
    expect(offered['methods']).toContain('sms');
    expectStatus(await enrol({}), 'FINALIZE_REGISTRATION_NEEDED');
    expectStatus(await enrol({ phone_number: number }), 'DEVICE_REGISTERED');
    await signInBySms(number);
    expect(await phoneOf(userid)).toBe(number);
    const user = await world.findUser(userid);
    const { users, db } = world.app.services;
    const check = (phone: string | null) => db.transaction((em) => users.checkPhoneLock(em, user as never, phone));
    await expect(check(number)).resolves.toBeUndefined();
    await expect(check(newNumber())).rejects.toMatchObject({ problem: { code: 'phone-locked' } });
    await expect(check(null)).rejects.toMatchObject({ problem: { code: 'phone-locked' } });
  });

  it('enrolls one whose directory number is not E.164', async () => {
    await provision(userid, { phoneNumbers: [{ value: '415.123.4567' }] });
    await world.verifyAddress(page, userid);
    expectStatus(await enrol({ phone_number: number }), 'DEVICE_REGISTERED');
    await signInBySms(number);
  });
});
