import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { checkProof, type ProofContext, type ProofFault } from './proof.ts';
import { parseStrictJson } from './strict-json.ts';

interface Key {
  privateKey: KeyObject;
  jwk: JWK;
  privateJwk: JWK;
  jkt: string;
}

async function newKey(namedCurve = 'P-256'): Promise<Key> {
  const pair = generateKeyPairSync('ec', { namedCurve });
  const jwk = pair.publicKey.export({ format: 'jwk' }) as JWK;
  const privateJwk = pair.privateKey.export({ format: 'jwk' }) as JWK;
  return { privateKey: pair.privateKey, jwk, privateJwk, jkt: await calculateJwkThumbprint(jwk) };
}

const key = await newKey();
const otherKey = await newKey();
const body = Buffer.from('{"txn":"t"}');
const now = 1_800_000_000;

const claims = {
  act: 'authenticate',
  aud: 'https://id.example/project',
  cid: 'client',
  org: 'https://app.example',
  txn: 'the-transaction',
  nonce: 'the-nonce',
  cc: 'the-challenge',
  bh: createHash('sha256').update(body).digest('base64url'),
  iat: now,
  jti: 'a-proof-of-16-or-more',
};

function context(over: Partial<ProofContext> = {}): ProofContext & { consumed: string[] } {
  const consumed: string[] = [];
  return {
    key: { kind: 'stored', jkt: key.jkt, jwk: key.jwk, alg: 'ES256' },
    act: 'authenticate',
    issuer: 'https://id.example',
    projectId: 'project',
    clientId: 'client',
    origin: 'https://app.example',
    originAllowed: true,
    txn: 'the-transaction',
    stateAllows: true,
    codeChallenge: 'the-challenge',
    jkt: key.jkt,
    body,
    async consumeNonce(nonce) {
      consumed.push(nonce);
      return nonce === 'the-nonce';
    },
    nowSeconds: now,
    consumed,
    ...over,
  };
}

const base64url = (text: string | Buffer) => Buffer.from(text).toString('base64url');

