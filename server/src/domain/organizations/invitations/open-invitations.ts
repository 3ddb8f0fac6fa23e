import type { EntityManager } from '@mikro-orm/postgresql';
import { type Page, type PageRequest, pageOf } from '../../kernel/page.ts';
import { digest } from '../../kernel/secret.ts';
import { type Executing, type Fragment, query, sql } from '../../kernel/sql.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import { addressKey, addressKeys, domainOfAddress } from '../../users/login.ts';
import { OrganizationInvitation } from './organization-invitation.entity.ts';

/** Path of the page of an invitation. */
export const invitationPath = '/account/invitation';

/** An invitation, as the invited person sees it. */
export interface OpenInvitation {
  id: string;
  /** Name of the organization. */
  organization: string;
  email: string;
}

const maxShown = 20;

/** SQL condition: the invitation `i` can be accepted: it is open and not expired, and its organization can be used. */
function isOpen(i: string, now: Date): Fragment {
  const of = (column: string) => sql.ref(`${i}.${column}`);
  return sql`${of('accepted_at')} is null and ${of('revoked_at')} is null and ${of('expires_at')} > ${now}::timestamptz
    and exists (select 1 from organizations o join projects p on p.id = o.project_id and p.organizations_enabled
      where o.project_id = ${of('project_id')} and o.id = ${of('organization_id')} and o.state = 'active')`;
}

/** A user, and the login address. */
interface Invitee {
  userId: string;
  email: string;
}

/**
 * SQL condition: the invitation `i` is for the login address of this user. The directory of another organization could give the address of an
 * invited person to its user: one at home in another organization has it only in a domain that their organization has verified.
 */
function isFor({ userId, email }: Invitee): Fragment {
  return sql`i.email_key = any(${addressKeys(email)}::text[])
    and exists (select 1 from users u where u.project_id = i.project_id and u.id = ${userId}::uuid
      and (u.organization_id is null or u.organization_id = i.organization_id
        or exists (select 1 from organization_domains d where d.project_id = u.project_id and d.organization_id = u.organization_id
          and d.domain = ${domainOfAddress(email)}::text and d.state = 'verified')))`;
}

const columns = sql`i.id, o.name as organization, i.email`;
const named = sql`join organizations o on o.project_id = i.project_id and o.id = i.organization_id`;

/** The invitation of a link; null if it cannot be accepted. */
export async function invitationOf(
  on: Executing,
  { projectId, secret, now }: { projectId: string; secret: string; now: Date },
): Promise<OpenInvitation | null> {
  const [row] = await query(
    on,
    sql<OpenInvitation>`select ${columns} from organization_invitations i ${named}
      where i.project_id = ${projectId}::uuid and i.secret_hash = ${digest(secret)} and ${isOpen('i', now)}`,
  );
  return row ?? null;
}

/** The invitations that a user can accept, oldest first; at most 20. */
export function invitationsOf(
  on: Executing,
  { projectId, now, ...invitee }: Invitee & { projectId: string; now: Date },
): Promise<OpenInvitation[]> {
  return query(
    on,
    sql<OpenInvitation>`select ${columns} from organization_invitations i ${named}
      where i.project_id = ${projectId}::uuid and ${isFor(invitee)} and ${isOpen('i', now)}
      order by i.id limit ${maxShown}::int`,
  );
}

/** Whether an address is invited: it may then sign up, whatever the project's mode. */
export async function isInvited(on: Executing, projectId: string, email: string, now: Date): Promise<boolean> {
  const [row] = await query(
    on,
    sql<{
      invited: boolean;
    }>`select exists (select 1 from organization_invitations i where i.project_id = ${projectId}::uuid
      and i.email_key = any(${addressKeys(email)}::text[]) and ${isOpen('i', now)}) as invited`,
  );
  return row?.invited === true;
}

/** All invitations of an organization, newest first. */
export function sentInvitations(
  em: EntityManager,
  { project, id }: TenantKey,
  page: PageRequest,
): Promise<Page<OrganizationInvitation>> {
  return pageOf(em, OrganizationInvitation, { organization: [project.id, id] as [string, string] }, page);
}

interface NewInvitation {
  id: string;
  email: string;
  secret: string;
  roleIds: readonly string[];
  now: Date;
  expiresAt: Date;
}

/** Joins: writes an invitation to the organization, or renews the open one of the address. @returns its id */
export async function writeInvitation(
  on: Executing,
  { project, id: organizationId }: TenantKey,
  { id, email, secret, roleIds, now, expiresAt }: NewInvitation,
): Promise<string> {
  const [row] = await query(
    on,
    sql<{
      id: string;
    }>`insert into organization_invitations (project_id, id, organization_id, email, email_key, secret_hash, role_ids,
        created_at, sent_at, expires_at)
      values (${project.id}::uuid, ${id}::uuid, ${organizationId}::uuid, ${email}, ${addressKey(email)}, ${digest(secret)},
        ${roleIds}::uuid[], ${now}::timestamptz, ${now}::timestamptz, ${expiresAt}::timestamptz)
      on conflict (project_id, organization_id, email_key) where (accepted_at is null and revoked_at is null) do update
        set email = excluded.email, secret_hash = excluded.secret_hash, role_ids = excluded.role_ids, sent_at = excluded.sent_at,
          expires_at = excluded.expires_at
      returning id`,
  );
  return row?.id ?? id;
}

/** Joins: accepts an invitation of this user; of several at once, one. @returns null if it cannot be accepted */
export async function takeInvitation(
  on: Executing,
  { project, id }: TenantKey,
  { now, ...invitee }: Invitee & { now: Date },
): Promise<{ organization: string; roles: string[] } | null> {
  const [row] = await query(
    on,
    sql<{
      organization: string;
      roles: string[];
    }>`update organization_invitations i set accepted_at = ${now}::timestamptz
      where i.project_id = ${project.id}::uuid and i.id = ${id}::uuid and ${isFor(invitee)}
        and ${isOpen('i', now)}
      returning i.organization_id as organization, to_json(i.role_ids) as roles`,
  );
  return row ?? null;
}
