import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import type { SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
const satellite = '+8816234567890';
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  await world.app.runJobs();
  page = await world.page();
  userid = newAddress();
});

/** Sends verify-device with a number for the second factor, after the mail code. */
async function choose(phone_number: string, on = page, as = userid): Promise<StepAnswer> {
  await world.verifyAddress(on, as);
  return on.step('verify-device', { userid: as, mfa_method: 'sms', phone_number }, 'registration');
}

/** Signs up a user with that number as factor, up to the response of initiate-mfa. */
async function pump(phone_number: string): Promise<StepAnswer> {
  const [on, as] = [await world.page(), newAddress()];
  expectStatus(await choose(phone_number, on, as), 'DEVICE_REGISTERED');
  return world.meetFactor(on, as);
}

/** Rows of every table except counters, nonces and the audit log. */
async function rowCounts(): Promise<Record<string, number>> {
  const { db } = world.app.services;
  const tables = ['credentials', 'enrolments', 'one_time_codes', 'messages', 'phone_changes'];
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const [row] = await rows<{ n: number }>(db, `select count(*)::int as n from ${table}`);
    counts[table] = row?.n ?? 0;
  }
  return counts;
}

const sentTo = async (number: string) => {
  await world.app.runJobs();
  return world.app.mailbox.filter(({ to }) => to === number).length;
};

describe('a number for the second factor', () => {
  it.each([satellite, '+33899123456', '+41440000000'])(
    'of a type that cannot receive SMS is refused: %s',
    async (number) => {
      await world.verifyAddress(page, userid);
      const before = await rowCounts();
      const fields = { userid, mfa_method: 'sms', phone_number: number };
      expect(await page.step('verify-device', fields, 'registration')).toMatchObject(refusal('PHONE_NOT_ALLOWED', 400));
      expect(await rowCounts()).toEqual(before);
      // The page asks for another number in the same transaction.
      const other = { ...fields, phone_number: '+4915112345678' };
      expectStatus(await page.step('verify-device', other, 'registration'), 'DEVICE_REGISTERED');
    },
  );

  it('of a landline gets codes if it is on record', async () => {
    const landline = '+41440000000';
    await world.user({ userName: userid, userNameKey: userid, email: userid, emailKey: userid, phone: landline });
    expectStatus(await choose(landline), 'DEVICE_REGISTERED');
    expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED');
    expect(await sentTo(landline)).toBe(1);
  });

  it('of a country that the project does not allow is rejected', async () => {
    await world.set({ smsCountries: ['CH'] });
    expect(await choose('+4915112345678')).toMatchObject(refusal('PHONE_NOT_ALLOWED', 400));
  });

  it('is checked at use: a country that is no longer allowed gets no codes', async () => {
    const number = '+4915112345671';
    expectStatus(await choose(number), 'DEVICE_REGISTERED');
    await world.set({ smsCountries: ['CH'] });
    const before = await rowCounts();
    expect(await world.meetFactor(page, userid)).toMatchObject(refusal('PHONE_NOT_ALLOWED', 400));
    expect(await rowCounts()).toEqual(before);
    expect(await sentTo(number)).toBe(0);
  });
});

describe('many new accounts', () => {
  it('can send five SMS an hour to one number; the sixth request writes nothing', async () => {
    const number = '+4915112345672';
    for (let n = 0; n < 5; n++) expectStatus(await pump(number), 'MFA_INITIATED');
    const [on, as] = [await world.page(), newAddress()];
    expectStatus(await choose(number, on, as), 'DEVICE_REGISTERED');
    const before = await rowCounts();
    const refused = await world.meetFactor(on, as);
    expect(refused).toMatchObject(refusal('RATE_LIMITED', 429));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
    expect(await rowCounts()).toEqual(before);
    expect(await sentTo(number)).toBe(5);
  });

  it('share the daily SMS limit of the project, which is recorded once', async () => {
    await world.set({ smsPerDay: 2 });
    for (const number of ['+4915100000001', '+4915200000001']) expectStatus(await pump(number), 'MFA_INITIATED');
    for (const number of ['+4915300000001', '+4915400000001']) {
      const refused = await pump(number);
      expect(refused).toMatchObject(refusal('RATE_LIMITED', 429));
      expect(refused.headers.get('retry-after')).toBe(String(24 * 3600));
    }
    expect((await world.events()).filter((type) => type === 'sms.limit_reached')).toHaveLength(1);
  });

  it('do not block codes for a user whose factor is that number', async () => {
    const number = '+4915112345673';
    expectStatus(await world.enrol(page, userid, { mfa_method: 'sms', phone_number: number }), 'MFA_INITIATED');
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(number) }, 'use'), 'SUCCESS');
    for (let n = 0; n < 4; n++) expectStatus(await pump(number), 'MFA_INITIATED');
    expect(await pump(number)).toMatchObject(refusal('RATE_LIMITED', 429));
    world.app.clock.turn(31);
    expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED');
  });
});

describe('a new login phone', () => {
  it('of a type that cannot receive SMS is rejected, and the change does not start', async () => {
    await world.register(page, userid);
    world.app.clock.turn(31);
    await page.challenge();
    const stepUp = { userid, step_up: 'change_phone_number' };
    expectStatus(await page.step('authenticate', stepUp, 'use'), 'OTP_NEEDED');
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    const before = await rowCounts();
    const change = (phone_number: string) => page.step('change-phone-number', { userid, phone_number }, 'use');
    expect(await change(satellite)).toMatchObject(refusal('PHONE_NOT_ALLOWED', 400));
    expect(await rowCounts()).toEqual(before);
    world.app.clock.turn(31);
    expectStatus(await change('+4915112345674'), 'PHONE_CODE_SENT');
  });
});
