import { base64url, randomText, sha256, utf8 } from './encoding.ts';

/** The relying party that an API key or a hosted flow stands for. */
export type Application = { issuer: string; projectId: string; clientId: string };

/** A P-256 public key as a JWK (RFC 7518 §6.2). */
export type PublicJwk = { kty: 'EC'; crv: 'P-256'; x: string; y: string };

/** One browser's key for one user of one client of one issuer. The private half cannot be read out. */
export type DeviceKey = {
  issuer: string;
  clientId: string;
  /** As the person typed it, trimmed and in lower case. */
  userid: string;
  /** RFC 7638 thumbprint, SHA-256. */
  kid: string;
  publicJwk: PublicJwk;
  privateKey: CryptoKey;
  /** Whether the service has accepted this key as a trusted device. */
  registered: boolean;
  /** Milliseconds since 1970: when it was made, or last ended a sign-in. */
  usedAt: number;
};

/** Whose key: the compound primary key of the store. */
export type KeyOwner = Pick<DeviceKey, 'issuer' | 'clientId' | 'userid'>;

/** Where device keys live between visits. Only an implementation knows IndexedDB. */
export interface DeviceStore {
  /** What an earlier challenge said of this API key and address. */
  findApplication(credential: string): Promise<Application | undefined>;
  saveApplication(credential: string, application: Application): Promise<void>;
  findKey(owner: KeyOwner): Promise<DeviceKey | undefined>;
  /** All keys of one client, or of all of them. */
  listKeys(application?: Application): Promise<DeviceKey[]>;
  /** Keeps the key that was there first, in one transaction, and returns it: two tabs end up with one key. */
  addKey(key: DeviceKey): Promise<DeviceKey>;
  /** Changes a key that is there; false where it is gone. */
  changeKey(owner: KeyOwner, change: Partial<Pick<DeviceKey, 'registered' | 'usedAt'>>): Promise<boolean>;
  /** Removes this very key; one that another tab has put in its place stays. */
  removeKey(key: DeviceKey): Promise<void>;
}

/** The one spelling under which a person's key is kept. */
export const normalizeUserid = (userid: string): string => userid.trim().toLowerCase();

/** A new key pair: ECDSA on P-256, private half not extractable. */
export async function createDeviceKey(owner: KeyOwner, nowMilliseconds: number): Promise<DeviceKey> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  const { x, y } = (await crypto.subtle.exportKey('jwk', pair.publicKey)) as { x: string; y: string };
  const publicJwk: PublicJwk = { kty: 'EC', crv: 'P-256', x, y };
  return {
    ...owner,
    kid: await thumbprint(publicJwk),
    publicJwk,
    privateKey: pair.privateKey,
    registered: false,
    usedAt: nowMilliseconds,
  };
}

/** RFC 7638: SHA-256 of the required members in lexicographic order. */
const thumbprint = ({ crv, kty, x, y }: PublicJwk): Promise<string> => sha256(utf8(JSON.stringify({ crv, kty, x, y })));

/** What a proof says, beside `bh`, `iat` and `jti`, which are added here. */
export type ProofClaims = {
  act: string;
  aud: string;
  cid: string;
  org: string;
  txn: string;
  nonce: string;
  cc: string | undefined;
};

/**
 * A device proof (cryptoVersion `v1`): a compact JWS, ES256, over the claims and the hash of the body's exact bytes.
 * At registration the header carries the public key, afterwards only its thumbprint.
 */
export async function signProof(
  key: DeviceKey,
  kind: 'registration' | 'use',
  claims: ProofClaims,
  body: Uint8Array<ArrayBuffer>,
  nowMilliseconds: number,
): Promise<string> {
  const header = {
    typ: 'device-proof+jwt',
    alg: 'ES256',
    ...(kind === 'registration' ? { jwk: key.publicJwk } : { kid: key.kid }),
  };
  const payload = {
    ...claims,
    bh: await sha256(body),
    iat: Math.floor(nowMilliseconds / 1000),
    jti: randomText(16),
  };
  const input = [header, payload].map((part) => base64url(utf8(JSON.stringify(part)))).join('.');
  // WebCrypto gives r and s as 64 raw bytes, which is what JWS wants (RFC 7518 §3.4).
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, utf8(input));
  return `${input}.${base64url(signature)}`;
}
