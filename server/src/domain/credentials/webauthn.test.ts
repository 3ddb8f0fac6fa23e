import { sign, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  type CreateDeviations,
  type CreationOptions,
  cbor,
  type GetDeviations,
  map,
  type RequestOptions,
  SoftAuthenticator,
} from '../../../test/authenticator.ts';
import {
  judgeAssertion,
  judgeRegistration,
  type PasskeyExpectation,
  type PasskeyFault,
  passkeyAlgorithms,
  type StoredPasskey,
} from './webauthn.ts';

const origin = 'https://app.example';
const rpId = 'app.example';
const challenge = Buffer.alloc(32, 7).toString('base64url');
const userHandle = Buffer.from('the-user').toString('base64url');

const expectation: PasskeyExpectation = { challenge, origins: [origin], rpId, userVerification: 'required' };
const creation: CreationOptions = {
  challenge,
  rp: { id: rpId, name: 'App' },
  user: { id: userHandle, name: 'user', displayName: 'User' },
  pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
};
const request: RequestOptions = { challenge, rpId };

const authenticator = new SoftAuthenticator();
const credential = newCredential();
const otherCredential = newCredential();
const stored: StoredPasskey = {
  credentialId: credential.id,
  publicKey: cbor(credential.publicKey).toString('base64url'),
  alg: -7,
  signCount: 0,
  backupEligible: false,
  userHandle,
};

function newCredential(deviations: Partial<CreateDeviations> = {}) {
  authenticator.create(creation, { origin, alg: -7, ...deviations });
  const [made] = authenticator.credentials.slice(-1);
  if (!made) throw new Error('no credential');
  return made;
}

/** ES256 unless the deviations say otherwise: fast to generate. */
const registration = (deviations: Partial<CreateDeviations> = {}) =>
  new SoftAuthenticator().create(creation, { origin, alg: -7, ...deviations });
const assertion = (deviations: Partial<GetDeviations> = {}) =>
  authenticator.get(request, { origin, credentialId: credential.id, ...deviations });

/** Certificates for this test's client data whose extensions name http://metadata.internal/latest as revocation list. */
const androidKey = {
  leaf: Buffer.from(
    [
      'MIIB2DCCAX+gAwIBAgIBAjAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARyb290MCAXDTI2MTEyMjE4MzIxMFoYDzIxMjYxMDI5MTgz',
      'MjEwWjAPMQ0wCwYDVQQDDARsZWFmMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDEqEFuVZVyqCalKj0H4Lki8+tXBL+sdEL18v',
      'O6PV0sR6Tj3Whzsk6C8n/KSj2vy7Z14BORMONod6esC/TDmfxKOByTCBxjAMBgNVHRMBAf8EAjAAMDAGA1UdHwQpMCcwJaAjoCGG',
      'H2h0dHA6Ly9tZXRhZGF0YS5pbnRlcm5hbC9sYXRlc3QwRAYKKwYBBAHWeQIBEQQ2MDQCAQMKAQACAQQKAQAEIHiZbu+jaNEHwHee',
      'V2aOFXidoNNEXU/8Z+DodGGAVkTGBAAwADAAMB0GA1UdDgQWBBTFKZ0utUrRDHU8EAhzsCmOLfp1LzAfBgNVHSMEGDAWgBQxjeSA',
      'GNNr7eP+0uEwi36/cKI1bTAKBggqhkjOPQQDAgNHADBEAiBZ64SrLfAfYEUVlfQKtywosqDEWwuZHJbXM1B73ThpXwIgQw8PTOXR',
      '810CIveCOZvm0CajS3Gurd/oXyDvVsKvOoI=',
    ].join(''),
    'base64',
  ),
  root: Buffer.from(
    [
      'MIIBhzCCASygAwIBAgIULGpjpZZb4VqCJ0YlO2ccVFSvpAUwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEcm9vdDAgFw0yNjExMjIx',
      'ODMyMTBaGA8yMTI2MTAyOTE4MzIxMFowDzENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIHX3rstAbrk',
      '1LZc6WQ3kMTUdWML4Ghvf/GEG6HHacG/yHn5x5fSXgHsQ/zI3D0zW88nK975X0ivwa8f37sNPyCjZDBiMA8GA1UdEwEB/wQFMAMB',
      'Af8wMAYDVR0fBCkwJzAloCOgIYYfaHR0cDovL21ldGFkYXRhLmludGVybmFsL2xhdGVzdDAdBgNVHQ4EFgQUMY3kgBjTa+3j/tLh',
      'MIt+v3CiNW0wCgYIKoZIzj0EAwIDSQAwRgIhAPBp+uiih1tjSZ3C80b2QhC8Rcrey6ODFDcGHUvFVicNAiEAuZ1lBjZv6VlJ6YDz',
      '5OnkQhGDWNvRaLuyvI0rijuLTdk=',
    ].join(''),
    'base64',
  ),
};

