import { base64url, randomText, sha256, utf8 } from './encoding.ts';

/** The relying party of an API key or hosted flow. */
export type Application = { issuer: string; projectId: string; clientId: string };

/** A P-256 public key as a JWK (RFC 7518 §6.2). */
type PublicJwk = { kty: 'EC'; crv: 'P-256'; x: string; y: string };

/** Device key of one user at one client of one issuer. The private key is not extractable. */
export type DeviceKey = {
  issuer: string;
  clientId: string;
  /** As typed, trimmed and lower case. */
  userid: string;
  /** RFC 7638 thumbprint, SHA-256. */
  kid: string;
  publicJwk: PublicJwk;
  privateKey: CryptoKey;
  /** Whether the service has accepted the key as a trusted device. */
  registered: boolean;
  /** Milliseconds since 1970: creation, or the last completed sign-in. */
  usedAt: number;
};

/** Compound primary key of the store. */
export type KeyOwner = Pick<DeviceKey, 'issuer' | 'clientId' | 'userid'>;

/** Persistent storage of device keys. */
export interface DeviceStore {
  /** The application that an earlier challenge returned for this API key and base URL. */
  findApplication(credential: string): Promise<Application | undefined>;
  saveApplication(credential: string, application: Application): Promise<void>;
  findKey(owner: KeyOwner): Promise<DeviceKey | undefined>;
  /** Keys of one client, or of all clients. */
  listKeys(application?: Application): Promise<DeviceKey[]>;
  /** Inserts unless a key exists, in one transaction, and returns the stored key: concurrent tabs share it. */
  addKey(key: DeviceKey): Promise<DeviceKey>;
  /** Updates a stored key; false if it does not exist. */
  changeKey(owner: KeyOwner, change: Partial<Pick<DeviceKey, 'registered' | 'usedAt'>>): Promise<boolean>;
  /** Deletes exactly this key; a key that another tab has replaced it with stays. */
  removeKey(key: DeviceKey): Promise<void>;
}

/** Canonical form of a user ID for the store. */
export const normalizeUserid = (userid: string): string => userid.trim().toLowerCase();

/** Generates an ECDSA P-256 key pair; the private key is not extractable. */
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

/** RFC 7638 thumbprint: SHA-256 of the required members in lexicographic order. */
const thumbprint = ({ crv, kty, x, y }: PublicJwk): Promise<string> => sha256(utf8(JSON.stringify({ crv, kty, x, y })));

/** Claims of a proof; `bh`, `iat` and `jti` are added when signing. */
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
 * Device proof (cryptoVersion `v1`): compact JWS, ES256, over the claims and the SHA-256 of the exact body. The header
 * carries the public key at registration, its thumbprint afterwards.
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
  // WebCrypto returns r and s as 64 raw bytes, the JWS format (RFC 7518 §3.4).
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, utf8(input));
  return `${input}.${base64url(signature)}`;
}
