import { generateSync } from 'otplib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, otherCode, refusal, SigninWorld } from '../../test/signin-world.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

const pause = () => world.app.clock.turn(31);

/** Enrolls an authenticator app in the sign-in that verified the mail code; returns the response to initiate-mfa. */
async function enrolHere(page: SigninPage, userid: string) {
  expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
  const required = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  return page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
}

describe('the second factor on a new device', () => {
  it('is not required if the policy is OFF, even with a chosen method', async () => {
    await world.set({ mfaPolicy: 'off' });
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'SUCCESS');
  });

  it('is not required if the policy is OPTIONAL and no method was chosen', async () => {
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  });

  it('must be chosen if the policy is REQUIRED', async () => {
    await world.set({ mfaPolicy: 'required' });
    await world.verifyAddress(page, userid);
    const asked = await page.step('verify-device', { userid }, 'registration');
    expect(asked).toMatchObject({ status: 'MFA_ENROLLMENT_NEEDED', methods: ['sms', 'totp'] });
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'MFA_ENROLLMENT_NEEDED');
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
  });

  it('is chosen from the offered methods; an enrolled method stays required when no longer offered', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    await world.set({ mfaPolicy: 'required', offeredFactors: ['email'], emailFactor: true });
    const met = await world.page();
    await world.verifyAddress(met, userid);
    expectStatus(await met.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    await world.meetFactor(met, userid);
    expectStatus(await met.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use'), 'SUCCESS');

    const [other, fresh] = [newAddress(), await world.page()];
    await world.verifyAddress(fresh, other);
    const asked = await fresh.step('verify-device', { userid: other }, 'registration');
    expect(asked).toMatchObject({ status: 'MFA_ENROLLMENT_NEEDED', methods: ['email'] });
    expect(await fresh.step('verify-device', { userid: other, mfa_method: 'totp' }, 'registration')).toMatchObject(
      refusal('MFA_METHOD_NOT_ALLOWED', 400),
    );
  });

  it('can be chosen again before the first choice is verified, in that sign-in only', async () => {
    await world.set({ mfaPolicy: 'required', emailFactor: true });
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const asked = await page.step('verify-device', { userid }, 'registration');
    expect(asked).toMatchObject({ status: 'MFA_ENROLLMENT_NEEDED', methods: ['email', 'sms', 'totp'] });
    const other = await world.page();
    const stolen = { kind: 'registration', key: other.key } as const;
    const email = { userid, mfa_method: 'email' };
    expect(await page.step('verify-device', email, stolen)).toMatchObject(refusal('PROOF_REJECTED', 401));
    expectStatus(await page.step('verify-device', email, 'registration'), 'DEVICE_REGISTERED');
    const required = await page.step('authenticate', { userid }, 'use');
    expect(required).toMatchObject({ status: 'MFA_REQUIRED', method: 'email' });
    await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    const otp = await world.codeFor(userid);
    const done = expectStatus(await page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
    expect(await world.amrOf(done['code'])).toEqual(['swk', 'otp']);
  });

  it('cannot be chosen again with the device key alone, in a sign-in without a mail code', async () => {
    await world.set({ mfaPolicy: 'required' });
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
    await world.meetFactor(page, userid);
    for (const fields of [{ userid }, { userid, mfa_method: 'sms', phone_number: '+4915112345678' }]) {
      expect(await page.step('verify-device', fields, 'registration')).toMatchObject(refusal('OUT_OF_ORDER', 409));
    }
  });

  it('can be verified under a new txn, once, with the key created for this sign-in', async () => {
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
    const { txn } = page;
    const { totp: setup } = await world.meetFactor(page, userid);
    const [moved, body] = [page.txn, { userid }];
    page.txn = txn;
    expect(await page.step('authenticate', body, 'use')).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    const again = await world.page(page.key);
    await again.challenge();
    expectStatus(await again.step('authenticate', body, 'use'), 'SUCCESS');
    page.txn = moved;
    expectStatus(await page.step('verify-mfa', { userid, otp: world.totp(setup.secret) }, 'use'), 'SUCCESS');
  });

  it('cannot be verified under a new txn for a step-up', async () => {
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
    await page.challenge();
    const stepUp = { userid, step_up: 'change_phone_number' };
    expectStatus(await page.step('authenticate', stepUp, 'use'), 'OTP_NEEDED');
  });

  it('cannot be enrolled with the device key alone, in any state of an earlier sign-in', async () => {
    await world.register(page, userid);
    await world.set({ mfaPolicy: 'required' });
    pause();
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
    await page.challenge();
    // A key registered before the mail code does not replace the code in another sign-in.
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('cannot be email if the project does not allow it, and email alone adds nothing to amr', async () => {
    await world.enrol(page, userid, { mfa_method: 'email' });
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(userid) }, 'use'), 'SUCCESS');
    await world.set({ mfaPolicy: 'required' });
    pause();
    await world.verifyAddress(page, userid);
    const asked = await page.step('verify-device', { userid }, 'registration');
    expect(asked).toMatchObject({ status: 'MFA_ENROLLMENT_NEEDED', methods: ['sms', 'totp'] });
    const email = await page.step('verify-device', { userid, mfa_method: 'email' }, 'registration');
    expect(email).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
    const { totp } = await enrolHere(page, userid);
    const done = await page.step('verify-mfa', { userid, otp: world.totp(totp.secret) }, 'use');
    expect(await world.amrOf(expectStatus(done, 'SUCCESS')['code'])).toEqual(['swk', 'otp', 'mfa']);
  });

  it('cannot replace a verified factor', async () => {
    await world.enrolTotp(page, userid);
    await world.meetFactor(page, userid);
    for (const fields of [{ userid }, { userid, mfa_method: 'email' }]) {
      expect(await page.step('verify-device', fields, 'registration')).toMatchObject(refusal('OUT_OF_ORDER', 409));
    }
    const factors = await world.app.services.db
      .reader()
      .execute('select method from enrolments e join users u on u.id = e.user_id where u.email_key = ?', [userid]);
    expect(factors).toEqual([{ method: 'totp' }]);
  });

  it('must be chosen even on a device that was trusted before the policy changed', async () => {
    await world.register(page, userid);
    await world.set({ mfaPolicy: 'required' });
    pause();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'MFA_ENROLLMENT_NEEDED');
  });

  it('is the user’s enrolled factor, under any policy and with any choice', async () => {
    await world.enrolTotp(page, userid);
    for (const mfaPolicy of ['off', 'optional', 'required'] as const) {
      for (const mfa_method of [undefined, 'email', 'totp']) {
        await world.set({ mfaPolicy });
        pause();
        world.app.clock.turn(3600);
        const other = await world.page();
        await world.verifyAddress(other, userid);
        expectStatus(await other.step('verify-device', { userid, mfa_method }, 'registration'), 'DEVICE_REGISTERED');
        await other.challenge();
        expect(await other.step('authenticate', { userid }, 'use')).toMatchObject({
          status: 'MFA_REQUIRED',
          method: 'totp',
        });
        world.app.clock.turn(24 * 3600);
      }
    }
  });
});

