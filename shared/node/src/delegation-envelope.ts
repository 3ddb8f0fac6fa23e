import { createHash, type KeyObject, randomUUID } from 'node:crypto';
import { thumbprint } from './delegation-keys.ts';
import { DelegationError } from './error.ts';
import { jose } from './jose.ts';
import { objectIn } from './outgoing.ts';
import { isBase64url } from './verify-jwt.ts';

/** The four keys of one side of the delegation. */
export interface EnvelopeKeys {
  /** Ed25519, private: ours. */
  signing: KeyObject;
  /** X25519, private: ours. */
  decryption: KeyObject;
  /** Ed25519, public: the service's. */
  verification: KeyObject;
  /** X25519, public: the service's. */
  encryption: KeyObject;
}

/** A request on its way, and what its answer must be bound to. */
export interface Sealed {
  /** The compact JWE that is sent. */
  text: string;
  jti: string;
  issuer: string;
  audience: string;
}

/** The answer of the service: an HTTP status, and what it goes with. */
export interface Opened {
  status: number;
  body: Record<string, unknown>;
}

const lifetimeSeconds = 60;
/** How far the service's clock may be from ours. */
const leewaySeconds = 30;

/** Signs, then encrypts (RFC 7519 §11.2): an Ed25519 JWS inside an ECDH-ES + A256GCM JWE. */
export async function seal(
  keys: EnvelopeKeys,
  request: { issuer: string; audience: string; op: string; body: object },
): Promise<Sealed> {
  const { CompactEncrypt, SignJWT } = await jose();
  const { audience, body, issuer, op } = request;
  const jti = randomUUID();
  const encryptionKid = thumbprint(keys.encryption);
  const iat = Math.floor(Date.now() / 1000);
  const payload = {
    iss: issuer,
    aud: audience,
    iat,
    exp: iat + lifetimeSeconds,
    jti,
    op,
    enc_kid: encryptionKid,
    body,
  };
  const signed = await new SignJWT(payload)
    .setProtectedHeader({ alg: 'EdDSA', typ: 'delegation-req+jwt', kid: thumbprint(keys.signing) })
    .sign(keys.signing);
  const text = await new CompactEncrypt(Buffer.from(signed))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-req+jwe', cty: 'JWT', kid: encryptionKid })
    .encrypt(keys.encryption);
  return { text, jti, issuer, audience };
}

/** Decrypts, verifies, and makes sure that it answers this very request. Throws {@link DelegationError}. */
export async function open(keys: EnvelopeKeys, request: Sealed, text: string): Promise<Opened> {
  try {
    return await opened(keys, request, text);
  } catch (cause) {
    if (cause instanceof DelegationError) throw cause;
    throw new DelegationError('RESPONSE_REJECTED', 'The answer is not one of the service to this request.', { cause });
  }
}

async function opened(keys: EnvelopeKeys, request: Sealed, text: string): Promise<Opened> {
  const { compactDecrypt, compactVerify } = await jose();
  checkHeader(text, 5, { alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-res+jwe', cty: 'JWT' }, ['kid', 'epk']);
  const decrypted = await compactDecrypt(text, keys.decryption, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  const inner = Buffer.from(decrypted.plaintext).toString();
  checkHeader(inner, 3, { alg: 'EdDSA', typ: 'delegation-res+jwt' }, ['kid']);
  const verified = await compactVerify(inner, keys.verification, { algorithms: ['EdDSA'] });
  const payload = objectIn(Buffer.from(verified.payload).toString()) ?? fault('its payload is no object');
  return judge(payload, request);
}

function judge(payload: Record<string, unknown>, request: Sealed): Opened {
  const { aud, body, exp, iat, iss, req_hash: hash, req_jti: jti, status } = payload;
  if (hash !== createHash('sha256').update(request.text).digest('base64url')) fault('it answers another request');
  if (typeof status !== 'number' || typeof body !== 'object' || body === null) fault('it holds no result');
  // A request whose inside could not be verified has no jti that the service could repeat.
  if (jti !== request.jti && !(jti === undefined && status >= 400)) fault('it answers another request');
  if (iss !== request.audience || aud !== request.issuer) fault('it is not from the service, or not for this client');
  if (typeof iat !== 'number' || typeof exp !== 'number') fault('it does not say how long it is good');
  const now = Date.now() / 1000;
  // It is the service's own word, and new, since it holds the hash of this request: the clocks differ.
  if (iat > now + leewaySeconds || exp <= now - leewaySeconds) {
    throw new DelegationError('STALE', 'The answer is too old, or from the future.');
  }
  return { status, body: body as Record<string, unknown> };
}

/** Every member of the header is known and as expected, and each part has one spelling only. */
function checkHeader(text: string, parts: number, expected: Record<string, string>, further: string[]): void {
  const split = text.split('.');
  if (split.length !== parts || !split.every(isBase64url)) fault('it is not in compact form');
  const header = objectIn(Buffer.from(split[0] ?? '', 'base64url').toString()) ?? fault('its header is no object');
  const names = [...Object.keys(expected), ...further];
  for (const name of Object.keys(header)) if (!names.includes(name)) fault('its header holds what it must not');
  for (const [name, value] of Object.entries(expected))
    if (header[name] !== value) fault(`its ${name} is not ${value}`);
}

function fault(what: string): never {
  throw new Error(`The answer is refused: ${what}.`);
}
