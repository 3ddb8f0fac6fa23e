import { fromBase64url, isBase64url, sha256, textOf, utf8 } from '../bytes.ts';
import { DelegationError } from '../error.ts';
import { jose } from '../jose.ts';
import { objectIn } from '../outgoing.ts';
import type { LazyKey } from './keys.ts';

/** Keys of one side of delegation. */
export interface EnvelopeKeys {
  /** Ed25519, private: ours. */
  signing: LazyKey;
  /** X25519, private: ours. */
  decryption: LazyKey;
  /** Ed25519, public: the service's. */
  verification: LazyKey;
  /** X25519, public: the service's. */
  encryption: LazyKey;
}

/** A sent request, with the values that its response must repeat. */
export interface Sealed {
  /** Compact JWE as sent. */
  text: string;
  jti: string;
  issuer: string;
  audience: string;
}

/** A verified response: HTTP status and body. */
export interface Opened {
  status: number;
  body: Record<string, unknown>;
}

const lifetimeSeconds = 60;
/** Tolerated clock skew in seconds. */
const leewaySeconds = 30;

/** Signs, then encrypts (RFC 7519 §11.2): an Ed25519 JWS inside an ECDH-ES + A256GCM JWE. */
export async function seal(
  keys: EnvelopeKeys,
  request: { issuer: string; audience: string; op: string; body: object },
): Promise<Sealed> {
  const { CompactEncrypt, SignJWT } = await jose();
  const { audience, body, issuer, op } = request;
  const jti = crypto.randomUUID();
  const [signing, encryption] = await Promise.all([keys.signing(), keys.encryption()]);
  const iat = Math.floor(Date.now() / 1000);
  const payload = {
    iss: issuer,
    aud: audience,
    iat,
    exp: iat + lifetimeSeconds,
    jti,
    op,
    enc_kid: encryption.kid,
    body,
  };
  const signed = await new SignJWT(payload)
    .setProtectedHeader({ alg: 'EdDSA', typ: 'delegation-req+jwt', kid: signing.kid })
    .sign(signing.key);
  const text = await new CompactEncrypt(utf8(signed))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-req+jwe', cty: 'JWT', kid: encryption.kid })
    .encrypt(encryption.key);
  return { text, jti, issuer, audience };
}

/** Decrypts and verifies the response to this request. Throws {@link DelegationError}. */
export async function open(keys: EnvelopeKeys, request: Sealed, text: string): Promise<Opened> {
  try {
    return await opened(keys, request, text);
  } catch (cause) {
    if (cause instanceof DelegationError) throw cause;
    throw new DelegationError('RESPONSE_REJECTED', 'The response could not be verified.', { cause });
  }
}

async function opened(keys: EnvelopeKeys, request: Sealed, text: string): Promise<Opened> {
  const { compactDecrypt, compactVerify } = await jose();
  checkHeader(text, 5, { alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-res+jwe', cty: 'JWT' }, ['kid', 'epk']);
  const decrypted = await compactDecrypt(text, (await keys.decryption()).key, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  const inner = textOf(decrypted.plaintext);
  checkHeader(inner, 3, { alg: 'EdDSA', typ: 'delegation-res+jwt' }, ['kid']);
  const verified = await compactVerify(inner, (await keys.verification()).key, { algorithms: ['EdDSA'] });
  const payload = objectIn(textOf(verified.payload)) ?? fault('its payload is not an object');
  if (payload['req_hash'] !== (await sha256(request.text))) fault('it belongs to another request');
  return checkPayload(payload, request);
}

function checkPayload(payload: Record<string, unknown>, request: Sealed): Opened {
  const { aud, body, exp, iat, iss, req_jti: jti, status } = payload;
  if (typeof status !== 'number' || typeof body !== 'object' || body === null) fault('it has no result');
  // If the request could not be verified, the service has no jti to repeat.
  if (jti !== request.jti && !(jti === undefined && status >= 400)) fault('it belongs to another request');
  if (iss !== request.audience || aud !== request.issuer) fault('its issuer or audience does not match');
  if (typeof iat !== 'number' || typeof exp !== 'number') fault('it has no iat or exp');
  const now = Date.now() / 1000;
  // The response is authentic and current (it contains the request's hash): only the clocks differ.
  if (iat > now + leewaySeconds || exp <= now - leewaySeconds) {
    throw new DelegationError('STALE', 'The response has expired or was issued in the future.');
  }
  return { status, body: body as Record<string, unknown> };
}

/** Requires exactly the expected header members and canonical base64url in each part. */
function checkHeader(text: string, parts: number, expected: Record<string, string>, further: string[]): void {
  const split = text.split('.');
  if (split.length !== parts || !split.every(isBase64url)) fault('it is not a compact JWE or JWS');
  const header = objectIn(textOf(fromBase64url(split[0] ?? ''))) ?? fault('its header is not an object');
  const names = [...Object.keys(expected), ...further];
  for (const name of Object.keys(header)) if (!names.includes(name)) fault('its header has an unexpected member');
  for (const [name, value] of Object.entries(expected))
    if (header[name] !== value) fault(`its ${name} is not ${value}`);
}

function fault(problem: string): never {
  throw new Error(`Response rejected: ${problem}.`);
}
