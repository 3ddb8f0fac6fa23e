import { type CryptoKey, errors, importJWK, jwtVerify } from 'jose';
import { isCompactJws } from '../kernel/base64url.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import { refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import type { Client } from './client.entity.ts';

/** Tolerated clock skew in seconds. */
const leewaySeconds = 30;
/** Maximum seconds until expiry and since issue. */
const longestSeconds = 5 * 60;

/** An assertion that is valid if it is unused and its client is unchanged. */
export interface JudgedAssertion {
  jtiHash: string;
  /** Expiry plus leeway. */
  forgetAt: Date;
}

/**
 * SQL: records the assertion of the client in the CTE `client` as used. No row if there is none, or it was used before.
 */
export function usedAssertion(assertion: JudgedAssertion | undefined): Fragment {
  const jtiHash = assertion?.jtiHash ?? null;
  return sql`insert into used_assertions (project_id, client_id, jti_hash, forget_at)
    select project_id, id, ${jtiHash}, ${assertion?.forgetAt ?? null}::timestamptz from client where ${jtiHash}::text is not null
    on conflict do nothing returning 1`;
}

/** Client assertions of `private_key_jwt` (RFC 7523 §3, OpenID Connect Core §9). */
export class ClientAssertions {
  /** Imported keys, while the client entity is cached. */
  private readonly imported = new WeakMap<Client, CryptoKey>();

  /** @param audiences allowed values of `aud`: the token endpoint and the issuer */
  constructor(private readonly deps: { clock: Clock; audiences: string[] }) {}

  /**
   * Refuses `client-rejected` unless signature, issuer, audience and times are valid. The statement that grants
   * something checks that the assertion is unused and the client unchanged.
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
