import { type JsonWebKey, verify } from 'node:crypto';
import { type DeviceProofPayload, deviceProofPayload, deviceProofType, type SigninStep } from '@latchkey/contracts';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { z } from 'zod';
import { isCompactJws } from '../kernel/base64url.ts';
import { publicKeyFault } from '../kernel/public-keys/public-key.ts';
import { digest } from '../kernel/secret.ts';
import { parseStrictJson } from './strict-json.ts';

/** The only algorithm of device keys (cryptoVersion `v1`). */
export const deviceKeyAlg = 'ES256';
/** A sanity check only: the nonce guarantees freshness, and device clocks are often wrong. */
const clockSkewSeconds = 5 * 60;
/** Maximum characters. A valid proof has about 700. */
const maxLength = 4096;

/**
 * The key that must have signed a proof. `unknown`: the key is not registered; every check except the signature still
 * runs, so that the response does not reveal which keys are known. `suspended`: a key of a deactivated user counts as
 * unknown, and the verdict shows whether it has signed.
 */
export type ProofKey =
  | { kind: 'stored'; jkt: string; jwk: JWK; alg: string }
  | { kind: 'suspended'; jkt: string; jwk: JWK; alg: string }
  | { kind: 'registration' }
  | { kind: 'unknown' };

/** The expected values of a proof. */
export interface ProofContext {
  key: ProofKey;
  act: SigninStep;
  issuer: string;
  projectId: string;
  clientId: string;
  /** The request's `Origin`. */
  origin: string;
  originAllowed: boolean;
  txn: string;
  /** Whether the transaction's state allows this step. */
  stateAllows: boolean;
  codeChallenge: string | null;
  /** The transaction's key thumbprint. */
  jkt: string | null;
  /** Whether a transaction without a key takes that of this registration: the server began it (decisions/0388). */
  takesKey?: boolean;
  /** The raw request body. */
  body: Uint8Array;
  /** Consumes the transaction's nonce if it is unexpired: one conditional update of exactly one row. */
  consumeNonce(nonce: string): Promise<boolean>;
  nowSeconds: number;
}

/** The failed check, in order of evaluation; for the log only, never sent. */
export type ProofFault =
  | 'malformed'
  | 'typ'
  | 'header'
  | 'jwk'
  | 'signature'
  | 'payload'
  | 'act'
  | 'audience'
  | 'origin'
  | 'state'
  | 'transaction'
  | 'code-challenge'
  | 'thumbprint'
  | 'body'
  | 'nonce'
  | 'time';

export type ProofVerdict =
  | { valid: true; jkt: string /** The key to store, in a registration. */; publicJwk?: JWK; isOfSuspended?: boolean }
  | { valid: false; fault: ProofFault };

/** WebCrypto's export adds `ext` and `key_ops`; a key with private members is refused. */
const publicP256 = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  y: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  alg: z.literal(deviceKeyAlg).optional(),
  use: z.literal('sig').optional(),
  kid: z.string().optional(),
  ext: z.boolean().optional(),
  key_ops: z.array(z.literal('verify')).optional(),
});
const headerOfUse = z.strictObject({ typ: z.string(), alg: z.string(), kid: z.string().max(64) });
const headerOfRegistration = z.strictObject({ typ: z.string(), alg: z.string(), jwk: z.unknown() });

/**
 * Verifies a device proof (decisions §8): a compact JWS of type `device-proof+jwt`. The algorithm is the stored key's,
 * never the header's; unknown header members, including `crit`, are refused. The nonce is consumed only after all
 * checks before it have passed ({@link ProofFault} lists them in order).
 */
