import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { code, failure, firstSignIn, ok, otpNeeded, startPages, userid } from '../test/pages.ts';
import { challengeBody, refusal } from '../test/service.ts';

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function setUp(...given: Parameters<typeof startPages>) {
  const pages = await startPages(...given);
  stops.push(pages.service.stop);
  return pages;
}

describe('revoked key', () => {
  const revoked = refusal('DEVICE_REVOKED', 403);

  it('is replaced at authenticate, which requires a code as on a new device', async () => {
    const { signin, service, store } = await setUp({ ...firstSignIn, authenticate: [otpNeeded, revoked, otpNeeded] });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    const old = store.keys()[0]!.kid;
    expect((await signin.authenticate(userid)).status).toBe('OTP_NEEDED');
    const [{ kid, registered }] = store.keys() as [{ kid: string; registered: boolean }];
    expect({ isNew: kid !== old, registered }).toEqual({ isNew: true, registered: false });
    expect(service.of('challenge').at(-1)?.body['jkt']).toBe(kid);
    expect(service.of('authenticate').at(-1)?.proof).toBeUndefined();
    expect((await signin.verifyDevice({ userid })).status).toBe('SUCCESS');
    expect(store.keys()[0]).toMatchObject({ kid, registered: true });
  });

  it('is replaced once per call', async () => {
    const { signin, service } = await setUp({ authenticate: [revoked] });
    expect((await failure(signin.authenticate(userid))).code).toBe('DEVICE_REVOKED');
    expect(service.of('authenticate')).toHaveLength(2);
  });

  it('is deleted at verifyDevice, so that the next authenticate works', async () => {
    const { signin, store, service } = await setUp({ ...firstSignIn, 'verify-device': [revoked, code] });
    await signin.authenticate(userid);
    const old = store.keys()[0]!.kid;
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    expect((await failure(signin.verifyDevice({ userid }))).code).toBe('DEVICE_REVOKED');
    expect(store.keys()).toEqual([]);
    expect((await failure(signin.verifyDevice({ userid }))).code).toBe('OUT_OF_ORDER');
    expect((await signin.authenticate(userid)).status).toBe('OTP_NEEDED');
    expect(service.of('challenge').at(-1)?.body['jkt']).not.toBe(old);
    expect((await signin.verifyDevice({ userid })).status).toBe('SUCCESS');
  });

  it('does not delete the key that another tab has replaced it with', async () => {
    const { page, store } = await setUp({ ...firstSignIn, 'verify-device': [revoked] });
    const [one, other] = [page(), page()];
    await one.authenticate(userid);
    await other.authenticate(userid);
    await failure(one.verifyDevice({ userid }));
    await one.authenticate(userid);
    const kid = store.keys()[0]!.kid;
    expect((await failure(other.verifyDevice({ userid }))).code).toBe('DEVICE_KEY_LOST');
    expect(store.keys()[0]?.kid).toBe(kid);
  });
});