type Json = Record<string, unknown> & { response: Record<string, unknown> };
const withResponse = (json: Json, members: Record<string, unknown>) => ({
  ...json,
  response: { ...json.response, ...members },
});

async function registrationFault(
  response: unknown,
  over: Partial<PasskeyExpectation> = {},
): Promise<PasskeyFault | 'none'> {
  const verdict = await judgeRegistration(response, { ...expectation, ...over });
  return verdict.valid ? 'none' : verdict.fault;
}

async function assertionFault(
  response: unknown,
  over: Partial<StoredPasskey> = {},
  expected: Partial<PasskeyExpectation> = {},
): Promise<PasskeyFault | 'none'> {
  const verdict = judgeAssertion(response, { ...stored, ...over }, { ...expectation, ...expected });
  return verdict.valid ? 'none' : verdict.fault;
}

describe('the response of a registration', () => {
  it('yields the passkey', async () => {
    const response = registration({
      flags: { BE: true, BS: true },
      signCount: 5,
      aaguid: '00112233445566778899aabbccddeeff',
      transports: ['hybrid', 'internal'],
    });
    const verdict = await judgeRegistration(response, expectation);
    expect(verdict).toEqual({
      valid: true,
      passkey: {
        credentialId: response.id,
        publicKey: expect.stringMatching(/^pQECAyYgASFYI/),
        alg: -7,
        aaguid: '00112233-4455-6677-8899-aabbccddeeff',
        attestedRoot: null,
        signCount: 5,
        transports: ['hybrid', 'internal'],
        backupEligible: true,
        backedUp: true,
        userVerified: true,
        attestationFormat: 'none',
      },
    });
  });

  it.each(passkeyAlgorithms)('is accepted with algorithm %i, which then signs in', async (alg) => {
    const own = new SoftAuthenticator();
    for (const format of ['none', 'packed']) {
      const verdict = await judgeRegistration(own.create(creation, { origin, alg, format }), expectation);
      expect(verdict).toMatchObject({ valid: true, passkey: { alg, attestationFormat: format } });
      if (!verdict.valid) continue;
      expect(await assertionFault(own.get(request, { origin }), verdict.passkey)).toBe('none');
      expect(await assertionFault(own.get(request, { origin, signWith: credential }), verdict.passkey)).toBe(
        'signature',
      );
    }
  });

  it.each<[string, Partial<CreateDeviations>]>([
    ['without transports', { transports: undefined }],
    ['with extensions', { extensions: map(['credProtect', 2]) }],
    ['with an id of 1023 bytes', { idLength: 1023 }],
    ['with further client data', { clientData: { extra: { a: [1] } } }],
    ['without crossOrigin', { clientData: { crossOrigin: undefined } }],
    ['with further members', { json: { futureMember: 1 } }],
  ])('is accepted %s', async (_, deviations) => {
    expect(await registrationFault(registration(deviations))).toBe('none');
  });

  it('is accepted without user verification if that is preferred', async () => {
    const verdict = await judgeRegistration(registration({ flags: { UV: false } }), {
      ...expectation,
      userVerification: 'preferred',
    });
    expect(verdict).toMatchObject({ valid: true, passkey: { userVerified: false } });
  });

  const es256 = credential.publicKey;
  const es256With = (...entries: Parameters<typeof map>) => map(...es256, ...entries);
  const rsa = (n: Buffer, e: Buffer) => map([1, 3], [3, -257], [-1, n], [-2, e]);
  it.each<[string, PasskeyFault, Partial<CreateDeviations>]>([
    ['bytes after the attestation object', 'malformed', { trailingObject: Buffer.from([0]) }],
    ['bytes after the authenticator data', 'malformed', { trailing: Buffer.from([0]) }],
    ['no attested credential data', 'malformed', { flags: { AT: false } }],
    ['an ED flag without extensions', 'malformed', { flags: { ED: true } }],
    ['extensions without the ED flag', 'malformed', { extensions: map(), flags: { ED: false } }],
    ['a statement that is not a map', 'malformed', { statement: [] }],
    ['a format that is not a string', 'malformed', { format: 1 as never }],
    ['an id of 1024 bytes', 'malformed', { idLength: 1024 }],
    ['an empty id', 'malformed', { idLength: 0 }],
    ['another id', 'credential-id', { json: { id: 'AAAA', rawId: 'AAAA' } }],
    ['an id that is not the raw id', 'credential-id', { json: { rawId: 'AAAA' } }],
    ['the type of an assertion', 'type', { type: 'webauthn.get' }],
    ['another challenge', 'challenge', { challenge: 'AAAA' }],
    ['a padded challenge', 'challenge', { challenge: `${challenge}=` }],
    ['another origin', 'origin', { origin: 'https://evil.example', rpId }],
    ['a subdomain', 'origin', { origin: 'https://sub.app.example', rpId }],
    ['the origin in capitals', 'origin', { origin: 'https://APP.example' }],
    ['the origin with a slash', 'origin', { origin: 'https://app.example/' }],
    ['crossOrigin', 'cross-origin', { crossOrigin: true }],
    ['a top origin', 'cross-origin', { topOrigin: origin }],
    ['a top origin of null', 'cross-origin', { clientData: { topOrigin: null } }],
    ['another RP ID', 'rp-id', { rpId: 'evil.example' }],
    ['no user presence', 'user-presence', { flags: { UP: false } }],
    ['no user verification', 'user-verification', { flags: { UV: false } }],
    ['a backup that is not eligible', 'backup', { flags: { BS: true } }],
    ['ES384', 'algorithm', { alg: -35 }],
    ['a key of another type than its algorithm', 'algorithm', { publicKey: es256With([3, -257]) }],
    ['ES256 on P-384', 'algorithm', { publicKey: es256With([-1, 2]) }],
    ['an algorithm that is a string', 'algorithm', { publicKey: es256With([3, '-7']) }],
    ['the algorithm of elliptic curves for RSA', 'algorithm', { publicKey: es256With([1, 3]) }],
    ['a key without algorithm', 'algorithm', { publicKey: map(...[...es256].filter(([name]) => name !== 3)) }],
    ['a private key', 'algorithm', { publicKey: es256With([-4, Buffer.alloc(32, 1)]) }],
    ['a compressed point', 'algorithm', { publicKey: es256With([-3, true]) }],
    ['a point that is not on the curve', 'algorithm', { publicKey: es256With([-3, Buffer.alloc(32, 1)]) }],
    ['a short coordinate', 'algorithm', { publicKey: es256With([-2, Buffer.alloc(31, 1)]) }],
    ['a key that is not a map', 'algorithm', { publicKey: [1, 2] }],
    ['Ed448', 'algorithm', { publicKey: map([1, 1], [3, -8], [-1, 7], [-2, Buffer.alloc(57, 1)]) }],
    ['X25519', 'algorithm', { publicKey: map([1, 1], [3, -8], [-1, 4], [-2, Buffer.alloc(32, 1)]) }],
    ['EdDSA of another key type', 'algorithm', { publicKey: map([1, 2], [3, -8], [-1, 6], [-2, Buffer.alloc(32, 1)]) }],
    [
      'EdDSA with a further member',
      'algorithm',
      { publicKey: map([1, 1], [3, -8], [-1, 6], [-2, Buffer.alloc(32, 1)], [-4, 1]) },
    ],
    [
      'RSA with a further member',
      'algorithm',
      { publicKey: map([1, 3], [3, -257], [-1, Buffer.alloc(256, 0xff)], [-2, Buffer.from([1, 0, 1])], [-3, 1]) },
    ],
    [
      'RSA of another key type',
      'algorithm',
      { publicKey: map([1, 2], [3, -257], [-1, Buffer.alloc(256, 0xff)], [-2, Buffer.from([1, 0, 1])]) },
    ],
    ['RSA of 1024 bits', 'algorithm', { publicKey: rsa(Buffer.alloc(128, 0xff), Buffer.from([1, 0, 1])) }],
    ['RSA of 8192 bits', 'algorithm', { publicKey: rsa(Buffer.alloc(1024, 0xff), Buffer.from([1, 0, 1])) }],
    ['RSA with exponent 1', 'algorithm', { publicKey: rsa(Buffer.alloc(256, 0xff), Buffer.from([0, 0, 1])) }],
    ['a statement of format none', 'attestation', { statement: map(['sig', Buffer.alloc(70)]) }],
    ['an unknown format', 'attestation', { format: 'something' }],
    ['no self signature', 'attestation', { format: 'packed', statement: map(['alg', -7]) }],
    [
      'a wrong self signature',
      'attestation',
      { format: 'packed', statement: map(['alg', -7], ['sig', Buffer.alloc(64)]) },
    ],
    [
      'no algorithm of self attestation',
      'attestation',
      { format: 'packed', statement: map(['sig', Buffer.alloc(64)]) },
    ],
    [
      'an empty list of certificates',
      'attestation',
      { format: 'packed', statement: map(['alg', -7], ['sig', Buffer.alloc(64)], ['x5c', []]) },
    ],
    [
      'certificates that are none',
      'attestation',
      { format: 'fido-u2f', statement: map(['sig', Buffer.alloc(64)], ['x5c', [Buffer.alloc(9)]]) },
    ],
    ['a TPM statement without content', 'attestation', { format: 'tpm' }],
  ])('is refused with %s (%s)', async (_, expected, deviations) => {
    expect(await registrationFault(registration(deviations))).toBe(expected);
  });

  it('is refused with self attestation by another algorithm than the key’s (attestation)', async () => {
    const response = registration({
      format: 'packed',
      statement: (bytes, { privateKey }) => map(['alg', -35], ['sig', sign('sha384', bytes, privateKey)]),
    });
    expect(await registrationFault(response)).toBe('attestation');
  });

  it('is refused with format android-key, and sends no request (attestation)', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network'));
    const { x, y } = new X509Certificate(androidKey.leaf).publicKey.export({ format: 'jwk' });
    const [leafX, leafY] = [x, y].map((value) => Buffer.from(String(value), 'base64url')) as [Buffer, Buffer];
    const response = registration({
      publicKey: map([1, 2], [3, -7], [-1, 1], [-2, leafX], [-3, leafY]),
      format: 'android-key',
      statement: map(['alg', -7], ['sig', Buffer.alloc(70)], ['x5c', [androidKey.leaf, androidKey.root]]),
    });
    expect(await registrationFault(response)).toBe('attestation');
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockRestore();
  });
});

