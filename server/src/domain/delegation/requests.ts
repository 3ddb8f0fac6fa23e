import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { digest } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';

/** Extra retention of a used `jti`, beyond any clock skew. */
const marginSeconds = 120;

/** Delegation requests; each is accepted once. */
export class DelegationRequests {
  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /**
   * True for the first request with this `jti`, over all processes. The `jti` is consumed whatever the outcome of the
   * request.
   *
   * @param expSeconds Unix seconds at which the request expires
   */
  async use(clientId: string, jti: string, expSeconds: number): Promise<boolean> {
    const latest = Math.max(expSeconds * 1000, this.deps.clock.now().getTime());
    const fresh = await execute(
      this.deps.db.alone,
      sql`
        insert into used_delegation_requests (client_id, jti_hash, forget_at)
        values (${clientId}, ${digest(jti)}, ${secondsLater(new Date(latest), marginSeconds)})
        on conflict do nothing`,
      { prepare: 'requests.use' },
    );
    return fresh === 1;
  }
}
