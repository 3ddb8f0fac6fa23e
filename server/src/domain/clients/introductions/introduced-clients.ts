import type { EntityManager } from '@mikro-orm/postgresql';
import { secondsLater } from '../../kernel/clock.ts';
import { maxTotal } from '../../kernel/page.ts';
import { type Executing, execute, type Fragment, query, sql } from '../../kernel/sql.ts';
import { keyIn, keyText, type TenantKey } from '../../projects/tenant.ts';

/** Maximum number of introduced clients of a project without a consent. */
const maxUnused = 1000;
const day = 24 * 3600;
/** Days without use until a client is deleted: without a consent after its document, and any other. */
const unusedDays = { document: 1, other: 30 };

/** Records the use of a client, with a resolution of one hour. */
export async function touch(on: Executing, { project, id }: TenantKey, now: Date): Promise<void> {
  await execute(
    on,
    sql`update client_introductions set last_used_at = ${now}::timestamptz
      where project_id = ${project.id}::uuid and client_id = ${id}::uuid
        and last_used_at < ${secondsLater(now, -3600)}::timestamptz`,
    { prepare: 'introduced-clients.touch' },
  );
}

/** SQL condition: no user has allowed client `k` anything, and no admin has blocked it. */
const isUnused: Fragment = sql`k.introduced_by is not null and k.disabled_at is null and not exists (select 1 from consents c
  where c.project_id = k.project_id and c.client_id = k.id)`;

/** Joins, with the project locked: deletes unused clients of the project, those first that were used longest ago. */
export async function makeRoom(em: EntityManager, projectId: string): Promise<void> {
  await execute(
    em,
    sql`delete from clients d where d.project_id = ${projectId}::uuid and d.id in (
      select k.id from clients k join client_introductions i on i.project_id = k.project_id and i.client_id = k.id
      where k.project_id = ${projectId}::uuid and ${isUnused}
      order by i.last_used_at desc, i.client_id desc offset ${maxUnused - 1}::int)`,
  );
}

/** `client_name` of a client that introduced itself, for pages; null: none. */
export async function claimedNameOf(on: Executing, { project, id }: TenantKey): Promise<string | null> {
  const [row] = await query(
    on,
    sql<{ name: string | null }>`select claimed_name as name from client_introductions
      where project_id = ${project.id}::uuid and client_id = ${id}::uuid`,
  );
  return row?.name ?? null;
}

/**
 * SQL condition: client `clients` introduced itself and has not been used for long. A blocked one stays: it would come back
 * unblocked.
 */
export function isForgotten(now: Date): Fragment {
  return sql`introduced_by is not null and disabled_at is null and exists (select 1 from client_introductions i
    where i.project_id = clients.project_id and i.client_id = clients.id
      and (i.last_used_at <= ${secondsLater(now, -unusedDays.other * day)}::timestamptz
        or i.last_used_at <= ${secondsLater(now, -unusedDays.document * day)}::timestamptz
          and clients.metadata_url is not null and not exists (select 1 from consents c
            where c.project_id = clients.project_id and c.client_id = clients.id)))
    and not exists (select 1 from refresh_grants g where g.project_id = clients.project_id and g.client_id = clients.id
      and g.revoked_at is null)`;
}

/** What admins see of a client that introduced itself. */
export interface Introduction {
  /** `client_name`, which is not verified. */
  claimedName: string | null;
  /** Where it was first seen. */
  network: string | null;
  lastUsedAt: Date;
  /** Users who allow it something; at most {@link maxTotal}. */
  users: number;
  /** Refresh grants that have not been revoked; at most {@link maxTotal}. */
  refreshGrants: number;
}

interface IntroductionRow {
  project: string;
  id: string;
  claimed_name: string | null;
  network: string | null;
  last_used_at: Date | string;
  users: number;
  refresh_grants: number;
}

/** By client (`keyText`); none for a client that an admin created. */
export async function introductionsOf(
  on: Executing,
  clients: readonly TenantKey[],
): Promise<Map<string, Introduction>> {
  const rows = await query(
    on,
    sql<IntroductionRow>`select i.project_id as project, i.client_id as id, i.claimed_name, i.network, i.last_used_at,
        allowed.count as users, held.count as refresh_grants
      from unnest(${clients.map(({ project }) => project.id)}::uuid[], ${clients.map(({ id }) => id)}::uuid[]) k(project_id, id)
        join client_introductions i on i.project_id = k.project_id and i.client_id = k.id
        cross join lateral (select count(*)::int as count from (select 1 from consents c
          where c.project_id = k.project_id and c.client_id = k.id limit ${maxTotal}) counted) allowed
        cross join lateral (select count(*)::int as count from (select 1 from refresh_grants g
          where g.project_id = k.project_id and g.client_id = k.id and g.revoked_at is null
          limit ${maxTotal}) counted) held`,
  );
  return new Map(
    rows.map((row) => [
      keyText(keyIn(row.project, row.id)),
      {
        ...{ claimedName: row.claimed_name, network: row.network, lastUsedAt: new Date(row.last_used_at) },
        ...{ users: row.users, refreshGrants: row.refresh_grants },
      },
    ]),
  );
}
