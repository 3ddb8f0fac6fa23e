import type { EntityManager } from '@mikro-orm/postgresql';
import { type Audit, aboutClient } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Page, type PageRequest, type Total, totalOf } from '../kernel/page.ts';
import { found } from '../kernel/problem.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import { atKey, type TenantKey } from '../projects/tenant.ts';
import { isLive, usableUntil } from './live-grant.ts';
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

interface GrantRow {
  id: string;
  project_id: string;
  client_id: string;
  user_id: string;
  scope: string;
  offline: boolean;
  created_at: Date | string;
  last_used_at: Date | string;
  expires_at: Date | string;
}

/** Lists and ends the access of applications without their users. */
export class RefreshGrants {
  constructor(private readonly deps: { db: Database; clock: Clock; audit: Audit }) {}

  /** Grants that are usable under the current settings, newest first. */
  async list(on: Executing, owner: GrantOwner, { first, after }: PageRequest): Promise<Page<LiveGrant>> {
    const rows = await query(
      on,
      sql<GrantRow>`select g.id, g.project_id, g.client_id, g.user_id, g.scope, g.offline, g.created_at, g.last_used_at,
          ${usableUntil} as expires_at
        from refresh_grants g, users u, clients k, projects p
        where ${this.chosen(owner)} and (${after}::uuid is null or g.id < ${after}::uuid)
        order by g.id desc limit ${first + 1}`,
    );
    return { items: rows.slice(0, first).map(toGrant), hasNextPage: rows.length > first };
  }

  count(on: Executing, owner: GrantOwner): Promise<Total> {
    // Users are looked up one by one (`offset 0`): PostgreSQL would otherwise read all of the project.
    const users = sql`lateral (select project_id, id, active from users where project_id = g.project_id and id = g.user_id offset 0) u`;
    return totalOf(on, sql`from refresh_grants g, ${users}, clients k, projects p where ${this.chosen(owner)}`);
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

  private chosen({ projectId, userId, clientId }: GrantOwner): Fragment {
    return sql`g.project_id = ${projectId} and ${userId === undefined ? sql`true` : sql`g.user_id = ${userId}`}
      and ${clientId === undefined ? sql`true` : sql`g.client_id = ${clientId}`} and ${isLive(this.deps.clock.now())}`;
  }
}

function toGrant(row: GrantRow): LiveGrant {
  return {
    id: row.id,
    project: { id: row.project_id },
    clientId: row.client_id,
    userId: row.user_id,
    scope: row.scope,
    offline: row.offline,
    createdAt: new Date(row.created_at),
    lastUsedAt: new Date(row.last_used_at),
    expiresAt: new Date(row.expires_at),
  };
}
