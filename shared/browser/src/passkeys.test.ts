import { afterEach, describe, expect, it, vi } from 'vitest';
import { chosen, credentialJson, fails, stubAuthenticator, untilAborted } from '../test/authenticator.ts';
import { code, failure, ok, otpAccepted, otpNeeded, soon, startPages, userid } from '../test/pages.ts';
import { challengeBody, refusal } from '../test/service.ts';
import { passkeySupport } from './index.ts';

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

const options = ok('nonce-1', {
  status: 'PASSKEY_OPTIONS',
  options: { challenge: 'Y2hhbGxlbmdl', rpId: 'example.com' },
});
const registered = ok('nonce-2', {
  status: 'PASSKEY_REGISTERED',
  name: 'Chrome on Linux',
  rp_id: 'example.com',
  user_handle: 'dXNlcg',
  credential_ids: ['passkey-1', 'passkey-0'],
});
const bySign = { 'passkey-options': [options], 'verify-passkey': [code] };
/** With a challenge that has the options, as requested. */
const challenged = { ...challengeBody, passkey_options: options.body['options'] };
const suggesting = { ...bySign, challenge: [{ body: challenged }] };
const mfaRequired = ok('nonce-3', { status: 'MFA_REQUIRED', session_id: 's', method: 'passkey' });

