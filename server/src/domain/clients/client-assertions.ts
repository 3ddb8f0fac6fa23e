import { type CryptoKey, errors, importJWK, jwtVerify } from 'jose';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import type { Client } from './client.entity.ts';

/** Seconds of clock skew that an assertion may show. */
const leewaySeconds = 30;
/** An assertion may expire at most this far ahead, and be issued at most this long ago. */
const longestSeconds = 5 * 60;

/** Client assertions of `private_key_jwt` (RFC 7523 §3, OpenID Connect Core §9). */
export class ClientAssertions {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly audiences: string[];
  /** For as long as the client is remembered. */
  private readonly imported = new WeakMap<Client, CryptoKey>();

  /** @param audiences what `aud` may name: the token endpoint's address and the issuer */
  constructor(db: Database, clock: Clock, audiences: string[]) {
    this.db = db;
    this.clock = clock;
    this.audiences = audiences;
  }

  /**
   * Refuses `client-rejected` unless the assertion is the client's, for us, fresh, and seen for the first time. False
   * where the client is disabled or of another version by now: then its key may be another, and nothing is noted.
   */
  async accepts(client: Client, assertion: string): Promise<boolean> {
    if (!client.jwk) refuse({ code: 'client-rejected', reason: 'no key is registered' });
    const payload = await this.verified(client, assertion);
    const now = seconds(this.clock.now());
    const { exp, iat, jti, sub } = payload;
    if (sub !== client.id) refuse({ code: 'client-rejected', reason: 'sub is not the client' });
    if (typeof exp !== 'number') refuse({ code: 'client-rejected', reason: 'exp is missing' });
    if (exp > now + longestSeconds + leewaySeconds) refuse({ code: 'client-rejected', reason: 'exp is too far ahead' });
    if (iat !== undefined && (iat > now + leewaySeconds || iat < now - longestSeconds - leewaySeconds)) {
      refuse({ code: 'client-rejected', reason: 'iat is in the future or too old' });
    }
    if (typeof jti !== 'string' || jti === '') refuse({ code: 'client-rejected', reason: 'jti is missing' });
    return this.useOnce(client, jti, exp);
  }

  private async verified(client: Client, assertion: string) {
    try {
      const { payload } = await jwtVerify(assertion, await this.keyOf(client), {
        algorithms: ['EdDSA', 'Ed25519'],
        issuer: client.id,
        audience: this.audiences,
        clockTolerance: leewaySeconds,
        currentDate: this.clock.now(),
      });
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

  private async useOnce(client: Client, jti: string, expSeconds: number): Promise<boolean> {
    const forgetAt = secondsLater(new Date(expSeconds * 1000), 4 * leewaySeconds);
    const [row] = await this.db.rows<{ current: boolean; fresh: boolean }>(
      `with client as (
         select id from clients where id = ?::uuid and version = ?::int and disabled_at is null
       ), used as (
         insert into used_assertions (client_id, jti_hash, forget_at)
         select id, ?, ?::timestamptz from client on conflict do nothing returning 1
       )
       select exists (select from client) as current, exists (select from used) as fresh`,
      [client.id, client.version, digest(jti), forgetAt],
    );
    if (!row?.current) return false;
    if (!row.fresh) refuse({ code: 'client-rejected', reason: 'jti was used before' });
    return true;
  }
}
