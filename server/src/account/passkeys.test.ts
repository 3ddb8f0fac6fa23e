import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { changed } from '../../test/rows.ts';
import { expectStatus, refusal, SigninWorld } from '../../test/signin-world.ts';
import { Credential } from '../domain/credentials/credential.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const { visitOf, registeredUser, giveFactor, givePasskey } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const reader = () => app.services.db.reader();
const isLive = async ({ id }: { id: string }) => (await reader().findOneOrFail(Credential, { id })).revokedAt === null;
const locationOf = (response: Response) => response.headers.get('location') ?? '';

describe('a passkey, while passkeys are turned off,', () => {
  it('is not removed by the mailbox alone, nor is anything else that it protects', async () => {
    const { user } = await registeredUser();
    const passkey = await givePasskey(user);
    const factor = await giveFactor(user, 'email');
    await world.set({ passkeyPolicy: 'off' });
    const byMail = await visitOf(user, ['swk', 'otp']);
    for (const change of ['remove-factor', 'renew-recovery-codes', 'change-phone']) {
      const response = await byMail.change(change, { id: factor.id, phone: '+4917066000001' });
      expect([change, response.status]).toEqual([change, 403]);
    }
    expect((await byMail.change('revoke-device', { id: passkey.id })).status).toBe(403);
    await byMail.change('revoke-device', { id: passkey.id.toUpperCase() });
    expect(await isLive(passkey)).toBe(true);
    const byFactor = await visitOf(user, ['swk', 'otp', 'mfa']);
    expect(locationOf(await byFactor.change('revoke-device', { id: passkey.id }))).toContain('saved');
    expect(await isLive(passkey)).toBe(false);
  });

  it('keeps the mailbox from adding a factor that the project does not require', async () => {
    const { address, user } = await registeredUser();
    await givePasskey(user);
    await world.set({ passkeyPolicy: 'off', mfaPolicy: 'optional' });
    app.clock.turn(31);
    const page = await world.page();
    await world.verifyAddress(page, address);
    expectStatus(await page.step('verify-device', { userid: address, mfa_method: 'totp' }, 'registration'), 'SUCCESS');
    await world.set({ mfaPolicy: 'required' });
    app.clock.turn(31);
    const other = await world.page();
    await world.verifyAddress(other, address);
    const asked = await other.step('verify-device', { userid: address }, 'registration');
    expectStatus(asked, 'MFA_ENROLLMENT_NEEDED');
  });

  it('outlives a required factor that the mailbox adds in the meantime', async () => {
    const { address, user } = await registeredUser();
    const passkey = await givePasskey(user);
    await world.set({ passkeyPolicy: 'off', mfaPolicy: 'required' });
    app.clock.turn(31);
    const page = await world.page();
    const { secret, done } = await world.enrolTotp(page, address);
    // The enrollment creates no recovery codes, which could replace the passkey.
    expect(done).not.toHaveProperty('recovery_codes');
    const [factor] = await reader().find(Enrolment, { user });
    const expectKept = async () => {
      const visit = await visitOf(user, ['swk', 'otp', 'mfa']);
      for (const change of ['remove-factor', 'renew-recovery-codes', 'change-phone']) {
        const response = await visit.change(change, { id: factor?.id ?? '', phone: '+4917066000001' });
        expect([change, response.status]).toEqual([change, 403]);
      }
      expect((await visit.change('revoke-device', { id: passkey.id })).status).toBe(403);
      expect(await isLive(passkey)).toBe(true);
    };
    await expectKept();
    await world.set({ passkeyPolicy: 'allowed', mfaPolicy: 'optional' });
    await expectKept();
    // While the passkey counts, mail code and factor prove only the mailbox: they give neither mfa nor another passkey.
    const other = await world.page();
    await world.verifyAddress(other, address);
    expectStatus(await other.step('verify-device', { userid: address }, 'registration'), 'DEVICE_REGISTERED');
    const required = expectStatus(await other.step('authenticate', { userid: address }, 'use'), 'MFA_REQUIRED');
    expect(required['method']).toBe('passkey');
    const fields = { userid: address, session_id: required['session_id'] };
    expect(await other.step('initiate-mfa', fields, 'use')).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
    const otp = world.totp(secret);
    expect(await other.step('verify-mfa', { userid: address, otp }, 'use')).toMatchObject({ status: 'ERROR' });
    // The device that the mail code registered does not make the factor count either.
    for (const step_up of [undefined, 'create_passkey']) {
      await page.challenge();
      const asked = expectStatus(await page.step('authenticate', { userid: address, step_up }, 'use'), 'MFA_REQUIRED');
      expect(asked['method']).toBe('passkey');
      const code = { userid: address, otp: world.totp(secret) };
      expect(await page.step('verify-mfa', code, 'use')).toMatchObject({ status: 'ERROR' });
    }
    const byPasskey = await visitOf(user, ['hwk', 'user', 'pop', 'mfa'], passkey.id);
    expect(locationOf(await byPasskey.change('remove-factor', { id: factor?.id ?? '' }))).toContain('saved');
    await byPasskey.change('revoke-device', { id: passkey.id });
    expect(await isLive(passkey)).toBe(false);
  });

  it('marks a factor that the mailbox began before the passkey existed', async () => {
    const { address, user } = await registeredUser();
    await world.set({ passkeyPolicy: 'off', mfaPolicy: 'required' });
    app.clock.turn(31);
    const page = await world.page();
    const { totp } = await world.enrol(page, address, { mfa_method: 'totp' });
    await givePasskey(user);
    const otp = world.totp(totp.secret);
    const done = expectStatus(await page.step('verify-mfa', { userid: address, otp }, 'use'), 'SUCCESS');
    expect(done).not.toHaveProperty('recovery_codes');
    expect(await reader().find(Enrolment, { user })).toMatchObject([{ besidePasskey: true }]);
  });
});

