/** Responses of a software authenticator for tests of `credentials/webauthn.ts`, each with one deviation. */
import {
  checkAssertion,
  checkRegistration,
  type PasskeyExpectation,
  type PasskeyFault,
  passkeyAlgorithms,
  type StoredPasskey,
} from '../src/domain/credentials/webauthn.ts';
import {
  type CreateDeviations,
  type CreationOptions,
  cbor,
  type GetDeviations,
  type RequestOptions,
  SoftAuthenticator,
} from './authenticator.ts';

export const origin = 'https://app.example';
export const rpId = 'app.example';
export const challenge = Buffer.alloc(32, 7).toString('base64url');
export const userHandle = Buffer.from('the-user').toString('base64url');

export const expectation: PasskeyExpectation = { challenge, origins: [origin], rpId, userVerification: 'required' };
export const creation: CreationOptions = {
  challenge,
  rp: { id: rpId, name: 'App' },
  user: { id: userHandle, name: 'user', displayName: 'User' },
  pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
};
export const request: RequestOptions = { challenge, rpId };

const authenticator = new SoftAuthenticator();
export const credential = newCredential();
export const otherCredential = newCredential();
export const stored: StoredPasskey = {
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
export const registration = (deviations: Partial<CreateDeviations> = {}) =>
  new SoftAuthenticator().create(creation, { origin, alg: -7, ...deviations });
export const assertion = (deviations: Partial<GetDeviations> = {}) =>
  authenticator.get(request, { origin, credentialId: credential.id, ...deviations });

export type Json = Record<string, unknown> & { response: Record<string, unknown> };
export const withResponse = (json: Json, members: Record<string, unknown>) => ({
  ...json,
  response: { ...json.response, ...members },
});

export async function registrationFault(
  response: unknown,
  over: Partial<PasskeyExpectation> = {},
): Promise<PasskeyFault | 'none'> {
  const verdict = await checkRegistration(response, { ...expectation, ...over });
  return verdict.valid ? 'none' : verdict.fault;
}

export async function assertionFault(
  response: unknown,
  over: Partial<StoredPasskey> = {},
  expected: Partial<PasskeyExpectation> = {},
): Promise<PasskeyFault | 'none'> {
  const verdict = checkAssertion(response, { ...stored, ...over }, { ...expectation, ...expected });
  return verdict.valid ? 'none' : verdict.fault;
}

/** Hosts that are not `login.example.com`: siblings, its parent, a subdomain, and names that contain it. */
export const neighbors = [
  'shop.example.com',
  'example.com',
  'a.login.example.com',
  'login.example.com.evil.example',
  'login.example.com:8443',
];