describe('the response of an authentication', () => {
  it('yields counter, backup state and user verification', async () => {
    expect(judgeAssertion(assertion({ signCount: 3 }), stored, expectation)).toEqual({
      valid: true,
      signCount: 3,
      counterRegressed: false,
      backedUp: false,
      userVerified: true,
    });
  });

  it('reports a counter that did not increase', async () => {
    const regressed = async (signCount: number, before: number) => {
      const verdict = judgeAssertion(assertion({ signCount }), { ...stored, signCount: before }, expectation);
      return verdict.valid && verdict.counterRegressed;
    };
    expect(await regressed(0, 0)).toBe(false);
    expect(await regressed(1, 0)).toBe(false);
    expect(await regressed(6, 5)).toBe(false);
    expect(await regressed(5, 5)).toBe(true);
    expect(await regressed(4, 5)).toBe(true);
    expect(await regressed(0, 5)).toBe(true);
  });

  it('may change the backup state of an eligible passkey', async () => {
    const eligible = { ...stored, backupEligible: true };
    for (const BS of [true, false]) {
      const verdict = judgeAssertion(assertion({ flags: { BE: true, BS } }), eligible, expectation);
      expect(verdict).toMatchObject({ valid: true, backedUp: BS });
    }
  });

  it.each<[string, Partial<GetDeviations>]>([
    ['no user handle', { userHandle: null }],
    ['an empty user handle', { userHandle: '' }],
    ['extensions', { extensions: map(['uvm', [[2, 4, 2]]]) }],
    ['further client data', { clientData: { extra: 'x' } }],
  ])('is accepted with %s', async (_, deviations) => {
    expect(await assertionFault(assertion(deviations))).toBe('none');
  });

  it('is accepted with a user handle of null', async () => {
    expect(await assertionFault(withResponse(assertion(), { userHandle: null }))).toBe('none');
  });

  it('is accepted without user verification if that is preferred', async () => {
    const verdict = judgeAssertion(assertion({ flags: { UV: false } }), stored, {
      ...expectation,
      userVerification: 'preferred',
    });
    expect(verdict).toMatchObject({ valid: true, userVerified: false });
  });

  const { signature } = assertion({ signCount: 1 }).response;
  it.each<[string, PasskeyFault, Partial<GetDeviations>]>([
    ['bytes after the authenticator data', 'malformed', { trailing: Buffer.from([0]) }],
    ['an AT flag', 'malformed', { flags: { AT: true } }],
    [
      'attested credential data',
      'malformed',
      { flags: { AT: true }, trailing: Buffer.concat([Buffer.alloc(18), cbor(credential.publicKey)]) },
    ],
    ['an ED flag without extensions', 'malformed', { flags: { ED: true } }],
    ['a padded signature', 'malformed', { signature: `${signature}=` }],
    ['another id', 'credential-id', { credentialId: otherCredential.id }],
    ['an id that is not the raw id', 'credential-id', { json: { rawId: otherCredential.id } }],
    ['another user handle', 'user-handle', { userHandle: 'AAAA' }],
    ['the type of a registration', 'type', { type: 'webauthn.create' }],
    ['another challenge', 'challenge', { challenge: 'AAAA' }],
    ['another origin', 'origin', { origin: 'https://evil.example' }],
    ['crossOrigin', 'cross-origin', { crossOrigin: true }],
    ['a top origin', 'cross-origin', { topOrigin: origin }],
    ['another RP ID', 'rp-id', { rpId: 'evil.example' }],
    ['no user presence', 'user-presence', { flags: { UP: false } }],
    ['no user verification', 'user-verification', { flags: { UV: false } }],
    ['a backup that is not eligible', 'backup', { flags: { BS: true } }],
    ['a changed backup eligibility', 'backup', { flags: { BE: true } }],
    ['a signature by another key', 'signature', { signWith: otherCredential }],
    ['a signature over other data', 'signature', { signature }],
    ['an empty signature', 'signature', { signature: '' }],
    ['a signature that is not DER', 'signature', { signature: 'AAAA' }],
  ])('is refused with %s (%s)', async (_, expected, deviations) => {
    expect(await assertionFault(assertion(deviations))).toBe(expected);
  });

  it('is refused without a user handle if that is required (user-handle)', async () => {
    const required = { userHandleRequired: true };
    expect(await assertionFault(assertion(), {}, required)).toBe('none');
    expect(await assertionFault(assertion({ userHandle: null }), {}, required)).toBe('user-handle');
    expect(await assertionFault(assertion({ userHandle: '' }), {}, required)).toBe('user-handle');
  });

  it.each<[string, PasskeyFault, Partial<StoredPasskey>]>([
    ['of another algorithm than its key', 'algorithm', { alg: -8 }],
    ['with an empty key', 'algorithm', { publicKey: '' }],
    ['with bytes after the key', 'algorithm', { publicKey: `${stored.publicKey}AAAA` }],
    ['with another key', 'signature', { publicKey: cbor(otherCredential.publicKey).toString('base64url') }],
    ['that was eligible for backup', 'backup', { backupEligible: true }],
  ])('is refused for a stored passkey %s (%s)', async (_, expected, over) => {
    expect(await assertionFault(assertion(), over)).toBe(expected);
  });
});

