/** Checks of a DPoP proof (RFC 9449 section 4.3). */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../../test/clock.ts';
import { type DpopKey, dpopKey } from '../../../../test/dpop.ts';
import { systemRandom } from '../../../adapters/system/random.ts';
import { dpopAlgorithms } from '../../kernel/openid.ts';
import { type Problem, Refusal } from '../../kernel/problem.ts';
import { Vault } from '../../keys/vault.ts';
import { DpopNonces } from './dpop-nonces.ts';
import { DpopProofs } from './dpop-proofs.ts';

const clock = adjustableClock();
const nonces = new DpopNonces({ clock, vault: new Vault(new Uint8Array(32).fill(7), systemRandom) });
const proofs = new DpopProofs({ clock, nonces });
const url = 'https://id.example.com/p/shop/oauth2/token';
const target = { method: 'POST', url };
const key = await dpopKey(clock);
const now = Math.floor(clock.now().getTime() / 1000);

async function problemOf(proof: string, at: Parameters<DpopProofs['check']>[1] = target): Promise<Problem | 'none'> {
  try {
    await proofs.check(proof, at);
    return 'none';
  } catch (error) {
    if (error instanceof Refusal) return error.problem;
    throw error;
  }
}
const reasonOf = async (proof: string, at?: Parameters<DpopProofs['check']>[1]) => {
  const problem = await problemOf(proof, at);
  return problem === 'none' || problem.code !== 'proof-rejected' ? problem : problem.reason;
};
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** The proof with another header or payload; its signature is that of the original. */
function altered(proof: string, { header, payload }: { header?: unknown; payload?: unknown }): string {
  const [first, second, signature] = proof.split('.');
  return [header === undefined ? first : part(header), payload === undefined ? second : part(payload), signature].join(
    '.',
  );
}

