import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../../test/account-visit.ts';
import type { TestApp } from '../../../test/build-app.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { rows } from '../../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { Client } from '../clients/client.entity.ts';
import { Device } from '../credentials/device.entity.ts';
import { type Actor, system } from '../kernel/actor.ts';
import type { User } from '../users/user.entity.ts';
import { type UserValues, valuesOf } from '../users/user-record.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
const { visitOf, registeredUser, giveFactor } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const directory: Actor = { kind: 'scim', id: '00000000-0000-7000-8000-000000000001', name: 'Okta' };
const newPhone = '+491701234599';

/** Another user's open work: a sign-in after its mail code, an unredeemed code, a live access token. */
async function workOf({ address, key }: RegisteredUser) {
  app.clock.turn(31);
  const stranger = await world.page();
  await world.verifyAddress(stranger, address);
  const page = await world.page(key);
  const codeOf = async () => {
    await page.challenge();
    return expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'SUCCESS')['code'] as string;
  };
  const token = (await world.exchange(await codeOf())).body['access_token'];
  const waiting = await codeOf();
  return async () => {
    const registration = await stranger.step('verify-device', { userid: address }, 'registration');
    const exchange = await world.exchange(waiting);
    const userInfo = await fetch(`${app.url}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    return [registration['error']?.code ?? registration.status, exchange.body['error'] ?? 'tokens', userInfo.status];
  };
}

async function directoryChange({ user }: RegisteredUser, over: Partial<UserValues>): Promise<void> {
  const edit = (current: Parameters<typeof valuesOf>[0]) => ({ ...valuesOf(current), ...over });
  await app.services.accounts.change(world.project.id, user.id, edit, directory);
}

type Cause = (person: RegisteredUser) => Promise<unknown>;
const access = () => app.services.accountAccess;

const causes: Record<string, Cause> = {
  'an admin revokes a device': ({ user, device }) =>
    access().revokeDevice(world.project.id, user.id, device.id, system),
  'an admin ends a session': ({ visit }) =>
    access().endSession({ project: world.project, id: visit.sessionId }, system),
  'an admin ends all sessions': ({ user }) => access().endSessions(world.project.id, user.id, system),
  'an admin resets the factors': ({ user }) => access().resetFactors(world.project.id, user.id, system),
  'an admin deactivates the user': ({ user }) => access().deactivate(world.project.id, user.id, system),
  'an admin erases the user': ({ user }) => access().erase(world.project.id, user.id, system),
  'the user revokes a device': ({ device, visit }) => visit.change('revoke-device', { id: device.id }),
  'the user ends a session': async ({ user, visit }) =>
    visit.change('end-session', { id: (await visitOf(user)).sessionId }),
  'the user ends the other sessions': ({ visit }) => visit.change('end-other-sessions'),
  'the user forgets the browser': ({ visit }) => visit.change('forget-browser'),
  'the user removes a factor': async ({ user }) => {
    const { id } = await giveFactor(user);
    await (await visitOf(user, ['swk', 'otp', 'mfa'])).change('remove-factor', { id });
  },
  'the user renews recovery codes': ({ visit }) => visit.change('renew-recovery-codes'),
  'the user changes the phone': async ({ visit }) => {
    await visit.change('change-phone', { phone: newPhone });
    await visit.change('verify-phone', { code: await world.codeFor(newPhone) });
  },
  'the user changes the address': async ({ visit }) => {
    const email = newAddress();
    await visit.change('change-email', { email });
    await visit.change('verify-email', { code: await world.codeFor(email) });
  },
  'the user replaces the authenticator app': async ({ user }) => {
    await giveFactor(user);
    const visit = await visitOf(user, ['swk', 'otp', 'mfa']);
    const { db, mfa } = app.services;
    await db.transaction((em) =>
      mfa.begin(em, { user, ceremonyId: visit.sessionId, deviceId: null, method: 'totp', phone: null }),
    );
    const secret = /secret=([A-Z2-7]{32})/.exec(await visit.page())?.[1] ?? '';
    await visit.change('verify-authenticator', { code: world.totp(secret) });
  },
  'the user signs out everywhere': ({ user }) => app.services.logout.endAllOfUser(user, system),
  'an ID token signs out everywhere': ({ user, visit }) =>
    app.services.logout.endByHint(world.project.id, { userId: user.id, sid: visit.sessionId }, 'global', system),
  'a directory changes the userName': (person) => directoryChange(person, { userName: newAddress() }),
  'a directory changes the email': (person) =>
    directoryChange(person, { attributes: { emails: [{ value: newAddress(), primary: true }] } }),
  'a directory removes the email': (person) =>
    directoryChange(person, { userName: 'plain', attributes: { emails: [] } }),
  'a directory sets a phone': (person) =>
    directoryChange(person, {
      attributes: { ...person.user.attributes, phoneNumbers: [{ value: newPhone, type: 'mobile' }] },
    }),
  'a directory deactivates the user': (person) => directoryChange(person, { active: false }),
  'a back end replaces the factor': async ({ user }) => {
    const { db, factorChanges } = app.services;
    const client = await db.reader().findOneOrFail(Client, { id: world.client.id }, { populate: ['project'] });
    const change = { userid: user.id, method: 'sms', phone: newPhone } as const;
    const { sessionId } = await factorChanges.initiate({ client, actor: system }, change);
    const code = await world.codeFor(newPhone);
    await factorChanges.verify({ client, actor: system }, { userid: user.id, sessionId, code });
  },
};

describe('open work of a user', () => {
  it.each(Object.keys(causes))('ends when %s', async (cause) => {
    const person = await registeredUser();
    const outcome = await workOf(person);
    await causes[cause]?.(person);
    expect(await outcome()).toEqual(['TRANSACTION_EXPIRED', 'invalid_grant', 401]);
  });

  it('continues when a directory changes anything else', async () => {
    const person = await registeredUser();
    const outcome = await workOf(person);
    await directoryChange(person, { displayName: 'Ada', userName: person.user.userName.toUpperCase() });
    expect(await outcome()).toEqual(['SUCCESS', 'tokens', 200]);
  });

  it('continues when the change is refused', async () => {
    const person = await registeredUser();
    const outcome = await workOf(person);
    const taken = (await registeredUser()).address;
    await expect(directoryChange(person, { userName: taken })).rejects.toMatchObject({ problem: { code: 'taken' } });
    await person.visit.change('revoke-device', { id: 'x' });
    await person.visit.change('end-session', { id: 'x' });
    expect(await outcome()).toEqual(['SUCCESS', 'tokens', 200]);
  });

  it('of a sign-in with an address that another user receives ends, too', async () => {
    const [successor, predecessor] = [await registeredUser(), newAddress()];
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: predecessor }), 'OTP_NEEDED');
    const otp = await world.codeFor(predecessor);
    await directoryChange(successor, { userName: predecessor });
    const answer = await page.step('verify-email-otp', { userid: predecessor, otp });
    expect(answer['error']?.code).toBe('TRANSACTION_EXPIRED');
  });
});

describe('the freshness of a user’s sessions', () => {
  /** Without those that end every other session. */
  const ends = Object.keys(causes).filter((cause) => !/all|everywhere|other sessions|deactivates|erases/.test(cause));
  const endsOwn = ['the user revokes a device', 'the user forgets the browser'];

  /** Whether each session of the user is live and has a proof. */
  async function freshOf({ id }: User): Promise<Map<string, boolean>> {
    const sql = 'select id, ended_at is null and fresh_at is not null as fresh from sessions where user_id = ?';
    const found = await rows<{ id: string; fresh: boolean }>(app.services.db, sql, [id]);
    return new Map(found.map((row) => [row.id, row.fresh]));
  }

  it.each(ends)('ends when %s, except of the session that makes the change', async (cause) => {
    const person = await registeredUser();
    const other = await visitOf(person.user, ['swk', 'otp', 'mfa']);
    expect((await freshOf(person.user)).get(other.sessionId)).toBe(true);
    await causes[cause]?.(person);
    const proofs = await freshOf(person.user);
    expect(proofs.get(other.sessionId)).toBe(false);
    const keepsOwn = cause.startsWith('the user') && !endsOwn.includes(cause);
    expect([...proofs.values()].filter(Boolean)).toEqual(keepsOwn ? [true] : []);
  });

  it('stays when a directory changes anything else', async () => {
    const person = await registeredUser();
    await directoryChange(person, { displayName: 'Ada' });
    expect((await freshOf(person.user)).get(person.visit.sessionId)).toBe(true);
  });
});

describe('concurrent requests', () => {
  it('the link of a notice cancels no recovery that has ended in the meantime', async () => {
    const { address, user } = await registeredUser();
    const { db, recoveries, users } = app.services;
    await recoveries.grant(world.project.id, user.id, { reason: 'Lost', hours: 1 }, system);
    await app.runJobs();
    const mail = app.mailbox.findLast(({ to }) => to === address);
    const secret = /cancel=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? '';
    const { late } = await db.transaction(async (em) => {
      await users.locked(em, world.project.id, user.id);
      const waiting = recoveries.cancelBySecret(world.project.id, secret, system);
      await untilLockWaits(db, 1);
      await recoveries.cancelIn(em, user, system);
      return { late: waiting };
    });
    expect(await late).toBe(false);
    expect((await world.events()).filter((type) => type === 'recovery.cancelled')).toHaveLength(1);
  });

  it('a sign-in by a device key that is revoked in the meantime issues no code', async () => {
    const { db, devices, users } = app.services;
    const person = await rememberedPerson();
    const device = await db.reader().findOneOrFail(Device, { user: person.user });
    await person.page.challenge();
    const answer = await db.transaction(async (em) => {
      await users.locked(em, world.project.id, person.user.id);
      await devices.revoke(em, { projectId: world.project.id, userId: person.user.id }, device.id, system);
      await em.flush();
      const step = person.page.step('authenticate', { userid: person.address }, 'use');
      await untilLockWaits(db, 1);
      return { step };
    });
    expectStatus(await answer.step, 'OTP_NEEDED');
  });

  it('a step waits for its own user only', async () => {
    const { db, users } = app.services;
    const [person, other] = [await rememberedPerson(), await registeredUser()];
    await person.page.challenge();
    await db.transaction(async (em) => {
      await users.locked(em, world.project.id, other.user.id);
      expectStatus(await person.page.step('authenticate', { userid: person.address }, 'use'), 'SUCCESS');
    });
  });

  it('a mail code is refused if another window signs up with its address in the meantime', async () => {
    const { db, users } = app.services;
    const address = newAddress();
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    const answer = await db.transaction(async (em) => {
      await users.signUp(em, world.project.id, address, system);
      const step = page.step('verify-email-otp', { userid: address, otp });
      await untilLockWaits(db, 1);
      return { step };
    });
    expect((await answer.step)['error']?.code).toBe('CODE_REJECTED');
  });

  it('a mail code is refused if its address moves to another user in the meantime', async () => {
    const { db } = app.services;
    const { address, user } = await registeredUser();
    app.clock.turn(31);
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    const answer = await db.transaction(async (em) => {
      const other = newAddress();
      const change = 'update users set email = ?, email_key = ?, user_name = ?, user_name_key = ? where id = ?';
      await em.execute(change, [other, other, other, other, user.id]);
      const step = page.step('verify-email-otp', { userid: address, otp });
      await untilLockWaits(db, 1);
      return { step };
    });
    expect((await answer.step)['error']?.code).toBe('CODE_REJECTED');
  });
});

/** A user with a device that skips the authenticator app, and recovery codes. */
async function rememberedPerson() {
  await world.set({ rememberMfaSeconds: 30 * 24 * 3600 });
  const address = newAddress();
  const page = await world.page();
  const { secret, done } = await world.enrolTotp(page, address);
  await world.meetFactor(page, address);
  const tried = { userid: address, otp: world.totp(secret), remember_me: true };
  expectStatus(await page.step('verify-mfa', tried, 'use'), 'SUCCESS');
  app.clock.turn(31);
  await page.challenge();
  expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'SUCCESS');
  const user = await world.findUser(address);
  if (!user) throw new Error('no user');
  return { address, page, user, recoveryCodes: done['recovery_codes'] as string[] };
}

describe('a reset of the second factors', () => {
  const rememberedDevices = (userId: string) =>
    app.services.db.reader().count(Device, {
      user: { id: userId },
      $or: [{ mfaRememberedAt: { $ne: null } }, { mfaRememberedUntil: { $ne: null } }],
    });

  it('clears remembered factors and recovery codes; the next enrolment shows new codes', async () => {
    const { address, page, user, recoveryCodes } = await rememberedPerson();
    await app.services.accountAccess.resetFactors(world.project.id, user.id, system);
    expect(await app.services.mfa.recoveryCodes.left(app.services.db.reader(), user)).toBe(0);
    expect(await rememberedDevices(user.id)).toBe(0);
    app.clock.turn(31);
    const { done } = await world.enrolTotp(page, address);
    expect(done['recovery_codes']).toHaveLength(10);
    await world.meetFactor(page, address);
    const old = await page.step('verify-mfa', { userid: address, otp: recoveryCodes[0] }, 'use');
    expect(old['error']?.code).toBe('CODE_REJECTED');
  });

  it('by removing the last one on the account page does the same', async () => {
    const { user } = await rememberedPerson();
    const [factor] = await app.services.mfa.factors(app.services.db.reader(), user);
    const visit = await visitOf(user, ['swk', 'otp', 'mfa']);
    expect((await visit.change('remove-factor', { id: factor?.id ?? '' })).status).toBe(303);
    expect(await app.services.mfa.recoveryCodes.left(app.services.db.reader(), user)).toBe(0);
    expect(await rememberedDevices(user.id)).toBe(0);
  });

  it('by removing one of two keeps the recovery codes, and clears remembered factors', async () => {
    const { user } = await rememberedPerson();
    const { id } = await giveFactor(user);
    const visit = await visitOf(user, ['swk', 'otp', 'mfa']);
    expect((await visit.change('remove-factor', { id })).status).toBe(303);
    expect(await app.services.mfa.recoveryCodes.left(app.services.db.reader(), user)).toBe(10);
    expect(await rememberedDevices(user.id)).toBe(0);
  });

  it('by a back end that replaces the factor clears remembered factors', async () => {
    const person = await rememberedPerson();
    await causes['a back end replaces the factor']?.({ user: person.user } as RegisteredUser);
    expect(await rememberedDevices(person.user.id)).toBe(0);
    await person.page.challenge();
    const answer = await person.page.step('authenticate', { userid: person.address }, 'use');
    expectStatus(answer, 'MFA_REQUIRED');
  });
});