describe.each<[string, () => Json, (response: unknown) => Promise<string>]>([
  ['a registration', () => registration(), registrationFault],
  ['an assertion', () => assertion(), assertionFault],
])('the JSON of %s', (name, make, faultOf) => {
  const type = name === 'a registration' ? 'webauthn.create' : 'webauthn.get';
  const members = JSON.stringify({ challenge, origin }).slice(1);
  it.each<[string, string | Uint8Array]>([
    ['no client data', ''],
    ['client data that is no JSON', '{'],
    ['an array for client data', '[]'],
    ['null for client data', 'null'],
    ['a member twice', `{"type":"${type}","type":"${type}",${members}`],
    ['a member twice, once escaped', `{"type":"${type}","\\u0074ype":"x",${members}`],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from(`{"type":"${type}","x":"`), Buffer.from([0xff]), Buffer.from(`",${members}`)]),
    ],
    ['a challenge that is a number', `{"type":"${type}","challenge":1,"origin":"${origin}"}`],
    ['no type', `{${members}`],
    ['crossOrigin that is a string', `{"type":"${type}","crossOrigin":"false",${members}`],
    ['client data above the limit', `{"type":"${type}","x":"${'x'.repeat(4096)}",${members}`],
  ])('is refused with %s (malformed)', async (_, text) => {
    const clientDataJSON = Buffer.from(text).toString('base64url');
    expect(await faultOf(withResponse(make(), { clientDataJSON }))).toBe('malformed');
  });

  it.each<[string, (json: Json) => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a string', (json) => JSON.stringify(json)],
    ['an array', (json) => [json]],
    ['1 MB of text', () => 'A'.repeat(1_000_000)],
    ['no response', ({ response: _, ...json }) => json],
    ['another type', (json) => ({ ...json, type: 'password' })],
    ['no type', ({ type: _, ...json }) => json],
    ['no id', ({ id: _, ...json }) => json],
    ['an id of 1 MB', (json) => ({ ...json, id: 'A'.repeat(1_000_000), rawId: 'A'.repeat(1_000_000) })],
    ['an id in base64', (json) => ({ ...json, id: '+/+/', rawId: '+/+/' })],
    ['unused bits in the id', (json) => ({ ...json, id: 'AB', rawId: 'AB' })],
    ['client data that is an object', (json) => withResponse(json, { clientDataJSON: {} })],
    ['client data in base64', (json) => withResponse(json, { clientDataJSON: `${json.response['clientDataJSON']}=` })],
    ['a line break', (json) => withResponse(json, { clientDataJSON: `${json.response['clientDataJSON']}\n` })],
  ])('is refused with %s (malformed)', async (_, change) => {
    expect(await faultOf(change(make()))).toBe('malformed');
  });
});