describe('sign-in with a passkey', () => {
  it('needs no address, device key or proof', async () => {
    const { requests } = stubAuthenticator({ get: chosen });
    const challenge = [{ body: { ...challengeBody, passkey_options: options.body['options'] } }];
    const { service, signin, store } = await setUp({ ...bySign, challenge });
    expect(await signin.signInWithPasskey()).toEqual({
      status: 'SUCCESS',
      message: 'm',
      success: true,
      code: 'authorization-code',
    });
    expect(service.received.map(({ step, body }) => [step, body])).toEqual([
      ['challenge', { passkey: true, code_challenge_if_required: expect.any(String) }],
      ['verify-passkey', { txn: 'txn-1', credential: credentialJson }],
    ]);
    expect(service.received.some(({ proof }) => proof)).toBe(false);
    expect(requests[0]).toMatchObject({ publicKey: { parsed: { challenge: 'Y2hhbGxlbmdl' } } });
    expect(requests[0]).not.toHaveProperty('mediation');
    expect(store.keys()).toEqual([]);
  });

  it('asks for the options, or the reason why it gets none, if its challenge came without', async () => {
    stubAuthenticator({ get: chosen });
    const { service, signin } = await setUp(bySign);
    expect(await signin.signInWithPasskey()).toMatchObject({ status: 'SUCCESS' });
    expect(service.of('passkey-options').map(({ body }) => body)).toEqual([{ txn: 'txn-1', purpose: 'sign_in' }]);
  });

  it('suggests none, and requests nothing more, if the service allows none', async () => {
    const { requests } = stubAuthenticator({ get: chosen });
    const { service, signin } = await setUp(bySign);
    const suggested = signin.signInWithPasskey({ mediation: 'conditional' });
    expect((await failure(suggested)).code).toBe('PASSKEYS_NOT_ALLOWED');
    expect(service.received.map(({ step }) => step)).toEqual(['challenge']);
    expect(requests).toEqual([]);
  });

  it('creates PKCE if an older service demands it', async () => {
    stubAuthenticator({ get: chosen });
    const challenge = [refusal('PKCE_REQUIRED', 400), { body: challengeBody }];
    const { service, signin } = await setUp({ ...bySign, challenge });
    expect(await signin.signInWithPasskey()).toMatchObject({ codeVerifier: expect.stringMatching(/^[\w-]{43}$/) });
    expect(service.of('challenge')[1]?.body).toMatchObject({ code_challenge_method: 'S256' });
  });

  it("sends the page's own PKCE challenge", async () => {
    stubAuthenticator({ get: chosen });
    const { service, signin } = await setUp(bySign);
    expect(await signin.signInWithPasskey({ code_challenge: 'c'.repeat(43) })).not.toHaveProperty('codeVerifier');
    expect(service.of('challenge')[0]?.body['code_challenge']).toBe('c'.repeat(43));
    const plain = signin.signInWithPasskey({ code_challenge: 'c', code_challenge_method: 'plain' });
    expect((await failure(plain)).code).toBe('INVALID_ARGUMENT');
  });

  it('as a second factor continues the sign-in of its address, and trusts the device', async () => {
    stubAuthenticator({ get: chosen });
    const { service, signin, store } = await setUp({
      ...bySign,
      authenticate: [otpNeeded, mfaRequired],
      'verify-email-otp': [otpAccepted],
      'verify-device': [ok('nonce-2', { status: 'DEVICE_REGISTERED' })],
    });
    await signin.authenticate(userid);
    await signin.verifyEmailOtp({ userid, otp: '123456' });
    await signin.verifyDevice({ userid });
    expect(await signin.authenticate(userid)).toMatchObject({ status: 'MFA_REQUIRED', method: 'passkey' });
    const challenges = service.of('challenge').length;
    expect(await signin.signInWithPasskey({ userid })).toMatchObject({ code: 'authorization-code' });
    expect(service.of('challenge')).toHaveLength(challenges);
    expect(store.keys()[0]?.registered).toBe(true);
    expect((await failure(signin.signInWithPasskey({ userid }))).code).toBe('OUT_OF_ORDER');
  });

  it('asks for a new challenge on each attempt', async () => {
    stubAuthenticator({ get: chosen });
    const rejected = refusal('PASSKEY_REJECTED', 401, {}, 'nonce-4');
    const { service, signin } = await setUp({
      ...bySign,
      authenticate: [mfaRequired],
      'verify-passkey': [rejected, code],
    });
    await signin.authenticate(userid);
    expect((await failure(signin.signInWithPasskey({ userid }))).code).toBe('PASSKEY_REJECTED');
    expect(await signin.signInWithPasskey({ userid })).toMatchObject({ status: 'SUCCESS' });
    expect(service.of('passkey-options')).toHaveLength(2);
  });

  it('signals an unknown passkey to the browser, and no other error', async () => {
    const { signalUnknownCredential } = stubAuthenticator({ get: chosen });
    const answers = [refusal('PASSKEY_REJECTED', 401), refusal('PASSKEY_UNKNOWN', 401)];
    const { signin } = await setUp({ ...bySign, 'verify-passkey': answers });
    expect((await failure(signin.signInWithPasskey())).code).toBe('PASSKEY_REJECTED');
    expect(signalUnknownCredential).not.toHaveBeenCalled();
    expect((await failure(signin.signInWithPasskey())).code).toBe('PASSKEY_UNKNOWN');
    expect(signalUnknownCredential).toHaveBeenCalledWith({ rpId: 'example.com', credentialId: 'passkey-1' });
  });

  it.each([
    ['NotAllowedError', 'PASSKEY_CANCELLED', 'user_action'],
    ['AbortError', 'PASSKEY_CANCELLED', 'user_action'],
    ['SecurityError', 'PASSKEY_UNSUPPORTED', 'fatal'],
  ])('maps %s to %s', async (name, expected, category) => {
    stubAuthenticator({ get: fails(name) });
    const { signin } = await setUp(bySign);
    expect(await failure(signin.signInWithPasskey())).toMatchObject({ code: expected, category });
  });

  it.each([
    ['WebAuthn', () => vi.stubGlobal('PublicKeyCredential', undefined)],
    ['the JSON methods', () => stubAuthenticator({ parseRequestOptionsFromJSON: undefined })],
  ])('sends nothing in a browser without %s', async (_, stub) => {
    stub();
    const { service, signin } = await setUp(bySign);
    expect((await failure(signin.signInWithPasskey())).code).toBe('PASSKEY_UNSUPPORTED');
    expect(service.received).toEqual([]);
  });
});

