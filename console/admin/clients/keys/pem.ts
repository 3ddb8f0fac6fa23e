/** DER as PEM (RFC 7468). */
function pem(label: 'PRIVATE KEY' | 'PUBLIC KEY', der: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(der)));
  return `-----BEGIN ${label}-----\n${text.match(/.{1,64}/g)?.join('\n')}\n-----END ${label}-----\n`;
}

/** Generates a key pair in the browser. Throws if the browser does not support the curve. */
export async function makePair(
  curve: 'Ed25519' | 'X25519',
): Promise<{ pair: CryptoKeyPair; privatePem: string; publicPem: string }> {
  const uses: KeyUsage[] = curve === 'Ed25519' ? ['sign', 'verify'] : ['deriveBits'];
  const pair = (await crypto.subtle.generateKey({ name: curve }, true, uses)) as CryptoKeyPair;
  return {
    pair,
    privatePem: pem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', pair.privateKey)),
    publicPem: pem('PUBLIC KEY', await crypto.subtle.exportKey('spki', pair.publicKey)),
  };
}