describe('a DPoP proof', () => {
  it.each(dpopAlgorithms)('is accepted if signed with %s, and names its key by RFC 7638', async (alg) => {
    const one = await dpopKey(clock, alg);
    const checked = await proofs.check(await one.proof({ url }), target);
    expect(checked).toMatchObject({ jkt: one.jkt, alg, hasNonce: false });
  });

  it.each([
    `${url}?a=1#b`,
    'HTTPS://ID.example.com:443/p/shop/oauth2/token',
    'https://id.example.com/p/x/../shop/oauth2/token',
  ])('may write the address as %s', async (htu) => {
    expect(await reasonOf(await key.proof({ url: htu }))).toBe('none');
  });

  it('is the same under every spelling of the address, so that none allows a replay', async () => {
    const proof = await key.proof({ url });
    const { jtiHash } = await proofs.check(proof, target);
    for (const spelling of [`${url}#1`, `${url}?a=1`, 'https://id.example.com/p/x/../shop/oauth2/token'])
      expect((await proofs.check(proof, { method: 'POST', url: spelling })).jtiHash).toBe(jtiHash);
    expect((await proofs.check(await key.proof({ url }), target)).jtiHash).not.toBe(jtiHash);
  });

  it.each([
    'https://id.example.com/oauth2/token',
    'https://id.example.com/p/other/oauth2/token',
    'https://id.example.com/p/shop/userinfo',
    'http://id.example.com/p/shop/oauth2/token',
    'https://id.example.com:444/p/shop/oauth2/token',
    'https://evil.example/p/shop/oauth2/token',
    'https://id.example.com@evil.example/p/shop/oauth2/token',
    'https://user@id.example.com/p/shop/oauth2/token',
    '/p/shop/oauth2/token',
    `${url}/`,
    `${url}?${'x'.repeat(2048)}`,
    '',
    42,
    undefined,
  ])('is refused for another address, case %#', async (htu) => {
    expect(await reasonOf(await key.proof({ url: '' }, { htu }))).toBe('htu');
  });

  it.each<[string, Record<string, unknown>]>([
    ['htm', { htm: 'GET' }],
    ['htm', { htm: 'post' }],
    ['htm', { htm: undefined }],
    ['iat', { iat: now + 31 }],
    ['iat', { iat: now + 3600 }],
    ['iat', { iat: now - 91 }],
    ['iat', { iat: undefined }],
    ['iat', { iat: String(now) }],
    ['iat', { iat: 1e300 }],
    ['jti', { jti: undefined }],
    ['jti', { jti: '' }],
    ['jti', { jti: 7 }],
    ['jti', { jti: 'x'.repeat(513) }],
    ['exp', { exp: now - 31 }],
    ['nbf', { nbf: now + 31 }],
  ])('is refused for %s, case %#', async (reason, claims) => {
    expect(await reasonOf(await key.proof({ url }, claims))).toBe(reason);
  });

  it.each([{ iat: now + 30 }, { iat: now - 90 }])('tolerates clock skew: %j', async (claims) => {
    expect(await reasonOf(await key.proof({ url }, claims))).toBe('none');
  });

  it('is bound to the access token sent with it', async () => {
    const at = { ...target, accessToken: 'this token' };
    expect(await reasonOf(await key.proof({ url, token: 'this token' }), at)).toBe('none');
    expect(await reasonOf(await key.proof({ url, token: 'another' }), at)).toBe('ath');
    expect(await reasonOf(await key.proof({ url }), at)).toBe('ath');
  });

  it.each<[string, string, (one: DpopKey) => Promise<string>]>([
    ['another typ', 'typ', (one) => one.proof({ url }, {}, { typ: 'JWT' })],
    ['no typ', 'typ', (one) => one.proof({ url }, {}, { typ: undefined })],
    ['no key', 'jwk is missing', (one) => one.proof({ url }, {}, { jwk: undefined })],
    ['a list for a key', 'jwk is missing', (one) => one.proof({ url }, {}, { jwk: [one.jwk] })],
    ['its private key', 'jwk has private members', (one) => one.proof({ url }, {}, { jwk: one.privateJwk })],
    [
      'a symmetric key',
      'jwk has private members',
      (one) => one.proof({ url }, {}, { jwk: { kty: 'oct', k: 'c2VjcmV0' } }),
    ],
    ['an empty key', 'jwk.kty', (one) => one.proof({ url }, {}, { jwk: {} })],
    ['a point off the curve', 'jwk.y', (one) => one.proof({ url }, {}, { jwk: { ...one.jwk, x: one.jwk.y } })],
    ['a key for encryption', 'signature or key', (one) => one.proof({ url }, {}, { jwk: { ...one.jwk, use: 'enc' } })],
    [
      'a key of another algorithm',
      'signature or key',
      (one) => one.proof({ url }, {}, { jwk: { ...one.jwk, alg: 'ES384' } }),
    ],
    ['an unknown kind of key', 'jwk.kty', (one) => one.proof({ url }, {}, { jwk: { ...one.jwk, kty: 'X' } })],
    ['a key of numbers', 'jwk.crv', (one) => one.proof({ url }, {}, { jwk: { kty: 'EC', crv: 1, x: 2, y: 3 } })],
    [
      'crit',
      'signature or key',
      async (one) =>
        altered(await one.proof({ url }), {
          header: { alg: 'ES256', typ: 'dpop+jwt', jwk: one.jwk, crit: ['x'], x: 1 },
        }),
    ],
    ['another key', 'signature or key', async (one) => one.proof({ url }, {}, { jwk: (await dpopKey(clock)).jwk })],
    [
      'another payload',
      'signature or key',
      async (one) => altered(await one.proof({ url }), { payload: { htm: 'POST' } }),
    ],
    ['no signature', 'not a compact JWS', async (one) => (await one.proof({ url })).replace(/[^.]*$/, '')],
    [
      'alg none',
      'alg',
      async (one) => altered(await one.proof({ url }), { header: { alg: 'none', typ: 'dpop+jwt', jwk: one.jwk } }),
    ],
    [
      'alg HS256',
      'alg',
      async (one) => altered(await one.proof({ url }), { header: { alg: 'HS256', typ: 'dpop+jwt', jwk: one.jwk } }),
    ],
    ['no alg', 'alg', async (one) => altered(await one.proof({ url }), { header: { typ: 'dpop+jwt', jwk: one.jwk } })],
    ['no header', 'header', async (one) => altered(await one.proof({ url }), { header: 'x' })],
    ['two proofs', 'not a compact JWS', async (one) => `${await one.proof({ url })}, ${await one.proof({ url })}`],
    ['another encoding', 'not a compact JWS', async (one) => `${await one.proof({ url })}=`],
    ['too much', 'too long', (one) => one.proof({ url }, { more: 'x'.repeat(4096) })],
    ['nothing', 'not a compact JWS', async () => ''],
  ])('is refused with %s', async (_what, reason, make) => {
    expect(await reasonOf(await make(key))).toBe(reason);
  });

  it('is refused if its public key is the secret of a keyed hash', async () => {
    const input = `${part({ alg: 'HS256', typ: 'dpop+jwt', jwk: key.jwk })}.${part({ htm: 'POST', htu: url, iat: now, jti: 'a' })}`;
    const signature = createHmac('sha256', JSON.stringify(key.jwk)).update(input).digest('base64url');
    expect(await reasonOf(`${input}.${signature}`)).toBe('alg');
  });

  it.each([1024, 8192])('is refused with an RSA key of %i bits', async (bits) => {
    const n = Buffer.alloc(bits / 8, 0xff).toString('base64url');
    expect(await reasonOf(await key.proof({ url }, {}, { jwk: { kty: 'RSA', n, e: 'AQAB' } }))).toBe('jwk.n');
  });

  it.each(['AQ', 'Ag', 'Aw', 'AQAA', 'AQAAAAE'])('is refused with an RSA key of the exponent %s', async (e) => {
    const n = Buffer.alloc(256, 0xff).toString('base64url');
    expect(await reasonOf(await key.proof({ url }, {}, { jwk: { kty: 'RSA', n, e } }))).toBe('jwk.e');
  });

  it('is refused with an Ed25519 key that matches any message', async () => {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: `AQ${'A'.repeat(41)}` };
    const header = { alg: 'EdDSA', typ: 'dpop+jwt', jwk };
    expect(await reasonOf(altered(await key.proof({ url }), { header }))).toBe('jwk.x');
  });

  it('is identified by key, address and jti', async () => {
    const other = await dpopKey(clock);
    const hash = async (of: DpopKey, jti: string, htu = url) =>
      (await proofs.check(await of.proof({ url: htu }, { jti }), { method: 'POST', url: htu })).jtiHash;
    const hashes = [
      await hash(key, 'a'),
      await hash(key, 'b'),
      await hash(other, 'a'),
      await hash(key, 'a', `${url}2`),
    ];
    expect(new Set(hashes).size).toBe(4);
    expect(await hash(key, 'a')).toBe(hashes[0]);
  });
});

