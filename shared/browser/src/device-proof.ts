import type { DeviceKey } from './device-key.ts';
import { base64url, randomText, sha256, utf8 } from './encoding.ts';

/** Claims of a proof; `bh`, `iat` and `jti` are added when signing. */
export type ProofClaims = {
  act: string;
  aud: string;
  cid: string;
  org: string;
  txn: string;
  nonce: string;
  cc: string | undefined;
};

/**
 * Device proof (cryptoVersion `v1`): compact JWS, ES256, over the claims and the SHA-256 of the exact body. The header
 * carries the public key at registration, its thumbprint afterwards.
 */
export async function signProof(
  key: DeviceKey,
  kind: 'registration' | 'use',
  claims: ProofClaims,
  body: Uint8Array<ArrayBuffer>,
  nowMilliseconds: number,
): Promise<string> {
  const header = {
    typ: 'device-proof+jwt',
    alg: 'ES256',
    ...(kind === 'registration' ? { jwk: key.publicJwk } : { kid: key.kid }),
  };
  const payload = {
    ...claims,
    bh: await sha256(body),
    iat: Math.floor(nowMilliseconds / 1000),
    jti: randomText(16),
  };
  const input = [header, payload].map((part) => base64url(utf8(JSON.stringify(part)))).join('.');
  // WebCrypto returns r and s as 64 raw bytes, the JWS format (RFC 7518 §3.4).
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, utf8(input));
  return `${input}.${base64url(signature)}`;
}
