import type { EntityManager } from '@mikro-orm/postgresql';
import { type Executing, query, sql } from '../../kernel/sql.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import { domainOfAddress } from '../login.ts';

/** Joins: whether the organization has verified the domain of the address. A domain that it has stays so until the transaction ends. */
export function isInDomainOf(em: EntityManager, organization: TenantKey, address: string): Promise<boolean> {
  return hasDomainOf(em, organization, address, sql`for share`);
}

/** Whether the organization has verified the domain of the address. */
export async function hasDomainOf(
  on: Executing,
  { project, id }: TenantKey,
  address: string,
  lock = sql``,
): Promise<boolean> {
  const domain = domainOfAddress(address);
  if (domain === null) return false;
  // Also a pending one is locked: a verification then sees the users that this transaction writes.
  const [row] = await query(
    on,
    sql<{ state: string }>`select state from organization_domains
      where project_id = ${project.id}::uuid and organization_id = ${id}::uuid and domain = ${domain}::text
      ${lock}`,
  );
  return row?.state === 'verified';
}
