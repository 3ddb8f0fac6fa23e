import type { EntityManager } from '@mikro-orm/postgresql';
import { type Connections, connectionsOfOrganizations } from '../connections/connections.ts';
import { cleanName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import { exportedNamesOf } from '../kernel/resource.ts';
import { query, sql } from '../kernel/sql.ts';
import { checkedOrganizationDomain } from '../organizations/domains/mail-domain.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { organizationFields } from '../organizations/organization.resource.ts';
import { organizationRolesOf } from '../organizations/organization-roles.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { checkRoleKey } from '../roles/roles.ts';
import { type ConnectionChecks, connectionNames, connectionValues } from './connection-values.ts';
import { listIn, textIn, type Values } from './values.ts';

/** Organizations in documents (decisions/0413): what an admin decides, not who is a member or what was proved. */
export const organizationKinds = {
  organizationRoles: ['key', 'name'],
  organizations: [...exportedNamesOf(organizationFields), 'defaultRoleKeys'],
  mailDomains: ['domain'],
  connections: connectionNames,
} as const;

export type OrganizationKind = keyof typeof organizationKinds;

/** A project with more has none in its document: they are data of the product that uses it. */
const maxInDocument = 200;

/** The validators of the admin API. */
export interface OrganizationChecks {
  organizations: Pick<Organizations, 'check'>;
  connections: ConnectionChecks;
}

export function checkedOrganizationRole(values: Values): Values {
  checkRoleKey(values['key']);
  return { key: values['key'], name: cleanName(textIn(values, 'name') ?? '') };
}

export function checkedOrganization(values: Values, { organizations }: OrganizationChecks): Values {
  const { defaultRoleKeys: _, metadata, ...given } = values;
  const checked = organizations.check({ ...given, ...(metadata != null && { metadata }) });
  const keys = [...new Set(listIn(values, 'defaultRoleKeys'))].sort();
  return { ...checked.settings, metadata: checked.metadata ?? {}, defaultRoleKeys: keys };
}

export function checkedMailDomain(values: Values): Values {
  const domain = checkedOrganizationDomain(textIn(values, 'domain') ?? '');
  if (domain !== values['domain']) refuse({ code: 'invalid', field: 'domain', reason: `must be written as ${domain}` });
  return { domain };
}

interface OrganizationPart {
  kind: OrganizationKind;
  keys: string[];
  values: Values;
}

/**
 * The roles of organizations, and the organizations with their domains and connections.
 *
 * @param slugs of these organizations; null: of all, unless there are more than {@link maxInDocument}
 */
export async function organizationsOf(
  em: EntityManager,
  projectId: string,
  connections: Pick<Connections, 'secretDigest'>,
  slugs: readonly string[] | null,
): Promise<OrganizationPart[]> {
  const roles = await organizationRolesOf(em, projectId);
  const shared = roles.map(({ key, name }) => part('organizationRoles', [key], { key, name }));
  const where = { project: projectId, ...(slugs && { slug: { $in: [...slugs] } }) };
  const limit = slugs ? undefined : maxInDocument + 1;
  const found = await em.find(Organization, where, { orderBy: { slug: 'asc' }, ...(limit && { limit }) });
  if (found.length === 0 || (!slugs && found.length > maxInDocument)) return shared;
  const ids = found.map(({ id }) => id);
  const defaults = await query(
    em,
    sql<{ id: string; key: string }>`select d.organization_id as id, r.key from organization_default_roles d
      join organization_roles r on r.project_id = ${projectId}::uuid and r.id = d.role_id
      where d.project_id = ${projectId}::uuid and d.organization_id = any(${ids}::uuid[])`,
  );
  const domains = await query(
    em,
    sql<{ id: string; domain: string }>`select organization_id as id, domain from organization_domains
      where project_id = ${projectId}::uuid and organization_id = any(${ids}::uuid[]) order by domain`,
  );
  const linked = await connectionsOfOrganizations(em, found);
  return [
    ...shared,
    ...found.flatMap((organization) => {
      const { id, slug } = organization;
      const defaultRoleKeys = defaults
        .filter((one) => one.id === id)
        .map(({ key }) => key)
        .sort();
      const own = linked.filter(({ organizationId }) => organizationId === id);
      mustDiffer(
        slug,
        own.map(({ name }) => name),
      );
      return [
        part('organizations', [slug], { ...settingsOf(organization), defaultRoleKeys }),
        ...domains.filter((one) => one.id === id).map(({ domain }) => part('mailDomains', [slug, domain], { domain })),
        ...own.map((one) =>
          part('connections', [slug, one.name], connectionValues(one, connections.secretDigest(one))),
        ),
      ];
    }),
  ];
}

const part = (kind: OrganizationKind, keys: string[], values: Values): OrganizationPart => ({ kind, keys, values });

function settingsOf(organization: Organization): Values {
  const all = organization as unknown as Values;
  return Object.fromEntries(exportedNamesOf(organizationFields).map((name) => [name, all[name] ?? null]));
}

function mustDiffer(slug: string, names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice === undefined) return;
  const reason = `must have different names to be configured by files: two of ${slug} are called ${twice}`;
  refuse({ code: 'invalid', field: 'connections', reason });
}
