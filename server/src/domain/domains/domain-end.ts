import { revokeCredentialsAt } from '../credentials/user-tables.ts';
import { system } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import type { Logout } from '../logout/logout.ts';
import { domainOrigin } from '../projects/site.ts';
import { keyIn } from '../projects/tenant.ts';
import { endRefreshGrantsAt } from '../tokens/user-tables.ts';

/** Sessions that end in one transaction. */
const batch = 100;

/** A host that its project has lost. */
export interface LostDomain {
  projectId: string;
  host: string;
  /** ISO 8601 time of the end: newer rows belong to a domain that was verified again. */
  before: string;
  /** Whether its passkeys end, too: the project does not want the domain back. */
  withPasskeys: boolean;
}

/**
 * Job: ends sessions, refresh grants and device keys of a host. Nothing accepts them since it was released; they must not
 * come back with it, because its pages may have been served by others in the meantime.
 */
export class DomainEnd {
  constructor(
    private readonly deps: { db: Database; clock: Clock; logout: Pick<Logout, 'endSessionIn'>; issuer: string },
  ) {}

  async end({ projectId, host, before, withPasskeys }: LostDomain): Promise<void> {
    const { clock, db, issuer, logout } = this.deps;
    const isOver = (createdAt: Fragment): Fragment => sql`(${createdAt} <= ${before}::timestamptz or not exists (
      select 1 from verified_hosts h where h.host = ${host} and h.project_id = ${projectId} and h.released_at is null))`;
    const open = sql<{ id: string }>`select id from sessions s
      where project_id = ${projectId} and domain = ${host} and ended_at is null and ${isOver(sql`s.created_at`)} limit ${batch}`;
    for (let ended = batch; ended === batch; ) {
      ended = await db.transaction(async (em) => {
        const sessions = await query(em, open);
        for (const { id } of sessions) await logout.endSessionIn(em, keyIn(projectId, id), 'revoked', system);
        return sessions.length;
      });
    }
    const [at, now] = [{ projectId, isOver }, clock.now()];
    await endRefreshGrantsAt(db.alone, { ...at, issuer: domainOrigin(issuer, host) }, now);
    await revokeCredentialsAt(db.alone, { ...at, domain: host, withPasskeys }, now);
  }
}
