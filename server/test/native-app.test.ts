/** Apps without a page: the browser SDK on a platform's secure store, without IndexedDB. */
import { LatchkeyError } from '@latchkey/browser';
import { createLatchkey, type Latchkey, memoryStorage, type SecureStorage } from '@latchkey/browser/native';
import { exchangeCodeForClaims } from '@latchkey/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { appOrigin, newAddress, SigninWorld } from './signin-world.ts';

const world = SigninWorld.ofTests();
let storage: SecureStorage;
let names: Set<string>;
let userid: string;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: world.app.clock.now() });
  const memory = memoryStorage();
  names = new Set();
  storage = {
    ...memory,
    setItem: async (name, value) => {
      // The limits of expo-secure-store.
      if (!/^[\w.-]+$/.test(name) || value.length > 2048) throw new Error('refused by the platform');
      names.add(name);
      await memory.setItem(name, value);
    },
  };
  userid = newAddress();
});
afterEach(() => vi.useRealTimers());

/** The app after a restart. */
async function started(origin = appOrigin, own = storage): Promise<Latchkey> {
  const latchkey = createLatchkey({ origin, storage: own });
  await latchkey.init({ apiKey: world.apiKey, baseUrl: world.app.url });
  return latchkey;
}

async function signedInFirst(latchkey: Latchkey, options = {}): Promise<string> {
  expect(await latchkey.authenticate(userid, options)).toMatchObject({ status: 'OTP_NEEDED' });
  await latchkey.verifyEmailOtp({ userid, otp: await world.codeFor(userid) });
  const done = await latchkey.verifyDevice({ userid });
  if (done.status !== 'SUCCESS') throw new Error(done.status);
  return done.code;
}

const claimsOf = (code: string) =>
  exchangeCodeForClaims({
    ...{ code, clientId: world.client.id, apiKey: world.secretKey, leeway: 5 },
    oauthTokenUrl: `${world.app.url}/oauth2/token`,
    jwksUrl: `${world.app.url}/.well-known/jwks.json`,
  });

describe('an app with a secure store', () => {
  it('signs in, and after a restart without a code', async () => {
    expect('indexedDB' in globalThis).toBe(false);
    const { sub } = await claimsOf(await signedInFirst(await started()));
    const again = await started();
    expect(await again.lastUser()).toBe(userid);
    const step = await again.authenticate(userid);
    expect(step.status === 'SUCCESS' && (await claimsOf(step.code)).sub).toBe(sub);
  });

  it('shows the prompts of start()', async () => {
    const signIn = (await started()).start();
    signIn.send({ type: 'submit-address', userid });
    await expect.poll(() => signIn.state).toMatchObject({ step: 'code', busy: false });
    signIn.send({ type: 'submit-code', otp: await world.codeFor(userid) });
    await expect.poll(() => signIn.state.step).toBe('success');
    signIn.stop();
  });

  it('keeps the keys of twenty users, and each value within the limit of the platform', async () => {
    const latchkey = await started();
    const first = userid;
    await signedInFirst(latchkey);
    for (let user = 0; user < 20; user += 1) await latchkey.authenticate(newAddress()).catch(() => undefined);
    expect(await latchkey.lastUser()).toBeUndefined();
    expect(await latchkey.authenticate(first)).toMatchObject({ status: 'OTP_NEEDED' });
    expect(names.size).toBeGreaterThan(20);
  });

  it('keeps no key of a shared device, nor of one that was forgotten', async () => {
    const latchkey = await started();
    await signedInFirst(latchkey, { rememberDevice: false });
    expect(await (await started()).authenticate(userid)).toMatchObject({ status: 'OTP_NEEDED' });
    await latchkey.forgetDevice();
    const left = await Promise.all([...names].map((name) => storage.getItem(name)));
    expect(left.filter((value) => value?.includes('"d":'))).toEqual([]);
  });

  it('shares the key of concurrent first sign-ins', async () => {
    const [one, other] = [await started(), await started()];
    await Promise.all([one.authenticate(userid), other.authenticate(userid).catch(() => undefined)]);
    expect([...names].filter((name) => name.startsWith('latchkey.key.'))).toHaveLength(1);
  });

  it('starts over with a damaged store', async () => {
    await signedInFirst(await started());
    for (const name of names) await storage.setItem(name, '{');
    expect(await (await started()).authenticate(userid)).toMatchObject({ status: 'OTP_NEEDED' });
  });

  it('is refused with an origin that is not registered', async () => {
    const latchkey = await started('https://evil.example.com');
    await expect(latchkey.authenticate(userid)).rejects.toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
  });

  it.each([
    ['fails', async () => Promise.reject(new Error('locked')), 'STORAGE_UNAVAILABLE'],
    ['does not respond', () => new Promise<never>(() => undefined), 'TIMEOUT'],
  ])('rejects init with a store that %s', async (_, getItem, code) => {
    const latchkey = createLatchkey({ origin: appOrigin, storage: { ...storage, getItem } });
    const init = latchkey.init({ apiKey: world.apiKey, baseUrl: world.app.url, options: { timeoutMs: 10 } });
    await expect(init).rejects.toMatchObject({ code });
  });

  it.each([
    [undefined],
    [null],
    [{ origin: 'https://app.example.com/', storage: memoryStorage() }],
    [{ origin: 'app://callback', storage: memoryStorage() }],
    [{ origin: appOrigin, storage: {} }],
    [{ origin: appOrigin }],
  ])('refuses the options %j', (options) => {
    expect(() => createLatchkey(options as never)).toThrow(LatchkeyError);
  });
});
