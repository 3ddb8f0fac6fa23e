import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SigninPage } from '../../test/signin-browser.ts';
import { claimsOf, expectStatus, newAddress, otherCode, refusal, SigninWorld } from '../../test/signin-world.ts';
import { Device } from '../domain/credentials/device.entity.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

describe('a first sign-in (mfaPolicy OFF)', () => {
  it('verifies the address, registers the device key and issues an authorization code', async () => {
    const challenged = await page.challenge();
    expect(challenged).toMatchObject({ httpStatus: 200, expires_in: 600, issuer: world.app.url });
    expect(challenged).toMatchObject({ project_id: world.project.id, client_id: world.client.id });
    const asked = await page.step('authenticate', { userid });
    expect(asked).toMatchObject({ status: 'OTP_NEEDED', httpStatus: 200, resend_after: 30 });
    expect(asked['sent_to']).toBe(`${userid[0]}…@example.com`);
    expect(asked['code']).toBeUndefined();
    const otp = await world.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    const done = await page.step('verify-device', { userid }, 'registration');
    expect(done).toMatchObject({ status: 'SUCCESS', code: expect.stringMatching(/^[\w-]{43}$/) });
    const { status, body } = await world.exchange(done['code']);
    expect(status).toBe(200);
    expect(claimsOf(body['id_token'])).toMatchObject({ email: userid, amr: ['swk', 'otp'], aud: world.client.id });
    expect(claimsOf(body['id_token'])).not.toHaveProperty('sid');
    expect(await world.events()).toEqual(
      expect.arrayContaining(['otp.sent', 'user.created', 'device.registered', 'user.signed_in']),
    );
  });

  it('is followed by a sign-in without a code', async () => {
    await world.register(page, userid);
    await page.challenge();
    const done = await page.step('authenticate', { userid: ` ${userid.toUpperCase()} ` }, 'use');
    expect(done).toMatchObject({ status: 'SUCCESS', code: expect.any(String) });
    const { body } = await world.exchange(done['code']);
    expect(claimsOf(body['id_token'])).toMatchObject({ amr: ['swk'], email: userid });
  });

  it('binds its code to the page’s code_challenge, if sent', async () => {
    const verifier = 'a-verifier-of-at-least-forty-three-characters';
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    await page.challenge({ jkt: page.key.jkt, code_challenge, code_challenge_method: 'S256' });
    await page.step('authenticate', { userid });
    await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) });
    const done = await page.step('verify-device', { userid }, 'registration');
    expect((await world.exchange(done['code'])).body).toMatchObject({ error: 'invalid_grant' });
    expect(await world.exchange(done['code'], { form: { code_verifier: verifier } })).toMatchObject({ status: 200 });
  });

  it('issues a code that only the back end can redeem', async () => {
    const done = await world.register(page, userid);
    expect((await world.exchange(done['code'], { headers: {} })).status).toBe(400);
    expect((await world.exchange(done['code'])).status).toBe(200);
  });

  it('verifies exactly the address on record, not one that is equal after case folding', async () => {
    // U+212A (Kelvin sign) folds to k, but may belong to another mailbox.
    const typed = userid.replace(/^/, '\u212a');
    const onRecord = `k${userid}`;
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: typed }), 'OTP_NEEDED');
    await expect(world.codeFor(typed)).rejects.toThrow('no code');
    const otp = await world.codeFor(onRecord);
    expectStatus(await page.step('verify-email-otp', { userid: typed, otp }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid: typed }, 'registration'), 'SUCCESS');
    expect((await world.findUser(onRecord))?.email).toBe(onRecord);
  });

  it('sends mail in the language of the browser', async () => {
    await page.challenge();
    await page.post('authenticate', { txn: page.txn, userid }, { 'Accept-Language': 'fr-CH, de;q=0.5' });
    expect(await world.subjectsFor(userid)).toEqual([expect.stringContaining('code de connexion')]);
  });
});

