import { errors, importJWK, jwtVerify } from 'jose';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import { changed, type Database } from '../kernel/database.ts';
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

  /** @param audiences what `aud` may name: the token endpoint's address and the issuer */
  constructor(db: Database, clock: Clock, audiences: string[]) {
    this.db = db;
    this.clock = clock;
    this.audiences = audiences;
  }

  /** Refuses `client-rejected` unless the assertion is the client's, for us, fresh, and seen for the first time. */
  async verify(client: Client, assertion: string): Promise<void> {
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
    await this.useOnce(client.id, jti, exp);
  }

  private async verified(client: Client, assertion: string) {
    try {
      const key = await importJWK(client.jwk ?? {}, 'EdDSA');
      const { payload } = await jwtVerify(assertion, key, {
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

  private async useOnce(clientId: string, jti: string, expSeconds: number): Promise<void> {
    const forgetAt = secondsLater(new Date(expSeconds * 1000), 4 * leewaySeconds);
    const fresh = await changed(
      this.db.reader(),
      'insert into used_assertions (client_id, jti_hash, forget_at) values (?, ?, ?) on conflict do nothing',
      [clientId, digest(jti), forgetAt],
    );
    if (fresh !== 1) refuse({ code: 'client-rejected', reason: 'jti was used before' });
  }
}
