import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  EmbeddedJWK,
  errors,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { isCompactJws } from '../../kernel/base64url.ts';
import { type Clock, seconds, secondsLater } from '../../kernel/clock.ts';
import { dpopAlgorithms } from '../../kernel/openid.ts';
import { refuse } from '../../kernel/problem.ts';
import { publicKeyFault } from '../../kernel/public-keys/public-key.ts';
import { digest } from '../../kernel/secret.ts';
import { type Fragment, sql } from '../../kernel/sql.ts';
import type { DpopNonces } from './dpop-nonces.ts';

/** Tolerated clock skew in seconds, as for client assertions. */
const leewaySeconds = 30;
/** Maximum age of a proof in seconds. */
const maxAgeSeconds = 60;
/** Maximum characters. */
const longestProof = 4096;
const longestJti = 512;
const longestUrl = 2048;

/** The request that a proof came with. */
export interface ProofTarget {
  method: string;
  /** Its address below that of the issuer, regardless of the Host header. */
  url: string;
  /** The access token that was sent with it. */
  accessToken?: string | undefined;
}

/** A valid DPoP proof; the statement that grants something checks that it is unused, see {@link usedProof}. */
export interface CheckedProof {
  /** RFC 7638 thumbprint of the key (SHA-256, base64url): the tokens' `cnf.jkt`. */
  jkt: string;
  alg: string;
  /** Whether it has a valid nonce of this server. */
  hasNonce: boolean;
  /** SHA-256 of key, address and `jti`. */
  jtiHash: string;
  /** The last moment at which it is accepted, plus leeway. */
  forgetAt: Date;
}

/**
 * SQL: records the proof as used by the client of `from`, which has the columns project_id and client_id. No row if the
 * proof was used before, or `from` has none: a request without a live code or token records nothing.
 */
export function usedProof(proof: CheckedProof, from: Fragment): Fragment {
  return sql`insert into used_assertions (project_id, client_id, jti_hash, forget_at)
    select project_id, client_id, ${proof.jtiHash}, ${proof.forgetAt}::timestamptz from ${from}
    on conflict do nothing returning 1`;
}

/** Refuses a proof that {@link usedProof} did not record. */
export function refuseUsedProof(): never {
  return reject('jti was used before', 'The DPoP proof was used before: each request needs its own, with a new jti.');
}

/** DPoP proofs (RFC 9449 section 4.3). */
export class DpopProofs {
  constructor(private readonly deps: { clock: Clock; nonces: Pick<DpopNonces, 'isValid'> }) {}

  /** Refuses `proof-rejected`, and `nonce-rejected` for a nonce that is not valid or has expired. */
  async check(proof: string, target: ProofTarget): Promise<CheckedProof> {
    if (proof.length > longestProof) reject('too long', `The DPoP proof is longer than ${longestProof} characters.`);
    if (!isCompactJws(proof)) reject('not a compact JWS', 'The DPoP proof is not a compact JWS in base64url.');
    const { jwk, alg } = headerOf(proof);
    const { jti, iat, nonce } = this.checked(await this.verified(proof), target);
    if (nonce !== undefined && !(typeof nonce === 'string' && this.deps.nonces.isValid(nonce))) {
      refuse({ code: 'nonce-rejected' });
    }
    const jkt = await calculateJwkThumbprint(jwk);
    return {
      jkt,
      alg,
      hasNonce: nonce !== undefined,
      jtiHash: digest(`dpop\0${jkt}\0${target.method} ${addressOf(target.url)}\0${jti}`),
      forgetAt: secondsLater(new Date(iat * 1000), maxAgeSeconds + 4 * leewaySeconds),
    };
  }

  private async verified(proof: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(proof, EmbeddedJWK, {
        algorithms: [...dpopAlgorithms],
        clockTolerance: leewaySeconds,
        currentDate: this.deps.clock.now(),
      });
      return payload;
    } catch (error) {
      // WebCrypto throws a DOMException for an invalid key, for example a point that is not on its curve.
      if (!(error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException))
        throw error;
      if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
        return reject(
          error.claim,
          `The DPoP proof has expired or is not yet valid: check ${error.claim} and the clock.`,
        );
      }
      if (error instanceof errors.JWTInvalid)
        return reject('payload', 'The payload of the DPoP proof is not a JSON object.');
      return reject(
        'signature or key',
        'The signature of the DPoP proof does not match its jwk, or jwk is not a valid key.',
      );
    }
  }

  private checked(claims: JWTPayload, { method, url, accessToken }: ProofTarget) {
    const { iat, jti } = claims;
    if (claims['htm'] !== method) reject('htm', `htm of the DPoP proof must be ${method}.`);
    if (!isAddress(claims['htu'], url)) reject('htu', `htu of the DPoP proof must be ${url}.`);
    const now = seconds(this.deps.clock.now());
    if (typeof iat !== 'number' || iat > now + leewaySeconds || iat < now - maxAgeSeconds - leewaySeconds) {
      return reject(
        'iat',
        `iat of the DPoP proof must be at most ${maxAgeSeconds} seconds ago: check iat and the clock.`,
      );
    }
    if (typeof jti !== 'string' || jti === '' || jti.length > longestJti) {
      return reject('jti', `The DPoP proof needs jti, a value of at most ${longestJti} characters that is used once.`);
    }
    if (accessToken !== undefined && claims['ath'] !== digest(accessToken)) {
      reject('ath', 'ath of the DPoP proof must be the SHA-256 hash of the access token, in base64url.');
    }
    return { jti, iat, nonce: claims['nonce'] };
  }
}

/** The checks of the header that jose does not make; the key is valid only after the signature was verified. */
function headerOf(proof: string): { jwk: JWK; alg: string } {
  const header = decoded(proof);
  const { typ, alg, jwk } = header;
  if (typ !== 'dpop+jwt') reject('typ', 'typ of the DPoP proof must be dpop+jwt.');
  if (alg === undefined || !dpopAlgorithms.some((one) => one === alg)) {
    return reject('alg', `The DPoP proof must be signed with ${dpopAlgorithms.join(', ')}.`);
  }
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) {
    return reject('jwk is missing', 'The DPoP proof needs jwk, its public key.');
  }
  if (['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'].some((name) => name in jwk)) {
    reject(
      'jwk has private members',
      'jwk of the DPoP proof contains a private key: send the public key only, and replace this key, since it has leaked.',
    );
  }
  const broken = publicKeyFault(jwk);
  if (broken) reject(`jwk.${broken.member}`, `In jwk of the DPoP proof, ${broken.reason}.`);
  return { jwk, alg };
}

function decoded(proof: string): { typ?: unknown; alg?: string | undefined; jwk?: JWK | undefined } {
  try {
    return decodeProtectedHeader(proof);
  } catch {
    return reject('header', 'The header of the DPoP proof is not a JSON object.');
  }
}

/** Whether `htu` is this address, except for query and fragment, after normalization (RFC 3986 section 6.2). */
function isAddress(htu: unknown, url: string): boolean {
  if (typeof htu !== 'string' || htu.length > longestUrl || !URL.canParse(htu)) return false;
  const { username, password } = new URL(htu);
  return username === '' && password === '' && addressOf(htu) === addressOf(url);
}

/** The part of a URL that a proof is for. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** @param detail for the caller: depends only on the request */
function reject(reason: string, detail: string): never {
  return refuse({ code: 'proof-rejected', reason, detail });
}
