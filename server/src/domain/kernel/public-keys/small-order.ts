/**
 * The points of small order on Curve25519 (RFC 7748 §7) and on edwards25519, without the sign bit. With such a public
 * key every shared secret is zero, and a signature can match any message.
 */
const points = {
  x25519: [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ],
  ed25519: [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ],
} as const;

/** Whether a public key has small order. @param x its 32 bytes in base64url, as in a JWK (RFC 8037 §2) */
export function hasSmallOrder(x: string, curve: keyof typeof points): boolean {
  const bytes = Buffer.from(x, 'base64url');
  bytes[31] = (bytes[31] ?? 0) & 0x7f;
  return (points[curve] as readonly string[]).includes(bytes.toString('hex'));
}