describe('a nonce', () => {
  it('is the same in each process with the master key, and valid for 5 to 10 minutes', async () => {
    const nonce = nonces.current();
    const sibling = new DpopNonces({ clock, vault: new Vault(new Uint8Array(32).fill(7), systemRandom) });
    const stranger = new DpopNonces({ clock, vault: new Vault(new Uint8Array(32).fill(8), systemRandom) });
    expect([sibling.isValid(nonce), stranger.isValid(nonce), nonces.isValid('')]).toEqual([true, false, false]);
    clock.turn(300);
    expect(nonces.current()).not.toBe(nonce);
    expect(await proofs.check(await key.proof({ url }, { nonce }), target)).toMatchObject({ hasNonce: true });
    clock.turn(300);
    expect(await problemOf(await key.proof({ url }, { nonce }))).toEqual({ code: 'nonce-rejected' });
    expect(await problemOf(await key.proof({ url }, { nonce: 5 }))).toEqual({ code: 'nonce-rejected' });
  });

  it('of a process whose clock is ahead is valid', () => {
    const edge = adjustableClock(new Date(Math.ceil(clock.now().getTime() / 300_000) * 300_000 - 1000));
    const vault = new Vault(new Uint8Array(32).fill(7), systemRandom);
    const here = new DpopNonces({ clock: edge, vault });
    const there = new DpopNonces({ clock: { now: () => new Date(edge.now().getTime() + 2000) }, vault });
    expect(there.current()).not.toBe(here.current());
    expect([here.isValid(there.current()), there.isValid(here.current())]).toEqual([true, true]);
  });
});
