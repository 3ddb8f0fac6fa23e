import { createHmac, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeKey, nowSeconds, type TestKey } from '../test/provider.ts';
import { InvalidPublicKeyError, JWTVerificationError, LatchkeyNodeError } from './error.ts';
import { type VerifyJwtOptions, verifyJwt } from './verify-jwt.ts';

let rsa: TestKey;
let p521: TestKey;
let p256: TestKey;
let edwards: TestKey;

beforeAll(async () => {
  [rsa, p521, p256, edwards] = await Promise.all([
    makeKey('RS256'),
    makeKey('ES512'),
    makeKey('ES256'),
    makeKey('EdDSA'),
  ]);
});

const sign = (key: TestKey, claims: JWTPayload = {}, header: object = {}) =>
  new SignJWT({ sub: 'ada', ...claims }).setProtectedHeader({ alg: key.alg, ...header }).sign(key.privateKey);

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

async function refused(verified: Promise<unknown>): Promise<JWTVerificationError> {
  const error = await verified.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(JWTVerificationError);
  expect(error).toBeInstanceOf(LatchkeyNodeError);
  return error as JWTVerificationError;
}

describe('verifyJwt', () => {
  it('returns the claims of a validly signed token, RS256 by default', async () => {
    expect(await verifyJwt(await sign(rsa, { role: 'admin' }), rsa.pem)).toEqual({ sub: 'ada', role: 'admin' });
  });

  it('accepts only RS256 by default', async () => {
    const token = await sign(p521);
    expect((await refused(verifyJwt(token, p521.pem))).code).toBe('ALGORITHM_NOT_ALLOWED');
    expect(await verifyJwt(token, p521.pem, { algorithms: ['ES512'] })).toEqual({ sub: 'ada' });
  });

  it.each(['EdDSA', 'Ed25519'])('verifies Ed25519 under the name %s', async (alg) => {
    const token = await new SignJWT({ sub: 'ada' }).setProtectedHeader({ alg }).sign(edwards.privateKey);
    expect(await verifyJwt(token, edwards.pem, { algorithms: [alg] })).toEqual({ sub: 'ada' });
  });

  it('accepts the key as PEM, PEM with literal \
, Buffer, DER and path', async () => {
    const token = await sign(rsa);
    const path = join(await mkdtemp(join(tmpdir(), 'latchkey-key-')), 'key.pem');
    await writeFile(path, rsa.pem);
    const der = Buffer.from(rsa.pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
    for (const key of [rsa.pem, rsa.pem.trim().replaceAll('\n', '\\n'), Buffer.from(rsa.pem), der, path]) {
      expect(await verifyJwt(token, key)).toEqual({ sub: 'ada' });
    }
  });

  it('uses the key’s type, never the token’s header', async () => {
    const algorithms = ['RS256', 'ES256', 'ES512', 'EdDSA'];
    expect((await refused(verifyJwt(await sign(rsa), p521.pem, { algorithms }))).code).toBe('KEY_TYPE_MISMATCH');
    expect((await refused(verifyJwt(await sign(p256), p521.pem, { algorithms }))).code).toBe('KEY_TYPE_MISMATCH');
    expect((await refused(verifyJwt(await sign(edwards), rsa.pem, { algorithms }))).code).toBe('KEY_TYPE_MISMATCH');
  });

  it('rejects "none", in any spelling', async () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
      for (const signature of ['', 'AAAA']) {
        const token = `${part({ alg })}.${part({ sub: 'ada' })}.${signature}`;
        expect((await refused(verifyJwt(token, rsa.pem))).code).toBe('ALGORITHM_NOT_ALLOWED');
      }
    }
  });

  it('rejects HS256 keyed with the public key, and rejects it as an option', async () => {
    const input = `${part({ alg: 'HS256' })}.${part({ sub: 'ada' })}`;
    const token = `${input}.${createHmac('sha256', rsa.pem).update(input).digest('base64url')}`;
    expect((await refused(verifyJwt(token, rsa.pem))).code).toBe('ALGORITHM_NOT_ALLOWED');
    const listed = await refused(verifyJwt(token, rsa.pem, { algorithms: ['RS256', 'HS256'] }));
    expect(listed.code).toBe('INVALID_OPTIONS');
    expect(listed.message).toContain('HS256');
  });

  it('checks the times, without leeway by default', async () => {
    const expired = await sign(rsa, { exp: nowSeconds() - 5 });
    expect((await refused(verifyJwt(expired, rsa.pem))).code).toBe('EXPIRED');
    expect(await verifyJwt(expired, rsa.pem, { leeway: 60 })).toMatchObject({ sub: 'ada' });
    const early = await sign(rsa, { nbf: nowSeconds() + 30 });
    expect((await refused(verifyJwt(early, rsa.pem))).code).toBe('NOT_YET_VALID');
    expect(await verifyJwt(early, rsa.pem, { leeway: 60 })).toMatchObject({ sub: 'ada' });
  });

  it('checks issuer, audience and nonce if given', async () => {
    const token = await sign(rsa, { iss: 'https://id.example.com', aud: ['a', 'b'], nonce: 'n-1' });
    const good = { issuer: 'https://id.example.com', audience: 'b', nonce: 'n-1' };
    expect(await verifyJwt(token, rsa.pem, good)).toMatchObject({ aud: ['a', 'b'] });
    const codeFor = async (options: VerifyJwtOptions, of = token) =>
      (await refused(verifyJwt(of, rsa.pem, options))).code;
    expect(await codeFor({ issuer: 'https://id.example.com/' })).toBe('ISSUER_MISMATCH');
    expect(await codeFor({ audience: 'c' })).toBe('AUDIENCE_MISMATCH');
    expect(await codeFor({ nonce: 'n-2' })).toBe('NONCE_MISMATCH');
    const bare = await sign(rsa);
    expect(await codeFor({ issuer: 'https://id.example.com' }, bare)).toBe('ISSUER_MISMATCH');
    expect(await codeFor({ audience: 'a' }, bare)).toBe('AUDIENCE_MISMATCH');
    expect(await codeFor({ nonce: 'n-1' }, bare)).toBe('NONCE_MISMATCH');
  });

  it('requires an expiry and an audience only on request', async () => {
    const complete = { exp: nowSeconds() + 60, aud: 'a' };
    const strict = { audience: 'a', requiredClaims: ['exp'] };
    expect(await verifyJwt(await sign(rsa, complete), rsa.pem, strict)).toMatchObject(complete);
    for (const name of ['exp', 'aud'] as const) {
      const { [name]: _, ...lacking } = complete;
      const token = await sign(rsa, lacking);
      expect(await verifyJwt(token, rsa.pem)).toMatchObject(lacking);
      const { code, message } = await refused(verifyJwt(token, rsa.pem, strict));
      expect([code, message]).toEqual(
        name === 'exp'
          ? ['CLAIM_MISSING', expect.stringContaining('The token has no exp.')]
          : ['AUDIENCE_MISMATCH', expect.any(String)],
      );
    }
  });

  it('rejects options that would silently disable a check', async () => {
    const token = await sign(rsa);
    const options = [
      { audience: '' },
      { issuer: [] },
      { nonce: '' },
      { leeway: Number.NaN },
      { leeway: -1 },
      { leeway: '60' },
      { algorithms: [] },
      { algorithms: ['none'] },
      { requiredClaims: [] },
      { requiredClaims: [undefined] },
      { requiredClaims: 7 },
    ];
    for (const one of options) {
      expect((await refused(verifyJwt(token, rsa.pem, one as VerifyJwtOptions))).code).toBe('INVALID_OPTIONS');
    }
  });

  it('rejects altered, truncated, re-signed and non-canonical tokens', async () => {
    const token = await sign(rsa);
    const [header = '', , signature = ''] = token.split('.');
    const forged = `${header}.${part({ sub: 'eve' })}.${signature}`;
    expect((await refused(verifyJwt(forged, rsa.pem))).code).toBe('SIGNATURE_INVALID');
    expect((await refused(verifyJwt(await sign(await makeKey('RS256')), rsa.pem))).code).toBe('SIGNATURE_INVALID');
    const spelling = ['=', '==', ' ', '\n'].map((end) => token + end);
    for (const bad of ['', 'a', 'a.b', token.slice(0, -4).replace(/\.[^.]*$/, ''), `${token}.`, ...spelling, 7, null]) {
      expect((await refused(verifyJwt(bad as string, rsa.pem))).code).toBe('MALFORMED');
    }
  });

  it('rejects malformed headers and unknown critical parameters', async () => {
    for (const header of ['null', '[]', '7', '{', '{"alg":7}', '{"alg":"RS256","kid":7}']) {
      const token = `${part(header)}.${part({})}.AAAA`;
      expect((await refused(verifyJwt(token, rsa.pem))).code).toBe('MALFORMED');
    }
    const critical = `${part({ alg: 'RS256', crit: ['exp'], exp: 1 })}.${part({})}.AAAA`;
    expect((await refused(verifyJwt(critical, rsa.pem))).code).toBe('MALFORMED');
  });

  it('rejects claims of the wrong type', async () => {
    expect((await refused(verifyJwt(await sign(rsa, { exp: 'soon' as never }), rsa.pem))).code).toBe('CLAIM_INVALID');
  });

  it('states the fix, and has a cause', async () => {
    const error = await refused(verifyJwt(await sign(rsa, { exp: 1 }), rsa.pem));
    expect(error.name).toBe('JWTVerificationError');
    expect(error.message).toBe(
      'The token has expired. Have the user sign in again; if the token is new, set this machine’s clock, or allow a leeway in seconds.',
    );
    expect(error.cause).toMatchObject({ code: 'ERR_JWT_EXPIRED' });
  });
});

