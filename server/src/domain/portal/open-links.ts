import type { EntityManager } from '@mikro-orm/postgresql';
import { type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { PortalLink, type PortalTask } from './portal-link.entity.ts';
import type { PortalSecret } from './portal-secret.ts';

/** Path of the portal, and of its links. */
export const portalPath = '/portal';

/** SQL condition: the link `l` works, and its organization can be used. */
export function isOpen(l: string, now: Date): Fragment {
  const of = (column: string) => sql.ref(`${l}.${column}`);
  return sql`${of('revoked_at')} is null and ${of('expires_at')} > ${now}::timestamptz
    and exists (select 1 from organizations o join projects p on p.id = o.project_id and p.organizations_enabled
      where o.project_id = ${of('project_id')} and o.id = ${of('organization_id')} and o.state = 'active')`;
}

/** A link, as its holder sees it. */
export interface OpenLink {
  projectId: string;
  id: string;
  organizationId: string;
  /** Names of the project and of the organization. */
  app: string;
  organization: string;
  email: string;
  can: PortalTask[];
  /** Whether the project has directories. */
  hasDirectories: boolean;
  returnUrl: string | null;
  isUsed: boolean;
  isCompleted: boolean;
  expiresAt: Date;
}

/** The link of a secret in a URL or, as `session_hash`, in a cookie; null if it does not work. */
export async function openLink(
  on: Executing,
  { projectId, secret }: PortalSecret,
  by: 'secret_hash' | 'session_hash',
  now: Date,
): Promise<OpenLink | null> {
  const [row] = await query(
    on,
    sql<
      Omit<OpenLink, 'expiresAt'> & { expiresAt: string }
    >`select l.project_id as "projectId", l.id, l.organization_id as "organizationId", p.name as app,
        o.name as organization, l.email, to_json(l.can) as can, p.scim_enabled as "hasDirectories", l.return_url as "returnUrl", l.used_at is not null as "isUsed",
        l.completed_at is not null as "isCompleted", l.expires_at as "expiresAt"
      from portal_links l join organizations o on o.project_id = l.project_id and o.id = l.organization_id
        join projects p on p.id = l.project_id
      where l.project_id = ${projectId}::uuid and ${sql.ref(`l.${by}`)} = ${digest(secret)} and ${isOpen('l', now)}`,
  );
  return row ? { ...row, expiresAt: new Date(row.expiresAt) } : null;
}

/** Refuses a task that the link does not name. */
export function mayDo({ can }: Pick<OpenLink, 'can'>, task: PortalTask): void {
  if (!can.includes(task)) refuse({ code: 'forbidden', reason: 'the link does not allow it' });
}

/** The links of an organization, newest first. */
export function portalLinksOf(
  em: EntityManager,
  { project, id }: TenantKey,
  page: PageRequest,
): Promise<Page<PortalLink>> {
  return pageOf(em, PortalLink, { organization: [project.id, id] as [string, string] }, page);
}
