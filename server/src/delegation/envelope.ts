import { createHash } from 'node:crypto';
import {
  type DelegationRequest,
  type DelegationResponse,
  delegationAlgorithms,
  delegationRequest,
  delegationTtlSeconds,
  delegationTypes,
} from '@latchkey/contracts';
import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify, errors } from 'jose';
import { parseStrictJson } from '../domain/credentials/strict-json.ts';
import type { DelegationParties, LoadedPair } from '../domain/delegation/delegation-keys.ts';
import { isBase64url } from '../domain/kernel/base64url.ts';

/** Allowed clock skew of a back end. */
const leewaySeconds = 30;

/** Expected issuer and audience of the request. */
export interface Expected {
  clientId: string;
  /** `{issuer}/{project_id}` */
  audience: string;
  nowSeconds: number;
}

/** A decrypted request, and the keys for its response. */
export interface Opened {
  /** Latchkey's key pair that it was encrypted to. */
  ours: LoadedPair;
  /** The client's key pair that signed it; if the signature is invalid, the client's newest. */
  theirs: LoadedPair;
  verdict:
    | { valid: true; request: DelegationRequest }
    | { valid: false; code: 'REQUEST_REJECTED' | 'STALE'; reason: string };
}

/** The request is unreadable. The reason is logged, never sent. */
export class EnvelopeFault extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'EnvelopeFault';
  }
}

/** Decrypts and verifies (RFC 7516, RFC 7515). Throws {@link EnvelopeFault} if it cannot be decrypted. */
export async function openRequest(text: string, parties: DelegationParties, expected: Expected): Promise<Opened> {
  const header = headerOf(text, 5, outerHeader(delegationTypes.requestEnvelope), ['kid', 'epk', 'cty', 'apu', 'apv']);
  const { ours, plaintext } = await decrypted(text, header['kid'], parties.idp);
  try {
    return { ours, ...(await verified(plaintext, parties.sp, ours, header['kid'], expected)) };
  } catch (error) {
    const [theirs] = parties.sp;
    if (!(error instanceof EnvelopeFault) || !theirs) throw error;
    return { ours, theirs, verdict: { valid: false, code: 'REQUEST_REJECTED', reason: error.message } };
  }
}

/** Signs with the pair that the request was encrypted to; encrypts to the pair that signed the request. */
export async function sealResponse(
  { ours, theirs }: Pick<Opened, 'ours' | 'theirs'>,
  response: DelegationResponse,
): Promise<string> {
  const { encryption, keyManagement, signature } = delegationAlgorithms;
  const signed = await new CompactSign(Buffer.from(JSON.stringify(response)))
    .setProtectedHeader({ alg: signature, typ: delegationTypes.response, kid: ours.signingKid })
    .sign(ours.signing);
  return new CompactEncrypt(Buffer.from(signed))
    .setProtectedHeader({
      alg: keyManagement,
      enc: encryption,
      typ: delegationTypes.responseEnvelope,
      cty: 'JWT',
      kid: theirs.encryptionKid,
    })
    .encrypt(theirs.encryption);
}

/** Hash of the request, which binds the response to it. */
export function requestHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

async function decrypted(
  text: string,
  kid: unknown,
  pairs: LoadedPair[],
): Promise<{ ours: LoadedPair; plaintext: string }> {
  const candidates = kid === undefined ? pairs : pairs.filter(({ encryptionKid }) => encryptionKid === kid);
  for (const ours of candidates) {
    const plaintext = await tried(() =>
      compactDecrypt(text, ours.encryption, {
        keyManagementAlgorithms: [delegationAlgorithms.keyManagement],
        contentEncryptionAlgorithms: [delegationAlgorithms.encryption],
      }),
    );
    if (plaintext) return { ours, plaintext: Buffer.from(plaintext.plaintext).toString() };
  }
  throw new EnvelopeFault(
    candidates.length === 0 ? 'no key of ours has this kid' : 'it is not encrypted to a key of ours',
  );
}

