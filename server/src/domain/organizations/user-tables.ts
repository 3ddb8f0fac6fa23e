import { type Fragment, sql } from '../kernel/sql.ts';
import { loginAddresses, ofUser, type UserTables } from '../users/user-tables.ts';

/**
 * SQL condition: the invitation `i` is of this home, or the home is the project. The directory of an organization gives addresses, also those
 * that other organizations have invited.
 */
const isOfHome = (home: Fragment) => sql`(${home} is null or i.organization_id = ${home})`;

/**
 * Memberships stay while a user is deactivated, and are deleted with the user. They pass to the next person of an account, those of a user at
 * home in an organization only at home (`Accounts.handOver`).
 */
export const organizationTables: UserTables = {
  tables: ['organization_memberships', 'organization_invitations'],
  handOver: null,
  erase: ({ projectId, users }) => {
    const addresses = users.flatMap((user) => loginAddresses(user).map((key) => ({ key, home: user.organizationId })));
    return [
      sql`delete from organization_invitations i
        using jsonb_to_recordset(${JSON.stringify(addresses)}::jsonb) as a(key text, home uuid)
        where i.project_id = ${projectId} and i.email_key = a.key and ${isOfHome(sql`a.home`)}`,
    ];
  },
  exportRows: {
    organizations: (user) => sql`
      select m.id, o.id as "organizationId", o.slug, o.name, m.state, m.source, m.created_at as "since",
        m.last_used_at as "lastUsedAt",
        to_json(array(select r.key from organization_membership_roles h
          join organization_roles r on r.project_id = h.project_id and r.id = h.role_id
          where h.project_id = m.project_id and h.membership_id = m.id order by r.key)) as roles
      from organization_memberships m join organizations o on o.project_id = m.project_id and o.id = m.organization_id
      where ${ofUser(user, 'm')}`,
    organizationInvitations: (user) => sql`
      select id, email, created_at as "createdAt", expires_at as "expiresAt", accepted_at as "acceptedAt",
        revoked_at as "revokedAt"
      from organization_invitations i
      where i.project_id = ${user.project.id} and i.email_key = any(${loginAddresses(user)}::text[])
        and ${isOfHome(sql`${user.organizationId ?? null}::uuid`)}`,
  },
};