describe('an authenticator app', () => {
  it('gets its secret once, and is required after its first code', async () => {
    const started = await world.enrol(page, userid, { mfa_method: 'totp' });
    expect(started).toMatchObject({ status: 'MFA_INITIATED', method: 'totp' });
    expect(started['totp'].secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(started['totp'].otpauth_uri).toMatch(/^otpauth:\/\/totp\/Example:/);
    const { secret } = started['totp'];
    const done = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expect(done).toMatchObject({ status: 'SUCCESS', code: expect.any(String) });
    expect(done['recovery_codes']).toHaveLength(10);
    expect(await world.amrOf(done['code'])).toEqual(['swk', 'otp', 'mfa']);
    pause();
    const again = await world.meetFactor(page, userid);
    expect(again).not.toHaveProperty('totp');
    const second = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expectStatus(second, 'SUCCESS');
    expect(second).not.toHaveProperty('recovery_codes');
    expect((await world.subjectsFor(userid)).filter((subject) => /second step/i.test(subject))).toHaveLength(1);
  });

  it('is not required before its first code, and can be restarted', async () => {
    await world.enrol(page, userid, { mfa_method: 'totp' });
    pause();
    const other = await world.page();
    await world.verifyAddress(other, userid);
    expectStatus(await other.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    world.app.clock.turn(31 * 60);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('started on one device cannot be verified on another, nor after another factor was verified', async () => {
    const mine = await world.enrol(page, userid, { mfa_method: 'totp' });
    pause();
    const other = await world.page();
    const { totp: setup } = await world.enrol(other, userid, { mfa_method: 'totp' });
    expect(setup.secret).not.toBe(mine['totp'].secret);
    expectStatus(await other.step('verify-mfa', { userid, otp: world.totp(setup.secret) }, 'use'), 'SUCCESS');
    const late = await page.step('verify-mfa', { userid, otp: world.totp(mine['totp'].secret) }, 'use');
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('has codes that are each accepted once, across sign-ins', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    const otp = world.totp(secret);
    await world.meetFactor(page, userid);
    expectStatus(await page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
    await world.meetFactor(page, userid);
    expect(await page.step('verify-mfa', { userid, otp }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
  });

  it('tolerates a clock skew of 30 seconds', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    const at = (shift: number) =>
      generateSync({ secret, epoch: Math.floor(world.app.clock.now().getTime() / 1000) + shift });
    world.app.clock.turn(600);
    await world.meetFactor(page, userid);
    expect(await page.step('verify-mfa', { userid, otp: at(-90) }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
    expect(await page.step('verify-mfa', { userid, otp: at(90) }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
    expectStatus(await page.step('verify-mfa', { userid, otp: at(-30) }, 'use'), 'SUCCESS');
  });

  it('allows five attempts per sign-in, then waits increasingly long, and is disabled at fifty', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    const waits: number[] = [];
    for (let round = 1; round <= 10; round++) {
      await world.meetFactor(page, userid);
      for (let n = 1; n <= 5; n++) {
        const wrong = await page.step('verify-mfa', { userid, otp: otherCode(world.totp(secret), n + 5) }, 'use');
        expect(wrong).toMatchObject(refusal('CODE_REJECTED', 400));
      }
      const sixth = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
      if (round === 10) {
        expect(sixth).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
        break;
      }
      expect(sixth).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
      await page.challenge();
      const required = await page.step('authenticate', { userid }, 'use');
      const locked = await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
      expect(locked).toMatchObject(refusal('RATE_LIMITED', 429));
      expect(locked.headers.get('retry-after')).toBe(String(locked['error'].retry_after));
      waits.push(locked['error'].retry_after);
      world.app.clock.turn(locked['error'].retry_after);
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
  });

  it('that is disabled is enabled again by a recovery code', async () => {
    const { secret, done } = await world.enrolTotp(page, userid);
    await world.app.services.db.transaction((em) => em.execute('update enrolments set failures = 50'));
    await world.meetFactor(page, userid);
    const refused = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expect(refused).toMatchObject(refusal('MFA_METHOD_NOT_ALLOWED', 400));
    const recovered = await page.step('verify-mfa', { userid, otp: done['recovery_codes'][0] }, 'use');
    expect(await world.amrOf(expectStatus(recovered, 'SUCCESS')['code'])).toEqual(['swk', 'otp', 'mfa']);
    await world.meetFactor(page, userid);
    expectStatus(await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use'), 'SUCCESS');
  });
});

describe('a recovery code', () => {
  it('is the only replacement for an unavailable factor', async () => {
    const { secret, done } = await world.enrolTotp(page, userid);
    const lock = 'update enrolments set failures = 40, locked_until = ?::timestamptz';
    const until = new Date(world.app.clock.now().getTime() + 3_600_000).toISOString();
    await world.app.services.db.transaction((em) => em.execute(lock, [until]));
    await page.challenge();
    const required = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const asked = await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    expect(asked).toMatchObject(refusal('RATE_LIMITED', 429));
    const early = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expect(early).toMatchObject(refusal('OUT_OF_ORDER', 409));
    const recovered = await page.step('verify-mfa', { userid, otp: done['recovery_codes'][0] }, 'use');
    expect(await world.amrOf(expectStatus(recovered, 'SUCCESS')['code'])).toEqual(['swk', 'otp', 'mfa']);
  });
});

describe('the second factor', () => {
  it('cannot be bypassed: no other step issues a code', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    await page.challenge();
    const required = await page.step('authenticate', { userid }, 'use');
    const otp = world.totp(secret);
    expect(await page.step('verify-mfa', { userid, otp }, 'use')).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject(refusal('OUT_OF_ORDER', 409));
    const fields = { userid, session_id: required['session_id'] };
    expect(await page.step('initiate-mfa', fields)).toMatchObject(refusal('PROOF_REQUIRED', 401));
    const foreign = { ...fields, session_id: 'x'.repeat(43) };
    expect(await page.step('initiate-mfa', foreign, 'use')).toMatchObject(refusal('INVALID_REQUEST', 400));
    expectStatus(await page.step('initiate-mfa', fields, 'use'), 'MFA_INITIATED');
    expect(await page.step('verify-mfa', { userid, otp })).toMatchObject(refusal('PROOF_REQUIRED', 401));
    expect(await page.step('verify-mfa', { userid, otp: '' }, 'use')).toMatchObject(refusal('CODE_REJECTED', 400));
    expectStatus(await page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
    expect(await page.step('verify-mfa', { userid, otp }, 'use')).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('is refused for a user deactivated in the meantime', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    await world.meetFactor(page, userid);
    await world.app.services.db.transaction((em) =>
      em.execute('update users set active = false where user_name_key = ?', [userid]),
    );
    const refused = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expect(refused).toMatchObject(refusal('PROOF_REJECTED', 401));
  });

  it('is skipped on a device with remember_me, for as long as the project allows', async () => {
    await world.set({ rememberMfaSeconds: 3600 });
    const { secret } = await world.enrolTotp(page, userid);
    await world.meetFactor(page, userid);
    expectStatus(
      await page.step('verify-mfa', { userid, otp: world.totp(secret), remember_me: true }, 'use'),
      'SUCCESS',
    );
    world.app.clock.turn(3599);
    await page.challenge();
    const done = expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    expect(await world.amrOf(done['code'])).toEqual(['swk']);
    world.app.clock.turn(1);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  });

  it('is never skipped if the project does not allow it', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    await world.meetFactor(page, userid);
    expectStatus(
      await page.step('verify-mfa', { userid, otp: world.totp(secret), remember_me: true }, 'use'),
      'SUCCESS',
    );
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  });

  it('is accepted on an unremembered device, whose trust then ends', async () => {
    const { secret } = await world.enrolTotp(page, userid);
    const guest = await world.page();
    await world.verifyAddress(guest, userid, { remember_device: false });
    expectStatus(await guest.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await world.meetFactor(guest, userid), 'MFA_INITIATED');
    expectStatus(await guest.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use'), 'SUCCESS');
    pause();
    await guest.challenge();
    expectStatus(await guest.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });
});
