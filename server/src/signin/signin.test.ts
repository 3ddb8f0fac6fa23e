import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeviceKey, newDeviceKey, type Proofed, type SigninPage } from '../../test/signin-browser.ts';
import { appOrigin, claimsOf, expectStatus, newAddress, otherCode, SigninWorld } from '../../test/signin-world.ts';
import { Device } from '../domain/devices/device.entity.ts';
import { system } from '../domain/kernel/actor.ts';

let world: SigninWorld;
let page: SigninPage;
let userid: string;

beforeAll(async () => {
  world = await SigninWorld.open();
});
afterAll(() => world.app.close());
beforeEach(async () => {
  await world.begin();
  page = await world.page();
  userid = newAddress();
});

const error = (code: string, httpStatus: number) => ({
  status: 'ERROR',
  httpStatus,
  error: expect.objectContaining({ code }),
});

describe('a first sign-in (mfaPolicy OFF)', () => {
  it('goes from the address over its code and the device key to a code for the back end', async () => {
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

  it('is followed by one that asks for nothing', async () => {
    await world.register(page, userid);
    await page.challenge();
    const done = await page.step('authenticate', { userid: ` ${userid.toUpperCase()} ` }, 'use');
    expect(done).toMatchObject({ status: 'SUCCESS', code: expect.any(String) });
    const { body } = await world.exchange(done['code']);
    expect(claimsOf(body['id_token'])).toMatchObject({ amr: ['swk'], email: userid });
  });

  it('binds its code to the challenge of the page, where it sent one', async () => {
    const verifier = 'a-verifier-of-at-least-forty-three-characters';
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    await page.challenge({ jkt: page.key.jkt, code_challenge, code_challenge_method: 'S256' });
    await page.step('authenticate', { userid });
    await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) });
    const done = await page.step('verify-device', { userid }, 'registration');
    expect((await world.exchange(done['code'])).body).toMatchObject({ error: 'invalid_grant' });
    expect(await world.exchange(done['code'], { form: { code_verifier: verifier } })).toMatchObject({ status: 200 });
  });

  it('gives a code that only the back end can redeem', async () => {
    const done = await world.register(page, userid);
    expect((await world.exchange(done['code'], { headers: {} })).status).toBe(400);
    expect((await world.exchange(done['code'])).status).toBe(200);
  });

  it('writes in the language of the browser', async () => {
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

  it('stays trusted for the period since its last use, and no longer', async () => {
    for (let day = 0; day < 3; day++) {
      world.app.clock.turn(29 * 24 * 3600);
      expectStatus(await authenticate(), 'SUCCESS');
    }
    world.app.clock.turn(30 * 24 * 3600);
    expectStatus(await authenticate(), 'OTP_NEEDED');
  });

  it('is as good as unknown without its proof, and once it is revoked', async () => {
    expectStatus(await authenticate(null), 'OTP_NEEDED');
    world.app.clock.turn(60);
    const { db, devices } = world.app.services;
    await db.transaction(async (em) => {
      const device = await em.findOneOrFail(Device, { jkt: page.key.jkt });
      await devices.revoke(em, { projectId: world.project.id, userId: device.user.id }, device.id, system);
    });
    expectStatus(await authenticate(), 'OTP_NEEDED');
  });

  it('of one user opens nothing of another', async () => {
    const other = newAddress();
    await world.register(await world.page(), other);
    world.app.clock.turn(60);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: other }, 'use'), 'OTP_NEEDED');
  });

  it('of one client opens nothing of another client of the project', async () => {
    const second = await world.app.make.client(world.project);
    const elsewhere = await world.page(page.key, { apiKey: second.publishableKey });
    await elsewhere.challenge();
    expectStatus(await elsewhere.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('that was not to be remembered serves the sign-in that registered it, and no other', async () => {
    const guest = await world.page();
    world.app.clock.turn(60);
    await world.verifyAddress(guest, userid, { remember_device: false });
    expectStatus(await guest.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    world.app.clock.turn(60);
    await guest.challenge();
    expectStatus(await guest.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('of a user who was deactivated gets what every stranger gets', async () => {
    const user = await world.findUser(userid);
    await world.app.services.db.transaction(async (em) => {
      await em.execute('update users set active = false where id = ?', [user?.id]);
    });
    expectStatus(await authenticate(), 'OTP_NEEDED');
  });

  it('is announced to its user by mail, unless they have just signed up', async () => {
    expect((await world.subjectsFor(userid)).filter((subject) => subject.includes('New device'))).toEqual([]);
    world.app.clock.turn(60);
    await world.register(await world.page(), userid);
    expect((await world.subjectsFor(userid)).filter((subject) => subject.includes('New device'))).toHaveLength(1);
  });
});

describe('an altered proof', () => {
  let stranger: DeviceKey;
  beforeEach(async () => {
    await world.register(page, userid);
    await page.challenge();
    stranger = await newDeviceKey();
  });

  it.each<[string, string, () => Partial<Proofed>]>([
    ['another step', 'PROOF_REJECTED', () => ({ claims: { act: 'verify-mfa' } })],
    ['another project', 'PROOF_REJECTED', () => ({ claims: { aud: `${world.app.url}/${world.client.id}` } })],
    ['another client', 'PROOF_REJECTED', () => ({ claims: { cid: world.project.id } })],
    ['another origin', 'PROOF_REJECTED', () => ({ claims: { org: 'https://evil.example' } })],
    ['another transaction', 'PROOF_REJECTED', () => ({ claims: { txn: 'x'.repeat(43) } })],
    ['a code_challenge that was not sent', 'PROOF_REJECTED', () => ({ claims: { cc: 'x'.repeat(43) } })],
    ['another body', 'PROOF_REJECTED', () => ({ claims: { bh: 'x'.repeat(43) } })],
    ['another nonce', 'NONCE_REJECTED', () => ({ claims: { nonce: 'x'.repeat(43) } })],
    ['a clock that is six minutes wrong', 'PROOF_REJECTED', () => ({ claims: { iat: page.now() + 360 } })],
    ['another type', 'PROOF_REJECTED', () => ({ header: { typ: 'dpop+jwt' } })],
    ['another algorithm', 'PROOF_REJECTED', () => ({ header: { alg: 'none' } })],
    ["a stranger's key under this kid", 'PROOF_REJECTED', () => ({ key: stranger, header: { kid: page.key.jkt } })],
    ["a stranger's key", 'PROOF_REJECTED', () => ({ key: stranger })],
  ])('with %s is %s, and the sign-in goes on with the next nonce', async (_, code, over) => {
    const refused = await page.step('authenticate', { userid }, { kind: 'use', ...over() });
    expect(refused).toMatchObject(error(code, 401));
    expect(refused['nonce']).toMatch(/^[\w-]{43}$/);
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('sent twice is refused the second time', async () => {
    const body = JSON.stringify({ txn: page.txn, userid: 'not an address' });
    const proof = page.prove('authenticate', body, { kind: 'use' });
    expectStatus(await page.post('authenticate', body, { 'Device-Proof': proof }), 'INVALID_EMAIL');
    expect(await page.post('authenticate', body, { 'Device-Proof': proof })).toMatchObject(
      error('NONCE_REJECTED', 401),
    );
  });

  it('with a nonce of more than two minutes is NONCE_REJECTED, and good with the next', async () => {
    world.app.clock.turn(121);
    expect(await page.step('authenticate', { userid }, 'use')).toMatchObject(error('NONCE_REJECTED', 401));
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('bears a clock that is five minutes wrong', async () => {
    const skewed = { kind: 'use' as const, claims: { iat: page.now() - 300 } };
    expectStatus(await page.step('authenticate', { userid }, skewed), 'SUCCESS');
  });
});

describe('a registration', () => {
  it('before the code is verified is refused', async () => {
    await page.challenge();
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject(error('OUT_OF_ORDER', 409));
    await page.step('authenticate', { userid });
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject(error('OUT_OF_ORDER', 409));
  });

  it('needs a proof that shows the key of the transaction', async () => {
    await world.verifyAddress(page, userid);
    expect(await page.step('verify-device', { userid })).toMatchObject(error('PROOF_REQUIRED', 401));
    expect(await page.step('verify-device', { userid }, 'use')).toMatchObject(error('PROOF_REJECTED', 401));
    const other = { kind: 'registration', key: await newDeviceKey() } as const;
    expect(await page.step('verify-device', { userid }, other)).toMatchObject(error('PROOF_REJECTED', 401));
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  });

  it('is impossible in a transaction that was begun without a key', async () => {
    await page.challenge({});
    await page.step('authenticate', { userid });
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject(error('PROOF_REJECTED', 401));
  });

  it('is for the address that was verified', async () => {
    await world.verifyAddress(page, userid);
    const refused = await page.step('verify-device', { userid: newAddress() }, 'registration');
    expect(refused).toMatchObject(error('INVALID_REQUEST', 400));
  });

  it('of a key that was revoked is a new one, and is announced', async () => {
    await world.register(page, userid);
    const { db, devices } = world.app.services;
    await db.transaction(async (em) => {
      const device = await em.findOneOrFail(Device, { jkt: page.key.jkt });
      await devices.revoke(em, { projectId: world.project.id, userId: device.user.id }, device.id, system);
    });
    world.app.clock.turn(60);
    await world.register(page, userid);
    expect((await world.subjectsFor(userid)).filter((subject) => subject.includes('New device'))).toHaveLength(1);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });
});

describe('steps', () => {
  it('in any wrong order are refused, and move nothing', async () => {
    await page.challenge();
    const wrong: [string, Record<string, unknown>][] = [
      ['verify-email-otp', { otp: '123456' }],
      ['verify-device', {}],
      ['initiate-mfa', { session_id: 'x' }],
      ['verify-mfa', { otp: '123456' }],
    ];
    for (const [step, fields] of wrong) {
      expect(await page.step(step, { userid, ...fields })).toMatchObject(error('OUT_OF_ORDER', 409));
    }
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
  });

  it('of an unknown, ended or expired transaction are TRANSACTION_EXPIRED, without a nonce', async () => {
    await page.challenge();
    page.txn = 'x'.repeat(43);
    const unknown = await page.step('authenticate', { userid });
    expect(unknown).toMatchObject(error('TRANSACTION_EXPIRED', 410));
    expect(unknown['nonce']).toBeUndefined();
    await world.register(page, userid);
    expect(await page.step('authenticate', { userid }, 'use')).toMatchObject(error('TRANSACTION_EXPIRED', 410));
    await page.challenge();
    world.app.clock.turn(600);
    expect(await page.step('authenticate', { userid })).toMatchObject(error('TRANSACTION_EXPIRED', 410));
  });

  it('of a transaction of another client, project or origin are TRANSACTION_EXPIRED', async () => {
    await page.challenge();
    const { publishableKey } = await world.app.make.client(world.project);
    const { publishableKey: foreign } = await world.app.make.client(await world.app.make.project({ name: 'Other' }));
    const two = await world.app.make.client(world.project, {
      redirectUris: ['https://app.example.com/a', 'https://other.example.com/b'],
    });
    for (const apiKey of [publishableKey, foreign]) {
      const other = await world.page(page.key, { apiKey });
      other.txn = page.txn;
      expect(await other.step('authenticate', { userid })).toMatchObject(error('TRANSACTION_EXPIRED', 410));
    }
    const first = await world.page(page.key, { apiKey: two.publishableKey });
    await first.challenge();
    const second = await world.page(page.key, { apiKey: two.publishableKey, origin: 'https://other.example.com' });
    second.txn = first.txn;
    expect(await second.step('authenticate', { userid })).toMatchObject(error('TRANSACTION_EXPIRED', 410));
  });

  it('of a disabled client, or with a key that was revoked, are INVALID_API_KEY', async () => {
    await page.challenge();
    await world.app.make.disable(world.client);
    expect(await page.step('authenticate', { userid })).toMatchObject(error('INVALID_API_KEY', 401));
  });
});

describe('the code from the mail', () => {
  beforeEach(async () => {
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
  });
  const verify = (otp: string, on = page) => on.step('verify-email-otp', { userid, otp });

  it('is refused in the same words when it is wrong, expired, spent or replaced', async () => {
    const first = await world.codeFor(userid);
    const answers = [await verify(otherCode(first))];
    const second = await world.page();
    world.app.clock.turn(31);
    await second.challenge();
    await second.step('authenticate', { userid });
    const newest = await world.codeFor(userid);
    answers.push(await verify(first));
    for (let n = 1; n <= 5; n++) answers.push(await verify(otherCode(newest, n), second));
    answers.push(await verify(newest, second));
    world.app.clock.turn(31);
    const third = await world.page();
    await third.challenge();
    await third.step('authenticate', { userid });
    const late = await world.codeFor(userid);
    world.app.clock.turn(300);
    answers.push(await verify(late, third));
    for (const answer of answers) expect(answer).toMatchObject(error('CODE_REJECTED', 400));
    const words = answers.map(({ error: { request_id: _, ...rest } }) => JSON.stringify(rest));
    expect(new Set(words).size).toBe(1);
  });

  it('is good in its own transaction only', async () => {
    const otp = await world.codeFor(userid);
    const other = await world.page();
    await other.challenge();
    const elsewhere = newAddress();
    await other.step('authenticate', { userid: elsewhere });
    expect(await other.step('verify-email-otp', { userid: elsewhere, otp })).toMatchObject(error('CODE_REJECTED', 400));
    expect(await other.step('verify-email-otp', { userid, otp })).toMatchObject(error('INVALID_REQUEST', 400));
    expectStatus(await verify(otp), 'SUCCESS');
  });

  it('sent a hundred times at once is accepted once', async () => {
    const otp = await world.codeFor(userid);
    const answers = await Promise.all(Array.from({ length: 100 }, () => verify(otp)));
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    expect(answers.every(({ httpStatus }) => httpStatus < 500)).toBe(true);
  });

  it('of a user who was deactivated meanwhile is refused like a wrong one', async () => {
    await verify(await world.codeFor(userid));
    const user = await world.findUser(userid);
    world.app.clock.turn(31);
    await page.challenge();
    await page.step('authenticate', { userid });
    const otp = await world.codeFor(userid);
    await world.app.services.db.transaction((em) =>
      em.execute('update users set active = false where id = ?', [user?.id]),
    );
    expect(await verify(otp)).toMatchObject(error('CODE_REJECTED', 400));
  });
});

describe('the request', () => {
  it.each<[string, unknown, number]>([
    ['no JSON', '{', 400],
    ['a member twice', '{"txn":"a","txn":"b","userid":"c"}', 400],
    ['an array', '[]', 400],
    ['null', 'null', 400],
    ['nothing', '', 400],
    ['a number for the address', '{"txn":"a","userid":1}', 400],
    ['a huge address', JSON.stringify({ txn: 'a', userid: 'x'.repeat(321) }), 400],
    ['more than 64 KB', JSON.stringify({ txn: 'a', userid: 'b', pad: 'x'.repeat(65_536) }), 413],
    ['great depth', `{"txn":"a","userid":"b","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 410],
  ])('with %s is answered %#', async (_, body, status) => {
    const answer = await page.post('authenticate', body);
    expect(answer.httpStatus).toBe(status);
    expect(answer.status).toBe('ERROR');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('in another content type is 415, and empty to every step is refused', async () => {
    for (const step of [
      'challenge',
      'authenticate',
      'verify-email-otp',
      'verify-device',
      'initiate-mfa',
      'verify-mfa',
    ]) {
      const answer = await page.post(step, '{}', { 'Content-Type': 'text/plain' });
      expect(answer).toMatchObject(error('INVALID_REQUEST', 415));
      if (step !== 'challenge') expect(await page.post(step, '{}')).toMatchObject(error('INVALID_REQUEST', 400));
    }
  });

  it('with NUL or a lone surrogate in any field is a 4xx', async () => {
    await page.challenge();
    for (const bad of ['\\u0000', '\\ud800']) {
      for (const step of ['authenticate', 'verify-email-otp', 'verify-device', 'verify-mfa']) {
        const body = `{"txn":"${page.txn}","userid":"${bad}@example.com","otp":"${bad}","phone_number":"${bad}"}`;
        const answer = await page.post(step, body);
        expect(answer.httpStatus === 200 ? answer.status : answer.httpStatus).toSatisfy(
          (seen: unknown) => seen === 'INVALID_EMAIL' || (typeof seen === 'number' && seen < 500),
        );
      }
      expect((await page.post('challenge', `{"jkt":"${bad}"}`)).httpStatus).toBe(400);
    }
    expect((await page.post('authenticate', `{"txn":"\\u0000","userid":"a@example.com"}`)).httpStatus).toBe(410);
  });

  it('needs a publishable key, from an origin of the client', async () => {
    const bad = [{ apiKey: undefined }, { apiKey: '' }, { apiKey: 'lk_pk_unknown' }, { apiKey: world.secretKey }] as {
      apiKey: string;
    }[];
    for (const over of bad) {
      const answer = await (await world.page(undefined, over)).challenge();
      expect(answer).toMatchObject(error('INVALID_API_KEY', 401));
    }
    for (const origin of [
      'https://evil.example',
      'https://app.example.com.evil.tld',
      'http://app.example.com',
      'null',
    ]) {
      const answer = await (await world.page(undefined, { origin })).challenge();
      expect(answer).toMatchObject(error('ORIGIN_NOT_ALLOWED', 403));
    }
  });

  it('is allowed across origins for pages of the client alone', async () => {
    const url = `${world.app.url}/v1/signin/authenticate`;
    const preflight = (origin: string) =>
      fetch(url, {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'x-api-key,device-proof',
        },
      });
    const allowed = await preflight(appOrigin);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(appOrigin);
    expect(allowed.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('device-proof');
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
    const { headers } = await page.challenge();
    expect(headers.get('access-control-allow-origin')).toBe(appOrigin);
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('with a badly formed address is INVALID_EMAIL, whatever it is', async () => {
    for (const userid of ['', ' ', 'ann', 'ann@', '@example.com', 'ann@@example.com', 'a b@example.com', '<a@b.c>']) {
      await page.challenge();
      expect(await page.step('authenticate', { userid })).toMatchObject({ status: 'INVALID_EMAIL', httpStatus: 200 });
    }
  });
});

describe('test mode', () => {
  it('puts the code into the answer, and only there', async () => {
    await world.set({ testMode: true });
    await page.challenge();
    const { code } = await page.step('authenticate', { userid });
    expect(code).toMatch(/^\d{6}$/);
    expectStatus(await page.step('verify-email-otp', { userid, otp: code }), 'SUCCESS');
  });

  it('lets nobody in who could not sign in otherwise', async () => {
    await world.set({ testMode: true, signUp: 'provisioned_only' });
    await page.challenge();
    const { code } = await page.step('authenticate', { userid });
    expect(await page.step('verify-email-otp', { userid, otp: code })).toMatchObject(error('CODE_REJECTED', 400));
  });
});
