import type { JWK } from 'jose';
import { refuse } from '../kernel/problem.ts';
import { hasSmallOrder } from '../keys/small-order.ts';

const maxLength = 8192;
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/**
 * The public Ed25519 key of a client (RFC 8037 §2), from a JWK, a JWK Set with one key (RFC 7517 §5), or either as JSON
 * text. Refuses `invalid`; private members are refused, not dropped, so that a leaked private key is noticed. The
 * reason never contains the input.
 */
export function parseClientKey(input: unknown): JWK {
  const jwk = single(typeof input === 'string' ? parse(input) : input);
  if (privateMembers.some((name) => name in jwk)) {
    fault('contains a private key: send the public key only, and replace this key, since it has leaked');
  }
  if (jwk['kty'] !== 'OKP' || jwk['crv'] !== 'Ed25519') fault('must be an Ed25519 key: kty "OKP", crv "Ed25519"');
  const { x, kid, alg, use, key_ops: operations } = jwk;
  if (
    typeof x !== 'string' ||
    !/^[A-Za-z0-9_-]{43}$/.test(x) ||
    Buffer.from(x, 'base64url').toString('base64url') !== x
  ) {
    fault('x must be 32 bytes in base64url');
  }
  if (hasSmallOrder(x as string, 'ed25519')) fault('x is a point of small order');
  if (alg !== undefined && alg !== 'EdDSA' && alg !== 'Ed25519') fault('alg must be EdDSA or Ed25519');
  if (use !== undefined && use !== 'sig') fault('use must be sig');
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    fault('key_ops must contain verify');
  }
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > 256 || !/^[\x20-\x7e]*$/.test(kid))) {
    fault('kid must be at most 256 characters of ASCII');
  }
  const key: JWK = { kty: 'OKP', crv: 'Ed25519', x: x as string };
  if (kid !== undefined) key.kid = kid as string;
  return key;
}

function parse(text: string): unknown {
  if (text.length > maxLength) fault(`is longer than ${maxLength} characters`);
  try {
    return JSON.parse(text);
  } catch {
    return fault('is not JSON');
  }
}

function single(input: unknown): Record<string, unknown> {
  if (!isObject(input)) fault('must be a JWK, or a JWK Set with one key');
  if (!('keys' in input)) return input;
  const { keys } = input;
  if (!Array.isArray(keys) || keys.length !== 1 || !isObject(keys[0])) fault('a JWK Set must contain exactly one key');
  return (keys as [Record<string, unknown>])[0];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fault(reason: string): never {
  return refuse({ code: 'invalid', field: 'jwks', reason });
}