async function verified(
  jws: string,
  pairs: LoadedPair[],
  ours: LoadedPair,
  outerKid: unknown,
  expected: Expected,
): Promise<Pick<Opened, 'theirs' | 'verdict'>> {
  const header = headerOf(jws, 3, innerHeader, ['kid']);
  const candidates = pairs.filter(({ signingKid }) => header['kid'] === undefined || header['kid'] === signingKid);
  for (const theirs of candidates) {
    const result = await tried(() =>
      compactVerify(jws, theirs.signing, { algorithms: [innerHeader['alg'] as string] }),
    );
    if (result) return { theirs, verdict: check(Buffer.from(result.payload).toString(), ours, outerKid, expected) };
  }
  throw new EnvelopeFault(
    candidates.length === 0 ? 'no key of the client has this kid' : 'the signature is not the client’s',
  );
}

function check(payload: string, ours: LoadedPair, outerKid: unknown, expected: Expected): Opened['verdict'] {
  const rejected = (reason: string) => ({ valid: false, code: 'REQUEST_REJECTED', reason }) as const;
  const parsed = delegationRequest.safeParse(jsonIn(payload));
  if (!parsed.success) return rejected(`the payload’s ${parsed.error.issues[0]?.path.join('.')} is malformed`);
  const { aud, enc_kid: encKid, exp, iat, iss } = parsed.data;
  if (iss !== expected.clientId) return rejected('iss is not the client');
  if (aud !== expected.audience) return rejected('aud is not this service and project');
  if (encKid !== ours.encryptionKid || (outerKid !== undefined && outerKid !== encKid)) {
    return rejected('enc_kid is not the encryption key of the request');
  }
  const { nowSeconds } = expected;
  const stale = (reason: string) => ({ valid: false, code: 'STALE', reason }) as const;
  if (exp <= iat || exp - iat > delegationTtlSeconds)
    return rejected(`exp is not within ${delegationTtlSeconds} s after iat`);
  if (iat > nowSeconds + leewaySeconds) return stale('iat is in the future');
  if (exp <= nowSeconds - leewaySeconds) return stale('exp is in the past');
  return { valid: true, request: parsed.data };
}

const innerHeader: Record<string, string> = { alg: delegationAlgorithms.signature, typ: delegationTypes.request };
const outerHeader = (typ: string): Record<string, string> => ({
  alg: delegationAlgorithms.keyManagement,
  enc: delegationAlgorithms.encryption,
  typ,
});

/**
 * The protected header of a compact serialization, if it contains only expected members: no `zip`, `crit`, `jwk`,
 * `jku`, `x5u` and so on. Each part must be canonical base64url, so that no bit can be changed undetected.
 */
function headerOf(
  text: string,
  parts: number,
  expected: Record<string, string>,
  further: string[],
): Record<string, unknown> {
  const split = text.split('.');
  if (split.length !== parts) throw new EnvelopeFault(`it does not have ${parts} parts`);
  if (!split.every(isBase64url)) throw new EnvelopeFault('a part is not canonical base64url');
  const header = jsonIn(Buffer.from(split[0] ?? '', 'base64url').toString());
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    throw new EnvelopeFault('the header is not an object');
  }
  const known = [...Object.keys(expected), ...further];
  for (const [name, value] of Object.entries(header)) {
    if (!known.includes(name)) throw new EnvelopeFault('the header has an unexpected member');
    if (name !== 'epk' && typeof value !== 'string') throw new EnvelopeFault('the header is malformed');
  }
  for (const [name, value] of Object.entries(expected)) {
    if ((header as Record<string, unknown>)[name] !== value) throw new EnvelopeFault(`${name} is not ${value}`);
  }
  return header as Record<string, unknown>;
}

function jsonIn(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch {
    return undefined;
  }
}

/** Undefined if jose rejects the input; rethrows other errors, which are bugs. */
async function tried<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof errors.JOSEError || isKeyFault(error)) return undefined;
    throw error;
  }
}

/** An invalid point (`epk` of small order or off the curve) fails in WebCrypto, without a jose error. */
function isKeyFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException || isOpenSslFault(error);
}

function isOpenSslFault(error: unknown): boolean {
  return error instanceof Error && /^ERR_(OSSL|CRYPTO)/.test(String((error as { code?: unknown }).code));
}