describe('suggestions of the address field', () => {
  it('use conditional mediation, and end when the page aborts them', async () => {
    const { requests } = stubAuthenticator();
    const { signin } = await setUp(suggesting);
    const page = new AbortController();
    const pending = failure(signin.signInWithPasskey({ mediation: 'conditional', signal: page.signal }));
    await vi.waitFor(() => expect(requests).toHaveLength(1), soon);
    expect(requests[0]?.mediation).toBe('conditional');
    page.abort();
    expect((await pending).code).toBe('ABORTED');
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it('are aborted by another passkey operation, even before the browser has the request', async () => {
    const { requests } = stubAuthenticator({
      get: (call) => (call.mediation ? new Promise(() => undefined) : chosen(call)),
    });
    const { signin } = await setUp(suggesting);
    const pending = failure(signin.signInWithPasskey({ mediation: 'conditional' }));
    expect(await signin.signInWithPasskey()).toMatchObject({ status: 'SUCCESS' });
    expect((await pending).code).toBe('ABORTED');
    expect(requests.filter(({ signal }) => !signal.aborted)).toHaveLength(1);
  });

  it('get a new challenge before the transaction expires', async () => {
    const { requests } = stubAuthenticator({
      get: (call) => (requests.length > 1 ? chosen(call) : untilAborted(call)),
    });
    const soon = { body: { ...challenged, expires_in: 60.05 } };
    const { service, signin } = await setUp({
      ...bySign,
      challenge: [soon, { body: { ...challenged, txn: 'txn-2' } }],
    });
    expect(await signin.signInWithPasskey({ mediation: 'conditional' })).toMatchObject({ status: 'SUCCESS' });
    expect(service.of('verify-passkey')[0]?.body['txn']).toBe('txn-2');
  });

  it('on a hidden page get a new challenge only when it is visible again', async () => {
    const document = Object.assign(new EventTarget(), { hidden: true });
    vi.stubGlobal('document', document);
    const { requests } = stubAuthenticator({
      get: (call) => (requests.length > 1 ? chosen(call) : untilAborted(call)),
    });
    const { service, signin } = await setUp({
      ...bySign,
      challenge: [{ body: { ...challenged, expires_in: 60.05 } }],
    });
    const signedIn = signin.signInWithPasskey({ mediation: 'conditional' });
    await vi.waitFor(() => expect(requests[0]?.signal.aborted).toBe(true), soon);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(service.of('challenge')).toHaveLength(1);
    document.hidden = false;
    document.dispatchEvent(new Event('visibilitychange'));
    expect(await signedIn).toMatchObject({ status: 'SUCCESS' });
  });

  it('report that the user chose a passkey before it is verified', async () => {
    stubAuthenticator({ get: chosen });
    const { service, signin } = await setUp(bySign);
    const onChosen = vi.fn(() => expect(service.of('verify-passkey')).toEqual([]));
    await signin.signInWithPasskey({}, onChosen);
    expect(onChosen).toHaveBeenCalledOnce();
  });
});

describe('creation of a passkey', () => {
  const replies = { ...bySign, authenticate: [mfaRequired], 'register-passkey': [registered] };
  const stepUp = { stepUp: 'create_passkey' } as const;

  it('follows a step-up, and signals the accepted passkeys to the browser', async () => {
    const { creations, signalAllAcceptedCredentials } = stubAuthenticator({ get: chosen, create: chosen });
    const { service, signin } = await setUp(replies);
    await signin.authenticate(userid, stepUp);
    expect(service.of('authenticate')[0]?.body['step_up']).toBe('create_passkey');
    await signin.signInWithPasskey({ userid });
    expect(await signin.createPasskey({ userid })).toEqual({
      status: 'PASSKEY_CREATED',
      message: 'm',
      name: 'Chrome on Linux',
    });
    expect(service.of('passkey-options')[1]?.body).toMatchObject({ txn: 'txn-1', purpose: 'registration' });
    expect(service.of('register-passkey')[0]?.body).toMatchObject({ txn: 'txn-1', credential: credentialJson });
    expect(creations[0]).not.toHaveProperty('mediation');
    expect(signalAllAcceptedCredentials).toHaveBeenCalledWith({
      rpId: 'example.com',
      userId: 'dXNlcg',
      allAcceptedCredentialIds: ['passkey-1', 'passkey-0'],
    });
    expect((await failure(signin.createPasskey({ userid }))).code).toBe('OUT_OF_ORDER');
  });

  it('may be repeated after it was cancelled or the device already had one', async () => {
    const create = vi.fn(chosen);
    for (const name of ['NotAllowedError', 'InvalidStateError']) create.mockImplementationOnce(fails(name));
    stubAuthenticator({ create });
    const { service, signin } = await setUp(replies);
    await signin.authenticate(userid, stepUp);
    expect((await failure(signin.createPasskey({ userid }))).code).toBe('PASSKEY_CANCELLED');
    expect((await failure(signin.createPasskey({ userid }))).code).toBe('PASSKEY_EXISTS');
    expect(await signin.createPasskey({ userid })).toMatchObject({ status: 'PASSKEY_CREATED' });
    expect(service.of('passkey-options')).toHaveLength(3);
  });

  it.each([
    ['a trusted device', [], 'authenticate'],
    ['a new device', [otpNeeded], 'verify-device'],
  ])('follows the offer to %s on the hosted page', async (_, before, last) => {
    stubAuthenticator({ create: chosen });
    const offer = ok('nonce-9', { status: 'SUCCESS', redirect_to: '/', passkey_offer: true });
    const { signin, store } = await setUp({
      ...replies,
      authenticate: before,
      'verify-email-otp': [otpAccepted],
      [last]: [offer],
    });
    let answer: unknown = await signin.authenticate(userid);
    if (last === 'verify-device') {
      await signin.verifyEmailOtp({ userid, otp: '123456' });
      answer = await signin.verifyDevice({ userid });
    }
    expect(answer).toMatchObject({ status: 'SUCCESS', passkeyOffer: true });
    expect(store.keys()[0]?.registered).toBe(true);
    expect(await signin.createPasskey({ userid })).toMatchObject({ status: 'PASSKEY_CREATED' });
  });

  it('ends when the page aborts it', async () => {
    const { creations } = stubAuthenticator();
    const { signin } = await setUp(replies);
    await signin.authenticate(userid, stepUp);
    const page = new AbortController();
    const pending = failure(signin.createPasskey({ userid, signal: page.signal }));
    await vi.waitFor(() => expect(creations).toHaveLength(1), soon);
    page.abort();
    expect((await pending).code).toBe('ABORTED');
  });

  it('without a dialog ends after three seconds if the browser does not respond', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { creations } = stubAuthenticator();
    const { signin } = await setUp(replies);
    await signin.authenticate(userid, stepUp);
    const pending = failure(signin.createPasskey({ userid }, 'conditional'));
    await vi.waitFor(() => expect(creations[0]?.mediation).toBe('conditional'), soon);
    await vi.advanceTimersByTimeAsync(3_000);
    expect((await pending).code).toBe('PASSKEY_CANCELLED');
  });
});

describe('passkeySupport', () => {
  it.each([
    ['everything', {}, { available: true, autofill: true, platform: true }],
    [
      'neither suggestions nor an authenticator',
      {
        isConditionalMediationAvailable: undefined,
        isUserVerifyingPlatformAuthenticatorAvailable: async () => {
          throw new DOMException('detail', 'NotAllowedError');
        },
      },
      { available: true, autofill: false, platform: false },
    ],
    ['no JSON methods', { prototype: {} }, { available: false, autofill: false, platform: false }],
  ])('of a browser with %s', async (_, statics, support) => {
    stubAuthenticator(statics);
    expect(await passkeySupport()).toEqual(support);
  });

  it('needs no browser', async () => {
    expect(await passkeySupport()).toEqual({ available: false, autofill: false, platform: false });
  });
});
