import type { JWK } from 'jose';
import { refuse } from '../kernel/problem.ts';
import { publicKeyFault } from '../kernel/public-keys/public-key.ts';

const maxKeys = 10;
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
/** Algorithms of assertions by key type, and the members that a public key consists of (RFC 7518 §6). */
const kinds: readonly { kty: string; crv?: string; algorithms: readonly string[]; members: readonly string[] }[] = [
  { kty: 'EC', crv: 'P-256', algorithms: ['ES256'], members: ['kty', 'crv', 'x', 'y'] },
  { kty: 'RSA', algorithms: ['RS256', 'PS256'], members: ['kty', 'n', 'e'] },
];

/**
 * The public keys of a client for `private_key_jwt`, from a JWK, a JWK Set or either as JSON text: Ed25519, P-256, or RSA
 * ({@link publicKeyFault}); each of several has its own `kid`. Refuses `invalid`, also for private members, so that a
 * leaked private key is noticed. The reason never contains the input.
 */
export function parseClientKeys(input: unknown): JWK[] {
  const value = typeof input === 'string' && input.length <= 65_536 ? parsed(input) : input;
  const keys = isObject(value) && Array.isArray(value['keys']) ? value['keys'] : [value];
  if (keys.length === 0 || keys.length > maxKeys) fault(`must contain 1 to ${maxKeys} keys`);
  const all = keys.map(parseKey);
  const kids = new Set(all.map(({ kid }) => kid));
  if (all.length > 1 && (kids.has(undefined) || kids.size < all.length))
    fault('each of several keys needs its own kid');
  return all;
}

/** The keys of a fetched JWK Set that this server can use; others are ignored (RFC 7517 §5). */
export function usableKeys(set: unknown): JWK[] {
  const keys = isObject(set) && Array.isArray(set['keys']) ? set['keys'].slice(0, 50) : [];
  return keys.flatMap((key) => {
    try {
      return [parseKey(key)];
    } catch {
      return [];
    }
  });
}

function parseKey(input: unknown): JWK {
  if (!isObject(input)) fault('must be a JWK or a JWK Set');
  const jwk = input as Record<string, unknown>;
  if (privateMembers.some((name) => name in jwk)) {
    fault('contains a private key: send the public key only, and replace this key, since it has leaked');
  }
  if (jwk['kty'] === 'OKP') return parseEd25519Key(jwk);
  const kind = kinds.find(({ kty, crv }) => jwk['kty'] === kty && (crv === undefined || jwk['crv'] === crv));
  if (!kind) return fault('must be Ed25519, P-256 or RSA keys');
  const { alg, use, kid } = jwk;
  if (alg !== undefined && !kind.algorithms.some((one) => one === alg))
    fault(`alg must be ${kind.algorithms.join(' or ')}`);
  if (use !== undefined && use !== 'sig') fault('use must be sig');
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > 256 || !/^[\x20-\x7e]+$/.test(kid))) {
    fault('kid must be at most 256 characters of ASCII');
  }
  const key = Object.fromEntries(kind.members.map((name) => [name, jwk[name]]));
  checkMaterial(key);
  return { ...key, ...(alg === undefined ? {} : { alg }), ...(kid === undefined ? {} : { kid }) } as JWK;
}

/** An Ed25519 key (RFC 8037 §2). */
function parseEd25519Key({ crv, x, kid, alg, use, key_ops: operations }: Record<string, unknown>): JWK {
  if (crv !== 'Ed25519') fault('must be an Ed25519 key: kty "OKP", crv "Ed25519"');
  checkMaterial({ kty: 'OKP', crv, x });
  if (alg !== undefined && alg !== 'EdDSA' && alg !== 'Ed25519') fault('alg must be EdDSA or Ed25519');
  if (use !== undefined && use !== 'sig') fault('use must be sig');
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    fault('key_ops must contain verify');
  }
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > 256 || !/^[\x20-\x7e]*$/.test(kid))) {
    fault('kid must be at most 256 characters of ASCII');
  }
  return { kty: 'OKP', crv, x, ...(kid === undefined ? {} : { kid }) } as JWK;
}

function checkMaterial(key: object): void {
  const broken = publicKeyFault(key);
  if (broken) fault(broken.reason);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fault('is not JSON');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fault(reason: string): never {
  return refuse({ code: 'invalid', field: 'jwks', reason });
}
