import { createHash } from 'node:crypto';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { z } from 'zod';
import { isBase64url } from '../kernel/base64url.ts';
import { atFirstUse } from '../kernel/cache.ts';
import { digest } from '../kernel/secret.ts';
import { checkModel, type DemandedModel, type ModelFault } from './attestation/models.ts';
import {
  type AuthenticatorData,
  cborEnd,
  isSignedBy,
  parseAuthenticatorData,
  passkeyAlgorithms,
  passkeyKeyOf,
} from './authenticator-data.ts';
import { parseStrictJson } from './strict-json.ts';

export { passkeyAlgorithms };

/** The expected values of a response. */
export interface PasskeyExpectation {
  /** As issued, in base64url. */
  challenge: string;
  /** Origins of pages that may use the passkey, compared exactly. */
  origins: readonly string[];
  rpId: string;
  userVerification: 'required' | 'preferred';
  /** Registrations only: false for a conditional creation, which no user confirms (WebAuthn Level 3 section 7.1). */
  presenceRequired?: boolean;
  /** Registrations only: the models that a statement must prove; null: none is required. */
  models?: DemandedModel | null;
  /** Assertions only: true if the passkey alone identifies the user, so that the user handle is required. */
  userHandleRequired?: boolean;
}

/** A registered passkey, to be stored. */
export interface NewPasskey {
  /** Base64url. */
  credentialId: string;
  /** COSE key in base64url. */
  publicKey: string;
  /** COSE algorithm, one of {@link passkeyAlgorithms}. */
  alg: number;
  /** UUID of the authenticator's model; all zero if unknown. */
  aaguid: string;
  /** SHA-256 of the root certificate that proves the model, in base64url; null: not proved. */
  attestedRoot: string | null;
  signCount: number;
  /** As reported by the browser, for `allowCredentials` and `excludeCredentials`. */
  transports: string[];
  backupEligible: boolean;
  backedUp: boolean;
  userVerified: boolean;
  /** Format of the attestation statement. */
  attestationFormat: string;
}

/** The stored values of the passkey with the response's `id`. */
export interface StoredPasskey {
  credentialId: string;
  publicKey: string;
  alg: number;
  signCount: number;
  /** Null: unknown, of one that a former system registered and that was never used here. */
  backupEligible: boolean | null;
  /** The user's id in base64url, as sent at registration. */
  userHandle: string;
  /** The same of the former system. */
  formerHandle?: string | undefined;
}

/** The failed check, in order of evaluation; for the log only, never sent. */
export type PasskeyFault =
  | 'malformed'
  | 'credential-id'
  | 'user-handle'
  | 'type'
  | 'challenge'
  | 'origin'
  | 'cross-origin'
  | 'rp-id'
  | 'user-presence'
  | 'user-verification'
  | 'backup'
  | 'algorithm'
  | 'attestation'
  | ModelFault
  | 'signature';

interface Refused {
  valid: false;
  fault: PasskeyFault;
}
/** `aaguid`: as claimed, if a model was demanded and not proved. */
export type RegistrationVerdict = { valid: true; passkey: NewPasskey } | (Refused & { aaguid?: string });
export type AssertionVerdict =
  | {
      valid: true;
      signCount: number;
      /** The counter did not increase: a sign of a cloned authenticator (WebAuthn §6.1.1). The caller decides. */
      counterRegressed: boolean;
      backupEligible: boolean;
      backedUp: boolean;
      userVerified: boolean;
    }
  | Refused;

/** Maximum characters. The sum is below 16 KB; a registration with TPM certificates has about 8 KB. */
const limit = { credentialId: 1364, userHandle: 86, clientData: 4096, attestation: 9000, authenticator: 4096 };

const base64url = (max: number) => z.string().refine((text) => text.length <= max && isBase64url(text));
const idMember = base64url(limit.credentialId).refine((text) => text !== '');

