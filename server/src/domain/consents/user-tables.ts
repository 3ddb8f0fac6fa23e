import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** Withdraws the user's consent to the client. False if there is none. */
export async function withdrawConsent(em: EntityManager, user: TenantKey, clientId: string): Promise<boolean> {
  return (await execute(em, sql`delete from consents where ${ofUser(user)} and client_id = ${clientId}`)) === 1;
}

/** Consents stay while a user is deactivated, and are deleted with the user or their person. */
export const consentTables: UserTables = {
  tables: ['consents'],
  handOver: (em, user) => execute(em, sql`delete from consents where ${ofUser(user)}`),
  exportRows: {
    consents: (user) => sql`
      select c.id, c.client_id as "clientId", c.scopes, c.organization_ids as "organizationIds", c.created_at as "createdAt", c.updated_at as "updatedAt"
      from consents c where ${ofUser(user, 'c')}`,
  },
};