/** A JWS with any header and payload, signed with ES256. */
function jws(header: object | string, payload: object | string, signer = key): string {
  const text = (part: object | string) => base64url(typeof part === 'string' ? part : JSON.stringify(part));
  const input = `${text(header)}.${text(payload)}`;
  const signature = signBytes('sha256', Buffer.from(input), { key: signer.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${base64url(signature)}`;
}

const useHeader = { typ: 'device-proof+jwt', alg: 'ES256', kid: key.jkt };
const registrationHeader = { typ: 'device-proof+jwt', alg: 'ES256', jwk: key.jwk };
const registering = { key: { kind: 'registration' }, act: 'verify-device' } as const;
const registrationClaims = { ...claims, act: 'verify-device' };

async function faultOf(proof: string, over: Partial<ProofContext> = {}): Promise<ProofFault | 'none'> {
  const verdict = await checkProof(proof, context(over));
  return verdict.valid ? 'none' : verdict.fault;
}

describe('a device proof (decisions §8)', () => {
  it('is accepted if every claim matches', async () => {
    const at = context();
    expect(await checkProof(jws(useHeader, claims), at)).toEqual({ valid: true, jkt: key.jkt });
    expect(at.consumed).toEqual(['the-nonce']);
  });

  it('registers only the public members of an exported key', async () => {
    const exported = { ...key.jwk, ext: true, key_ops: ['verify'] };
    const verdict = await checkProof(
      jws({ ...registrationHeader, jwk: exported }, registrationClaims),
      context(registering),
    );
    expect(verdict).toEqual({ valid: true, jkt: key.jkt, publicJwk: key.jwk });
  });

  it('has no cc if the transaction has no code_challenge', async () => {
    const { cc: _, ...without } = claims;
    expect(await faultOf(jws(useHeader, without), { codeChallenge: null })).toBe('none');
    expect(await faultOf(jws(useHeader, without))).toBe('code-challenge');
    expect(await faultOf(jws(useHeader, claims), { codeChallenge: null })).toBe('code-challenge');
  });

  it.each<[string, ProofFault, string]>([
    ['nothing', 'malformed', ''],
    ['two parts', 'malformed', 'e30.e30'],
    ['five parts', 'malformed', 'e30.e30.e30.e30.e30'],
    ['not base64url', 'malformed', 'e+0.e30.e30'],
    ['an empty signature', 'malformed', `${jws(useHeader, claims).split('.').slice(0, 2).join('.')}.`],
    ['no JSON', 'malformed', jws('{', claims)],
    ['an array for a header', 'malformed', jws('[]', claims)],
    ['null for a header', 'malformed', jws('null', claims)],
    ['broken UTF-8', 'malformed', `${base64url(Buffer.from([0x22, 0xff, 0x22]))}.e30.e30`],
    [
      'a member twice in the header',
      'malformed',
      jws(`{"typ":"device-proof+jwt","alg":"ES256","alg":"ES256","kid":"${key.jkt}"}`, claims),
    ],
    [
      'a member twice in the payload',
      'malformed',
      jws(useHeader, JSON.stringify(claims).replace('{', '{"act":"authenticate",')),
    ],
    [
      'a member twice, once escaped',
      'malformed',
      jws(useHeader, JSON.stringify(claims).replace('{', '{"\\u0061ct":"authenticate",')),
    ],
    ['a huge token', 'malformed', jws(useHeader, { ...claims, pad: 'x'.repeat(1_000_000) })],
    ['another typ', 'typ', jws({ ...useHeader, typ: 'JWT' }, claims)],
    ['typ dpop+jwt', 'typ', jws({ ...useHeader, typ: 'dpop+jwt' }, claims)],
    ['no typ', 'typ', jws({ alg: 'ES256', kid: key.jkt }, claims)],
    ['alg none', 'header', jws({ ...useHeader, alg: 'none' }, claims)],
    ['alg HS256', 'header', jws({ ...useHeader, alg: 'HS256' }, claims)],
    ['alg ES512', 'header', jws({ ...useHeader, alg: 'ES512' }, claims)],
    ['alg null', 'header', jws({ ...useHeader, alg: null }, claims)],
    ['crit', 'header', jws({ ...useHeader, crit: ['exp'], exp: now }, claims)],
    ['b64 false', 'header', jws({ ...useHeader, b64: false, crit: ['b64'] }, claims)],
    ['jku', 'header', jws({ ...useHeader, jku: 'https://evil.example' }, claims)],
    ['a jwk in addition to the kid', 'header', jws({ ...useHeader, jwk: key.jwk }, claims)],
    ['a jwk instead of the kid of a known key', 'header', jws(registrationHeader, claims)],
    ['another kid', 'thumbprint', jws({ ...useHeader, kid: otherKey.jkt }, claims)],
    ['another key', 'signature', jws(useHeader, claims, otherKey)],
    ['a claim missing', 'payload', jws(useHeader, { ...claims, nonce: undefined })],
    ['a claim of the wrong type', 'payload', jws(useHeader, { ...claims, iat: String(now) })],
    ['a short jti', 'payload', jws(useHeader, { ...claims, jti: 'short' })],
    ['an unknown step', 'payload', jws(useHeader, { ...claims, act: 'sign-anything' })],
    ['another step', 'act', jws(useHeader, { ...claims, act: 'verify-mfa' })],
    ['another issuer', 'audience', jws(useHeader, { ...claims, aud: 'https://id.evil/project' })],
    ['another project', 'audience', jws(useHeader, { ...claims, aud: 'https://id.example/other' })],
    ['another client', 'audience', jws(useHeader, { ...claims, cid: 'other' })],
    ['another origin', 'origin', jws(useHeader, { ...claims, org: 'https://evil.example' })],
    ['another transaction', 'transaction', jws(useHeader, { ...claims, txn: 'foreign' })],
    ['another code_challenge', 'code-challenge', jws(useHeader, { ...claims, cc: 'foreign' })],
    ['another body', 'body', jws(useHeader, { ...claims, bh: sha256('{"txn":"u"}') })],
    ['another nonce', 'nonce', jws(useHeader, { ...claims, nonce: 'spent' })],
    ['a clock more than five minutes behind', 'time', jws(useHeader, { ...claims, iat: now - 301 })],
    ['a clock more than five minutes ahead', 'time', jws(useHeader, { ...claims, iat: now + 301 })],
  ])('is refused with %s (%s)', async (_, expected, proof) => {
    expect(await faultOf(proof)).toBe(expected);
  });

  it.each<[string, ProofFault, Partial<ProofContext>]>([
    ['from an origin that is not the client’s', 'origin', { originAllowed: false }],
    ['in a state that does not allow the step', 'state', { stateAllows: false }],
    ['in a transaction of another key', 'thumbprint', { jkt: otherKey.jkt }],
    ['in a transaction without a key', 'thumbprint', { jkt: null }],
  ])('is refused %s (%s)', async (_, expected, over) => {
    expect(await faultOf(jws(useHeader, claims), over)).toBe(expected);
  });

  it('tolerates a clock skew of five minutes', async () => {
    expect(await faultOf(jws(useHeader, { ...claims, iat: now - 300 }))).toBe('none');
    expect(await faultOf(jws(useHeader, { ...claims, iat: now + 300 }))).toBe('none');
  });

  it('never uses the public key as an HMAC secret', async () => {
    const header = base64url(JSON.stringify({ ...useHeader, alg: 'HS256' }));
    const input = `${header}.${base64url(JSON.stringify(claims))}`;
    const mac = createHmac('sha256', JSON.stringify(key.jwk)).update(input).digest('base64url');
    expect(await faultOf(`${input}.${mac}`)).toBe('header');
  });

  it('rejects a DER signature', async () => {
    const [header, payload] = jws(useHeader, claims).split('.');
    const signature = signBytes('sha256', Buffer.from(`${header}.${payload}`), key.privateKey);
    expect(await faultOf(`${header}.${payload}.${base64url(signature)}`)).toBe('signature');
  });

  it('does not consume the nonce if an earlier check fails', async () => {
    for (const wrong of [{ act: 'verify-mfa' }, { org: 'https://evil.example' }, { txn: 'x' }, { bh: sha256('x') }]) {
      const at = context();
      await checkProof(jws(useHeader, { ...claims, ...wrong }), at);
      expect(at.consumed).toEqual([]);
    }
  });

  it('by an unregistered key passes every check except the signature', async () => {
    const unknown = { key: { kind: 'unknown' } } as const;
    expect(await faultOf(jws(useHeader, claims, otherKey), unknown)).toBe('none');
    expect(await faultOf(jws(useHeader, { ...claims, aud: 'x' }, otherKey), unknown)).toBe('audience');
    expect(await faultOf(jws({ ...useHeader, kid: otherKey.jkt }, claims), unknown)).toBe('thumbprint');
  });
});

describe('a registration proof', () => {
  const p384 = newKey('P-384');
  it.each<[string, ProofFault, JWK | null]>([
    ['a private key', 'jwk', { ...key.privateJwk }],
    ['a private member of another key type', 'jwk', { ...key.jwk, k: 'AAAA' }],
    ['a point that is not on the curve', 'jwk', { ...key.jwk, y: key.jwk.x as string }],
    ['a short coordinate', 'jwk', { ...key.jwk, x: 'AAAA' }],
    ['a coordinate x that is too long', 'jwk', { ...key.jwk, x: `${key.jwk.x}A` }],
    ['a coordinate y that is too long', 'jwk', { ...key.jwk, y: `${key.jwk.y}A` }],
    ['a coordinate x with something before it', 'jwk', { ...key.jwk, x: `=${key.jwk.x}` }],
    ['a coordinate y with something before it', 'jwk', { ...key.jwk, y: `=${key.jwk.y}` }],
    ['a symmetric key', 'jwk', { kty: 'oct', k: 'AAAA' }],
    ['no key', 'jwk', null],
    ['another key', 'signature', otherKey.jwk],
  ])('is refused with %s (%s)', async (_, expected, jwk) => {
    expect(await faultOf(jws({ ...registrationHeader, jwk }, registrationClaims), registering)).toBe(expected);
  });

  it('is refused with a key on another curve', async () => {
    const { jwk } = await p384;
    expect(await faultOf(jws({ ...registrationHeader, jwk }, registrationClaims), registering)).toBe('jwk');
  });

  it('is refused if its key is not the key of the transaction', async () => {
    const proof = jws({ ...registrationHeader, jwk: otherKey.jwk }, registrationClaims, otherKey);
    expect(await faultOf(proof, registering)).toBe('thumbprint');
  });

  it('is refused with a kid instead of the key', async () => {
    expect(await faultOf(jws(useHeader, registrationClaims), registering)).toBe('header');
  });
});

describe('strict JSON', () => {
  it('allows the same name in several objects, and braces and colons in strings', () => {
    const text = JSON.stringify({ a: { b: '}{:', '"': '"a":' }, b: [{ a: 1 }, { a: 'a\\' }, {}] });
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it('refuses a duplicate name in one object, at any depth and with escapes', () => {
    for (const text of ['{"a":1,"a":1}', '{"x":[{"a":1,"b":{},"a" :2}]}', '{"a":1,"\\u0061":2}']) {
      expect(() => parseStrictJson(text)).toThrow(SyntaxError);
    }
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
