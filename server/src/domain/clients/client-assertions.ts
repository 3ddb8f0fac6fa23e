import { type CryptoKey, errors, importJWK, jwtVerify } from 'jose';
import { isCompactJws } from '../kernel/base64url.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import { refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import type { Client } from './client.entity.ts';

/** Seconds of clock skew that an assertion may show. */
const leewaySeconds = 30;
/** An assertion may expire at most this far ahead, and be issued at most this long ago. */
const longestSeconds = 5 * 60;

/** An assertion that is valid if it was not used before and its client is still as it was judged. */
export interface JudgedAssertion {
  jtiHash: string;
  /** When it has expired for certain. */
  forgetAt: Date;
}

/** SQL: records the assertion as used, by the client of the CTE `client`. No row if there is none, or it was used before. */
export function usedAssertion(assertion: JudgedAssertion | undefined): Fragment {
  const jtiHash = assertion?.jtiHash ?? null;
  return sql`insert into used_assertions (client_id, jti_hash, forget_at)
    select id, ${jtiHash}, ${assertion?.forgetAt ?? null}::timestamptz from client where ${jtiHash}::text is not null
    on conflict do nothing returning 1`;
}

/** Client assertions of `private_key_jwt` (RFC 7523 §3, OpenID Connect Core §9). */
export class ClientAssertions {
  /** For as long as the client is remembered. */
  private readonly imported = new WeakMap<Client, CryptoKey>();

  /** @param audiences what every value of `aud` must be one of: the token endpoint's address and the issuer */
  constructor(private readonly deps: { clock: Clock; audiences: string[] }) {}

  /**
   * Refuses `client-rejected` unless the assertion is the client's, for us, and fresh. Whether it is seen for the first
   * time, and the client still the one that was judged, is asked by the statement that grants something on it.
   */
  async judge(client: Client, assertion: string): Promise<JudgedAssertion> {
    if (!client.jwk) refuse({ code: 'client-rejected', reason: 'no key is registered' });
    const payload = await this.verified(client, assertion);
    const now = seconds(this.deps.clock.now());
    const { exp, iat, jti, sub } = payload;
    if (sub !== client.id) refuse({ code: 'client-rejected', reason: 'sub is not the client' });
    if (typeof exp !== 'number') refuse({ code: 'client-rejected', reason: 'exp is missing' });
    if (exp > now + longestSeconds + leewaySeconds) refuse({ code: 'client-rejected', reason: 'exp is too far ahead' });
    if (iat !== undefined && (iat > now + leewaySeconds || iat < now - longestSeconds - leewaySeconds)) {
      refuse({ code: 'client-rejected', reason: 'iat is in the future or too old' });
    }
    if (typeof jti !== 'string' || jti === '') refuse({ code: 'client-rejected', reason: 'jti is missing' });
    return {
      jtiHash: digest(jti),
      forgetAt: secondsLater(new Date(exp * 1000), 4 * leewaySeconds),
    };
  }

  private async verified(client: Client, assertion: string) {
    if (!isCompactJws(assertion)) refuse({ code: 'client-rejected', reason: 'not a compact JWS in base64url' });
    try {
      const { payload } = await jwtVerify(assertion, await this.keyOf(client), {
        algorithms: ['EdDSA', 'Ed25519'],
        issuer: client.id,
        audience: this.deps.audiences,
        clockTolerance: leewaySeconds,
        currentDate: this.deps.clock.now(),
      });
      if (![payload.aud].flat().every((one) => one !== undefined && this.deps.audiences.includes(one))) {
        return refuse({ code: 'client-rejected', reason: 'aud contains another audience' });
      }
      return payload;
    } catch (error) {
      if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error;
      return refuse({ code: 'client-rejected', reason: error.message });
    }
  }

  private async keyOf(client: Client): Promise<CryptoKey> {
    const known = this.imported.get(client);
    if (known) return known;
    const key = (await importJWK(client.jwk ?? {}, 'EdDSA')) as CryptoKey;
    this.imported.set(client, key);
    return key;
  }
}
