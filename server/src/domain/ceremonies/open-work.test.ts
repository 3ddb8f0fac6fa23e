import { beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/build-app.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../../test/signin-world.ts';
import type { User } from '../users/user.entity.ts';
import { endOpenWork, type OpenWorkOptions } from './open-work.ts';

const world = SigninWorld.ofTests();
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const reader = () => app.services.db.reader();

async function end(user: User, options: OpenWorkOptions = {}): Promise<void> {
  await app.services.db.transaction(async (em) => {
    const held = await app.services.users.locked(em, world.project.id, user.id);
    if (!held) throw new Error('no such user');
    await endOpenWork(em, app.clock.now(), held, options);
  });
}

const expired = refusal('TRANSACTION_EXPIRED', 410);

/** A user with a trusted device; the page's key is registered. */
async function registeredUser() {
  const address = newAddress();
  const page = await world.page();
  const { code } = await world.register(page, address);
  return { address, page, code: code as string, user: (await world.findUser(address)) as User };
}

const userInfo = async (token: string | undefined) =>
  (await fetch(`${app.url}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;

describe('endOpenWork for a user', () => {
  it('ends sign-ins that wait for the mail code, from any browser', async () => {
    const { address, user } = await registeredUser();
    app.clock.turn(31);
    const stranger = await world.page();
    await stranger.challenge();
    expectStatus(await stranger.step('authenticate', { userid: address.toUpperCase() }), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    await end(user);
    expect(await stranger.step('verify-email-otp', { userid: address, otp })).toMatchObject(expired);
  });

  it('ends sign-ins that only a clock that is ahead takes for expired', async () => {
    const { address, user } = await registeredUser();
    app.clock.turn(31);
    const other = await world.page();
    await world.verifyAddress(other, address);
    app.clock.turn(3600);
    await end(user);
    app.clock.turn(-3600);
    const registration = await other.step('verify-device', { userid: address }, 'registration');
    expect(registration).toMatchObject(expired);
  });

  it('ends sign-ins with a verified mail code', async () => {
    const { address, user } = await registeredUser();
    app.clock.turn(31);
    const other = await world.page();
    await world.verifyAddress(other, address);
    await end(user);
    const registration = await other.step('verify-device', { userid: address }, 'registration');
    expect(registration).toMatchObject(expired);
    expect(await reader().execute('select from credentials where user_id = ?', [user.id])).toHaveLength(1);
  });

  it('ends sign-ins that first named the address of another user', async () => {
    const [first, second] = [await registeredUser(), await registeredUser()];
    app.clock.turn(31);
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: first.address }), 'OTP_NEEDED');
    app.clock.turn(31);
    expectStatus(await page.step('authenticate', { userid: second.address }), 'OTP_NEEDED');
    await end(second.user);
    const again = await page.step('authenticate', { userid: second.address });
    expect(again).toMatchObject(expired);
  });

  it('keeps the sign-in of another user whose email address is this user name', async () => {
    const address = newAddress();
    const userName = `user-of-${address}`;
    await world.user({ userName, userNameKey: userName, email: address, emailKey: address });
    const namesake = await world.user({ userName: address, userNameKey: address, email: null, emailKey: null });
    const asking = await world.page();
    await asking.challenge();
    expectStatus(await asking.step('authenticate', { userid: address }), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    await end(namesake);
    expectStatus(await asking.step('verify-email-otp', { userid: address, otp }), 'SUCCESS');
    await end(namesake);
    expectStatus(await asking.step('verify-device', { userid: address }, 'registration'), 'SUCCESS');
  });

  it('ends sign-ins that wait for a second factor, with the sent code and the unverified factor', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const { address, user } = await registeredUser();
    const page = await world.page();
    await world.enrol(page, address, { mfa_method: 'sms', phone_number: '+491701234567' });
    const otp = await world.codeFor('+491701234567');
    await end(user);
    expect(await page.step('verify-mfa', { userid: address, otp }, 'use')).toMatchObject(expired);
    for (const table of ['enrolments', 'one_time_codes']) {
      const unused = table === 'enrolments' ? 'user_id = ?' : 'used_at is null and user_id is not distinct from ?';
      expect([table, await reader().execute(`select from ${table} where ${unused}`, [user.id])]).toEqual([table, []]);
    }
  });

  it('ends a phone change after a step-up, with the code for the new number', async () => {
    const { address, page, user } = await registeredUser();
    app.clock.turn(31);
    await world.verifyAddress(page, address, { step_up: 'change_phone_number' });
    expectStatus(await page.step('verify-device', { userid: address }, 'registration'), 'SUCCESS');
    const sent = await page.step('change-phone-number', { userid: address, phone_number: '+491701234568' }, 'use');
    expectStatus(sent, 'PHONE_CODE_SENT');
    const otp = await world.codeFor('+491701234568');
    await end(user);
    expect(await page.step('verify-phone-number', { userid: address, otp }, 'use')).toMatchObject(expired);
    expect(await reader().execute('select from phone_changes where user_id = ?', [user.id])).toEqual([]);
  });

  it('ends sign-ins whose evidence names the user, regardless of their address', async () => {
    const { user } = await registeredUser();
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: newAddress() }), 'OTP_NEEDED');
    const evidence = [{ kind: 'mail-code', account: user.id, at: app.clock.now().toISOString() }];
    const where = 'project_id = ? and finished_at is null';
    await app.services.db.transaction((em) =>
      em.execute(`update ceremonies set evidence = ?::jsonb where ${where}`, [
        JSON.stringify(evidence),
        world.project.id,
      ]),
    );
    await end(user);
    expect(await reader().execute(`select from ceremonies where ${where}`, [world.project.id])).toEqual([]);
  });

  it('revokes unredeemed codes and access tokens', async () => {
    const { address, page, code, user } = await registeredUser();
    const tokens = await world.exchange(code);
    expect(await userInfo(tokens.body['access_token'])).toBe(200);
    await page.challenge();
    const waiting = expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'SUCCESS')['code'];
    await end(user);
    expect((await world.exchange(waiting)).body['error']).toBe('invalid_grant');
    expect(await userInfo(tokens.body['access_token'])).toBe(401);
  });

  it('ends sign-ins that started with an address that the user has just lost', async () => {
    const { user } = await registeredUser();
    const former = newAddress();
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: former }), 'OTP_NEEDED');
    await end(user);
    const isOpen = { userid: former, otp: '000000' };
    expect(await page.step('verify-email-otp', isOpen)).toMatchObject(refusal('CODE_REJECTED', 400));
    await end(user, { addresses: [former.toUpperCase()] });
    expect(await page.step('verify-email-otp', isOpen)).toMatchObject(expired);
  });

  it('ends sign-ins that started with the userName or with the email, if these differ', async () => {
    const userName = newAddress();
    const user = await world.user({ userName, userNameKey: userName });
    const addresses = [userName, user.email as string];
    const pages = await Promise.all(addresses.map(() => world.page()));
    for (const [index, page] of pages.entries()) {
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid: addresses[index] }), 'OTP_NEEDED');
    }
    await end(user);
    for (const [index, page] of pages.entries()) {
      const tried = { userid: addresses[index], otp: '000000' };
      expect(await page.step('verify-email-otp', tried)).toMatchObject(expired);
    }
  });

  it('ends a sign-in whose concurrent step holds the lock on the user', async () => {
    const { user } = await registeredUser();
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: newAddress() }), 'OTP_NEEDED');
    const evidence = [{ kind: 'mail-code', account: user.id, at: app.clock.now().toISOString() }];
    const proved = await app.services.db.transaction(async (em) => {
      await app.services.users.locked(em, world.project.id, user.id);
      const ending = app.services.db.transaction((own) => endOpenWork(own, app.clock.now(), user));
      let isOver = false;
      void ending.finally(() => {
        isOver = true;
      });
      await untilLockWaits(app.services.db, 1, () => isOver);
      const where = 'project_id = ? and finished_at is null';
      const params = [JSON.stringify(evidence), world.project.id];
      await em.execute(`update ceremonies set evidence = ?::jsonb where ${where}`, params);
      return { ending };
    });
    await proved.ending;
    const open = 'select from ceremonies where account_id = ? and finished_at is null';
    expect(await reader().execute(open, [user.id])).toEqual([]);
  });

  it('does nothing for an erased user', async () => {
    await app.services.db.transaction((em) =>
      endOpenWork(em, app.clock.now(), { project: world.project, id: world.project.id }),
    );
  });

  it('does not deadlock with 40 concurrent sign-ins of the user', async () => {
    const { address, page, user } = await registeredUser();
    const pages = await Promise.all(Array.from({ length: 40 }, () => world.page(page.key)));
    await Promise.all(pages.map((one) => one.challenge()));
    const signIns = pages.map((one) => one.step('authenticate', { userid: address }, 'use'));
    const ends = Array.from({ length: 10 }, () => end(user));
    const answers = await Promise.all(signIns);
    await Promise.all(ends);
    for (const { status, httpStatus } of answers) expect([status, httpStatus]).toEqual(['SUCCESS', 200]);
  });
});
