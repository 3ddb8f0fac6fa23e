import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { digest } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';

/** Extra retention of a used `jti`, beyond any clock skew. */
const marginSeconds = 120;

/** Delegation requests; each is accepted once. */
export class DelegationRequests {
  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /**
   * True for the first request with this `jti`, over all processes. The `jti` is consumed regardless of the outcome of the
   * request.
   *
   * @param expSeconds Unix seconds at which the request expires
   */
  async use(client: TenantKey, jti: string, expSeconds: number): Promise<boolean> {
    const latest = Math.max(expSeconds * 1000, this.deps.clock.now().getTime());
    const fresh = await execute(
      this.deps.db.alone,
      sql`
        insert into used_delegation_requests (project_id, client_id, jti_hash, forget_at)
        values (${client.project.id}, ${client.id}, ${digest(jti)}, ${secondsLater(new Date(latest), marginSeconds)})
        on conflict do nothing`,
      { prepare: 'requests.use' },
    );
    return fresh === 1;
  }
}
