/**
 * A software authenticator with its browser, for tests. It makes real credentials and signatures, and can deviate from
 * the specification in one detail at a time.
 *
 *     const authenticator = new SoftAuthenticator();
 *     const registration = authenticator.create(creationOptions, { origin: 'https://app.example' });
 *     const assertion = authenticator.get(requestOptions, { origin: 'https://app.example' });
 *
 * `create` and `get` accept the options that a server sends (PublicKeyCredentialCreationOptionsJSON,
 * ...RequestOptionsJSON) and return the JSON that a page posts (RegistrationResponseJSON, AuthenticationResponseJSON).
 * The credential is discoverable: `get` without `allowCredentials` uses the newest one of the RP ID. The RP ID defaults
 * to the host of the origin. The second argument is the origin and the deviations: {@link Deviations}, {@link
 * CreateDeviations}, {@link GetDeviations}. By default UP and UV are set, BE and BS are not, the counter is 0,
 * attestation is `none`.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface CreationOptions {
  challenge: string;
  rp: { id?: string; [member: string]: unknown };
  user: { id: string; [member: string]: unknown };
  pubKeyCredParams: readonly { alg: number; type?: string }[];
  excludeCredentials?: readonly { id: string }[];
  [member: string]: unknown;
}
export interface RequestOptions {
  challenge: string;
  rpId?: string;
  allowCredentials?: readonly { id: string }[];
  [member: string]: unknown;
}

/** Deviations of both ceremonies. */
interface Deviations {
  /** Origin of the page. */
  origin: string;
  /** RP ID that is hashed into the authenticator data. */
  rpId?: string;
  challenge?: string;
  /** `type` of the client data. */
  type?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  /** Additional or changed members of the client data. */
  clientData?: Record<string, unknown>;
  /** The client data as is. */
  clientDataJSON?: string | Uint8Array;
  flags?: { UP?: boolean; UV?: boolean; BE?: boolean; BS?: boolean; AT?: boolean; ED?: boolean };
  signCount?: number;
  /** Outputs of authenticator extensions; sets ED. */
  extensions?: Cbor;
  /** Bytes after the authenticator data, signed with it. */
  trailing?: Uint8Array;
  /** Members of the response's JSON, in addition to `response`. */
  json?: Record<string, unknown>;
}

export interface CreateDeviations extends Deviations {
  /** COSE algorithm; default: the first of the options that the authenticator has. */
  alg?: number;
  /** Length of the credential id in bytes. */
  idLength?: number;
  /** 16 bytes, in hexadecimal. */
  aaguid?: string;
  transports?: string[] | undefined;
  /** COSE key in the authenticator data. */
  publicKey?: Cbor;
  /** `packed`: self attestation. */
  format?: 'none' | 'packed' | (string & {});
  /** Attestation statement, or a function of the bytes that it signs. */
  statement?: Cbor | ((bytes: Uint8Array, credential: SoftCredential) => Cbor);
  /** Bytes after the attestation object. */
  trailingObject?: Uint8Array;
}

export interface GetDeviations extends Deviations {
  /** Id of the credential to use. */
  credentialId?: string;
  /** Signs instead of the credential's key. */
  signWith?: SoftCredential;
  /** Null: none. Default: the user handle of the registration. */
  userHandle?: string | null;
  /** Base64url. */
  signature?: string;
}

export interface SoftCredential {
  /** Base64url. */
  id: string;
  alg: number;
  rpId: string;
  /** Base64url. */
  userHandle: string;
  privateKey: KeyObject;
  /** COSE key. */
  publicKey: Map<number | string, Cbor>;
  backupEligible: boolean;
}

export type Cbor = number | string | boolean | Uint8Array | Cbor[] | Map<number | string, Cbor>;

const bits = { UP: 0x01, UV: 0x04, BE: 0x08, BS: 0x10, AT: 0x40, ED: 0x80 };
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

export class SoftAuthenticator {
  /** Oldest first. */
  readonly credentials: SoftCredential[] = [];