describe('a trusted device', () => {
  beforeEach(async () => {
    await world.register(page, userid);
    world.app.clock.turn(60);
  });
  const authenticate = async (proof: 'use' | null = 'use') => {
    await page.challenge();
    return page.step('authenticate', { userid }, proof ?? undefined);
  };

  it('stays trusted for the configured period after its last use', async () => {
    for (let day = 0; day < 3; day++) {
      world.app.clock.turn(29 * 24 * 3600);
      expectStatus(await authenticate(), 'SUCCESS');
    }
    world.app.clock.turn(30 * 24 * 3600);
    expectStatus(await authenticate(), 'OTP_NEEDED');
  });

  it('is treated as unknown without a proof, and once it is revoked', async () => {
    expectStatus(await authenticate(null), 'OTP_NEEDED');
    world.app.clock.turn(60);
    const { db, devices } = world.app.services;
    await db.transaction(async (em) => {
      const device = await em.findOneOrFail(Device, { jkt: page.key.jkt });
      await devices.revoke(em, { projectId: world.project.id, userId: device.user.id }, device.id, system);
    });
    expectStatus(await authenticate(), 'OTP_NEEDED');
  });

  it('of one user does not sign in another', async () => {
    const other = newAddress();
    await world.register(await world.page(), other);
    world.app.clock.turn(60);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: other }, 'use'), 'OTP_NEEDED');
  });

  it('of one client is not trusted by another client of the project', async () => {
    const second = await world.app.make.client(world.project);
    const elsewhere = await world.page(page.key, { apiKey: second.publishableKey });
    await elsewhere.challenge();
    expectStatus(await elsewhere.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('that is not remembered is valid only in the sign-in that registered it', async () => {
    const guest = await world.page();
    world.app.clock.turn(60);
    await world.verifyAddress(guest, userid, { remember_device: false });
    expectStatus(await guest.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    world.app.clock.turn(60);
    await guest.challenge();
    expectStatus(await guest.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('of a deactivated user gets the same response as an unknown one', async () => {
    const user = await world.findUser(userid);
    await world.app.services.db.transaction(async (em) => {
      await em.execute('update users set active = false where id = ?', [user?.id]);
    });
    expectStatus(await authenticate(), 'OTP_NEEDED');
  });

  it('causes a notice by mail, except at sign-up', async () => {
    expect((await world.subjectsFor(userid)).filter((subject) => subject.includes('New device'))).toEqual([]);
    world.app.clock.turn(60);
    await world.register(await world.page(), userid);
    expect((await world.subjectsFor(userid)).filter((subject) => subject.includes('New device'))).toHaveLength(1);
  });
});

describe('the code from the mail', () => {
  beforeEach(async () => {
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
  });
  const verify = (otp: string, on = page) => on.step('verify-email-otp', { userid, otp });

  it('is rejected with the same error if it is wrong, expired, used or replaced', async () => {
    const first = await world.codeFor(userid);
    const answers = [await verify(otherCode(first))];
    world.app.clock.turn(31);
    await page.step('authenticate', { userid });
    await world.codeFor(userid);
    answers.push(await verify(first));
    const second = await world.page();
    await second.challenge();
    await second.step('authenticate', { userid });
    const newest = await world.codeFor(userid);
    for (let n = 1; n <= 5; n++) answers.push(await verify(otherCode(newest, n), second));
    answers.push(await verify(newest, second));
    world.app.clock.turn(31);
    const third = await world.page();
    await third.challenge();
    await third.step('authenticate', { userid });
    const late = await world.codeFor(userid);
    world.app.clock.turn(300);
    answers.push(await verify(late, third));
    for (const answer of answers) expect(answer).toMatchObject(refusal('CODE_REJECTED', 400));
    const words = answers.map(({ error: { request_id: _, ...rest } }) => JSON.stringify(rest));
    expect(new Set(words).size).toBe(1);
  });

  it('is valid in its own transaction only', async () => {
    const otp = await world.codeFor(userid);
    const other = await world.page();
    await other.challenge();
    const elsewhere = newAddress();
    await other.step('authenticate', { userid: elsewhere });
    expect(await other.step('verify-email-otp', { userid: elsewhere, otp })).toMatchObject(
      refusal('CODE_REJECTED', 400),
    );
    expect(await other.step('verify-email-otp', { userid, otp })).toMatchObject(refusal('INVALID_REQUEST', 400));
    expectStatus(await verify(otp), 'SUCCESS');
  });

  it('is accepted once for a hundred parallel requests', async () => {
    const otp = await world.codeFor(userid);
    const answers = await Promise.all(Array.from({ length: 100 }, () => verify(otp)));
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    expect(answers.every(({ httpStatus }) => httpStatus < 500)).toBe(true);
  });

  it('of a user who has been deactivated is rejected like a wrong one', async () => {
    await verify(await world.codeFor(userid));
    const user = await world.findUser(userid);
    world.app.clock.turn(31);
    await page.challenge();
    await page.step('authenticate', { userid });
    const otp = await world.codeFor(userid);
    await world.app.services.db.transaction((em) =>
      em.execute('update users set active = false where id = ?', [user?.id]),
    );
    expect(await verify(otp)).toMatchObject(refusal('CODE_REJECTED', 400));
  });
});

describe('test mode', () => {
  it('returns the code in the response only', async () => {
    await world.set({ testMode: true });
    await page.challenge();
    const { code } = await page.step('authenticate', { userid });
    expect(code).toMatch(/^\d{6}$/);
    expectStatus(await page.step('verify-email-otp', { userid, otp: code }), 'SUCCESS');
  });

  it('does not enable a sign-in that would otherwise be refused', async () => {
    await world.set({ testMode: true, signUp: 'provisioned_only' });
    await page.challenge();
    const { code } = await page.step('authenticate', { userid });
    expect(await page.step('verify-email-otp', { userid, otp: code })).toMatchObject(refusal('CODE_REJECTED', 400));
  });
});

describe('in parallel', () => {
  it('two windows of one browser can register its key', async () => {
    const second = await world.page(page.key);
    await world.verifyAddress(page, userid);
    world.app.clock.turn(60);
    await world.verifyAddress(second, userid);
    const done = await Promise.all([page, second].map((on) => on.step('verify-device', { userid }, 'registration')));
    expect(done.map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS']);
    expect(await world.app.services.db.reader().count(Device, { jkt: page.key.jkt })).toBe(1);
  });

  it('a directory can provision the user who is signing up, without a duplicate', async () => {
    await page.challenge();
    await page.step('authenticate', { userid });
    const otp = await world.codeFor(userid);
    const values = {
      userName: userid,
      externalId: null,
      displayName: null,
      givenName: null,
      familyName: null,
      active: true,
      attributes: { emails: [{ value: userid, primary: true }] },
    };
    const [verified] = await Promise.all([
      page.step('verify-email-otp', { userid, otp }),
      world.app.services.admissions.provision(world.project.id, values, system).catch(() => undefined),
    ]);
    // The code was created for an address without an account, so it does not sign in the directory's user.
    if (verified.status !== 'SUCCESS') {
      expect(verified).toMatchObject(refusal('CODE_REJECTED', 400));
      world.app.clock.turn(31);
      await world.verifyAddress(page, userid);
    }
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  });

  it('a directory can deactivate the user who is signing in: no code is valid afterwards', async () => {
    for (let round = 0; round < 10; round++) {
      const person = newAddress();
      const on = await world.page();
      await world.verifyAddress(on, person);
      const user = await world.findUser(person);
      const [done] = await Promise.all([
        on.step('verify-device', { userid: person }, 'registration'),
        world.app.services.accounts.setActive(world.project.id, user?.id ?? '', false, system),
      ]);
      expect(done.httpStatus).toBeLessThan(500);
      if (done.status === 'SUCCESS') expect((await world.exchange(done['code'])).status).toBe(400);
      world.app.clock.turn(600);
    }
  });
});
