import { afterEach, describe, expect, it, vi } from 'vitest';
import { DelegationClient } from './delegation/client.ts';
import * as errors from './error.ts';
import { exchangeCodeForClaims } from './exchange.ts';
import { verifyLogoutToken } from './logout-token.ts';
import { createLatchkeyMiddleware } from './middleware.ts';
import { verifyJwt } from './verify-jwt.ts';

const { DelegationError, InvalidPublicKeyError, JWTVerificationError, LatchkeyNodeError, OAuthExchangeError } = errors;

describe('errors', () => {
  it('are instances of their classes in another copy of the library', async () => {
    vi.resetModules();
    const other = await import('./error.ts');
    expect(other.JWTVerificationError).not.toBe(JWTVerificationError);
    const error = new other.InvalidPublicKeyError('KEY_MISSING', 'x');
    for (const type of [InvalidPublicKeyError, JWTVerificationError, LatchkeyNodeError]) {
      expect(error instanceof type).toBe(true);
    }
    expect(error instanceof OAuthExchangeError).toBe(false);
    expect(new other.JWTVerificationError('EXPIRED', 'x') instanceof InvalidPublicKeyError).toBe(false);
    for (const value of [null, undefined, 'x', {}, new Error('x')])
      expect(value instanceof JWTVerificationError).toBe(false);
  });

  it('of a subclass of an application differ from their base', () => {
    class OwnError extends JWTVerificationError {}
    expect(new OwnError('EXPIRED', 'x') instanceof JWTVerificationError).toBe(true);
    expect(new OwnError('EXPIRED', 'x') instanceof OwnError).toBe(true);
    expect(new JWTVerificationError('EXPIRED', 'x') instanceof OwnError).toBe(false);
  });
});

describe('absent arguments', () => {
  const client = () => DelegationClient.prototype;
  const absent = [undefined, null] as unknown as [never, never];

  it.each(absent)('%s: each function throws an error of this library', async (none: never) => {
    const calls: [type: Function, call: () => unknown][] = [
      [OAuthExchangeError, () => exchangeCodeForClaims(none)],
      [JWTVerificationError, () => verifyLogoutToken(none, none)],
      [JWTVerificationError, () => verifyJwt(none, none)],
      [DelegationError, () => DelegationClient.fromKeys(none)],
      [DelegationError, () => DelegationClient.fromEnv(none ?? {})],
      [DelegationError, () => client().initiateMfaChange(none)],
      [DelegationError, () => client().verifyMfaChange(none)],
      [DelegationError, () => client().getUserCredentials(none)],
      [OAuthExchangeError, () => createLatchkeyMiddleware(none)],
    ];
    for (const [type, call] of calls) {
      const error = await Promise.resolve()
        .then(call)
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(type);
    }
  });

  it('null is not a set of options', async () => {
    await expect(verifyJwt('a.b.c', 'x', null as never)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });
});

describe('createLatchkeyMiddleware', () => {
  const good = { baseUrl: 'https://id.example.com', clientId: 'c', apiKey: 'lk_sk_x' };

  it.each([
    [{ clientId: '' }, 'clientId is required.'],
    [{ apiKey: undefined }, 'apiKey is required.'],
    [{ apiKey: 'lk_pk_x' }, 'publishable key'],
    [{ apiKey: 'a\nb' }, 'apiKey contains invalid characters.'],
    [{ baseUrl: 'id.example.com' }, 'baseUrl'],
    [{ baseUrl: 'http://id.example.com' }, 'Use https'],
    [{ leeway: -1 }, 'leeway'],
  ])('refuses %j immediately', (change, problem) => {
    expect(() => createLatchkeyMiddleware({ ...good, ...change } as typeof good)).toThrow(problem);
  });
});

describe('allowInsecureHttp', () => {
  afterEach(() => vi.restoreAllMocks());

  it('allows http to other hosts, and logs it once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const options = {
      code: 'c',
      oauthTokenUrl: 'http://latchkey.invalid/oauth2/token',
      jwksUrl: 'http://latchkey.invalid/.well-known/jwks.json',
      clientId: 'c',
      apiKey: 'lk_sk_x',
    };
    await expect(exchangeCodeForClaims(options)).rejects.toMatchObject({ code: 'INSECURE_URL' });
    const trust = { clientId: 'c', issuer: 'http://latchkey.invalid', jwksUrl: options.jwksUrl };
    await expect(verifyLogoutToken('a.b.c', trust)).rejects.toMatchObject({ code: 'JWKS_INSECURE_URL' });
    expect(warn).not.toHaveBeenCalled();
    for (const _ of [1, 2]) {
      const refused = exchangeCodeForClaims({ ...options, allowInsecureHttp: true });
      await expect(refused).rejects.toMatchObject({ code: 'JWKS_UNAVAILABLE' });
    }
    expect(warn).toHaveBeenCalledOnce();
    // Another caller's permission is not this caller's.
    await expect(verifyLogoutToken('a.b.c', trust)).rejects.toMatchObject({ code: 'JWKS_INSECURE_URL' });
  });
});
