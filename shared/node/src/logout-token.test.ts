import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeKey, nowSeconds, startProvider, type TestProvider } from '../test/provider.ts';
import { JWTVerificationError } from './error.ts';
import { type VerifyLogoutTokenOptions, verifyLogoutToken } from './logout-token.ts';
import { MemoryReplayStore } from './replay-store.ts';

let provider: TestProvider;
let replayStore: MemoryReplayStore;

beforeEach(async () => {
  provider = await startProvider();
  replayStore = new MemoryReplayStore();
});
afterEach(() => provider.close());

const options = (more: Partial<VerifyLogoutTokenOptions> = {}): VerifyLogoutTokenOptions => ({
  clientId: provider.clientId,
  issuer: provider.url,
  jwksUrl: `${provider.url}/.well-known/jwks.json`,
  replayStore,
  ...more,
});

async function codeOf(verified: Promise<unknown>): Promise<string> {
  const error = await verified.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(JWTVerificationError);
  return (error as JWTVerificationError).code;
}

describe('verifyLogoutToken (OpenID Connect Back-Channel Logout 1.0 §2.6)', () => {
  it.each(['secevent+jwt', 'logout+jwt', 'application/secevent+jwt', 'Logout+JWT'])(
    'accepts the type %s',
    async (typ) => {
      const token = await provider.logoutToken({ sid: 's-1' }, { typ });
      expect(await verifyLogoutToken(token, options())).toMatchObject({ sub: 'user-1', sid: 's-1' });
    },
  );

  it('accepts a token with sub only or sid only', async () => {
    expect(await verifyLogoutToken(await provider.logoutToken(), options())).not.toHaveProperty('sid');
    const token = await provider.logoutToken({ sub: undefined, sid: 's-1' });
    expect(await verifyLogoutToken(token, options())).toMatchObject({ sid: 's-1' });
  });

  it.each<[string, Record<string, unknown>, object, string]>([
    ['of type JWT', {}, { typ: 'JWT' }, 'TYPE_MISMATCH'],
    ['without a type', {}, { typ: undefined }, 'TYPE_MISMATCH'],
    ['from another issuer', { iss: 'https://evil.example' }, {}, 'ISSUER_MISMATCH'],
    ['for another client', { aud: 'another-client' }, {}, 'AUDIENCE_MISMATCH'],
    ['with a nonce', { nonce: 'n' }, {}, 'CLAIM_INVALID'],
    ['with a nonce of null', { nonce: null }, {}, 'CLAIM_INVALID'],
    ['without events', { events: undefined }, {}, 'CLAIM_MISSING'],
    ['with another event', { events: { 'https://example.com/other': {} } }, {}, 'CLAIM_INVALID'],
    [
      'with an event that is not an object',
      { events: { 'http://schemas.openid.net/event/backchannel-logout': true } },
      {},
      'CLAIM_INVALID',
    ],
    ['with events that are null', { events: null }, {}, 'CLAIM_INVALID'],
    ['without sub and sid', { sub: undefined }, {}, 'CLAIM_MISSING'],
    ['with an empty sub', { sub: '' }, {}, 'CLAIM_INVALID'],
    ['without jti', { jti: undefined }, {}, 'CLAIM_MISSING'],
    ['without iat', { iat: undefined }, {}, 'CLAIM_MISSING'],
    ['that has expired', { exp: nowSeconds() - 1 }, {}, 'EXPIRED'],
    ['without exp, after 121 seconds', { exp: undefined, iat: nowSeconds() - 121 }, {}, 'EXPIRED'],
    ['issued in the future', { iat: nowSeconds() + 300, exp: nowSeconds() + 400 }, {}, 'NOT_YET_VALID'],
    ['with a lifetime of a year', { exp: nowSeconds() + 365 * 86400 }, {}, 'CLAIM_INVALID'],
  ])('rejects a token %s', async (_, claims, header, code) => {
    expect(await codeOf(verifyLogoutToken(await provider.logoutToken(claims, header), options()))).toBe(code);
  });

  it('rejects an ID token, an unsigned token and a foreign signature', async () => {
    expect(await codeOf(verifyLogoutToken(await provider.idToken(), options()))).toBe('TYPE_MISMATCH');
    const [, payload] = (await provider.logoutToken()).split('.');
    const header = Buffer.from('{"alg":"none","typ":"logout+jwt"}').toString('base64url');
    expect(await codeOf(verifyLogoutToken(`${header}.${payload}.`, options()))).toBe('ALGORITHM_NOT_ALLOWED');
    const other = await makeKey('ES512');
    expect(await codeOf(verifyLogoutToken(await provider.logoutToken(), options({ publicKey: other.pem })))).toBe(
      'SIGNATURE_INVALID',
    );
  });

  it('accepts a token once, even if delivered concurrently', async () => {
    const token = await provider.logoutToken();
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => verifyLogoutToken(token, options())));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await codeOf(verifyLogoutToken(token, options()))).toBe('REPLAYED');
  });

  it('remembers in process memory without a store', async () => {
    const token = await provider.logoutToken();
    const { replayStore: _, ...plain } = options();
    await verifyLogoutToken(token, plain);
    expect(await codeOf(verifyLogoutToken(token, plain))).toBe('REPLAYED');
  });

  it('does not store invalid tokens', async () => {
    const jti = 'shared';
    expect(await codeOf(verifyLogoutToken(await provider.logoutToken({ jti, aud: 'x' }), options()))).toBe(
      'AUDIENCE_MISMATCH',
    );
    await verifyLogoutToken(await provider.logoutToken({ jti }), options());
  });

  it('accepts no token if the store fails', async () => {
    const broken = { remember: () => Promise.reject(new Error('down')), forget: () => {} };
    const verified = verifyLogoutToken(await provider.logoutToken(), options({ replayStore: broken }));
    expect(await codeOf(verified)).toBe('REPLAY_STORE_FAILED');
  });

  it('requires issuer and client', async () => {
    const token = await provider.logoutToken();
    expect(await codeOf(verifyLogoutToken(token, options({ issuer: undefined as never })))).toBe('INVALID_OPTIONS');
    expect(await codeOf(verifyLogoutToken(token, options({ clientId: '' })))).toBe('INVALID_OPTIONS');
  });
});

describe('in-memory replay store', () => {
  it('drops expired entries, and at its limit the oldest first', () => {
    let now = 0;
    const store = new MemoryReplayStore({ max: 3, now: () => now });
    const until = (ms: number) => new Date(ms);
    expect([store.remember('a', until(10)), store.remember('a', until(10))]).toEqual([true, false]);
    now = 10;
    expect(store.remember('a', until(100))).toBe(true);
    for (const id of ['b', 'c', 'd']) store.remember(id, until(100));
    expect(store.remember('d', until(100))).toBe(false);
    expect(store.remember('a', until(100))).toBe(true);
  });
});
