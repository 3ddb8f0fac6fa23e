import { randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type Clock, seconds } from '../src/domain/kernel/clock.ts';
import { digest } from '../src/domain/kernel/secret.ts';

type Part = Record<string, unknown>;

/** A client's DPoP key, and proofs by it; each part of a proof can be changed. */
export interface DpopKey {
  jkt: string;
  jwk: JWK;
  privateJwk: JWK;
  proof(at: { method?: string; url: string; token?: string }, claims?: Part, header?: Part): Promise<string>;
}

export async function dpopKey(clock: Clock, alg = 'ES256', modulusLength = 2048): Promise<DpopKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true, modulusLength });
  const [jwk, privateJwk] = [await exportJWK(publicKey), await exportJWK(privateKey)];
  return {
    jkt: await calculateJwkThumbprint(jwk),
    jwk,
    privateJwk,
    proof: ({ method = 'POST', url, token }, claims = {}, header = {}) =>
      new SignJWT({
        htm: method,
        htu: url,
        iat: seconds(clock.now()),
        jti: randomUUID(),
        ...(token !== undefined && { ath: digest(token) }),
        ...claims,
      })
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey),
  };
}
