import { beforeEach, describe, expect, it } from 'vitest';
import { arabicIndic, fullWidth } from '../../test/other-digits.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

describe('a code typed on a keyboard of another script', () => {
  it.each([
    ['Arabic-Indic', arabicIndic],
    ['full-width', fullWidth],
  ])('is accepted in %s digits, from the mail', async (_name, written) => {
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
    const otp = written(await world.codeFor(userid));
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
  });

  it('is accepted from an authenticator app, as SMS, and as a recovery code', async () => {
    const { totp } = await world.enrol(page, userid, { mfa_method: 'totp' });
    const enrolled = await page.step('verify-mfa', { userid, otp: arabicIndic(world.totp(totp.secret)) }, 'use');
    const [recovery] = expectStatus(enrolled, 'SUCCESS')['recovery_codes'] as string[];
    world.app.clock.turn(31);
    await world.meetFactor(page, userid);
    expectStatus(await page.step('verify-mfa', { userid, otp: fullWidth(recovery ?? '') }, 'use'), 'SUCCESS');

    const [other, phone, phoneNumber] = [newAddress(), await world.page(), '+4915112345678'];
    await world.enrol(phone, other, { mfa_method: 'sms', phone_number: phoneNumber });
    const otp = arabicIndic(await world.codeFor(phoneNumber));
    expectStatus(await phone.step('verify-mfa', { userid: other, otp }, 'use'), 'SUCCESS');
  });

  it('is still refused if it is another code', async () => {
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
    const code = await world.codeFor(userid);
    const otp = arabicIndic(code === '000000' ? '111111' : '000000');
    expect((await page.step('verify-email-otp', { userid, otp })).httpStatus).toBe(400);
  });
});
