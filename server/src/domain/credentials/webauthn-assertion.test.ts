import { describe, expect, it } from 'vitest';
import { cbor, type GetDeviations, map } from '../../../test/authenticator.ts';
import {
  assertion,
  assertionFault,
  credential,
  expectation,
  neighbors,
  origin,
  otherCredential,
  stored,
  withResponse,
} from '../../../test/webauthn-cases.ts';
import { checkAssertion, type PasskeyFault, type StoredPasskey } from './webauthn.ts';

describe('the response of an authentication', () => {
  it('yields counter, backup state and user verification', async () => {
    expect(checkAssertion(assertion({ signCount: 3 }), stored, expectation)).toEqual({
      valid: true,
      signCount: 3,
      counterRegressed: false,
      backupEligible: false,
      backedUp: false,
      userVerified: true,
    });
  });

  it('reports a counter that did not increase', async () => {
    const regressed = async (signCount: number, before: number) => {
      const verdict = checkAssertion(assertion({ signCount }), { ...stored, signCount: before }, expectation);
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
      const verdict = checkAssertion(assertion({ flags: { BE: true, BS } }), eligible, expectation);
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
    const verdict = checkAssertion(assertion({ flags: { UV: false } }), stored, {
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

  it.each(neighbors)('is refused on %s, whose RP ID hash is right (origin)', async (host) => {
    const over = { origins: ['https://login.example.com'], rpId: 'login.example.com' };
    const made = (at: string) => assertion({ origin: `https://${at}`, rpId: over.rpId });
    expect(await assertionFault(made('login.example.com'), {}, over)).toBe('none');
    expect(await assertionFault(made(host), {}, over)).toBe('origin');
  });

  it('is refused without a user handle if that is required (user-handle)', async () => {
    const required = { userHandleRequired: true };
    expect(await assertionFault(assertion(), {}, required)).toBe('none');
    expect(await assertionFault(assertion({ userHandle: null }), {}, required)).toBe('user-handle');
    expect(await assertionFault(assertion({ userHandle: '' }), {}, required)).toBe('user-handle');
  });

  it.each<[string, PasskeyFault, Partial<StoredPasskey>]>([
    ['of a different algorithm than its key', 'algorithm', { alg: -8 }],
    ['with an empty key', 'algorithm', { publicKey: '' }],
    ['with bytes after the key', 'algorithm', { publicKey: `${stored.publicKey}AAAA` }],
    ['with another key', 'signature', { publicKey: cbor(otherCredential.publicKey).toString('base64url') }],
    ['that was eligible for backup', 'backup', { backupEligible: true }],
  ])('is refused for a stored passkey %s (%s)', async (_, expected, over) => {
    expect(await assertionFault(assertion(), over)).toBe(expected);
  });
});
