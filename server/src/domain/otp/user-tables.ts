import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { type ErasedUsers, loginAddresses, ofUser, type UserTables } from '../users/user-tables.ts';

/** Deletes unused codes of the user or of these places, except those of the sign-in `keepId`. */
export async function endCodes(
  em: EntityManager,
  user: TenantKey,
  places: readonly string[],
  keepId: string | null,
): Promise<void> {
  await execute(
    em,
    sql`delete from one_time_codes
      where project_id = ${user.project.id} and used_at is null and ceremony_id is distinct from ${keepId}::uuid
        and (user_id = ${user.id} or ceremony_id = any(${places}::uuid[]))`,
  );
}

/** SQL: deletes codes of the users, codes sent to them, and codes of these places, which `places` selects. */
export function erasedCodes({ projectId, ids, users }: ErasedUsers, places: Fragment): Fragment {
  const addresses = users.flatMap((user) => [...loginAddresses(user), user.phone ?? '']);
  return sql`delete from one_time_codes
    where project_id = ${projectId}
      and (user_id = any(${ids}::uuid[]) or ceremony_id = any(array(${places})) or address = any(${addresses}::text[]))`;
}

/** Codes are erased with their sign-ins (`ceremonies/user-tables.ts`). */
export const otpTables: UserTables = {
  tables: ['known_networks', 'one_time_codes'],
  handOver: (em, user) => execute(em, sql`delete from known_networks where ${ofUser(user)}`),
  exportRows: {
    // A network is stored as a keyed hash.
    knownNetworks: (user) => sql`
      select md5(n.network)::uuid as id, n.last_at as "lastAt" from known_networks n where ${ofUser(user, 'n')}`,
    oneTimeCodes: (user) => sql`
      select c.id, c.client_id as "clientId", c.purpose, c.address, c.sent_to as "sentTo", c.attempts,
        c.created_at as "createdAt", c.expires_at as "expiresAt", c.used_at as "usedAt"
      from one_time_codes c where ${ofUser(user, 'c')}`,
  },
};