describe('PKCE', () => {
  const demanded = refusal('PKCE_REQUIRED', 400);
  const challenge = [demanded, { body: challengeBody }, demanded, { body: challengeBody }];
  const required = { body: { ...challengeBody, code_challenge_method: 'S256' } };

  it('is created if an older service demands it, and the verifier comes with the code', async () => {
    const { signin, service } = await setUp({ ...firstSignIn, challenge });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    const ended = await signin.verifyDevice({ userid });
    const sent = service.of('challenge').map(({ body }) => body['code_challenge']);
    expect(sent).toEqual([undefined, expect.any(String), undefined, expect.any(String)]);
    expect(service.of('verify-device')[0]?.proof?.payload['cc']).toBe(sent[3]);
    if (!('codeVerifier' in ended)) throw new Error('no verifier');
    expect(createHash('sha256').update(ended.codeVerifier!).digest('base64url')).toBe(sent[3]);
  });

  it('is offered with each challenge, and used only if the service requires it', async () => {
    const { signin, service } = await setUp({ ...firstSignIn, challenge: [{ body: challengeBody }, required] });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    const ended = await signin.verifyDevice({ userid });
    const spare = service.of('challenge').map(({ body }) => body['code_challenge_if_required']);
    expect(service.of('challenge').map(({ body }) => body['code_challenge'])).toEqual([undefined, undefined]);
    expect(service.of('verify-device')[0]?.proof?.payload['cc']).toBe(spare[1]);
    if (!('codeVerifier' in ended)) throw new Error('no verifier');
    expect(createHash('sha256').update(ended.codeVerifier!).digest('base64url')).toBe(spare[1]);
    const free = await setUp({ ...firstSignIn, challenge: [{ body: challengeBody }] });
    await free.signin.authenticate(userid);
    await free.signin.verifyEmailOtp({ userid, otp: '123456' });
    expect(await free.signin.verifyDevice({ userid })).not.toHaveProperty('codeVerifier');
    expect(free.service.of('verify-device')[0]?.proof?.payload).not.toHaveProperty('cc');
  });

  it('keeps its verifier through a second factor', async () => {
    const { signin, service } = await setUp({
      challenge,
      authenticate: [otpNeeded, ok('nonce-4', { status: 'MFA_REQUIRED', session_id: 's-1', method: 'totp' })],
      'verify-device': [ok('nonce-3', { status: 'DEVICE_REGISTERED' })],
      'verify-mfa': [code],
    });
    await signin.authenticate(userid);
    await signin.verifyDevice({ userid });
    await signin.authenticate(userid);
    const ended = await signin.verifyMfa({ userid, otp: '123456' });
    const cc = service.of('verify-mfa')[0]?.proof?.payload['cc'];
    expect(createHash('sha256').update(ended.codeVerifier!).digest('base64url')).toBe(cc);
  });

  it('challenge of the page is passed through, required or not', async () => {
    const { signin, service } = await setUp({ ...firstSignIn, challenge: [{ body: challengeBody }, demanded] });
    const error = await failure(signin.authenticate(userid, { code_challenge: 'c'.repeat(43) }));
    expect(error.code).toBe('PKCE_REQUIRED');
    expect(service.of('challenge').map(({ body }) => body['code_challenge'])).toEqual(['c'.repeat(43), 'c'.repeat(43)]);
  });

  it('requirement added during a sign-in restarts it', async () => {
    const { signin } = await setUp({
      ...firstSignIn,
      challenge: [{ body: challengeBody }, { body: challengeBody }, required],
      authenticate: [demanded, otpNeeded, otpNeeded],
    });
    expect((await signin.authenticate(userid)).status).toBe('OTP_NEEDED');
    expect(await signin.verifyDevice({ userid })).toHaveProperty('codeVerifier');
  });

  it('is not created unless required: a back end may exchange without a verifier', async () => {
    const { signin, service } = await setUp({ authenticate: [code] });
    expect(await signin.authenticate(userid)).not.toHaveProperty('codeVerifier');
    for (const { body } of service.of('challenge')) expect(body).not.toHaveProperty('code_challenge');
  });
});

describe('forgetDevice', () => {
  async function twoPeople() {
    const all = await setUp({ ...firstSignIn, authenticate: [otpNeeded] });
    for (const person of [userid, 'bob@example.com']) {
      await all.signin.authenticate(person);
      await all.signin.verifyDevice({ userid: person });
    }
    return all;
  }

  it('deletes the key of one user, in any spelling, and a code is required again', async () => {
    const { signin, service, store } = await twoPeople();
    expect(await signin.forgetDevice(' ADA@example.com')).toMatchObject({ status: 'FORGOTTEN' });
    expect(store.keys().map((key) => key.userid)).toEqual(['bob@example.com']);
    expect((await signin.authenticate(userid)).status).toBe('OTP_NEEDED');
    expect(service.of('authenticate').at(-1)?.proof).toBeUndefined();
  });

  it('without an address deletes all keys of this API key and none of other clients', async () => {
    const { signin, store } = await twoPeople();
    const [key] = store.keys();
    await store.addKey({ ...key!, clientId: 'client-2' });
    await signin.forgetDevice();
    expect(store.keys().map(({ clientId }) => clientId)).toEqual(['client-2']);
  });

  it('ends the pending sign-in of this user', async () => {
    const { signin } = await setUp(firstSignIn);
    await signin.authenticate(userid);
    await signin.forgetDevice(userid);
    expect((await failure(signin.verifyEmailOtp({ userid, otp: '123456' }))).code).toBe('OUT_OF_ORDER');
  });

  it('succeeds in a browser that never signed in', async () => {
    const { signin, service } = await setUp(firstSignIn);
    expect((await signin.forgetDevice()).status).toBe('FORGOTTEN');
    expect(service.received).toEqual([]);
  });
});

describe('long code', () => {
  it('is announced when a code was sent', async () => {
    const long = ok('n', { ...otpNeeded.body, code_format: 'long' });
    const { signin, service } = await setUp({ ...firstSignIn, authenticate: [long] });
    expect(await signin.authenticate(userid)).toMatchObject({ status: 'OTP_NEEDED', codeFormat: 'long' });
    await signin.verifyEmailOtp({ userid, otp: '7K3QX-9M2HD' });
    expect(service.of('verify-email-otp')[0]?.body['otp']).toBe('7K3QX-9M2HD');
  });
});
