import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  code,
  failure,
  firstSignIn,
  nowMilliseconds,
  ok,
  origin,
  otpAccepted,
  otpNeeded,
  soon,
  startPages,
  userid,
} from '../test/pages.ts';
import { application, challengeBody, refusal } from '../test/service.ts';

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const stop of stops.splice(0)) await stop();
});

async function setUp(...given: Parameters<typeof startPages>) {
  const pages = await startPages(...given);
  stops.push(pages.service.stop);
  return pages;
}

describe('first sign-in', () => {
  it('leads from address to code, with camelCase results', async () => {
    const { signin } = await setUp(firstSignIn);
    expect(await signin.authenticate(userid)).toEqual({
      status: 'OTP_NEEDED',
      message: 'm',
      deviceToken: 'dt',
      sentTo: 'A…@Example.com',
      resendAfter: 30,
    });
    expect(await signin.verifyEmailOtp({ userid, otp: '123 456' })).toEqual({ status: 'SUCCESS', message: 'm' });
    expect(await signin.verifyDevice({ userid })).toEqual({
      status: 'SUCCESS',
      message: 'm',
      success: true,
      code: 'authorization-code',
    });
  });

  it('creates the key before a code is requested, and binds the challenge to it', async () => {
    const { service, signin, store } = await setUp(firstSignIn);
    await signin.authenticate(userid);
    const [key] = store.keys();
    expect(key).toMatchObject({ issuer: application.issuer, clientId: 'client-1', userid: 'ada@example.com' });
    expect(key?.privateKey.extractable).toBe(false);
    expect(service.of('challenge').at(-1)?.body['jkt']).toBe(key?.kid);
    expect(service.of('authenticate')[0]?.proof).toBeUndefined();
  });

  it('signs proofs with the time of the service if the device clock is wrong', async () => {
    const body = { ...challengeBody, time: nowMilliseconds / 1000 + 86_400 };
    const { service, signin } = await setUp({ ...firstSignIn, challenge: [{ body }] });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    expect(service.of('verify-device')[0]?.proof?.payload['iat']).toBe(body.time);
  });

  it('as a step-up continues after its code with the same key, until the number is changed', async () => {
    const sent = ok('nonce-3', { status: 'PHONE_CODE_SENT', sent_to: '…0143', resend_after: 30 });
    const { service, signin, store } = await setUp({
      ...firstSignIn,
      'change-phone-number': [sent],
      'verify-phone-number': [ok('nonce-4', { status: 'PHONE_CHANGED' })],
    });
    await signin.authenticate(userid, { stepUp: 'change_phone_number', rememberDevice: false });
    expect(service.of('authenticate')[0]?.body).toMatchObject({ step_up: 'change_phone_number' });
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    expect(await signin.verifyDevice({ userid })).toMatchObject({ status: 'SUCCESS', code: 'authorization-code' });
    const change = { userid, phoneNumber: '+1 202 555 0143' };
    expect(await signin.changePhoneNumber(change)).toMatchObject({ status: 'PHONE_CODE_SENT', sentTo: '…0143' });
    expect(await signin.verifyPhoneNumber({ userid, otp: '123 456' })).toMatchObject({ status: 'PHONE_CHANGED' });
    expect(service.of('verify-phone-number')[0]?.body).toMatchObject({ txn: 'txn-1', otp: '123456' });
    for (const step of ['change-phone-number', 'verify-phone-number']) {
      expect(service.of(step)[0]?.proof?.payload).toMatchObject({ act: step, txn: 'txn-1' });
    }
    expect(store.keys()).toEqual([]);
    expect((await failure(signin.verifyPhoneNumber({ userid, otp: '123456' }))).code).toBe('OUT_OF_ORDER');
  });

  it('as a step-up leaves the trust of a known device unchanged', async () => {
    const { signin, store } = await setUp({ ...firstSignIn, authenticate: [otpNeeded, otpNeeded] });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    await signin.authenticate(userid, { stepUp: 'change_phone_number' });
    expect(store.keys()[0]?.registered).toBe(true);
  });

  it('stores the IDs of the client, and skips the second challenge from then on', async () => {
    const { service, page } = await setUp(firstSignIn);
    await page().authenticate(userid);
    expect(service.of('challenge')).toHaveLength(2);
    await page().authenticate(userid);
    expect(service.of('challenge')).toHaveLength(3);
  });

  it('registers with a proof of the public key and all claims of the transaction', async () => {
    const { service, signin, store } = await setUp(firstSignIn);
    await signin.authenticate(userid, { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' });
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid, mfaMethod: 'sms', phoneNumber: '+4915112345678' });
    const [request] = service.of('verify-device');
    expect(request?.body).toEqual({
      txn: 'txn-1',
      userid,
      mfa_method: 'sms',
      phone_number: '+4915112345678',
    });
    expect(request?.headers['x-api-key']).toBe('lk_pk_test');
    expect(request?.proof?.header).toEqual({
      typ: 'device-proof+jwt',
      alg: 'ES256',
      jwk: store.keys()[0]?.publicJwk,
    });
    expect(request?.proof?.payload).toEqual({
      act: 'verify-device',
      aud: 'https://id.example.com/project-1',
      cid: 'client-1',
      org: origin,
      txn: 'txn-1',
      nonce: 'nonce-2',
      cc: 'c'.repeat(43),
      bh: expect.stringMatching(/^[\w-]{43}$/),
      iat: nowMilliseconds / 1000,
      jti: expect.stringMatching(/^[\w-]{22}$/),
    });
  });

  it('stores no key for a malformed address', async () => {
    const { signin, store } = await setUp({ authenticate: [ok('n', { status: 'INVALID_EMAIL' })] });
    expect((await signin.authenticate('ada@')).status).toBe('INVALID_EMAIL');
    expect(store.keys()).toEqual([]);
  });

  it('stores no key with rememberDevice false', async () => {
    const { signin, store } = await setUp(firstSignIn);
    await signin.authenticate(userid, { rememberDevice: false });
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    expect(store.keys()).toEqual([]);
  });
});

