const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Non-canonical encodings of a compact JWS. Its signature must leave unused bits in base64url, as 64 bytes do. */
export function reencoded(jws: string): string[] {
  const last = alphabet.indexOf(jws.slice(-1));
  const sameBits = `${jws.slice(0, -1)}${alphabet[last + 1]}`;
  const standard = jws.replaceAll('-', '+').replaceAll('_', '/');
  return [`${jws}=`, `${jws}==`, sameBits, ...(standard === jws ? [] : [standard])];
}
