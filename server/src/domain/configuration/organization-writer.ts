import type { EntityManager } from '@mikro-orm/postgresql';
import { Connection, type ConnectionKind } from '../connections/connection.entity.ts';
import type { ConnectionChange, Connections } from '../connections/connections.ts';
import type { SettingsInput } from '../connections/given-settings.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { found, invalid } from '../kernel/problem.ts';
import type { OrganizationDomains } from '../organizations/domains/organization-domains.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { OrganizationDomain } from '../organizations/organization-domain.entity.ts';
import { OrganizationRole } from '../organizations/organization-role.entity.ts';
import type { OrganizationRoles } from '../organizations/organization-roles.ts';
import type { OrganizationChange, Organizations } from '../organizations/organizations.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { connectionValues, inDocument, providerNames, settingsInput } from './connection-values.ts';
import type { Difference } from './differences.ts';
import type { Part, WantedProject } from './document.ts';
import type { OrganizationKind } from './organizations.ts';
import { at, type Values } from './values.ts';

export interface OrganizationWriterDeps {
  db: Database;
  organizations: Organizations;
  organizationRoles: OrganizationRoles;
  organizationDomains: OrganizationDomains;
  connections: Connections;
}

interface Target {
  projectId: string;
  wanted: WantedProject;
  actor: Actor;
}

/** Reads the metadata that new and changed connections name, before the transaction that writes them. Refuses `invalid`. */
export async function readProviders(
  { connections }: Pick<OrganizationWriterDeps, 'connections'>,
  wanted: WantedProject,
  differences: readonly Difference[],
): Promise<void> {
  for (const { kind, keys, after } of differences) {
    const url = after['metadataUrl'];
    if (kind !== 'connections' || typeof url !== 'string' || wanted.providers.has(url)) continue;
    const provider = await connections.providerAt(url).catch((error: unknown) => {
      at([kind, ...keys].join('.'), () => {
        throw inDocument(error);
      });
      throw error;
    });
    wanted.providers.set(url, provider);
  }
}

/** Writes differences of organizations, their roles, mail domains and connections. */
export class OrganizationWriter {
  constructor(
    private readonly deps: OrganizationWriterDeps,
    private readonly target: Target,
  ) {}

  readonly writers: Record<OrganizationKind, (difference: Difference) => Promise<unknown>> = {
    organizationRoles: async ({ action, keys: [key = ''], after }) => {
      const { organizationRoles } = this.deps;
      const { actor, projectId } = this.target;
      if (action === 'create')
        return organizationRoles.create(projectId, after as { key: string; name: string }, actor);
      const role = found(await this.reader.findOne(OrganizationRole, { project: projectId, key }), 'organization-role');
      if (action === 'remove') return organizationRoles.delete(keyIn(projectId, role.id), actor);
      return organizationRoles.rename(keyIn(projectId, role.id), after['name'] as string, actor);
    },
    organizations: async ({ action, keys: [slug = ''], after }) => {
      const { organizations } = this.deps;
      const { actor, projectId } = this.target;
      if (action === 'update') return organizations.update(await this.organization(slug), after, actor);
      const { name, ...rest } = after as OrganizationChange;
      if (name === undefined) return invalid('name', 'is required for a new organization');
      return organizations.create(projectId, { ...rest, slug, name }, actor);
    },
    mailDomains: async ({ action, keys: [slug = '', domain = ''] }) => {
      const { organizationDomains } = this.deps;
      const { actor, projectId } = this.target;
      const organization = await this.organization(slug);
      if (action === 'create') return organizationDomains.add(organization, domain, actor);
      const where = { project: projectId, organization: [projectId, organization.id] as [string, string], domain };
      const row = found(await this.reader.findOne(OrganizationDomain, where), 'organization-domain');
      return organizationDomains.remove(keyIn(projectId, row.id), actor);
    },
    connections: (difference) =>
      this.connection(difference).catch((error: unknown) => {
        throw inDocument(error);
      }),
  };

  private get reader(): EntityManager {
    return this.deps.db.reader();
  }

  private async connection({ action, keys: [slug = '', name = ''], after }: Difference): Promise<void> {
    const { connections } = this.deps;
    const { actor, projectId } = this.target;
    const organization = await this.organization(slug);
    if (action === 'create') {
      const [kind, preset] = [after['kind'] as ConnectionKind, after['preset'] as string];
      const of = { projectId, organizationId: organization.id, kind, preset, name };
      const made = await connections.create({ ...of, ...this.inputOf(kind, after, after, after) }, actor);
      if (after['enabled'] === true) await connections.setState(made, 'enabled', actor);
      return;
    }
    const where = { project: projectId, organizationId: organization.id, name };
    const row = found(await this.reader.findOne(Connection, where), 'connection');
    if (action === 'remove') return connections.remove(row, actor);
    for (const fixed of ['kind', 'preset']) {
      if (fixed in after) invalid(fixed, 'cannot be changed: delete the connection, and apply again');
    }
    const current = connectionValues(row, null);
    for (const name of ['issuer', 'clientId', 'entityId']) {
      if (after[name] === null && (after['metadataUrl'] ?? null) === null) invalid(name, 'cannot be removed');
    }
    // Another issuer needs the secret, even if it is the same.
    const { secret } = 'issuer' in after ? this.wanted(slug, name) : after;
    await connections.update(row, this.inputOf(row.kind, { ...current, ...after }, after, { secret }), actor);
    if ('enabled' in after) await connections.setState(row, after['enabled'] ? 'enabled' : 'disabled', actor);
  }

  /** @param all its settings after the change @param after the changed ones */
  private inputOf(kind: ConnectionKind, all: Values, after: Values, { secret }: Values): ConnectionChange {
    const isGiven = (name: string) => after[name] !== undefined;
    const isChanged = providerNames(kind).some(isGiven) || secret !== undefined;
    const shared = ['jit', 'refreshesProfile', 'mappings', 'roleMappings'].filter(isGiven);
    return {
      ...Object.fromEntries(shared.map((name) => [name, after[name] ?? {}])),
      ...(isChanged && this.settingsOf(kind, all, after, secret)),
    };
  }

  private settingsOf(kind: ConnectionKind, all: Values, after: Values, secret: unknown): SettingsInput {
    const url = after['metadataUrl'];
    const provider = typeof url === 'string' ? this.target.wanted.providers.get(url) : undefined;
    // Only where another process changed it since the comparison.
    if (typeof url === 'string' && !provider) invalid('metadataUrl', 'was changed meanwhile: apply again');
    const { oidc, saml } = settingsInput(kind, all, provider);
    const clientSecret = typeof secret === 'string' ? this.target.wanted.secrets.get(secret) : undefined;
    return oidc ? { oidc: { ...oidc, clientSecret } } : { saml: saml ?? {} };
  }

  /** The settings of a connection in the document, with the digest of its secret also if that is unchanged. */
  private wanted(...keys: string[]): Values {
    const isIt = ({ kind, keys: own }: Part) =>
      kind === 'connections' && own.every((key, index) => key === keys[index]);
    return this.target.wanted.parts.find(isIt)?.values ?? {};
  }

  private async organization(slug: string): Promise<TenantKey> {
    const { projectId } = this.target;
    const row = await this.reader.findOne(Organization, { project: projectId, slug });
    return keyIn(projectId, found(row, 'organization').id);
  }
}
