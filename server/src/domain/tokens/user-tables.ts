import type { EntityManager } from '@mikro-orm/postgresql';
import { lacksAccess } from '../access/has-access.ts';
import { type Executing, execute, type Fragment, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** Ends a refresh grant and its access tokens. False if it has ended. */
export async function endRefreshGrant(em: EntityManager, { project, id }: TenantKey, now: Date): Promise<boolean> {
  const ended = await execute(
    em,
    sql`update refresh_grants set revoked_at = ${now} where project_id = ${project.id} and id = ${id} and revoked_at is null`,
  );
  await execute(
    em,
    sql`update authorization_codes set revoked_at = ${now}
        where project_id = ${project.id} and grant_id = ${id} and revoked_at is null`,
  );
  return ended === 1;
}

/** The tokens of a user that end; default: all. */
interface EndedTokens {
  /** Only tokens of this client. */
  clientId?: string;
  /** Keeps refresh grants with `offline_access`, which outlive a logout. */
  onlyOnline?: boolean;
}

/**
 * Ends a user's codes, access tokens and refresh grants. Returns the number of ended grants. In separate statements:
 * each sees the commits for which the one before waited, first of a code under a session, then of a redeemed code's
 * grant, then of a refreshed grant's access token. Until the caller, which may end the session, has committed, no code
 * is issued under it.
 */
export async function endTokens(
  em: EntityManager,
  user: TenantKey,
  now: Date,
  { clientId, onlyOnline = false }: EndedTokens = {},
): Promise<number> {
  const of = clientId === undefined ? sql`` : sql`and client_id = ${clientId}`;
  const live = sql`${ofUser(user)} ${of} and revoked_at is null`;
  const chosen: Fragment = onlyOnline ? sql`not offline` : sql`true`;
  await execute(
    em,
    sql`select 1 from sessions where ${ofUser(user)} and ended_at is null order by id for no key update`,
  );
  await execute(em, sql`update authorization_codes set revoked_at = ${now} where ${live}`);
  const ended = await execute(em, sql`update refresh_grants set revoked_at = ${now} where ${live} and ${chosen}`);
  await execute(em, sql`update authorization_codes set revoked_at = ${now} where ${live} and grant_id is not null`);
  return ended;
}

/** Like {@link endTokens}, of those of these users who may not use the client, on it. */
export async function endTokensWithoutAccess(
  em: EntityManager,
  client: TenantKey,
  userIds: readonly string[],
  now: Date,
): Promise<void> {
  const live = sql`t.project_id = ${client.project.id}::uuid and t.user_id = any(${userIds}::uuid[])
    and t.client_id = ${client.id}::uuid and t.revoked_at is null and ${lacksAccess(client, sql`t.user_id`, sql`t.organization_id`)}`;
  await execute(em, sql`update authorization_codes t set revoked_at = ${now} where ${live}`);
  await execute(em, sql`update refresh_grants t set revoked_at = ${now} where ${live}`);
  await execute(em, sql`update authorization_codes t set revoked_at = ${now} where ${live} and t.grant_id is not null`);
}

/** Ends the codes of a user's sessions that are not redeemed yet. Waits for those that are being redeemed. */
export async function endUnredeemed(
  em: EntityManager,
  user: TenantKey,
  { sessionIds, now }: { sessionIds: readonly string[]; now: Date },
): Promise<void> {
  await execute(
    em,
    sql`update authorization_codes set revoked_at = ${now}
      where ${ofUser(user)} and session_id = any(${sessionIds}::uuid[]) and used_at is null and revoked_at is null`,
  );
}

/**
 * SQL: locks the codes of the row `user` of `users` that are not redeemed yet. Waits for those that are being redeemed.
 */
export function lockedCodes(user: Fragment): Fragment {
  return sql`select id from authorization_codes c where c.project_id = ${user}.project_id and c.user_id = ${user}.id
    and c.used_at is null order by id for no key update`;
}

/** Ends all refresh grants of a client, and their access tokens. Returns the number of grants that ended. */
export async function endRefreshGrantsOf(em: EntityManager, client: TenantKey, now: Date): Promise<number> {
  const live = sql`project_id = ${client.project.id} and client_id = ${client.id} and revoked_at is null`;
  const ended = await execute(em, sql`update refresh_grants set revoked_at = ${now} where ${live}`);
  await execute(em, sql`update authorization_codes set revoked_at = ${now} where ${live} and grant_id is not null`);
  return ended;
}

/** Ends the refresh grants of a project's issuer, and their access tokens. @param at.isOver condition on their time */
export async function endRefreshGrantsAt(
  on: Executing,
  at: { projectId: string; issuer: string; isOver(createdAt: Fragment): Fragment },
  now: Date,
): Promise<void> {
  const live = sql`t.project_id = ${at.projectId} and t.issuer = ${at.issuer} and t.revoked_at is null
    and ${at.isOver(sql`t.created_at`)}`;
  await execute(on, sql`update refresh_grants t set revoked_at = ${now} where ${live}`);
  await execute(on, sql`update authorization_codes t set revoked_at = ${now} where ${live}`);
}

export const tokenTables: UserTables = {
  tables: ['authorization_codes', 'refresh_grants'],
  handOver: null,
  exportRows: {
    authorizationCodes: (user) => sql`
      select c.id, c.client_id as "clientId", c.session_id as "sessionId", c.scope, c.created_at as "createdAt",
        c.used_at as "usedAt", c.revoked_at as "revokedAt"
      from authorization_codes c where ${ofUser(user, 'c')}`,
    refreshGrants: (user) => sql`
      select g.id, g.client_id as "clientId", g.scope, g.offline, g.created_at as "createdAt", g.last_used_at as "lastUsedAt",
        g.revoked_at as "revokedAt"
      from refresh_grants g where ${ofUser(user, 'g')}`,
  },
};
