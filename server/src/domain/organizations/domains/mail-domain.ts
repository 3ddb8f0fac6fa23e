import type { EntityManager } from '@mikro-orm/postgresql';
import { getDomain } from 'tldts';
import { refuse } from '../../kernel/problem.ts';
import { type Executing, query, sql } from '../../kernel/sql.ts';
import { typedHost } from '../../projects/dns-proof.ts';
import { isAtOrBelow } from '../../projects/mail-domains.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import { domainOfAddress } from '../../users/login.ts';
import { isDisposable } from '../../users/sign-up.ts';
import { publicMailDomains } from './public-mail-domains.ts';

/**
 * A mail domain as typed, in ASCII and lower case. Refuses `invalid` for anything other than a host name, for a public suffix, and for
 * the domains of mail providers, whose mailboxes belong to unrelated people.
 */
export function checkedOrganizationDomain(typed: string): string {
  const field = 'domain';
  const domain = typedHost(typed);
  if (domain === null) refuse({ code: 'invalid', field, reason: 'must be a mail domain such as example.com' });
  if (getDomain(domain, { allowPrivateDomains: true }) === null) {
    refuse({ code: 'invalid', field, reason: 'must not be a public suffix, whose subdomains belong to others' });
  }
  if (isAtOrBelow(domain, (one) => publicMailDomains.has(one)) || isDisposable(domain)) {
    refuse({ code: 'invalid', field, reason: 'must not be the domain of a public mail provider' });
  }
  return domain;
}

/** Joins: whether the organization has verified the domain of the address. The domain stays so until the transaction ends. */
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
  const [row] = await query(
    on,
    sql<{ id: string }>`select id from organization_domains
      where project_id = ${project.id}::uuid and organization_id = ${id}::uuid and domain = ${domain}::text and state = 'verified'
      ${lock}`,
  );
  return row !== undefined;
}
