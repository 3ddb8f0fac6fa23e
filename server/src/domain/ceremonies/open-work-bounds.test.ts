/** Rows that `endOpenWork` keeps. */

import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../../test/account-visit.ts';
import type { TestApp } from '../../../test/build-app.ts';
import { rows } from '../../../test/rows.ts';
import type { SigninPage } from '../../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { Client } from '../clients/client.entity.ts';
import { system } from '../kernel/actor.ts';
import type { User } from '../users/user.entity.ts';
import { endOpenWork, type OpenWorkOptions } from './open-work.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
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

/** A user with a trusted device; the page's key is registered. */
async function registeredUser() {
  const address = newAddress();
  const page = await world.page();
  const { code } = await world.register(page, address);
  return { address, page, code: code as string, user: (await world.findUser(address)) as User };
}

/** Sets up a second factor on a new device, up to its code. Returns a function that enters the code. */
async function beginFactor(page: SigninPage, address: string, number: string) {
  expectStatus(await world.enrol(page, address, { mfa_method: 'sms', phone_number: number }), 'MFA_INITIATED');
  const otp = await world.codeFor(number);
  return () => page.step('verify-mfa', { userid: address, otp }, 'use');
}

/** Changes the number after a step-up, up to its code. Returns a function that enters the code. */
async function beginPhoneChange(page: SigninPage, address: string, number: string) {
  const sent = await page.step('change-phone-number', { userid: address, phone_number: number }, 'use');
  expectStatus(sent, 'PHONE_CODE_SENT');
  const otp = await world.codeFor(number);
  return () => page.step('verify-phone-number', { userid: address, otp }, 'use');
}

/** Changes a factor by a back end, up to its code. Returns a function that enters the code. */
async function beginFactorChange({ id: userid }: User, phone: string) {
  const { db, factorChanges } = app.services;
  const client = await db.reader().findOneOrFail(Client, { id: world.client.id }, { populate: ['project'] });
  const backEnd = { client, actor: system };
  const { sessionId } = await factorChanges.initiate(backEnd, { userid, method: 'sms', phone });
  const code = await world.codeFor(phone);
  return () => factorChanges.verify(backEnd, { userid, sessionId, code });
}

describe('endOpenWork', () => {
  it('keeps the sign-in that makes the change, with its codes, factor and number', async () => {
    const { address, page, user } = await registeredUser();
    const keeping = async () => {
      const [kept] = await reader().execute<{ id: string }[]>(
        'select id from ceremonies where account_id = ? and finished_at is null',
        [user.id],
      );
      await end(user, { keepCeremonyId: kept?.id as string });
    };
    app.clock.turn(31);
    await world.verifyAddress(page, address, { step_up: 'change_phone_number' });
    await keeping();
    expectStatus(await page.step('verify-device', { userid: address }, 'registration'), 'SUCCESS');
    const verifyPhone = await beginPhoneChange(page, address, '+491701234571');
    await keeping();
    expectStatus(await verifyPhone(), 'PHONE_CHANGED');
    app.clock.turn(31);
    const enrolling = await world.page();
    const verifyFactor = await beginFactor(enrolling, address, '+491701234572');
    await keeping();
    expectStatus(await verifyFactor(), 'SUCCESS');
  });

  it('keeps the open work of other users', async () => {
    const { user } = await registeredUser();
    const registering = await registeredUser();
    const renumbering = await registeredUser();
    const swapping = await registeredUser();
    app.clock.turn(31);
    const page = await world.page();
    await world.verifyAddress(page, registering.address);
    const verifyFactor = await beginFactor(await world.page(), newAddress(), '+491701234573');
    const verifyChange = await beginFactorChange(swapping.user, '+491701234574');
    await world.verifyAddress(renumbering.page, renumbering.address, { step_up: 'change_phone_number' });
    const stepUp = await renumbering.page.step('verify-device', { userid: renumbering.address }, 'registration');
    expectStatus(stepUp, 'SUCCESS');
    const verifyPhone = await beginPhoneChange(renumbering.page, renumbering.address, '+491701234575');
    await end(user);
    expectStatus(await page.step('verify-device', { userid: registering.address }, 'registration'), 'SUCCESS');
    expect((await world.exchange(registering.code)).status).toBe(200);
    expectStatus(await verifyFactor(), 'SUCCESS');
    expect((await verifyChange()).method).toBe('sms');
    expectStatus(await verifyPhone(), 'PHONE_CHANGED');
  });

  it('keeps sign-ins with the same address in another project', async () => {
    const address = newAddress();
    const elsewhere = await world.page();
    await elsewhere.challenge();
    expectStatus(await elsewhere.step('authenticate', { userid: address }), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    await world.begin();
    const page = await world.page();
    await world.register(page, address);
    app.clock.turn(-3600);
    await end((await world.findUser(address)) as User);
    expectStatus(await elsewhere.step('verify-email-otp', { userid: address, otp }), 'SUCCESS');
  });

  it('keeps finished work: used codes, verified factors, finished changes, and the time of a revocation', async () => {
    const address = newAddress();
    const page = await world.page();
    expectStatus(await (await beginFactor(page, address, '+491701234576'))(), 'SUCCESS');
    const user = (await world.findUser(address)) as User;
    await (await beginFactorChange(user, '+491701234577'))();
    const context = () =>
      Promise.all(
        [
          'select id, finished_at from ceremonies where project_id = ? order by id',
          'select id, used_at from one_time_codes where project_id = ? order by id',
          'select id, verified_at from enrolments where project_id = ? and verified_at is not null',
          'select id, finished_at from factor_changes where project_id = ?',
          'select id, revoked_at from authorization_codes where project_id = ?',
        ].map((sql) => rows(app.services.db, sql, [world.project.id])),
      );
    const before = await context();
    expect(before.map((rows) => rows.length)).toEqual([1, 3, 1, 1, 1]);
    app.clock.turn(1);
    await end(user);
    expect(await context()).toEqual(before);
  });

  it('deletes unused codes without a user id in each place of the user', async () => {
    const { address, page, user } = await registeredUser();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address, step_up: 'change_phone_number' }), 'OTP_NEEDED');
    const visit = await peopleOf(world).visitOf(user);
    await visit.change('change-phone', { phone: '+491701234569' });
    await beginFactorChange(user, '+491701234570');
    const unused = 'from one_time_codes where project_id = ? and used_at is null';
    const unowned = `update one_time_codes set user_id = null where id in (select id ${unused}) returning id`;
    expect(await rows(app.services.db, unowned, [world.project.id])).toHaveLength(3);
    await end(user);
    expect(await reader().execute(`select ${unused}`, [world.project.id])).toEqual([]);
  });
});