describe('public key', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const faults: [string, string | Buffer, string][] = [
    ['empty', '', 'KEY_MISSING'],
    ['an unset environment variable', process.env['LATCHKEY_NO_SUCH_KEY'] as never, 'KEY_MISSING'],
    ['null', null as never, 'KEY_MISSING'],
    ['neither text nor bytes', 5 as never, 'KEY_MALFORMED'],
    ['an object', { kty: 'RSA' } as never, 'KEY_MALFORMED'],
    ['neither PEM nor file', '/nowhere/key.pem', 'KEY_FILE_UNREADABLE'],
    ['random text', 'abc', 'KEY_FILE_UNREADABLE'],
    ['a broken PEM', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'KEY_MALFORMED'],
    ['a truncated PEM', '-----BEGIN PUBLIC KEY-----\nMFkwEwYH', 'KEY_MALFORMED'],
    ['bytes that are not a key', Buffer.from([1, 2, 3]), 'KEY_MALFORMED'],
    ['far too long', Buffer.alloc(100_000, 65), 'KEY_MALFORMED'],
    ['a private key', privateKey.export({ type: 'pkcs8', format: 'pem' }), 'KEY_IS_PRIVATE'],
    ['a private key in DER', privateKey.export({ type: 'pkcs8', format: 'der' }), 'KEY_IS_PRIVATE'],
    ['an encryption key', spki('x25519'), 'KEY_TYPE_UNSUPPORTED'],
    ['RSA of 1024 bits', spki('rsa', { modulusLength: 1024 }), 'KEY_TYPE_UNSUPPORTED'],
    ['RSA with the exponent 3', spki('rsa', { modulusLength: 2048, publicExponent: 3 }), 'KEY_TYPE_UNSUPPORTED'],
    ['an Ed25519 point of small order', edwardsKey(1), 'KEY_TYPE_UNSUPPORTED'],
    ['Ed25519 in another encoding', edwardsKey(0xf0, ...Array(30).fill(0xff), 0x7f), 'KEY_TYPE_UNSUPPORTED'],
    ['an unsupported curve', spki('ec', { namedCurve: 'secp256k1' }), 'KEY_TYPE_UNSUPPORTED'],
  ];

  it.each(faults)('that is %s is an InvalidPublicKeyError', async (_, key, code) => {
    const error = await refused(verifyJwt('a.b.c', key));
    expect(error).toBeInstanceOf(InvalidPublicKeyError);
    expect(error).toMatchObject({ name: 'InvalidPublicKeyError', code });
  });

  it('is never contained in an error', async () => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const error = await refused(verifyJwt('a.b.c', pem));
    expect(JSON.stringify([error.message, error.cause, error])).not.toContain(pem.split('\n')[1]);
  });
});

function spki(type: string, options: object = {}): string {
  const { publicKey } = generateKeyPairSync(type as 'rsa', options as { modulusLength: number });
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

/** SPKI (RFC 8410 §4) of an Ed25519 key. @param octets its first octets; the others are zero */
function edwardsKey(...octets: number[]): string {
  const x = Buffer.concat([Buffer.from(octets), Buffer.alloc(32 - octets.length)]);
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), x]);
  return `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----`;
}