describe('trusted browser', () => {
  async function trusted(next: typeof code) {
    const { signin, service, store } = await setUp({ ...firstSignIn, authenticate: [otpNeeded, next] });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    return { signin, service, store };
  }

  it('signs in with its key alone, in any spelling of the address', async () => {
    const { signin, service, store } = await trusted(code);
    expect(await signin.authenticate(' ada@EXAMPLE.com ')).toMatchObject({ status: 'SUCCESS', success: true });
    const proof = service.of('authenticate')[1]?.proof;
    expect(proof?.header).toEqual({ typ: 'device-proof+jwt', alg: 'ES256', kid: store.keys()[0]?.kid });
    expect(proof?.payload).toMatchObject({ act: 'authenticate', nonce: 'nonce-0' });
  });

  it('keeps its key if the service requires a code, even if the sign-in is abandoned', async () => {
    const { signin, store } = await trusted(otpNeeded);
    const kid = store.keys()[0]?.kid;
    expect((await signin.authenticate(userid)).status).toBe('OTP_NEEDED');
    expect(store.keys()[0]).toMatchObject({ kid, registered: true });
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    expect((await signin.verifyDevice({ userid })).status).toBe('SUCCESS');
    expect(store.keys()[0]).toMatchObject({ kid, registered: true });
  });

  it('loses its key after a sign-in with rememberDevice false', async () => {
    const { signin, store } = await trusted(code);
    expect((await signin.authenticate(userid, { rememberDevice: false })).status).toBe('SUCCESS');
    expect(store.keys()).toEqual([]);
  });

  it('shares one key between two concurrent tabs', async () => {
    const { page, store, service } = await setUp(firstSignIn);
    await Promise.all([page().authenticate(userid), page().authenticate(userid)]);
    expect(store.keys()).toHaveLength(1);
    const bound = service.of('challenge').flatMap(({ body }) => body['jkt'] ?? []);
    expect(new Set(bound)).toEqual(new Set([store.keys()[0]?.kid]));
  });
});

