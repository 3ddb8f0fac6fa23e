import { beforeEach, describe, expect, it } from 'vitest';
import { untilLockWaits } from '../../test/lock-waits.ts';
import type { SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, otherCode, refusal, SigninWorld } from '../../test/signin-world.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

const pause = () => world.app.clock.turn(31);

describe('recovery codes', () => {
  it('work once each, ignoring case and dashes, and their use causes a notice', async () => {
    const { done } = await world.enrolTotp(page, userid);
    const [first, second] = done['recovery_codes'] as [string, string];
    await world.meetFactor(page, userid);
    expectStatus(await page.step('verify-mfa', { userid, otp: first }, 'use'), 'SUCCESS');
    await world.meetFactor(page, userid);
    expect(await page.step('verify-mfa', { userid, otp: first }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
    const typed = second.toUpperCase().replaceAll('-', ' ');
    expectStatus(await page.step('verify-mfa', { userid, otp: typed }, 'use'), 'SUCCESS');
    expect((await world.subjectsFor(userid)).filter((subject) => subject.includes('recovery code'))).toHaveLength(2);
  });

  it('of one user do not work for another', async () => {
    const { done } = await world.enrolTotp(page, userid);
    const other = await world.page();
    const mine = userid;
    userid = newAddress();
    await world.enrolTotp(other, userid);
    await world.meetFactor(other, userid);
    const stolen = await other.step('verify-mfa', { userid, otp: done['recovery_codes'][0] }, 'use');
    expect(stolen).toMatchObject(refusal('CODE_REJECTED', 400));
    await world.meetFactor(page, mine);
    const good = await page.step('verify-mfa', { userid: mine, otp: done['recovery_codes'][0] }, 'use');
    expectStatus(good, 'SUCCESS');
  });

  it('do not complete a pending enrolment', async () => {
    const { done } = await world.enrolTotp(page, userid);
    await world.app.services.db.transaction((em) => em.execute('delete from enrolments'));
    pause();
    const fresh = await world.page();
    await world.enrol(fresh, userid, { mfa_method: 'totp' });
    const refused = await fresh.step('verify-mfa', { userid, otp: done['recovery_codes'][0] }, 'use');
    expect(refused).toMatchObject(refusal('CODE_REJECTED', 400));
  });

  it('are stored as hashes; the TOTP secret is stored encrypted', async () => {
    const { secret, done } = await world.enrolTotp(page, userid);
    const dump = JSON.stringify(
      await world.app.services.db
        .reader()
        .execute("select hash from recovery_codes union all select encode(sealed_secret, 'escape') from enrolments"),
    );
    for (const code of done['recovery_codes']) expect(dump).not.toContain(code);
    expect(dump).not.toContain(secret);
  });
});

describe('email as second factor', () => {
  it('needs a second code: the first one is rejected', async () => {
    const started = await world.enrol(page, userid, { mfa_method: 'email' });
    expect(started).toMatchObject({ status: 'MFA_INITIATED', method: 'email', sent_to: `${userid[0]}…@example.com` });
    const otp = await world.codeFor(userid);
    expect(await page.step('verify-mfa', { userid, otp: otherCode(otp) }, 'use')).toMatchObject(
      refusal('CODE_REJECTED', 400),
    );
    const done = expectStatus(await page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
    expect(await world.amrOf(done['code'])).toEqual(['swk', 'otp']);
    await world.meetFactor(page, userid);
    const later = await page.step('verify-mfa', { userid, otp: await world.codeFor(userid) }, 'use');
    expect(await world.amrOf(expectStatus(later, 'SUCCESS')['code'])).toEqual(['swk', 'otp', 'mfa']);
  });

  it('sends another code after 30 seconds; then only the newest is valid', async () => {
    await world.verifyAddress(page, userid);
    expectStatus(
      await page.step('verify-device', { userid, mfa_method: 'email' }, 'registration'),
      'DEVICE_REGISTERED',
    );
    const required = await page.step('authenticate', { userid }, 'use');
    await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    const first = await world.codeFor(userid);
    const fields = { userid, session_id: required['session_id'] };
    expect(await page.step('initiate-mfa', fields, 'use')).toMatchObject(refusal('RATE_LIMITED', 429));
    pause();
    expectStatus(await page.step('initiate-mfa', fields, 'use'), 'MFA_INITIATED');
    const second = await world.codeFor(userid);
    expect(await page.step('verify-mfa', { userid, otp: first }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
    expectStatus(await page.step('verify-mfa', { userid, otp: second }, 'use'), 'SUCCESS');
  });

  it('is rejected, like a recovery code, once the policy no longer allows it, even during a sign-in', async () => {
    await world.enrol(page, userid, { mfa_method: 'email' });
    const enrolled = await page.step('verify-mfa', { userid, otp: await world.codeFor(userid) }, 'use');
    const [recoveryCode] = expectStatus(enrolled, 'SUCCESS')['recovery_codes'] as string[];
    pause();
    await world.meetFactor(page, userid);
    const otp = await world.codeFor(userid);
    await world.set({ mfaPolicy: 'required' });
    for (const typed of [otp, recoveryCode]) {
      const refused = await page.step('verify-mfa', { userid, otp: typed }, 'use');
      expect(refused).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
    }
    pause();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });
});

describe('another factor in addition to email', () => {
  it('ends other sign-ins and remembered devices, but not that of the device that adds it', async () => {
    await world.set({ rememberMfaSeconds: 3600 });
    await world.enrol(page, userid, { mfa_method: 'email' });
    const remember = { userid, remember_me: true };
    const enrolled = await page.step('verify-mfa', { ...remember, otp: await world.codeFor(userid) }, 'use');
    expectStatus(enrolled, 'SUCCESS');
    const attacker = await world.page();
    pause();
    await world.register(attacker, userid);
    const required = expectStatus(await attacker.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(required['method']).toBe('email');
    await world.set({ mfaPolicy: 'required' });
    const own = await world.page();
    pause();
    const { totp } = await world.enrol(own, userid, { mfa_method: 'totp' });
    const added = await own.step('verify-mfa', { ...remember, otp: world.totp(totp.secret) }, 'use');
    expectStatus(added, 'SUCCESS');
    await world.set({ mfaPolicy: 'optional' });
    pause();
    const late = await attacker.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    await own.challenge();
    expectStatus(await own.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });
});

describe('SMS as second factor', () => {
  const phone = () =>
    `+4917${String(Math.floor(performance.now() * 1000))
      .padStart(9, '0')
      .slice(-9)}`;

  it('asks for a number if none is on record, and stores the verified one', async () => {
    const number = phone();
    await world.verifyAddress(page, userid);
    const asked = await page.step('verify-device', { userid, mfa_method: 'sms' }, 'registration');
    expect(asked).toMatchObject({ status: 'FINALIZE_REGISTRATION_NEEDED', required: ['phone_number'] });
    const fields = { userid, mfa_method: 'sms', phone_number: number };
    expectStatus(await page.step('verify-device', fields, 'registration'), 'DEVICE_REGISTERED');
    const started = await world.meetFactor(page, userid);
    expect(started).toMatchObject({ method: 'sms', sent_to: `…${number.slice(-4)}` });
    const done = await page.step('verify-mfa', { userid, otp: await world.codeFor(number) }, 'use');
    expect(await world.amrOf(expectStatus(done, 'SUCCESS')['code'])).toEqual(['swk', 'sms', 'mfa']);
    expect((await world.findUser(userid))?.phone).toBe(number);
  });

  it('ends other sign-ins of the user when it stores their first number', async () => {
    const other = await world.page();
    await world.verifyAddress(other, userid);
    pause();
    const number = phone();
    await world.enrol(page, userid, { mfa_method: 'sms', phone_number: number });
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(number) }, 'use'), 'SUCCESS');
    const late = await other.step('verify-device', { userid }, 'registration');
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('is refused if another user gets the number at that moment, and accepts the code afterwards', async () => {
    const { db } = world.app.services;
    const [number, other] = [phone(), newAddress()];
    await world.register(await world.page(), other);
    await world.enrol(page, userid, { mfa_method: 'sms', phone_number: number });
    const otp = await world.codeFor(number);
    let answer: Promise<StepAnswer> | undefined;
    await db.transaction(async (em) => {
      await em.execute('update users set phone = ? where id = ?', [number, (await world.findUser(other))?.id]);
      answer = page.step('verify-mfa', { userid, otp }, 'use');
      await untilLockWaits(db, 1);
    });
    expect((await answer)?.['error']?.code).toBe('PHONE_TAKEN');
    expectStatus(await page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
    expect((await world.findUser(userid))?.phone).toBeNull();
  });

  it.each(['12345', '+0123456789', '017012345678', 'call me', '+49170123456789012', ''])(
    'refuses %j',
    async (number) => {
      await world.verifyAddress(page, userid);
      const fields = { userid, mfa_method: 'sms', phone_number: number };
      expect(await page.step('verify-device', fields, 'registration')).toMatchObject(refusal('PHONE_INVALID', 400));
    },
  );

  it('uses the number on record, and rejects a different one if the directory manages it', async () => {
    const number = phone();
    await world.user({
      userName: userid,
      userNameKey: userid,
      email: userid,
      emailKey: userid,
      phone: number,
      provenance: 'scim',
    });
    await world.verifyAddress(page, userid);
    const other = { userid, mfa_method: 'sms', phone_number: phone() };
    const refused = await page.step('verify-device', other, 'registration');
    expect(refused).toMatchObject(refusal('PHONE_LOCKED_BY_PROVISIONING', 403));
    expect(refused['error'].category).toBe('user_action');
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'sms' }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED');
    expect(await world.codeFor(number)).toMatch(/^\d{6}$/);
  });

  it('is offered to a user without a number, also where the directory is authoritative', async () => {
    const offered = async (values: { provenance: 'scim' | 'local'; phone?: string }) => {
      const address = newAddress();
      await world.user({ userName: address, userNameKey: address, email: address, emailKey: address, ...values });
      const browser = await world.page();
      await world.verifyAddress(browser, address);
      await world.set({ mfaPolicy: 'required' });
      const answer = await browser.step('verify-device', { userid: address }, 'registration');
      return expectStatus(answer, 'MFA_ENROLLMENT_NEEDED')['methods'];
    };
    expect(await offered({ provenance: 'local' })).toContain('sms');
    expect(await offered({ provenance: 'scim', phone: phone() })).toContain('sms');
    expect(await offered({ provenance: 'scim' })).toContain('sms');
  });

  it('follows the directory when it changes the number', async () => {
    const number = phone();
    await world.user({
      userName: userid,
      userNameKey: userid,
      email: userid,
      emailKey: userid,
      phone: number,
      provenance: 'scim',
    });
    await world.enrol(page, userid, { mfa_method: 'sms' });
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(number) }, 'use'), 'SUCCESS');
    const moved = phone();
    pause();
    await world.meetFactor(page, userid);
    const old = await world.codeFor(number);
    await world.app.services.db.transaction((em) =>
      em.execute('update users set phone = ? where phone = ?', [moved, number]),
    );
    expect(await page.step('verify-mfa', { userid, otp: old }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
    pause();
    await world.meetFactor(page, userid);
    const done = await page.step('verify-mfa', { userid, otp: await world.codeFor(moved) }, 'use');
    expectStatus(done, 'SUCCESS');
  });

  it('fails visibly without an SMS gateway, except in test mode', async () => {
    const number = phone();
    expectStatus(await world.enrol(page, userid, { mfa_method: 'sms', phone_number: number }), 'MFA_INITIATED');
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(number) }, 'use'), 'SUCCESS');
    const { senders } = world.app.services;
    const { sms } = senders;
    senders.sms = null;
    try {
      const refused = await world.meetFactor(page, userid);
      expect(refused).toMatchObject(refusal('TEMPORARILY_UNAVAILABLE', 503));
      expect(refused.headers.get('retry-after')).toBe('60');
      await world.set({ testMode: true });
      const { code } = expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED');
      expectStatus(await page.step('verify-mfa', { userid, otp: code }, 'use'), 'SUCCESS');
    } finally {
      senders.sms = sms;
    }
  });
});