it.each<[string, unknown]>([
  ['not an array', 'usb'],
  ['of 11', Array.from({ length: 11 }, () => 'usb')],
  ['not strings', [1]],
  ['long', ['x'.repeat(33)]],
])('transports are refused if %s (malformed)', async (_, transports) => {
  expect(await registrationFault(withResponse(registration(), { transports }))).toBe('malformed');
});

describe('the test vectors of WebAuthn Level 3, section 16', () => {
  const file = JSON.parse(readFileSync(new URL('webauthn.vectors.json', import.meta.url), 'utf8')) as Fixture;
  const text = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
  const expected = (part: { challenge: string }): PasskeyExpectation => ({
    challenge: text(part.challenge),
    origins: [file.origin],
    rpId: file.rpId,
    userVerification: 'preferred',
  });
  const json = ({ credentialId }: Vector, { challenge: _, ...response }: Record<string, string>) => ({
    id: text(credentialId),
    rawId: text(credentialId),
    type: 'public-key',
    response: Object.fromEntries(Object.entries(response).map(([name, hex]) => [name, text(hex)])),
  });
  const find = (name: string) => file.vectors.find((one) => one.name === name) as Vector;
  const judged = (vector: Vector) =>
    judgeRegistration(json(vector, vector.registration), expected(vector.registration));

  it.each([
    ['none.ES256', 'none', 0],
    ['packed-self.ES256', 'packed', 0],
    ['packed.ES256', 'packed', 0],
    ['packed.RS256', 'packed', 0],
    ['packed.EdDSA', 'packed', 0],
    ['apple.ES256', 'apple', 0],
  ])('accept %s', async (name, attestationFormat, signCount) => {
    const vector = find(name);
    const registered = await judged(vector);
    expect(registered).toMatchObject({ valid: true, passkey: { alg: vector.alg, attestationFormat, signCount } });
    if (!registered.valid) return;
    const { authentication } = vector;
    const from = { ...registered.passkey, userHandle };
    const verdict = judgeAssertion(json(vector, authentication), from, expected(authentication));
    expect(verdict).toMatchObject({ valid: true, signCount: 0, counterRegressed: false });
    const other = { ...json(vector, authentication), response: json(vector, authentication).response };
    other.response['authenticatorData'] = text(authentication.authenticatorData.replace(/00$/, '01'));
    expect(judgeAssertion(other, from, expected(authentication))).toEqual({ valid: false, fault: 'signature' });
  });

  it.each<[string, PasskeyFault]>([
    ['none.ES256.crossOrigin', 'cross-origin'],
    ['none.ES256.topOrigin', 'cross-origin'],
    // The library requires the AAGUID of U2F keys to be zero, as FIDO's conformance tests do; WebAuthn does not.
    ['fido-u2f.ES256', 'attestation'],
  ])('refuse %s (%s)', async (name, fault) => {
    expect(await judged(find(name))).toEqual({ valid: false, fault });
  });

  it('refuse a certified statement that is broken (attestation)', async () => {
    const vector = find('packed.ES256');
    const attestationObject = vector.registration.attestationObject.replace('3045022', '3045023');
    const broken = { ...vector, registration: { ...vector.registration, attestationObject } };
    expect(await judged(broken)).toEqual({ valid: false, fault: 'attestation' });
    const otherSignature = vector.registration.attestationObject.replace('3f19ec4b', '3f19ec4c');
    const other = { ...vector, registration: { ...vector.registration, attestationObject: otherSignature } };
    expect(await judged(other)).toEqual({ valid: false, fault: 'attestation' });
  });
});