describe('second factor', () => {
  const replies = {
    authenticate: [otpNeeded, ok('nonce-4', { status: 'MFA_REQUIRED', session_id: 's-1', method: 'totp' })],
    'verify-email-otp': [otpAccepted],
    'verify-device': [
      ok('nonce-3', { status: 'MFA_ENROLLMENT_NEEDED', methods: ['email', 'totp'] }),
      ok('nonce-3', { status: 'DEVICE_REGISTERED' }),
    ],
    'initiate-mfa': [
      ok('nonce-5', { status: 'MFA_INITIATED', method: 'totp', totp: { secret: 'ABC', otpauth_uri: 'otpauth://x' } }),
    ],
    'verify-mfa': [code],
  };

  it('is enrolled, then required by the next authenticate, with the options of the first', async () => {
    const { signin, service, store } = await setUp(replies);
    await signin.authenticate(userid, { rememberDevice: true, code_challenge: 'c'.repeat(43) });
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    expect(await signin.verifyDevice({ userid })).toMatchObject({ methods: ['email', 'totp'] });
    expect(await signin.verifyDevice({ userid, mfaMethod: 'totp' })).toMatchObject({ status: 'DEVICE_REGISTERED' });
    const challenges = service.of('challenge').length;
    expect(await signin.authenticate(userid)).toMatchObject({ sessionId: 's-1', method: 'totp' });
    expect(service.of('challenge')).toHaveLength(challenges);
    expect(service.of('authenticate')[1]?.proof?.payload).toMatchObject({ txn: 'txn-1', cc: 'c'.repeat(43) });
    expect(service.of('authenticate')[1]?.body['remember_device']).toBe(true);
    expect(await signin.initiateMfa({ userid, sessionId: 's-1' })).toMatchObject({
      totp: { secret: 'ABC', otpauthUri: 'otpauth://x' },
    });
    expect(await signin.verifyMfa({ userid, otp: '654321', remember_me: true })).toMatchObject({
      status: 'SUCCESS',
      code: 'authorization-code',
    });
    expect(service.of('verify-mfa')[0]?.body).toMatchObject({ otp: '654321', remember_me: true });
    expect(service.of('verify-mfa')[0]?.proof?.payload['nonce']).toBe('nonce-5');
    expect(store.keys()[0]?.registered).toBe(true);
  });

  it('can be chosen again: a restarted sign-in begins with the address', async () => {
    const { signin, service, store } = await setUp(replies);
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    await signin.verifyDevice({ userid, mfaMethod: 'totp' });
    expect((await signin.authenticate(userid)).status).toBe('MFA_REQUIRED');
    expect(service.of('authenticate').at(-1)?.proof).toBeDefined();
    await signin.authenticate(userid);
    expect(service.of('authenticate').at(-1)?.proof).toBeUndefined();
    expect(store.keys()[0]?.registered).toBe(false);
  });

  it('is still required after the response to authenticate was lost', async () => {
    const lost = { http: 502, body: 'a proxy' };
    const taken = refusal('OUT_OF_ORDER', 409, {}, 'nonce-x');
    const { signin, service } = await setUp({
      ...replies,
      challenge: [{ body: challengeBody }, { body: challengeBody }, { body: { ...challengeBody, txn: 'txn-2' } }],
      authenticate: [otpNeeded, lost, taken, replies.authenticate[1]!],
    });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid, mfaMethod: 'totp' });
    await signin.verifyDevice({ userid, mfaMethod: 'totp' });
    await failure(signin.authenticate(userid));
    expect((await signin.authenticate(userid)).status).toBe('MFA_REQUIRED');
    expect(service.of('authenticate').map(({ proof }) => proof?.payload['txn'])).toEqual([
      undefined,
      'txn-1',
      'txn-1',
      'txn-2',
    ]);
  });

  it('returns its recovery codes with the code', async () => {
    const ending = ok('n', { status: 'SUCCESS', code: 'c', recovery_codes: ['aaaa-bbbb'] });
    const { signin } = await setUp({ ...replies, 'verify-mfa': [ending] });
    await signin.authenticate(userid);
    await signin.verifyDevice({ userid });
    const result = await signin.verifyMfa({ userid, otp: '123456' });
    expect(result).toMatchObject({ code: 'c', recoveryCodes: ['aaaa-bbbb'] });
  });

  it('is retried once if the nonce has expired, and only once', async () => {
    const stale = refusal('NONCE_REJECTED', 400, {}, 'nonce-fresh');
    const { signin, service } = await setUp({ ...replies, 'verify-mfa': [stale, stale, code] });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    const error = await failure(signin.verifyMfa({ userid, otp: '654321' }));
    expect(error.code).toBe('NONCE_REJECTED');
    expect(service.of('verify-mfa').map(({ proof }) => proof?.payload['nonce'])).toEqual(['nonce-3', 'nonce-fresh']);
  });
});

