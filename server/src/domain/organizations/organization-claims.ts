import { type Executing, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { hasDomainOf } from '../users/identity/verified-domains.ts';
import { rolesHeldAs } from './groups/group-roles.ts';
import { activeMemberships } from './membership.ts';

const ofContext: readonly string[] = ['org_id', 'org_slug', 'org_name', 'org_roles'];

/** Claims of the organization of a context, and of the scope `organizations`. No mapping of an application can set them. */
export const organizationClaimNames: readonly string[] = [...ofContext, 'organizations', 'organizations_overage'];

/** Organizations in the claim of the scope. */
const maxListed = 100;

/** The user of a token, and its context. */
interface OrganizationClaimsOf {
  projectId: string;
  userId: string;
  /** Null: no organization. */
  organizationId: string | null;
  /** Whether the scope `organizations` was granted. */
  listsAll: boolean;
}

interface Row {
  id: string;
  slug: string;
  name: string;
  roles: string[];
}

const roles = sql`array(select r.key from (${rolesHeldAs}) h
    join organization_roles r on r.project_id = m.project_id and r.id = h.role_id order by r.key)`;

/** Organization claims of a user. No `org_*` claims if the membership has ended. */
export async function organizationClaims(
  on: Executing,
  { projectId, userId, organizationId, listsAll }: OrganizationClaimsOf,
): Promise<Record<string, unknown>> {
  if (organizationId === null && !listsAll) return {};
  const only = listsAll ? sql`` : sql`and m.organization_id = ${organizationId}::uuid`;
  const rows = await query(
    on,
    sql<Row>`select o.id, o.slug, o.name, ${roles} as roles
      from (${activeMemberships}) m join organizations o on o.project_id = m.project_id and o.id = m.organization_id
      where m.project_id = ${projectId}::uuid and m.user_id = ${userId}::uuid ${only}
      order by (o.id = ${organizationId}::uuid) desc nulls last, o.slug limit ${maxListed + 1}::int`,
    { prepare: 'organizations.claims' },
  );
  const own = rows.find(({ id }) => id === organizationId);
  const listed = rows.slice(0, maxListed).sort((one, other) => (one.slug < other.slug ? -1 : 1));
  return {
    ...(own && { org_id: own.id, org_slug: own.slug, org_name: own.name, org_roles: own.roles }),
    ...(listsAll && {
      organizations: listed.map(({ id, slug, name, roles: keys }) => ({ id, slug, name, roles: keys })),
    }),
    ...(listsAll && rows.length > maxListed && { organizations_overage: true }),
  };
}

/** Those of the context alone. */
export function contextClaims(claims: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => ofContext.includes(name)));
}

/** Claims of an application without those that {@link organizationClaims} has, whose values nothing else may set. */
export function withoutOrganizationClaims(claims: Record<string, unknown> | null): Record<string, unknown> {
  return Object.fromEntries(Object.entries(claims ?? {}).filter(([name]) => !organizationClaimNames.includes(name)));
}

/**
 * `email_verified` is false for a user whose home, an organization, has not verified the domain of the login address: an admin gave it, or the
 * domain is lost. Empty otherwise.
 */
export async function homeClaims(
  on: Executing,
  home: TenantKey,
  email: string | null | undefined,
): Promise<{ email_verified?: false }> {
  if (!email || (await hasDomainOf(on, home, email))) return {};
  return { email_verified: false };
}
