import { fromBase64 } from './bytes.ts';

/** Type and curve in the DER of a key. */
export interface KeyFormat {
  isPrivate: boolean;
  /** `rsa`, `ed25519`, `x25519`, the name of a curve of EC (`P-521`), or `unknown`. */
  type: string;
}

const rsa = '2a864886f70d010101';
const ec = '2a8648ce3d0201';
/** Object identifiers (RFC 8017 appendix C, RFC 5480 §2.1.1, RFC 8410 §3). */
const types: Record<string, string> = {
  [rsa]: 'rsa',
  '2a8648ce3d030107': 'P-256',
  '2b81040022': 'P-384',
  '2b81040023': 'P-521',
  '2b6570': 'ed25519',
  '2b656e': 'x25519',
};
const [integer, bitString, octetString, objectIdentifier, sequence] = [0x02, 0x03, 0x04, 0x06, 0x30];

/** One element of DER (X.690 §8.1). */
interface Element {
  tag: number;
  content: Uint8Array;
}

/** Whether `input` is the key itself, not a path. */
export function isPem(input: string): boolean {
  return input.includes('-----BEGIN');
}

/** Replaces a literal `\n`, common in environment variables, with line breaks. */
export function unescapePem(pem: string): string {
  return pem.includes('\n') ? pem : pem.replaceAll('\\n', '\n');
}

/** The DER in the first PEM block with one of these labels (RFC 7468 §2), or null. */
export function derIn(pem: string, label: string): Uint8Array<ArrayBuffer> | null {
  const block = new RegExp(`-----BEGIN (?:${label})-----([^-]*)-----END (?:${label})-----`).exec(pem)?.[1];
  try {
    return block === undefined ? null : fromBase64(block.replace(/\s/g, ''));
  } catch {
    return null;
  }
}

/**
 * Reads a public key (SubjectPublicKeyInfo, RFC 5280 §4.1) or recognizes a private one (RFC 5958 §2, RFC 8017 A.1.2, RFC
 * 5915 §3), as far as needed to name its type. Null: neither.
 */
export function keyFormatOf(der: Uint8Array): KeyFormat | null {
  const outer = elementsOf(der);
  const parts = outer?.length === 1 && outer[0]?.tag === sequence ? elementsOf(outer[0].content) : null;
  const [first, second, third] = parts ?? [];
  if (first?.tag === sequence && second?.tag === bitString && parts?.length === 2) {
    return { isPrivate: false, type: typeOf(first) };
  }
  if (first?.tag !== integer || !second) return null;
  if (second.tag === sequence && third?.tag === octetString) return { isPrivate: true, type: typeOf(second) };
  if (second.tag === octetString) return { isPrivate: true, type: 'ec' };
  return second.tag === integer && third?.tag === integer ? { isPrivate: true, type: 'rsa' } : null;
}

/** The type of key in an AlgorithmIdentifier. */
function typeOf({ content }: Element): string {
  const [algorithm, parameters] = elementsOf(content) ?? [];
  const id = algorithm?.tag === objectIdentifier ? hex(algorithm.content) : '';
  return types[id === ec && parameters?.tag === objectIdentifier ? hex(parameters.content) : id] ?? 'unknown';
}

/** All elements in `bytes`, or null if they are truncated or have trailing bytes. */
function elementsOf(bytes: Uint8Array): Element[] | null {
  const found: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const [tag = 0, first = 0] = bytes.subarray(at);
    const long = first > 0x80 ? first - 0x80 : 0;
    const start = at + 2 + long;
    if (at + 2 > bytes.length || long > 3 || start > bytes.length || first === 0x80) return null;
    const length = long === 0 ? first : bytes.subarray(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
    if (start + length > bytes.length) return null;
    found.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