describe('error', () => {
  it('of the service has code, category, retryAfter and requestId', async () => {
    const { signin } = await setUp({ authenticate: [refusal('RATE_LIMITED', 429, { retry_after: 30 })] });
    expect(await failure(signin.authenticate(userid))).toMatchObject({
      name: 'LatchkeyError',
      code: 'RATE_LIMITED',
      category: 'user_action',
      retryAfter: 30,
      requestId: 'req-1',
      message: 'RATE_LIMITED happened',
    });
  });

  it('of a wrong code does not end the sign-in', async () => {
    const { signin } = await setUp({
      ...firstSignIn,
      'verify-email-otp': [refusal('CODE_REJECTED', 400, {}, 'nonce-x'), otpAccepted],
    });
    await signin.authenticate(userid);
    expect((await failure(signin.verifyEmailOtp({ userid, otp: '000000' }))).code).toBe('CODE_REJECTED');
    expect((await signin.verifyEmailOtp({ userid, otp: '123456' })).status).toBe('SUCCESS');
  });

  it('of a rate limit leaves the first code valid', async () => {
    const { signin } = await setUp({ ...firstSignIn, authenticate: [otpNeeded, refusal('RATE_LIMITED', 429)] });
    await signin.authenticate(userid);
    expect((await failure(signin.authenticate(userid))).code).toBe('RATE_LIMITED');
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    expect((await signin.verifyDevice({ userid })).status).toBe('SUCCESS');
  });

  it.each(['TRANSACTION_EXPIRED', 'FLOW_EXPIRED'])('%s ends the pending sign-in', async (expired) => {
    const { signin } = await setUp({ ...firstSignIn, 'verify-email-otp': [refusal(expired, 410)] });
    await signin.authenticate(userid);
    await failure(signin.verifyEmailOtp({ userid, otp: '123456' }));
    const next = await failure(signin.verifyDevice({ userid }));
    expect(next.code).toBe('OUT_OF_ORDER');
  });

  it('DEVICE_KEY_LOST follows cleared storage, and authenticate starts over', async () => {
    const { signin, store, service } = await setUp(firstSignIn);
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    store.clear();
    expect((await failure(signin.verifyDevice({ userid }))).code).toBe('DEVICE_KEY_LOST');
    expect(service.of('verify-device')).toEqual([]);
    expect((await signin.authenticate(userid)).status).toBe('OTP_NEEDED');
  });

  it('OUT_OF_ORDER for another address is thrown before a request', async () => {
    const { signin, service } = await setUp(firstSignIn);
    await signin.authenticate(userid);
    const sent = service.received.length;
    const other = signin.verifyEmailOtp({ userid: 'bob@example.com', otp: '123456' });
    expect((await failure(other)).code).toBe('OUT_OF_ORDER');
    expect(service.received).toHaveLength(sent);
  });

  it.each([
    [503, 'retryable', 7, '<h1>proxy</h1>'],
    [503, 'retryable', 7, '{"status":503,"error":"Service Unavailable"}'],
    [429, 'retryable', 7, '{"status":"Failure"}'],
    [404, 'fatal', undefined, '{}'],
    [200, 'fatal', undefined, 'null'],
  ])('of HTTP %d from another server is %s', async (http, category, retryAfter, body) => {
    const headers = retryAfter === undefined ? {} : { 'Retry-After': `${retryAfter}` };
    const { signin } = await setUp({ challenge: [{ http, body, headers }] });
    const error = await failure(signin.authenticate(userid));
    expect(error).toMatchObject({ code: 'UNEXPECTED_RESPONSE', category, retryAfter });
  });

  it('UNEXPECTED_RESPONSE follows a status of another step', async () => {
    const { signin } = await setUp({ authenticate: [ok('n', { status: 'DEVICE_REGISTERED' })] });
    expect((await failure(signin.authenticate(userid))).code).toBe('UNEXPECTED_RESPONSE');
  });

  it('TIMEOUT follows timeoutMs without a response', async () => {
    const { signin, service } = await setUp({ challenge: [{ hang: true, body: '' }] }, { timeoutMs: 5_000 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const error = failure(signin.authenticate(userid));
    await vi.waitUntil(() => service.received.length === 1, soon);
    vi.advanceTimersByTime(5_000);
    expect(await error).toMatchObject({ code: 'TIMEOUT', category: 'retryable' });
  });

  it('ABORTED has the reason of the signal as its cause', async () => {
    const { signin, service } = await setUp({ challenge: [{ hang: true, body: '' }] });
    const controller = new AbortController();
    const error = failure(signin.authenticate(userid, { signal: controller.signal }));
    await vi.waitUntil(() => service.received.length === 1, soon);
    controller.abort('changed my mind');
    expect(await error).toMatchObject({ code: 'ABORTED', cause: 'changed my mind' });
  });

  it('is OFFLINE if the browser is offline, NETWORK otherwise', async () => {
    const { signin, service } = await setUp(firstSignIn);
    await service.stop();
    expect(await failure(signin.authenticate(userid))).toMatchObject({ code: 'NETWORK', category: 'retryable' });
    vi.stubGlobal('navigator', { onLine: false });
    expect((await failure(signin.authenticate(userid))).code).toBe('OFFLINE');
  });
});
