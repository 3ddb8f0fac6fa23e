import { describe, expect, it } from 'vitest';
import { authenticate, createLatchkey, createPkce, init, initialize, LatchkeyError } from './index.ts';

describe('module outside a browser', () => {
  it('imports, and fails only when used', async () => {
    await expect(init('lk_pk_test', 'https://id.example.com')).rejects.toMatchObject({ code: 'NOT_A_BROWSER' });
  });
});

describe('init', () => {
  it('must come first', async () => {
    const error = await authenticate('ada@example.com').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LatchkeyError);
    expect(error).toMatchObject({ code: 'NOT_INITIALIZED', category: 'fatal' });
  });

  it.each([
    ['no key', { apiKey: '' }],
    ['a secret key', { apiKey: 'lk_sk_0123' }],
    ['an invalid baseUrl', { apiKey: 'lk_pk_test', baseUrl: 'ftp://id.example.com' }],
    ['another protocol version', { apiKey: 'lk_pk_test', baseUrl: 'https://a.b', options: { cryptoVersion: 'v2' } }],
    ['a timeout of 0', { apiKey: 'lk_pk_test', baseUrl: 'https://a.b', options: { timeoutMs: 0 } }],
  ])('rejects %s', async (_, config) => {
    await expect(initialize(config)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', category: 'fatal' });
    await expect(createLatchkey().init(config)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('createPkce (RFC 7636)', () => {
  it('gives a fresh verifier of 43 characters and its S256 challenge', async () => {
    const [one, two] = [await createPkce(), await createPkce()];
    expect(one.codeVerifier).toMatch(/^[\w-]{43}$/);
    expect(one.codeVerifier).not.toBe(two.codeVerifier);
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(one.codeVerifier));
    expect(one.codeChallenge).toBe(Buffer.from(digest).toString('base64url'));
    expect(one.codeChallengeMethod).toBe('S256');
  });
});