describe('the name of a passkey', () => {
  it('adds no paragraph to the mail about its removal', async () => {
    const { address, user } = await registeredUser();
    const passkey = await givePasskey(user);
    // A session by a device key alone may rename, but remove nothing.
    const thief = await visitOf(user, ['swk']);
    await thief.change('rename-device', { id: passkey.id, name: 'Key\n\nWas this not you? Go to evil.example now.' });
    const owner = await visitOf(user, ['swk', 'user', 'pop', 'mfa'], passkey.id);
    expect((await owner.change('revoke-device', { id: passkey.id })).status).toBe(200);
    await app.runJobs();
    const mail = app.mailbox.find(({ text, to }) => to === address && text.includes('passkey was removed'));
    expect(mail?.text).toContain(`Passkey: ${passkey.name}\n\nTime: `);
  });
});

describe('the last way to sign in', () => {
  /** A user without a mailbox. */
  async function withoutMail(): Promise<User> {
    const { users } = app.services;
    const values = { userName: `badge-${crypto.randomUUID()}`, active: true, attributes: {} } as never;
    const { id } = await app.services.admissions.provision(world.project.id, values, system);
    const user = await users.find(reader(), world.project.id, id);
    return user as User;
  }

  it('cannot be removed: a passkey of a user without a mailbox', async () => {
    const user = await withoutMail();
    const [first, second] = [await givePasskey(user), await givePasskey(user)];
    const visit = await visitOf(user, ['swk', 'user', 'pop', 'mfa'], first.id);
    expect(locationOf(await visit.change('revoke-device', { id: second.id }))).toContain('saved');
    const refused = await visit.change('revoke-device', { id: first.id });
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('could not sign in without it');
    await visit.change('revoke-device', { id: first.id.toUpperCase() });
    expect([await isLive(first), await isLive(second)]).toEqual([true, false]);
    expect(await visit.isSignedIn()).toBe(true);
  });

  /** A device with the policy's trust, or without any. */
  async function giveDevice(user: User, isTrusted = true): Promise<{ id: string }> {
    return app.services.db.transaction(async (em) => {
      const { device } = await app.services.devices.register(em, {
        ...{ project: world.project, clientId: world.client.id, userId: user.id, jkt: crypto.randomUUID() },
        ...{ publicJwk: { kty: 'EC' }, hosted: false, remembered: true, actor: system },
      });
      if (isTrusted) app.services.devices.trust(device, world.project);
      return device;
    });
  }

  const ways = {
    device: (user: User) => giveDevice(user),
    'untrusted device': (user: User) => giveDevice(user, false),
    passkey: (user: User) => givePasskey(user),
    'unverified passkey': async (user: User) => {
      const passkey = await givePasskey(user);
      await changed(app.services.db, 'update credentials set user_verified = false where id = ?', [passkey.id]);
      return passkey;
    },
    app: (user: User) => giveFactor(user),
    'email factor': (user: User) => giveFactor(user, 'email'),
  };
  type Way = keyof typeof ways;
  const optional = { mfaPolicy: 'optional' } as const;
  const required = { mfaPolicy: 'required' } as const;

  it.each<[Parameters<typeof world.set>[0], Way[], string]>([
    [optional, ['device'], 'stays'],
    [optional, ['device', 'untrusted device'], 'stays'],
    [optional, ['device', 'passkey'], 'goes'],
    [{ passkeyPolicy: 'off' }, ['device', 'passkey'], 'stays'],
    [optional, ['untrusted device'], 'goes'],
    [optional, ['passkey', 'untrusted device'], 'stays'],
    [optional, ['passkey', 'app'], 'stays'],
    [optional, ['passkey', 'device'], 'goes'],
    [optional, ['unverified passkey'], 'stays'],
    [required, ['passkey', 'unverified passkey'], 'stays'],
    [optional, ['passkey', 'unverified passkey', 'app'], 'stays'],
    [optional, ['app', 'device'], 'goes'],
    [required, ['app', 'device'], 'stays'],
    [required, ['app', 'device', 'passkey'], 'goes'],
    [optional, ['app', 'device', 'email factor'], 'stays'],
  ])('of a user without a mailbox, by %j: of %j, the first %s', async (settings, held, outcome) => {
    const user = await withoutMail();
    await world.set(settings);
    const items: { id: string }[] = [];
    for (const way of held) items.push(await ways[way](user));
    const visit = await visitOf(user, ['swk', 'user', 'pop', 'mfa']);
    const change = held[0] === 'app' ? 'remove-factor' : 'revoke-device';
    const { status } = await visit.change(change, { id: items[0]?.id ?? '' });
    expect(status).toBe(outcome === 'stays' ? 409 : 303);
  });

  it('cannot be forgotten with the browser', async () => {
    const user = await withoutMail();
    const { id } = await giveDevice(user);
    const visit = await visitOf(user, ['swk'], id);
    expect((await visit.change('forget-browser')).status).toBe(409);
    expect([await isLive({ id }), await visit.isSignedIn()]).toEqual([true, true]);
  });

  it('is the passkey if one is required, even on a trusted device, unless a factor leads to a new one', async () => {
    const user = await withoutMail();
    const passkey = await givePasskey(user);
    await giveDevice(user);
    await world.set({ passkeyPolicy: 'required' });
    const remove = async () => {
      const visit = await visitOf(user, ['swk', 'user', 'pop', 'mfa'], passkey.id);
      return (await visit.change('revoke-device', { id: passkey.id })).status;
    };
    expect(await remove()).toBe(409);
    expect(await isLive(passkey)).toBe(true);
    await giveFactor(user);
    expect(await remove()).not.toBe(409);
    expect(await isLive(passkey)).toBe(false);
  });

  it('may be removed by a user with a mailbox: a code by mail signs in', async () => {
    const { device, user } = await registeredUser();
    const passkey = await givePasskey(user);
    const { db } = app.services;
    await changed(db, 'update credentials set revoked_at = now() where id = ?', [device.id]);
    await changed(db, "update users set user_name = 'ada' where id = ?", [user.id]);
    const visit = await visitOf(user, ['swk', 'user', 'pop', 'mfa']);
    expect(locationOf(await visit.change('revoke-device', { id: passkey.id }))).toContain('saved');
  });
});
