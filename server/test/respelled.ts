const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Other spellings that lenient decoders take for the same compact JWS; its signature must have unused bits, as 64 bytes do. */
export function respelled(jws: string): string[] {
  const last = alphabet.indexOf(jws.slice(-1));
  const sameBits = `${jws.slice(0, -1)}${alphabet[last + 1]}`;
  const standard = jws.replaceAll('-', '+').replaceAll('_', '/');
  return [`${jws}=`, `${jws}==`, sameBits, ...(standard === jws ? [] : [standard])];
}
