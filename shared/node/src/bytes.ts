/** Text and base64url with APIs of every runtime: browsers' Web APIs, not Node's Buffer. */
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);

/** Throws a `DOMException` if `text` is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export function toBase64url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Throws a `DOMException` if `text` is not base64url. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
}

/** Canonical base64url: no padding, no stray trailing bits (RFC 4648 §3.5). */
export function isBase64url(text: string): boolean {
  return /^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1 && toBase64url(fromBase64url(text)) === text;
}

/** SHA-256 in base64url. */
export async function sha256(text: string): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text))));
}
