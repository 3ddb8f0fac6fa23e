import { beforeEach, describe, expect, it } from 'vitest';
import type { SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { claimsOf, expectStatus, newAddress, otherCode, refusal, SigninWorld } from '../../test/signin-world.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let page: SigninPage;
let userid: string;
let serial = 0;
const phone = () => `+4917055${String(++serial).padStart(5, '0')}`;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

const stepUp = () => ({ userid, step_up: 'change_phone_number' });
const pause = (seconds = 31) => world.app.clock.turn(seconds);
const phoneOf = async () => (await world.findUser(userid))?.phone ?? null;

/** Runs a step-up on a trusted device of a user without a second factor, up to SUCCESS. */
async function stepUpByMail(on = page): Promise<StepAnswer> {
  pause();
  await on.challenge();
  expectStatus(await on.step('authenticate', stepUp(), 'use'), 'OTP_NEEDED');
  expectStatus(await on.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
  return expectStatus(await on.step('verify-device', { userid }, 'registration'), 'SUCCESS');
}

const change = (number: string) => page.step('change-phone-number', { userid, phone_number: number }, 'use');
const verify = (otp: string) => page.step('verify-phone-number', { userid, otp }, 'use');

async function changeTo(number: string): Promise<void> {
  expectStatus(await change(number), 'PHONE_CODE_SENT');
  expectStatus(await verify(await world.codeFor(number)), 'PHONE_CHANGED');
}

describe('change_phone_number (service.md 3.1)', () => {
  it('requires a mail code on a trusted device, and then the code of the new number', async () => {
    await world.register(page, userid);
    const { code } = await stepUpByMail();
    expect(claimsOf((await world.exchange(code)).body['id_token'])['amr']).toEqual(['swk', 'otp']);
    const number = phone();
    const sent = expectStatus(await change(number), 'PHONE_CODE_SENT');
    expect(sent).toMatchObject({ sent_to: `…${number.slice(-4)}`, resend_after: 30 });
    expect(sent['code']).toBeUndefined();
    const otp = await world.codeFor(number);
    expect(await verify(otherCode(otp))).toMatchObject(refusal('CODE_REJECTED', 400));
    expect(await phoneOf()).toBeNull();
    expectStatus(await verify(otp), 'PHONE_CHANGED');
    expect(await phoneOf()).toBe(number);
    expect(await verify(otp)).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect((await world.subjectsFor(userid)).some((subject) => subject.startsWith('Phone number changed'))).toBe(true);
    expect(await world.events()).toEqual(
      expect.arrayContaining(['user.phone_change_begun', 'otp.rejected', 'user.updated', 'user.phone_changed']),
    );
    const byClient = await world.app.services.db
      .reader()
      .execute("select client_id from audit_log where type like 'user.phone_change%' and project_id = ?", [
        world.project.id,
      ]);
    expect(byClient).toEqual([{ client_id: world.client.id }, { client_id: world.client.id }]);
  });

  it('keeps the old number until the new one is verified, notifies the old one, and updates the factor', async () => {
    const old = phone();
    await world.enrol(page, userid, { mfa_method: 'sms', phone_number: old });
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(old) }, 'use'), 'SUCCESS');
    pause();
    await page.challenge();
    const required = expectStatus(await page.step('authenticate', stepUp(), 'use'), 'MFA_REQUIRED');
    expectStatus(
      await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use'),
      'MFA_INITIATED',
    );
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(old) }, 'use'), 'SUCCESS');
    const number = phone();
    expectStatus(await change(number), 'PHONE_CODE_SENT');
    expect(await phoneOf()).toBe(old);
    expectStatus(await verify(await world.codeFor(number)), 'PHONE_CHANGED');
    await world.app.runJobs();
    const notices = world.app.mailbox.filter(({ to, text }) => to === old && text.includes(number.slice(-4)));
    expect(notices).toHaveLength(1);
    expect(notices[0]?.text).not.toContain(number);
    pause();
    expect(await world.meetFactor(page, userid)).toMatchObject({ sent_to: `…${number.slice(-4)}` });
  });

  it('that moves the factor forgets the browsers in which its old number was remembered', async () => {
    await world.set({ rememberMfaSeconds: 3600 });
    const old = phone();
    await world.enrol(page, userid, { mfa_method: 'sms', phone_number: old });
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(old) }, 'use'), 'SUCCESS');
    const other = await world.page();
    pause();
    await world.register(other, userid);
    await world.meetFactor(other, userid);
    const remembering = { userid, otp: await world.codeFor(old), remember_me: true };
    expectStatus(await other.step('verify-mfa', remembering, 'use'), 'SUCCESS');
    await other.challenge();
    expectStatus(await other.step('authenticate', { userid }, 'use'), 'SUCCESS');
    pause();
    await page.challenge();
    const required = expectStatus(await page.step('authenticate', stepUp(), 'use'), 'MFA_REQUIRED');
    expectStatus(
      await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use'),
      'MFA_INITIATED',
    );
    expectStatus(await page.step('verify-mfa', { userid, otp: await world.codeFor(old) }, 'use'), 'SUCCESS');
    await changeTo(phone());
    await other.challenge();
    expectStatus(await other.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  });

  it('requires the factor even if remember_me would skip it', async () => {
    await world.set({ rememberMfaSeconds: 3600 });
    const { totp: setup } = await world.enrol(page, userid, { mfa_method: 'totp' });
    const fields = { userid, otp: world.totp(setup.secret), remember_me: true };
    expectStatus(await page.step('verify-mfa', fields, 'use'), 'SUCCESS');
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    await page.challenge();
    expectStatus(await page.step('authenticate', stepUp(), 'use'), 'MFA_REQUIRED');
  });

  it('is rejected without the step-up, before its end, or five minutes after it', async () => {
    await world.register(page, userid);
    const refused = refusal('TRANSACTION_EXPIRED', 410);
    expect(await change(phone())).toMatchObject(refused);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    expect(await change(phone())).toMatchObject(refused);
    pause();
    await page.challenge();
    expectStatus(await page.step('authenticate', stepUp(), 'use'), 'OTP_NEEDED');
    expect(await change(phone())).toMatchObject(refusal('OUT_OF_ORDER', 409));
    const otp = await world.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    expect(await change(phone())).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    expect(await verify('000000')).toMatchObject(refusal('OUT_OF_ORDER', 409));
    for (const step of ['authenticate', 'verify-device', 'initiate-mfa', 'verify-mfa']) {
      const again = { userid, otp, session_id: 'x'.repeat(43) };
      const answer = await page.step(step, again, step === 'verify-device' ? 'registration' : 'use');
      expect([step, answer]).toEqual([step, expect.objectContaining(refusal('OUT_OF_ORDER', 409))]);
    }
    pause(5 * 60);
    expect(await change(phone())).toMatchObject(refused);
    expect(await phoneOf()).toBeNull();
  });

  it.each(['change', 'verify'])('is rejected at %s once the user has a factor that it did not use', async (step) => {
    await world.register(page, userid);
    await stepUpByMail();
    const number = phone();
    expectStatus(await change(number), 'PHONE_CODE_SENT');
    const user = await world.findUser(userid);
    if (!user) throw new Error('there is no such user');
    const now = world.app.clock.now();
    const factor = { id: systemRandom.id(), project: user.project, user, method: 'totp' as const };
    await world.app.services.db.transaction(async (em) => {
      em.create(Enrolment, { ...factor, createdAt: now, verifiedAt: now });
    });
    const answer = step === 'change' ? await change(phone()) : await verify(await world.codeFor(number));
    expect(answer).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect(await phoneOf()).toBeNull();
  });

  it('accepts only the key that signed in', async () => {
    await world.register(page, userid);
    await stepUpByMail();
    const number = phone();
    const fields = { userid, phone_number: number };
    expect(await page.step('change-phone-number', fields)).toMatchObject(refusal('PROOF_REQUIRED', 401));
    const other = await world.page();
    const stolen = await page.step('change-phone-number', fields, { kind: 'use', key: other.key });
    expect(stolen).toMatchObject(refusal('PROOF_REJECTED', 401));
    await changeTo(number);
  });

  it('works on a device that is not remembered, whose trust ends afterwards', async () => {
    await page.challenge();
    expectStatus(await page.step('authenticate', { ...stepUp(), remember_device: false }), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    await changeTo(phone());
    pause();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('is rejected if the directory manages the number, and recorded in the audit log', async () => {
    const number = phone();
    const named = { userName: userid, userNameKey: userid, email: userid, emailKey: userid };
    await world.user({ ...named, phone: number, provenance: 'scim' });
    await world.register(page, userid);
    await stepUpByMail();
    const refused = await change(phone());
    expect(refused).toMatchObject(refusal('PHONE_LOCKED_BY_PROVISIONING', 403));
    expect(refused['error'].category).toBe('user_action');
    await change(phone());
    const refusals = (await world.events()).filter((type) => type === 'user.phone_change_refused');
    expect(refusals, 'one event for both').toHaveLength(1);
    await world.set({ scimAuthoritative: false });
    await changeTo(phone());
  });

  it('is rejected if the directory has taken over the user since', async () => {
    await world.register(page, userid);
    await stepUpByMail();
    const number = phone();
    expectStatus(await change(number), 'PHONE_CODE_SENT');
    const otp = await world.codeFor(number);
    const own = phone();
    const take = "update users set provenance = 'scim', phone = ? where email_key = ?";
    await world.app.services.db.transaction((em) => em.execute(take, [own, userid]));
    expect(await verify(otp)).toMatchObject(refusal('PHONE_LOCKED_BY_PROVISIONING', 403));
    expect(await phoneOf()).toBe(own);
  });

  it('reveals that a number is taken only to its holder', async () => {
    const number = phone();
    await world.user({ phone: number });
    await world.register(page, userid);
    await stepUpByMail();
    expectStatus(await change(number), 'PHONE_CODE_SENT');
    expect(await verify('000000')).toMatchObject(refusal('CODE_REJECTED', 400));
    expect(await verify(await world.codeFor(number))).toMatchObject(refusal('PHONE_TAKEN', 409));
    expect(await phoneOf()).toBeNull();
    pause();
    await changeTo(phone());
  });

  it('gives the number to one of two users who verify it in parallel', async () => {
    const number = phone();
    const people = await Promise.all(
      [newAddress(), newAddress()].map(async (address) => ({ address, on: await world.page() })),
    );
    const codes: string[] = [];
    for (const { address, on } of people) {
      userid = address;
      await world.register(on, userid);
      await stepUpByMail(on);
      const fields = { userid, phone_number: number };
      expectStatus(await on.step('change-phone-number', fields, 'use'), 'PHONE_CODE_SENT');
      codes.push(await world.codeFor(number));
    }
    const answers = await Promise.all(
      people.map(({ address, on }, index) =>
        on.step('verify-phone-number', { userid: address, otp: codes[index] }, 'use'),
      ),
    );
    const outcomes = answers.map((answer) => answer['error']?.code ?? answer.status).sort();
    expect(outcomes).toEqual(['PHONE_CHANGED', 'PHONE_TAKEN']);
  });

  it('sends one code per 30 seconds; only the newest is valid, for five attempts', async () => {
    await world.register(page, userid);
    await stepUpByMail();
    const [first, second] = [phone(), phone()];
    expectStatus(await change(first), 'PHONE_CODE_SENT');
    expect(await change(second)).toMatchObject(refusal('RATE_LIMITED', 429));
    const old = await world.codeFor(first);
    pause();
    expectStatus(await change(second), 'PHONE_CODE_SENT');
    const otp = await world.codeFor(second);
    if (old !== otp) expect(await verify(old)).toMatchObject(refusal('CODE_REJECTED', 400));
    for (let n = 1; n <= 4; n++) expect((await verify(otherCode(otp, n))).status).toBe('ERROR');
    expect(await verify(otp)).toMatchObject(refusal('CODE_REJECTED', 400));
    expect(await phoneOf()).toBeNull();
  });

  it('sends no code to a number that was replaced before the message was sent', async () => {
    await world.register(page, userid);
    await stepUpByMail();
    await world.app.runJobs();
    const [givenUp, wanted] = [phone(), phone()];
    expectStatus(await change(givenUp), 'PHONE_CODE_SENT');
    pause();
    expectStatus(await change(wanted), 'PHONE_CODE_SENT');
    const before = world.app.mailbox.length;
    await world.app.runJobs();
    expect(world.app.mailbox.slice(before).map(({ to }) => to)).toEqual([wanted]);
  });

  it.each(['12345', 'call me', '', '0170 1234567'])('rejects %j', async (number) => {
    await world.register(page, userid);
    await stepUpByMail();
    expect(await change(number)).toMatchObject(refusal('PHONE_INVALID', 400));
  });

  it('is rejected for a user who has been deactivated', async () => {
    await world.register(page, userid);
    await stepUpByMail();
    const number = phone();
    expectStatus(await change(number), 'PHONE_CODE_SENT');
    const otp = await world.codeFor(number);
    const user = await world.findUser(userid);
    await world.app.services.db.transaction((em) =>
      em.execute('update users set active = false where id = ?', [user?.id]),
    );
    expect((await verify(otp)).status).toBe('ERROR');
    expect(await phoneOf()).toBeNull();
  });

  it('is the only step-up', async () => {
    await page.challenge();
    const answer = await page.step('authenticate', { userid, step_up: 'change_email' });
    expect(answer).toMatchObject(refusal('INVALID_REQUEST', 400));
  });
});

describe('challenges', () => {
  it('are limited to a thousand per minute and network (IPv6: /64), without blocking others', async () => {
    const ask = (ip: string) => page.post('challenge', { jkt: page.key.jkt }, { 'X-Forwarded-For': ip });
    await ask('2001:db8:0:1::1');
    const sql = "update budgets set spent = 1000 where id like 'challenge-network:%'";
    await world.app.services.db.transaction((em) => em.execute(sql));
    const refused = await ask('2001:db8:0:1::2');
    expect(refused).toMatchObject(refusal('RATE_LIMITED', 429));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask('2001:db8:0:2::1'))['txn']).toBeTruthy();
    pause(61);
    expect((await ask('2001:db8:0:1::2'))['txn']).toBeTruthy();
  });
});
