import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { userHandle } from '../../../test/webauthn-cases.ts';
import { checkAssertion, checkRegistration, type PasskeyExpectation, type PasskeyFault } from './webauthn.ts';

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
  const checked = (vector: Vector) =>
    checkRegistration(json(vector, vector.registration), expected(vector.registration));

  it.each([
    ['none.ES256', 'none', 0],
    ['packed-self.ES256', 'packed', 0],
    ['packed.ES256', 'packed', 0],
    ['packed.RS256', 'packed', 0],
    ['packed.EdDSA', 'packed', 0],
    ['apple.ES256', 'apple', 0],
  ])('accept %s', async (name, attestationFormat, signCount) => {
    const vector = find(name);
    const registered = await checked(vector);
    expect(registered).toMatchObject({ valid: true, passkey: { alg: vector.alg, attestationFormat, signCount } });
    if (!registered.valid) return;
    const { authentication } = vector;
    const from = { ...registered.passkey, userHandle };
    const verdict = checkAssertion(json(vector, authentication), from, expected(authentication));
    expect(verdict).toMatchObject({ valid: true, signCount: 0, counterRegressed: false });
    const other = { ...json(vector, authentication), response: json(vector, authentication).response };
    other.response['authenticatorData'] = text(authentication.authenticatorData.replace(/00$/, '01'));
    expect(checkAssertion(other, from, expected(authentication))).toEqual({ valid: false, fault: 'signature' });
  });

  it.each<[string, PasskeyFault]>([
    ['none.ES256.crossOrigin', 'cross-origin'],
    ['none.ES256.topOrigin', 'cross-origin'],
    // The library requires the AAGUID of U2F keys to be zero, as FIDO's conformance tests do; WebAuthn does not.
    ['fido-u2f.ES256', 'attestation'],
  ])('refuse %s (%s)', async (name, fault) => {
    expect(await checked(find(name))).toEqual({ valid: false, fault });
  });

  it('refuse a certified statement that is broken (attestation)', async () => {
    const vector = find('packed.ES256');
    const attestationObject = vector.registration.attestationObject.replace('3045022', '3045023');
    const broken = { ...vector, registration: { ...vector.registration, attestationObject } };
    expect(await checked(broken)).toEqual({ valid: false, fault: 'attestation' });
    const otherSignature = vector.registration.attestationObject.replace('3f19ec4b', '3f19ec4c');
    const other = { ...vector, registration: { ...vector.registration, attestationObject: otherSignature } };
    expect(await checked(other)).toEqual({ valid: false, fault: 'attestation' });
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
