import { sha256, utf8 } from './encoding.ts';

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
  /** Stores private keys as text, so that new ones must be extractable until then. */
  readonly isText?: true;
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

/** Generates an ECDSA P-256 key pair; in a browser, the private key is not extractable. */
export async function createDeviceKey(
  owner: KeyOwner,
  nowMilliseconds: number,
  extractable = false,
): Promise<DeviceKey> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, extractable, ['sign', 'verify']);
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