interface Vector {
  name: string;
  alg: number;
  credentialId: string;
  registration: { challenge: string; clientDataJSON: string; attestationObject: string };
  authentication: { challenge: string; clientDataJSON: string; authenticatorData: string; signature: string };
}
interface Fixture {
  rpId: string;
  origin: string;
  vectors: Vector[];
}

describe('any input', () => {
  const judged = async (response: unknown) => [
    await judgeRegistration(response, expectation),
    judgeAssertion(response, stored, expectation),
  ];
  /** Every member of `response`, with bytes changed by `edit`. */
  const bytesOf = fc.constantFrom('clientDataJSON', 'attestationObject', 'authenticatorData', 'signature');
  const samples = [
    registration(),
    registration({ alg: -8, format: 'packed', extensions: map(['x', map(['y', [1, true, 'z']])]) }),
    registration({ alg: -257, format: 'packed' }),
    assertion(),
    assertion({ extensions: map(['x', 1]) }),
  ] as Json[];

  it('is never an exception (random values)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (value) => {
        for (const verdict of await judged(value)) expect(verdict.valid).toBe(false);
      }),
    );
  });

  it('is never an exception (random members)', async () => {
    const response = fc.dictionary(bytesOf, fc.oneof(fc.base64String(), fc.string(), fc.anything()));
    await fc.assert(
      fc.asyncProperty(response, async (members) => {
        for (const json of samples)
          for (const verdict of await judged(withResponse(json, members))) expect(typeof verdict.valid).toBe('boolean');
      }),
      { numRuns: 50 },
    );
  });

  it('is never valid with a flipped bit, if it is signed, or truncated', async () => {
    const edits = fc.record({
      sample: fc.constantFrom(...samples),
      name: bytesOf,
      at: fc.nat(),
      bit: fc.nat(7),
      truncate: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(edits, async ({ sample, name, at, bit, truncate }) => {
        const text = sample.response[name];
        if (typeof text !== 'string') return;
        const bytes = Buffer.from(text, 'base64url');
        const offset = at % bytes.length;
        bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit);
        const edited = truncate ? bytes.subarray(0, offset) : bytes;
        const changed = withResponse(sample, { [name]: edited.toString('base64url') });
        const signed = truncate || sample !== samples[0];
        for (const verdict of await judged(changed))
          if (signed) expect(verdict.valid).toBe(false);
          else expect(typeof verdict.valid).toBe('boolean');
      }),
      { numRuns: 1000 },
    );
  });

  it('of any object in an attestation object, or any statement, is never an exception', async () => {
    const { arbitrary } = fc.letrec<{ arbitrary: unknown }>((tie) => ({
      arbitrary: fc.oneof(
        { depthSize: 'small' },
        fc.integer({ min: -70_000, max: 70_000 }),
        fc.string(),
        fc.boolean(),
        fc.uint8Array(),
        fc.array(tie('arbitrary')),
        fc
          .array(fc.tuple(fc.constantFrom('alg', 'sig', 'x5c', 'ver', 1, 3, -1, -2), tie('arbitrary')))
          .map((all) => new Map(all)),
      ),
    }));
    const format = fc.constantFrom('none', 'packed', 'tpm', 'fido-u2f', 'apple', 'android-key');
    await fc.assert(
      fc.asyncProperty(arbitrary, format, async (value, fmt) => {
        const own = { format: fmt, statement: value as never };
        await Promise.all([own, { publicKey: value as never }].map((one) => registrationFault(registration(one))));
      }),
      { numRuns: 200 },
    );
  });

  it('that throws when it is read is malformed', async () => {
    const throwing = new Proxy({}, { get: () => { throw new Error('read'); } }); // biome-ignore format: one line
    expect(await registrationFault(throwing)).toBe('malformed');
    expect(await assertionFault(throwing)).toBe('malformed');
  });
});
