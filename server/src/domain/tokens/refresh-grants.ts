import type { EntityManager } from '@mikro-orm/postgresql';
import { type Audit, aboutClient } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { limitedTotal, maxTotal, type Page, type PageRequest, type Total } from '../kernel/page.ts';
import { found } from '../kernel/problem.ts';
import { query, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { atKey, type TenantKey } from '../projects/tenant.ts';
import { clientOf, type OpenGrantRow, openGrants, usableUntil } from './live-grant.ts';
import { RefreshGrant } from './refresh-grant.entity.ts';
import { endRefreshGrant, endRefreshGrantsOf } from './user-tables.ts';

/** A refresh grant that may be used now. */
export interface LiveGrant {
  id: string;
  project: { id: string };
  clientId: string;
  userId: string;
  scope: string;
  /** With `offline_access`: outlives the session. */
  offline: boolean;
  createdAt: Date;
  lastUsedAt: Date;
  /** Expiry if it is not used. */
  expiresAt: Date;
}

/** The grants of a user, of a client, or of both. */
export interface GrantOwner {
  projectId: string;
  userId?: string | undefined;
  clientId?: string | undefined;
}

/** Maximum number of rows of one read. */
const batchSize = 5000;

/** Lists and ends the access of applications without their users. */
export class RefreshGrants {
  constructor(private readonly deps: { db: Database; clock: Clock; audit: Audit }) {}

  /** Grants that are usable under the current settings, newest first. */
  async list(em: EntityManager, owner: GrantOwner, { first, after }: PageRequest): Promise<Page<LiveGrant>> {
    const items: LiveGrant[] = [];
    for await (const grant of this.usable(em, owner, { after, batch: first + 1 })) {
      if (items.length === first) return { items, hasNextPage: true };
      items.push(grant);
    }
    return { items, hasNextPage: false };
  }

  async count(em: EntityManager, owner: GrantOwner): Promise<Total> {
    let counted = 0;
    for await (const _ of this.usable(em, owner, { after: null, batch: batchSize })) {
      counted += 1;
      if (counted > maxTotal) break;
    }
    return limitedTotal(counted);
  }

  /** Ends a grant and its access tokens; does nothing if it has ended. Refuses `not-found`. */
  revoke(key: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const grant = found(await em.findOne(RefreshGrant, atKey(key), { populate: ['user'] }), 'refresh-grant');
      if (!(await endRefreshGrant(em, key, this.deps.clock.now()))) return;
      const { id, userName: name } = grant.user.getEntity();
      const subject = { kind: 'user', id, name };
      const event = {
        type: 'refresh-grant.revoked' as const,
        actor,
        projectId: key.project.id,
        clientId: grant.client.id,
      };
      this.deps.audit.record(em, { ...event, subject });
    });
  }

  /** Ends all grants of a client, and their access tokens; does nothing if it has none. */
  revokeAllOf(client: TenantKey & { name: string }, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em: EntityManager) => {
      const grants = await endRefreshGrantsOf(em, client, this.deps.clock.now());
      if (grants === 0) return;
      const detail = { grants };
      this.deps.audit.record(em, { type: 'refresh-grants.revoked', actor, ...aboutClient(client), detail });
    });
  }

  /** Policies are decided here, not in SQL, so rows are read in batches: if many may not be used, in larger ones. */
  private async *usable(em: EntityManager, owner: GrantOwner, from: { after: string | null; batch: number }) {
    const project = await em.findOne(Project, owner.projectId);
    if (!project) return;
    const now = this.deps.clock.now();
    let { after, batch } = from;
    for (;;) {
      const where = sql`(${owner.userId ?? null}::uuid is null or g.user_id = ${owner.userId ?? null}::uuid)
        and (${owner.clientId ?? null}::uuid is null or g.client_id = ${owner.clientId ?? null}::uuid)
        and (${after}::uuid is null or g.id < ${after}::uuid)`;
      const rows = await query(em, openGrants(project, where, batch));
      for (const row of rows) {
        const expiresAt = usableUntil(row, clientOf(row), project, now);
        if (expiresAt) yield toGrant(project.id, row, expiresAt);
      }
      const last = rows.at(-1);
      if (!last || rows.length < batch) return;
      after = last.id;
      batch = Math.min(batch * 4, batchSize);
    }
  }
}

function toGrant(projectId: string, row: OpenGrantRow, expiresAt: Date): LiveGrant {
  return {
    id: row.id,
    project: { id: projectId },
    clientId: row.client_id,
    userId: row.user_id,
    scope: row.scope,
    offline: row.offline,
    createdAt: new Date(row.created_at),
    lastUsedAt: new Date(row.last_used_at),
    expiresAt,
  };
}