  /** `navigator.credentials.create()`, as JSON. Throws if a credential of `excludeCredentials` is here. */
  create(options: CreationOptions, deviations: CreateDeviations) {
    if (options.excludeCredentials?.some(({ id }) => this.credentials.some((one) => one.id === id)))
      throw new Error('InvalidStateError');
    const rpId = options.rp.id ?? new URL(deviations.origin).hostname;
    const alg = deviations.alg ?? options.pubKeyCredParams.find((one) => one.alg in algorithms)?.alg;
    if (alg === undefined) throw new Error('NotSupportedError');
    const credential = newCredential(alg, rpId, options.user.id, deviations);
    this.credentials.push(credential);

    const id = Buffer.from(credential.id, 'base64url');
    const attested = Buffer.concat([
      Buffer.from(deviations.aaguid ?? '00'.repeat(16), 'hex'),
      Buffer.from([id.length >> 8, id.length & 0xff]),
      id,
      cbor(deviations.publicKey ?? credential.publicKey),
    ]);
    const clientData = clientDataOf('webauthn.create', options.challenge, deviations);
    const authData = authenticatorData(credential, attested, deviations);
    const format = deviations.format ?? 'none';
    const { statement = format === 'packed' ? selfAttestation : map() } = deviations;
    const toSign = Buffer.concat([authData, sha256(clientData)]);
    const attStmt = typeof statement === 'function' ? statement(toSign, credential) : statement;
    const object = cbor(map(['fmt', format], ['attStmt', attStmt], ['authData', authData]));
    return {
      id: credential.id,
      rawId: credential.id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      ...deviations.json,
      response: {
        clientDataJSON: base64url(clientData),
        attestationObject: base64url(Buffer.concat([object, deviations.trailingObject ?? Buffer.alloc(0)])),
        transports: 'transports' in deviations ? deviations.transports : ['internal'],
      },
    };
  }

  /** `navigator.credentials.get()`, as JSON. Throws if no credential matches. */
  get(options: RequestOptions, deviations: GetDeviations) {
    const credential = this.#find(options, deviations);
    const clientData = clientDataOf('webauthn.get', options.challenge, deviations);
    const authData = authenticatorData(credential, null, deviations);
    const signature = signed(deviations.signWith ?? credential, Buffer.concat([authData, sha256(clientData)]));
    const userHandle = deviations.userHandle === undefined ? credential.userHandle : deviations.userHandle;
    return {
      id: credential.id,
      rawId: credential.id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      ...deviations.json,
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authData),
        signature: deviations.signature ?? base64url(signature),
        ...(userHandle !== null && { userHandle }),
      },
    };
  }

  #find({ rpId, allowCredentials = [] }: RequestOptions, { origin, credentialId }: GetDeviations): SoftCredential {
    const scope = rpId ?? new URL(origin).hostname;
    const allowed = (id: string) => allowCredentials.length === 0 || allowCredentials.some((one) => one.id === id);
    const found = this.credentials.findLast((one) =>
      credentialId === undefined ? one.rpId === scope && allowed(one.id) : one.id === credentialId,
    );
    if (!found) throw new Error('NotAllowedError');
    return found;
  }
}

function newCredential(alg: number, rpId: string, userHandle: string, deviations: CreateDeviations): SoftCredential {
  const algorithm = algorithms[alg];
  if (!algorithm) throw new Error(`no algorithm ${alg}`);
  return {
    id: base64url(randomBytes(deviations.idLength ?? 32)),
    alg,
    rpId,
    userHandle,
    ...algorithm.generate(),
    backupEligible: deviations.flags?.BE ?? false,
  };
}

function clientDataOf(type: string, challenge: string, deviations: Deviations): Uint8Array {
  if (deviations.clientDataJSON !== undefined) return Buffer.from(deviations.clientDataJSON);
  const members = {
    type: deviations.type ?? type,
    challenge: deviations.challenge ?? challenge,
    origin: deviations.origin,
    crossOrigin: deviations.crossOrigin ?? false,
    topOrigin: deviations.topOrigin,
    ...deviations.clientData,
  };
  return Buffer.from(JSON.stringify(members));
}

