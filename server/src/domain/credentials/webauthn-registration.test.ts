import { sign, X509Certificate } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { type CreateDeviations, map, SoftAuthenticator } from '../../../test/authenticator.ts';
import {
  assertionFault,
  challenge,
  creation,
  credential,
  expectation,
  neighbors,
  origin,
  registration,
  registrationFault,
  request,
  rpId,
  withResponse,
} from '../../../test/webauthn-cases.ts';
import { checkRegistration, type PasskeyFault, passkeyAlgorithms } from './webauthn.ts';

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

describe('the response of a registration', () => {
  it('yields the passkey', async () => {
    const response = registration({
      flags: { BE: true, BS: true },
      signCount: 5,
      aaguid: '00112233445566778899aabbccddeeff',
      transports: ['hybrid', 'internal'],
    });
    const verdict = await checkRegistration(response, expectation);
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
      const verdict = await checkRegistration(own.create(creation, { origin, alg, format }), expectation);
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
    const verdict = await checkRegistration(registration({ flags: { UV: false } }), {
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
    ['a key of a different type than its algorithm', 'algorithm', { publicKey: es256With([3, -257]) }],
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
    [
      'RSA filled with zeros',
      'algorithm',
      { publicKey: rsa(Buffer.concat([Buffer.alloc(8), Buffer.alloc(248, 0xff)]), Buffer.from([1, 0, 1])) },
    ],
    [
      'Ed25519 of small order',
      'algorithm',
      { publicKey: map([1, 1], [3, -8], [-1, 6], [-2, Buffer.concat([Buffer.of(1), Buffer.alloc(31)])]) },
    ],
    [
      'Ed25519 beyond the prime',
      'algorithm',
      { publicKey: map([1, 1], [3, -8], [-1, 6], [-2, Buffer.from([0xf0, ...Array(30).fill(0xff), 0x7f])]) },
    ],
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
      'malformed certificates',
      'attestation',
      { format: 'fido-u2f', statement: map(['sig', Buffer.alloc(64)], ['x5c', [Buffer.alloc(9)]]) },
    ],
    ['a TPM statement without content', 'attestation', { format: 'tpm' }],
  ])('is refused with %s (%s)', async (_, expected, deviations) => {
    expect(await registrationFault(registration(deviations))).toBe(expected);
  });

  it.each(neighbors)('is refused on %s, with the right RP ID hash (origin)', async (host) => {
    const over = { origins: ['https://login.example.com'], rpId: 'login.example.com' };
    const made = (at: string) => registration({ origin: `https://${at}`, rpId: over.rpId });
    expect(await registrationFault(made('login.example.com'), over)).toBe('none');
    expect(await registrationFault(made(host), over)).toBe('origin');
  });

  it('is refused with self attestation by a different algorithm than the key’s (attestation)', async () => {
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

it.each<[string, unknown]>([
  ['not an array', 'usb'],
  ['of 11', Array.from({ length: 11 }, () => 'usb')],
  ['not strings', [1]],
  ['long', ['x'.repeat(33)]],
])('transports are refused if %s (malformed)', async (_, transports) => {
  expect(await registrationFault(withResponse(registration(), { transports }))).toBe('malformed');
});
