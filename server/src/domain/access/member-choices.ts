import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import { policyColumn } from '../organizations/organization-policy.ts';
import type { OrganizationPolicy } from '../policy/organization.ts';
import { type EnteredClient, hasAccessTo } from './has-access.ts';

/** An organization in which a user may use a client. */
export interface MemberChoice {
  id: string;
  slug: string;
  name: string;
  policy: OrganizationPolicy;
}

/** Organizations that a user can choose from on a page; of more, those used last. */
const maxChoices = 200;

/**
 * SQL: the organizations in which a user may use a client whose version the statement checks, those used last first.
 *
 * @param organizationId only this one; null: all
 */
function memberChoices(
  client: EnteredClient,
  userId: Fragment,
  organizationId: string | null,
  limit = maxChoices,
): Fragment {
  const only = organizationId === null ? sql`` : sql`and o.id = ${organizationId}::uuid`;
  return sql`select o.id, o.slug, o.name, ${policyColumn} as policy
    from organization_memberships own join organizations o on o.project_id = own.project_id and o.id = own.organization_id
    where own.project_id = ${client.project.id}::uuid and own.user_id = ${userId} ${only}
      and ${hasAccessTo(client, userId, sql`own.organization_id`)}
    order by own.last_used_at desc nulls last, lower(o.name), o.id limit ${limit}::int`;
}

/** SQL: as JSON, the first two of {@link memberChoices}: whether there is none, one, or a choice. */
export function choicesColumn(client: EnteredClient, userId: Fragment, organizationId: string | null): Fragment {
  return sql`coalesce((select json_agg(choice) from (${memberChoices(client, userId, organizationId, 2)}) choice), '[]')`;
}

/** The organizations in which a user may use a client, which has just been read. @param organizationId only this one; null: all */
export function choicesOf(
  on: Executing,
  client: EnteredClient,
  userId: string,
  organizationId: string | null,
): Promise<MemberChoice[]> {
  const choices = sql<MemberChoice>`${memberChoices(client, sql`${userId}::uuid`, organizationId)}`;
  return query(on, choices, { prepare: 'access.member-choices' });
}
