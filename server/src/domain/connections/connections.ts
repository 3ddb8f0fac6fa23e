import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { cleanName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, keyIn, locked, type TenantKey } from '../projects/tenant.ts';
import { Connection, type ConnectionState, connectionSecretPurpose } from './connection.entity.ts';
import {
  checkComplete,
  checkedClientSecret,
  checkedOidc,
  checkedProfileMappings,
  defaultMappings,
  type OidcInput,
} from './connection-settings.ts';
import type { UpstreamFault } from './upstream.ts';
import { isUsable } from './usable.ts';

const maxConnections = 50;
/** Of one organization. */
const maxOfOrganization = 10;

/** Settings that an admin changes; absent ones stay. */
export interface ConnectionChange {
  name?: string | undefined;
  oidc?: (OidcInput & { clientSecret?: string | null | undefined }) | undefined;
  jit?: boolean | undefined;
  refreshesProfile?: boolean | undefined;
  mappings?: unknown;
}

export interface NewConnection extends ConnectionChange {
  projectId: string;
  /** Absent: it belongs to the project. */
  organizationId?: string | undefined;
  preset: string;
  name: string;
}

/** Connections to upstream identity providers (decisions/0386). Each method of an admin is one transaction. */
export class Connections {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      vault: Vault;
      issuer: string;
      allowPrivateTargets: boolean;
    },
  ) {}

  /** Where the provider sends its answers, at a host of this server. @param origin default: the base host */
  redirectUri(connectionId: string, origin = new URL(this.deps.issuer).origin): string {
    return `${origin}/connect/${connectionId}/callback`;
  }

  /** Where the browser of an admin begins a test. */
  testAddress(connectionId: string, state: string): string {
    const { origin } = new URL(this.deps.issuer);
    return `${origin}/connect/${connectionId}/test?${new URLSearchParams({ state })}`;
  }

  /** The connections of a project itself, oldest first. */
  list(em: EntityManager, projectId: string): Promise<Connection[]> {
    const own = { project: projectId, organizationId: null };
    return em.find(Connection, own, { orderBy: { id: 'asc' }, limit: maxConnections });
  }

  /** Those that the sign-in page offers, by name. */
  async offered(em: EntityManager, projectId: string): Promise<{ id: string; name: string }[]> {
    return query(
      em,
      sql<{ id: string; name: string }>`select id, name from connections
        where project_id = ${projectId}::uuid and organization_id is null and state = 'enabled'
        order by name, id`,
      { prepare: 'connections.offered' },
    );
  }

  /** A connection of the project or of one of its organizations, by which people can sign in; null: none. */
  async usable(em: EntityManager, { project, id }: TenantKey): Promise<Connection | null> {
    if (!isUuid(id)) return null;
    const [row] = await query(
      em,
      sql<{
        id: string;
      }>`select c.id from connections c where c.project_id = ${project.id}::uuid and c.id = ${id}::uuid and ${isUsable}`,
    );
    return row ? em.findOne(Connection, { project: project.id, id }) : null;
  }

  /** The answer that waits for the proof of an account: its connection and address. Null: none waits now. */
  async waiting(em: EntityManager, { project, id }: TenantKey): Promise<{ name: string; email: string | null } | null> {
    const [row] = await query(
      em,
      sql<{ name: string; email: string | null }>`select c.name, r.result ->> 'email' as email
        from upstream_requests r join connections c on c.project_id = r.project_id and c.id = r.connection_id
        where r.project_id = ${project.id} and r.id = ${id} and r.result is not null and r.linked_at is null
          and r.expires_at > ${this.deps.clock.now()} and ${isUsable}`,
    );
    return row ?? null;
  }

  /** Refuses `not-found`. */
  get(em: EntityManager, key: TenantKey): Promise<Connection> {
    return existing(em, Connection, key, 'connection') as Promise<Connection>;
  }

  /** The connection, locked until the transaction ends; null unless people can sign in by it. */
  async enabled(em: EntityManager, { project, id }: TenantKey): Promise<Connection | null> {
    const [row] = await query(
      em,
      sql<{ id: string }>`select c.id from connections c where c.project_id = ${project.id} and c.id = ${id}
        and ${isUsable} for key share`,
    );
    return row ? em.findOne(Connection, { project: project.id, id }) : null;
  }

  /** It starts as `draft`. Refuses `not-found`, `invalid`. */
  async create({ projectId, organizationId, preset, ...input }: NewConnection, actor: Actor): Promise<Connection> {
    const { allowPrivateTargets, clock, db, random, vault } = this.deps;
    const id = random.id();
    const now = clock.now();
    const settings = checkedOidc(preset, input.oidc ?? {}, allowPrivateTargets);
    const secret = input.oidc?.clientSecret ?? null;
    const values = {
      id,
      organizationId: organizationId ?? null,
      kind: 'oidc' as const,
      preset,
      name: cleanName(input.name),
      state: 'draft' as const,
      settings,
      sealedSecret: secret === null ? null : vault.seal(connectionSecretPurpose, id, checkedClientSecret(secret)),
      jit: input.jit ?? false,
      refreshesProfile: input.refreshesProfile ?? false,
      mappings: input.mappings == null ? defaultMappings : checkedProfileMappings(input.mappings),
      createdAt: now,
      updatedAt: now,
    };
    return db.transaction(async (em) => {
      // Serialized, so that the limit holds.
      const project = await existing(em, Project, projectId, 'project', locked);
      if (organizationId !== undefined) {
        await existing(em, Organization, keyIn(projectId, organizationId), 'organization');
      }
      const isOwn = organizationId === undefined;
      const max = isOwn ? maxConnections : maxOfOrganization;
      if ((await em.count(Connection, { project: project.id, organizationId: values.organizationId })) >= max) {
        const field = isOwn ? 'projectId' : 'organizationId';
        refuse({ code: 'invalid', field, reason: `already has ${max} connections` });
      }
      const connection = em.create(Connection, { ...values, project: project.id, failures: {}, version: 1 });
      em.persist(connection);
      this.record(em, 'connection.created', connection, actor, { preset, issuer: settings.issuer });
      return connection;
    });
  }

  /** Refuses `not-found`, `invalid`. A tested connection with other settings is a draft again. */
  update(key: TenantKey, change: ConnectionChange, actor: Actor): Promise<Connection> {
    return this.deps.db.transaction(async (em) => {
      const connection = await existing(em, Connection, key, 'connection', locked);
      const changed = this.applied(connection as Connection, change);
      if (changed.length > 0) this.record(em, 'connection.updated', connection as Connection, actor, { changed });
      return connection as Connection;
    });
  }

  /** Applies the change; the names of the settings that differ. */
  private applied(connection: Connection, { oidc, mappings, ...rest }: ConnectionChange): string[] {
    const { allowPrivateTargets, clock, vault } = this.deps;
    const before = { ...connection };
    const { clientSecret, ...input } = oidc ?? {};
    if (rest.name !== undefined) connection.name = cleanName(rest.name);
    if (rest.jit !== undefined) connection.jit = rest.jit;
    if (rest.refreshesProfile !== undefined) connection.refreshesProfile = rest.refreshesProfile;
    if (mappings != null) connection.mappings = checkedProfileMappings(mappings);
    if (oidc) connection.settings = checkedOidc(connection.preset, input, allowPrivateTargets, connection.settings);
    // Otherwise an admin, who cannot read the secret, could send it to a provider of their own.
    const isMoved = connection.settings.issuer !== before.settings.issuer;
    if (isMoved && connection.sealedSecret != null && clientSecret == null) {
      refuse({ code: 'invalid', field: 'oidc.clientSecret', reason: 'must be entered again for another issuer' });
    }
    if (clientSecret != null) {
      connection.sealedSecret = vault.seal(connectionSecretPurpose, connection.id, checkedClientSecret(clientSecret));
    }
    const isSame = (name: 'name' | 'jit' | 'refreshesProfile' | 'mappings' | 'settings') =>
      JSON.stringify(connection[name]) === JSON.stringify(before[name]);
    const changed: string[] = (['name', 'jit', 'refreshesProfile', 'mappings', 'settings'] as const).filter(
      (name) => !isSame(name),
    );
    if (clientSecret != null) changed.push('clientSecret');
    if (changed.length === 0) return changed;
    connection.updatedAt = clock.now();
    if (changed.includes('settings') || changed.includes('clientSecret')) {
      connection.version += 1;
      connection.failures = {};
      if (connection.state === 'tested') connection.state = 'draft';
    }
    return changed;
  }

  /** Enables or disables the connection. Its sessions stay; disabling refuses sign-ins in progress. Refuses `invalid`. */
  async setState(key: TenantKey, state: ConnectionState, actor: Actor): Promise<Connection> {
    if (state !== 'enabled' && state !== 'disabled') {
      refuse({ code: 'invalid', field: 'state', reason: 'must be ENABLED or DISABLED' });
    }
    return this.deps.db.transaction(async (em) => {
      const connection = (await existing(em, Connection, key, 'connection', locked)) as Connection;
      if (connection.state === state) return connection;
      if (state === 'enabled') checkComplete(connection.settings);
      connection.state = state;
      connection.updatedAt = this.deps.clock.now();
      this.record(em, state === 'enabled' ? 'connection.enabled' : 'connection.disabled', connection, actor);
      return connection;
    });
  }

  /** Deletes it with its identities. Refuses `not-found`. */
  async remove(key: TenantKey, actor: Actor): Promise<void> {
    await this.deps.db.transaction(async (em) => {
      const connection = (await existing(em, Connection, key, 'connection', locked)) as Connection;
      this.record(em, 'connection.deleted', connection, actor);
      em.remove(connection);
    });
  }

  /** Records that a test succeeded. False, with nothing recorded, if the settings have changed since they were read. */
  async tested(key: TenantKey & Pick<Connection, 'version'>, actor: Actor): Promise<boolean> {
    return this.deps.db.transaction(async (em) => {
      const connection = (await existing(em, Connection, key, 'connection', locked)) as Connection;
      if (connection.version !== key.version) return false;
      if (connection.state === 'draft') connection.state = 'tested';
      connection.lastSuccessAt = this.deps.clock.now();
      this.record(em, 'connection.tested', connection, actor);
      return true;
    });
  }

  /** Records a sign-in, at most once in a minute: sign-ins must not wait for each other. Joins the caller's transaction. */
  async succeeded(em: EntityManager, { project, id }: TenantKey): Promise<void> {
    const now = this.deps.clock.now();
    await execute(
      em,
      sql`update connections set last_success_at = ${now} where project_id = ${project.id} and id = ${id}
        and (last_success_at is null or last_success_at < ${now}::timestamptz - interval '1 minute')`,
    );
  }

  /** Counts a failure. */
  async failed({ organizationId, project, id, name }: Connection, fault: UpstreamFault, actor: Actor): Promise<void> {
    const { audit, clock, db } = this.deps;
    await db.transaction(async (em) => {
      await execute(
        em,
        sql`update connections set last_failure_at = ${clock.now()},
            failures = failures || jsonb_build_object(${fault}::text, coalesce((failures ->> ${fault}::text)::int, 0) + 1)
          where project_id = ${project.id} and id = ${id}`,
      );
      const subject = { kind: 'connection', id, name };
      const detail = { fault, ...(organizationId && { organizationId }) };
      const event = { type: 'connection.failed' as const, actor, projectId: project.id, subject, detail };
      await audit.recordRepeated(em, event, fault, { each: 'subject' });
    });
  }

  private record(
    em: EntityManager,
    type: `connection.${'created' | 'updated' | 'enabled' | 'disabled' | 'deleted' | 'tested'}`,
    { id, name, organizationId, project }: Connection,
    actor: Actor,
    detail: Record<string, unknown> = {},
  ): void {
    const subject = { kind: 'connection', id, name };
    const all = { ...detail, ...(organizationId && { organizationId }) };
    const isEmpty = Object.keys(all).length === 0;
    this.deps.audit.record(em, { type, actor, projectId: project.id, subject, ...(isEmpty ? {} : { detail: all }) });
  }
}

/** The connections of organizations, oldest first. */
export function connectionsOfOrganizations(
  em: EntityManager,
  organizations: readonly TenantKey[],
): Promise<Connection[]> {
  const of = organizations.map(({ project, id }) => ({ project: project.id, organizationId: id }));
  return em.find(Connection, { $or: of }, { orderBy: { id: 'asc' } });
}