function authenticatorData(credential: SoftCredential, attested: Uint8Array | null, deviations: Deviations): Buffer {
  const flags = {
    UP: true,
    UV: true,
    BE: credential.backupEligible,
    AT: attested !== null,
    ED: deviations.extensions !== undefined,
    ...deviations.flags,
  };
  const set = Object.entries(bits).filter(([name]) => flags[name as keyof typeof flags]);
  const head = Buffer.alloc(5);
  head.writeUInt8(set.reduce((sum, [, bit]) => sum | bit, 0));
  head.writeUInt32BE(deviations.signCount ?? 0, 1);
  return Buffer.concat([
    sha256(deviations.rpId ?? credential.rpId),
    head,
    attested ?? Buffer.alloc(0),
    deviations.extensions === undefined ? Buffer.alloc(0) : cbor(deviations.extensions),
    deviations.trailing ?? Buffer.alloc(0),
  ]);
}

function signed({ alg, privateKey }: SoftCredential, data: Uint8Array): Buffer {
  return sign(algorithms[alg]?.hash, data, privateKey);
}

type Generated = Pick<SoftCredential, 'privateKey' | 'publicKey'>;

function selfAttestation(bytes: Uint8Array, credential: SoftCredential): Cbor {
  return map(['alg', credential.alg], ['sig', signed(credential, bytes)]);
}

/** By COSE identifier. ES384 exists only to be refused. */
const algorithms: Record<number, { hash: string | null; generate(): Generated }> = {
  [-8]: {
    hash: null,
    generate() {
      const { privateKey, member } = exported(generateKeyPairSync('ed25519'));
      return { privateKey, publicKey: map([1, 1], [3, -8], [-1, 6], [-2, member('x')]) };
    },
  },
  [-7]: { hash: 'sha256', generate: () => ellipticKey('P-256', -7, 1) },
  [-35]: { hash: 'sha384', generate: () => ellipticKey('P-384', -35, 2) },
  [-257]: {
    hash: 'sha256',
    generate() {
      const { privateKey, member } = exported(generateKeyPairSync('rsa', { modulusLength: 2048 }));
      return { privateKey, publicKey: map([1, 3], [3, -257], [-1, member('n')], [-2, member('e')]) };
    },
  },
};

function ellipticKey(namedCurve: string, alg: number, crv: number): Generated {
  const { privateKey, member } = exported(generateKeyPairSync('ec', { namedCurve }));
  const publicKey = map([1, 2], [3, alg], [-1, crv], [-2, member('x')], [-3, member('y')]);
  return { privateKey, publicKey };
}

function exported({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }) {
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
  return { privateKey, member: (name: string) => Buffer.from(jwk[name] ?? '', 'base64url') };
}

/** A CBOR map; entries keep their order. */
export function map(...entries: [number | string, Cbor][]): Map<number | string, Cbor> {
  return new Map(entries);
}

/** Encodes in CTAP2's canonical form, except that map entries keep their order. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === 'number') return value < 0 ? initial(1, -1 - value) : initial(0, value);
  if (typeof value === 'string') return Buffer.concat([initial(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([initial(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([initial(4, value.length), ...value.map(cbor)]);
  return Buffer.concat([initial(5, value.size), ...[...value].flat().map(cbor)]);
}

function initial(major: number, argument: number): Buffer {
  if (argument < 24) return Buffer.from([(major << 5) | argument]);
  const width = argument < 0x100 ? 1 : argument < 0x10000 ? 2 : 4;
  const bytes = Buffer.alloc(1 + width);
  bytes.writeUInt8((major << 5) | (width === 1 ? 24 : width === 2 ? 25 : 26));
  bytes.writeUIntBE(argument, 1, width);
  return bytes;
}