export async function checkProof(proof: string, context: ProofContext): Promise<ProofVerdict> {
  const parsed = parse(proof);
  if (!parsed) return fault('malformed');
  if (parsed.header['typ'] !== deviceProofType) return fault('typ');
  const presented = await presentedKey(parsed.header, context.key);
  if ('fault' in presented) return fault(presented.fault);
  if (presented.key && !isSignedBy(proof, presented.key)) return fault('signature');
  const payload = deviceProofPayload.safeParse(parsed.payload);
  if (!payload.success) return fault('payload');
  const wrong = await disagreement(payload.data, presented.jkt, context);
  if (wrong) return fault(wrong);
  const { jkt, publicJwk } = presented;
  const isOfSuspended = context.key.kind === 'suspended' && isSignedBy(proof, context.key);
  return { valid: true, jkt, ...(publicJwk && { publicJwk }), ...(isOfSuspended && { isOfSuspended }) };
}

function fault(name: ProofFault): ProofVerdict {
  return { valid: false, fault: name };
}

async function disagreement(
  claims: DeviceProofPayload,
  jkt: string,
  context: ProofContext,
): Promise<ProofFault | null> {
  if (claims.act !== context.act) return 'act';
  if (claims.aud !== `${context.issuer}/${context.projectId}` || claims.cid !== context.clientId) return 'audience';
  if (claims.org !== context.origin || !context.originAllowed) return 'origin';
  if (!context.stateAllows) return 'state';
  if (claims.txn !== context.txn) return 'transaction';
  if ((claims.cc ?? null) !== context.codeChallenge) return 'code-challenge';
  if (context.jkt === null ? !context.takesKey : jkt !== context.jkt) return 'thumbprint';
  if (claims.bh !== digest(context.body)) return 'body';
  if (!(await context.consumeNonce(claims.nonce))) return 'nonce';
  if (!(Math.abs(claims.iat - context.nowSeconds) <= clockSkewSeconds)) return 'time';
  return null;
}

type Json = Record<string, unknown>;

function parse(proof: string): { header: Json; payload: Json } | null {
  if (proof.length > maxLength || !isCompactJws(proof)) return null;
  const [header, payload] = proof.split('.', 2).map(parseSegment);
  return header && payload ? { header, payload } : null;
}

function parseSegment(segment: string): Json | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(segment, 'base64url'));
    const value = parseStrictJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

type Presented =
  | { fault: ProofFault }
  /** `key` is absent if there is none to verify with. */
  | { jkt: string; key?: { jwk: JWK; alg: string }; publicJwk?: JWK };

async function presentedKey(header: Json, expected: ProofKey): Promise<Presented> {
  if (expected.kind === 'registration') {
    const registration = headerOfRegistration.safeParse(header);
    if (!registration.success || registration.data.alg !== deviceKeyAlg) return { fault: 'header' };
    const jwk = publicP256.safeParse(registration.data.jwk);
    if (!jwk.success) return { fault: 'jwk' };
    const { kty, crv, x, y } = jwk.data;
    const publicJwk = { kty, crv, x, y };
    if (publicKeyFault(publicJwk)) return { fault: 'jwk' };
    return { jkt: await calculateJwkThumbprint(publicJwk), key: { jwk: publicJwk, alg: deviceKeyAlg }, publicJwk };
  }
  const use = headerOfUse.safeParse(header);
  const alg = expected.kind === 'stored' ? expected.alg : deviceKeyAlg;
  if (!use.success || use.data.alg !== alg) return { fault: 'header' };
  if (expected.kind !== 'stored') return { jkt: use.data.kid };
  if (use.data.kid !== expected.jkt) return { fault: 'thumbprint' };
  return { jkt: expected.jkt, key: { jwk: expected.jwk, alg } };
}

/** Synchronous: cheaper than handing it to another thread (decisions/0085). */
function isSignedBy(proof: string, { jwk, alg }: { jwk: JWK; alg: string }): boolean {
  if (alg !== deviceKeyAlg || jwk.kty !== 'EC' || jwk.crv !== 'P-256') return false;
  const end = proof.lastIndexOf('.');
  try {
    const key = { key: jwk as JsonWebKey, format: 'jwk', dsaEncoding: 'ieee-p1363' } as const;
    return verify('sha256', Buffer.from(proof.slice(0, end)), key, Buffer.from(proof.slice(end + 1), 'base64url'));
  } catch {
    return false;
  }
}
