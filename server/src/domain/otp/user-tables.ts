import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';
import { loginAddresses, ofUser, type UserTables } from '../users/user-tables.ts';

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

/** Deletes codes of the user, codes sent to the user, and codes of these sign-ins. */
export async function eraseCodes(em: EntityManager, user: User, ceremonyIds: readonly string[]): Promise<void> {
  const addresses = [...loginAddresses(user), user.phone ?? ''];
  await execute(
    em,
    sql`delete from one_time_codes
        where project_id = ${user.project.id} and (user_id = ${user.id} or ceremony_id = any(${ceremonyIds}::uuid[])
          or address = any(${addresses}::text[]))`,
  );
}

/** Codes are erased with their sign-ins (`ceremonies/user-tables.ts`). */
export const otpTables: UserTables = {
  tables: ['known_networks', 'one_time_codes'],
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
