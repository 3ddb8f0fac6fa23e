/**
 * True for base64url as defined in RFC 7515 §2: no padding, no other characters, and the unused bits of the last
 * character zero. Decoders accept more, so that one value has several spellings.
 */
export function isBase64url(text: string): boolean {
  return strict.test(text);
}

const strict = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

/** True for a compact JWS (RFC 7515 §7.1): three parts in strict base64url, none of them empty. */
export function isCompactJws(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 3 && parts.every((part) => part !== '' && isBase64url(part));
}