// Unknown members are ignored: browsers add some, such as publicKeyAlgorithm and clientExtensionResults.
const registrationResponse = z.object({
  id: idMember,
  rawId: idMember,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url(limit.clientData),
    attestationObject: base64url(limit.attestation),
    transports: z.custom<string[]>(isTransports).default([]),
  }),
});
const assertionResponse = z.object({
  id: idMember,
  rawId: idMember,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url(limit.clientData),
    authenticatorData: base64url(limit.authenticator),
    signature: base64url(limit.authenticator),
    userHandle: base64url(limit.userHandle).nullish(),
  }),
});

function isTransports(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= 10 &&
    value.every((one) => typeof one === 'string' && /^[a-z-]{1,32}$/.test(one))
  );
}

/** Further members may be added (WebAuthn §5.8.1.2). */
const collectedClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.unknown().optional(),
});
type ClientData = z.infer<typeof collectedClientData>;

/**
 * Formats of attestation statements that are verified. With conveyance `none`, browsers send only `none` and self
 * attestation. Never add `android-key`: the library would request any URL that the sender's certificate names as its
 * revocation list. `android-safetynet` is obsolete.
 */
const attestationFormats = ['none', 'packed', 'tpm', 'fido-u2f', 'apple'];

/** Loads the library at the first registration: with its parsers of certificates, it is large (decisions/0381). */
const attestationLibrary = atFirstUse(async () => {
  const library = await import('@simplewebauthn/server');
  // With a root, the library verifies the certificate path and requests revocation lists. Of these formats, it has a root
  // only for Apple.
  library.SettingsService.setRootCertificates({ identifier: 'apple', certificates: [] });
  return library;
});

/**
 * Verifies the response of a registration (WebAuthn §7.1) as JSON. Certificates are trusted only if the expectation has
 * roots. Throws only if the library cannot be loaded. The caller refuses a credential id that is already registered.
 */
export async function checkRegistration(
  response: unknown,
  expectation: PasskeyExpectation,
): Promise<RegistrationVerdict> {
  const parsed = attempt(() => parseRegistration(response));
  if (!parsed) return refused('malformed');
  const { json, clientData, data, attested, format, statement } = parsed;
  if (json.id !== json.rawId || json.id !== attested.credentialId) return refused('credential-id');
  const wrong = clientDataFault(clientData, 'webauthn.create', expectation) ?? dataFault(data, expectation);
  if (wrong) return refused(wrong);
  const alg = passkeyKeyOf(attested.publicKey)?.alg;
  if (alg === undefined) return refused('algorithm');
  const { models } = expectation;
  const unproved = (fault: PasskeyFault) => ({ ...refused(fault), ...(models && { aaguid: attested.aaguid }) });
  if (!attestationFormats.includes(format)) return unproved('attestation');
  // §8.2: the algorithm of self attestation is the key's.
  if (format === 'packed' && !statement.has('x5c') && statement.get('alg') !== alg) return unproved('attestation');
  const { verifyRegistrationResponse } = await attestationLibrary();
  const verified = await succeeds(() =>
    verifyRegistrationResponse({
      response: { ...json, clientExtensionResults: {}, response: { ...json.response, transports: [] } },
      ...expected(expectation),
      requireUserPresence: expectation.presenceRequired !== false,
      supportedAlgorithmIDs: [...passkeyAlgorithms],
    }),
  );
  if (!verified) return unproved('attestation');
  const certificates: unknown = statement.get('x5c');
  const model = models ? checkModel({ format, certificates, aaguid: attested.aaguid }, models) : { root: null };
  if (typeof model === 'string') return unproved(model);
  const { backupEligible, backedUp, userVerified, signCount } = data;
  return {
    valid: true,
    passkey: {
      ...attested,
      attestedRoot: model.root,
      alg,
      signCount,
      transports: json.response.transports,
      backupEligible,
      backedUp,
      userVerified,
      attestationFormat: format,
    },
  };
}

