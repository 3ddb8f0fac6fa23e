import { secondsLater } from '../kernel/clock.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import type { OrganizationPolicy } from '../policy/organization.ts';

/** SQL: the rules of organization `o`, as JSON: an {@link OrganizationPolicy}. */
export const policyColumn = sql`json_build_object('mfaPolicy', o.mfa_policy, 'idleTimeoutSeconds', o.idle_timeout_seconds,
  'maxSessionSeconds', o.max_session_seconds, 'connectionOf', case o.sign_in when 'connection' then o.id end)`;

/** The rules of an organization; null: no organization. */
export async function organizationPolicyOf(
  on: Executing,
  projectId: string,
  id: string | null | undefined,
): Promise<OrganizationPolicy | null> {
  if (id == null) return null;
  const reading = sql<{ policy: OrganizationPolicy }>`select ${policyColumn} as policy from organizations o
    where o.project_id = ${projectId}::uuid and o.id = ${id}::uuid`;
  const [row] = await query(on, reading, { prepare: 'organizations.policy' });
  return row?.policy ?? null;
}

/** SQL condition: the organization has the rules that were read. */
export function isPolicyUnchanged(projectId: string, id: string, policy: OrganizationPolicy): Fragment {
  const { connectionOf, idleTimeoutSeconds, maxSessionSeconds, mfaPolicy } = policy;
  return sql`exists (select 1 from organizations o where o.project_id = ${projectId}::uuid and o.id = ${id}::uuid
    and o.mfa_policy is not distinct from ${mfaPolicy}::text
    and o.idle_timeout_seconds is not distinct from ${idleTimeoutSeconds}::int
    and o.max_session_seconds is not distinct from ${maxSessionSeconds}::int
    and o.sign_in = ${connectionOf === null ? 'any' : 'connection'}::text)`;
}

/** Seconds between two records of use of a membership. */
const useSeconds = 60;

/** SQL: records that the user signs in as a member. @param where condition */
export function usedMembership(
  of: { projectId: string; organizationId: string; userId: string },
  now: Date,
  where: Fragment = sql`true`,
): Fragment {
  return sql`update organization_memberships m set last_used_at = ${now}::timestamptz
    where m.project_id = ${of.projectId}::uuid and m.organization_id = ${of.organizationId}::uuid
      and m.user_id = ${of.userId}::uuid
      and (m.last_used_at is null or m.last_used_at <= ${secondsLater(now, -useSeconds)}::timestamptz) and ${where}`;
}
