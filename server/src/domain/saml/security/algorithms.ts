import { constants, type KeyObject } from 'node:crypto';
import { SamlError } from '../saml-error.ts';

interface SignatureAlgorithm {
  hash: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** Type of the key (`KeyObject.asymmetricKeyType`). */
  key: 'rsa' | 'ec';
  isWeak?: boolean;
}

/** RFC 9231 section 2.3. Not here: HMAC, DSA, MD5. */
const signatures: Readonly<Record<string, SignatureAlgorithm>> = {
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': { hash: 'sha256', key: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384': { hash: 'sha384', key: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': { hash: 'sha512', key: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256': { hash: 'sha256', key: 'ec' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384': { hash: 'sha384', key: 'ec' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512': { hash: 'sha512', key: 'ec' },
  'http://www.w3.org/2000/09/xmldsig#rsa-sha1': { hash: 'sha1', key: 'rsa', isWeak: true },
};

const digests: Readonly<Record<string, { hash: SignatureAlgorithm['hash']; isWeak?: boolean }>> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': { hash: 'sha256' },
  'http://www.w3.org/2001/04/xmldsig-more#sha384': { hash: 'sha384' },
  'http://www.w3.org/2001/04/xmlenc#sha512': { hash: 'sha512' },
  'http://www.w3.org/2000/09/xmldsig#sha1': { hash: 'sha1', isWeak: true },
};

/** The algorithms of our own signatures. */
export const ownSignature = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const ownDigest = 'http://www.w3.org/2001/04/xmlenc#sha256';

export interface AlgorithmRules {
  /** Whether the other side may sign with SHA-1. */
  allowsSha1?: boolean;
}

export function signatureAlgorithm(uri: string | undefined, rules: AlgorithmRules): SignatureAlgorithm {
  return allowed(signatures, uri, rules, 'SignatureMethod');
}

export function digestHash(uri: string | undefined, rules: AlgorithmRules): SignatureAlgorithm['hash'] {
  return allowed(digests, uri, rules, 'DigestMethod').hash;
}

function allowed<A extends { isWeak?: boolean }>(
  known: Readonly<Record<string, A>>,
  uri: string | undefined,
  { allowsSha1 = false }: AlgorithmRules,
  what: string,
): A {
  const found = uri !== undefined && Object.hasOwn(known, uri) ? known[uri] : undefined;
  if (!found || (found.isWeak && !allowsSha1)) throw new SamlError('algorithm-refused', what);
  return found;
}

const curves = ['prime256v1', 'secp384r1', 'secp521r1'];

/** The reason why a key is not accepted; null: it is. RSA from 2048 bits, or EC on P-256, P-384, P-521. */
export function keyFault(key: KeyObject): string | null {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') return modulusLength >= 2048 ? null : 'RSA keys need 2048 bits';
  if (key.asymmetricKeyType === 'ec') return curves.includes(namedCurve) ? null : 'the curve is not supported';
  return 'the key must be RSA or EC';
}

/** RSASSA-PKCS1-v1_5 for RSA; concatenated integers for EC (RFC 9231 section 2.3.6). */
export function keyInput(key: KeyObject) {
  return key.asymmetricKeyType === 'ec'
    ? ({ key, dsaEncoding: 'ieee-p1363' } as const)
    : { key, padding: constants.RSA_PKCS1_PADDING };
}