/** Verifies the response of an authentication (WebAuthn §7.2) as JSON against a stored passkey. Never throws. */
export function checkAssertion(
  response: unknown,
  stored: StoredPasskey,
  expectation: PasskeyExpectation,
): AssertionVerdict {
  const parsed = attempt(() => parseAssertion(response));
  if (!parsed) return refused('malformed');
  const { json, clientData, data } = parsed;
  if (json.id !== json.rawId || json.id !== stored.credentialId) return refused('credential-id');
  // Security keys that store no user handle may send an empty one.
  const userHandle = json.response.userHandle || undefined;
  const isOfUser = userHandle === stored.userHandle || (userHandle !== undefined && userHandle === stored.formerHandle);
  if (userHandle === undefined ? expectation.userHandleRequired : !isOfUser) return refused('user-handle');
  const wrong = clientDataFault(clientData, 'webauthn.get', expectation) ?? dataFault(data, expectation);
  if (wrong) return refused(wrong);
  if (stored.backupEligible !== null && data.backupEligible !== stored.backupEligible) return refused('backup');
  const key = passkeyKeyOf(stored.publicKey);
  if (key?.alg !== stored.alg) return refused('algorithm');
  const { authenticatorData, clientDataJSON, signature } = json.response;
  const clientDataHash = createHash('sha256').update(decoded(clientDataJSON)).digest();
  const signed = Buffer.concat([decoded(authenticatorData), clientDataHash]);
  if (!attempt(() => isSignedBy(key, signed, decoded(signature)))) return refused('signature');
  const { backupEligible, signCount, backedUp, userVerified } = data;
  const counted = signCount > 0 || stored.signCount > 0;
  const counterRegressed = counted && signCount <= stored.signCount;
  return { valid: true, signCount, counterRegressed, backupEligible, backedUp, userVerified };
}

function refused(fault: PasskeyFault): Refused {
  return { valid: false, fault };
}

function expected({ challenge, origins, rpId, userVerification }: PasskeyExpectation) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    requireUserVerification: userVerification === 'required',
  };
}

function parseRegistration(response: unknown) {
  const json = registrationResponse.parse(response);
  const object = decoded(json.response.attestationObject);
  if (cborEnd(object, 0) !== object.length) throw new RangeError('trailing bytes');
  const attestation = decodeAttestationObject(new Uint8Array(object));
  const [format, statement] = [attestation.get('fmt'), attestation.get('attStmt')];
  const data = parseAuthenticatorData(Buffer.from(attestation.get('authData')));
  const { attested } = data;
  if (!attested || typeof format !== 'string' || !(statement instanceof Map)) throw new TypeError('incomplete');
  return { json, clientData: parseClientData(json.response.clientDataJSON), data, attested, format, statement };
}

function parseAssertion(response: unknown) {
  const json = assertionResponse.parse(response);
  const data = parseAuthenticatorData(decoded(json.response.authenticatorData));
  if (data.attested) throw new TypeError('attested credential data in an assertion');
  return { json, clientData: parseClientData(json.response.clientDataJSON), data };
}

function parseClientData(clientDataJSON: string): ClientData {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(decoded(clientDataJSON));
  return collectedClientData.parse(parseStrictJson(text));
}

function clientDataFault(clientData: ClientData, type: string, expectation: PasskeyExpectation): PasskeyFault | null {
  if (clientData.type !== type) return 'type';
  if (clientData.challenge !== expectation.challenge) return 'challenge';
  if (!expectation.origins.includes(clientData.origin)) return 'origin';
  if (clientData.crossOrigin === true || clientData.topOrigin !== undefined) return 'cross-origin';
  return null;
}

function dataFault(data: AuthenticatorData, expectation: PasskeyExpectation): PasskeyFault | null {
  if (data.rpIdHash !== digest(expectation.rpId)) return 'rp-id';
  if (!data.userPresent && expectation.presenceRequired !== false) return 'user-presence';
  if (expectation.userVerification === 'required' && !data.userVerified) return 'user-verification';
  if (data.backedUp && !data.backupEligible) return 'backup';
  return null;
}

function decoded(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

function attempt<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

async function succeeds(verification: () => Promise<{ verified: boolean }>): Promise<boolean> {
  try {
    return (await verification()).verified;
  } catch {
    return false;
  }
}
