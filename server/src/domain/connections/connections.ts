import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { cleanName } from '../kernel/name.ts';
import { invalid, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { rolesWithKeys } from '../organizations/organization-roles.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, keyIn, locked, type TenantKey } from '../projects/tenant.ts';
import type { IdentityProvider } from '../saml/messages/metadata.ts';
import { lastExpiry } from '../saml/security/certificate.ts';
import { answerUrlOf, entityIdOf } from './addresses.ts';
import {
  Connection,
  type ConnectionKind,
  type ConnectionSettings,
  type ConnectionState,
  connectionSecretPurpose,
  connectionStates,
  settingsOf,
} from './connection.entity.ts';
import {
  checkedClientSecret,
  checkedProfileMappings,
  checkedRoleMappings,
  defaultMappings,
} from './connection-settings.ts';
import {
  checkComplete,
  checkedSettings,
  type GivenSettings,
  givenSettings,
  type SettingsInput,
} from './given-settings.ts';
import { connectionsOf, type OrganizationConnection, type Realm, realmOf } from './realms.ts';
import type { ProviderMetadata } from './saml/provider-metadata.ts';
import { metadataOf } from './saml/saml-settings.ts';
import type { UpstreamFault } from './upstream.ts';
import { isUsable } from './usable.ts';

const maxConnections = 50;
/** Of one organization. */
const maxOfOrganization = 10;

/** Settings that an admin changes; absent ones stay. */
export interface ConnectionChange extends SettingsInput {
  name?: string | undefined;
  jit?: boolean | undefined;
  refreshesProfile?: boolean | undefined;
  acceptsAssertions?: boolean | undefined;
  mappings?: unknown;
  roleMappings?: unknown;
}

export interface NewConnection extends ConnectionChange {
  projectId: string;
  /** Absent: it belongs to the project. */
  organizationId?: string | undefined;
  kind: ConnectionKind;
  preset: string;
  name: string;
}

/** The addresses to register at a provider. */
export interface ConnectionCallback {
  redirectUri: string | null;
  acsUrl: string | null;
  entityId: string | null;
  metadataUrl: string | null;
}

const changeable = [
  ...(['name', 'jit', 'refreshesProfile', 'acceptsAssertions', 'mappings', 'roleMappings', 'settings'] as const),
] as const;

/** Connections to upstream identity providers (decisions/0386). Each method of an admin is one transaction. */
export class Connections {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      vault: Vault;
      metadata: ProviderMetadata;
      issuer: string;
      allowPrivateTargets: boolean;
    },
  ) {}

  /** Digest of the client secret, to compare it with another; null without one. */
  secretDigest({ id, sealedSecret }: Connection): string | null {
    return sealedSecret == null ? null : digest(this.deps.vault.open(connectionSecretPurpose, id, sealedSecret));
  }

  /** The settings of a new connection. Refuses `invalid`. Metadata is not fetched. */
  check(kind: ConnectionKind, preset: string, input: SettingsInput): ConnectionSettings {
    return checkedSettings(kind, preset, input, this.deps);
  }

  /** The metadata of a provider. Refuses `invalid`. Not in a transaction. */
  async providerAt(metadataUrl: string): Promise<IdentityProvider> {
    const { allowPrivateTargets, metadata } = this.deps;
    return (await metadataOf({ metadataUrl }, metadata, allowPrivateTargets)) as IdentityProvider;
  }

  /** The addresses to register at the provider, at the base host. */
  callback(connection: Connection): ConnectionCallback {
    const { origin } = new URL(this.deps.issuer);
    const answerUrl = answerUrlOf(connection, origin);
    if (connection.kind === 'oidc') return { redirectUri: answerUrl, acsUrl: null, entityId: null, metadataUrl: null };
    const entityId = entityIdOf(connection, origin);
    return { redirectUri: null, acsUrl: answerUrl, entityId, metadataUrl: entityId };
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

  /** Those of an organization by which people can sign in, oldest first. */
  ofOrganization({ project, id }: TenantKey): Promise<OrganizationConnection[]> {
    return connectionsOf(this.deps.db.alone, project.id, id);
  }

  /** See {@link realmOf}. */
  realmOf(projectId: string, address: string): Promise<Realm | null> {
    return realmOf(this.deps.db.alone, projectId, address);
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

  /** The SAML connection whose metadata anyone may read; null: none. */
  async samlAt(id: string): Promise<Connection | null> {
    if (!isUuid(id)) return null;
    return inAllProjects(() => this.deps.db.reader().findOne(Connection, { id, kind: 'saml' } as never));
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
  async create(
    { projectId, organizationId, kind, preset, ...input }: NewConnection,
    actor: Actor,
  ): Promise<Connection> {
    const { clock, db, random, vault } = this.deps;
    const id = random.id();
    const given = await givenSettings({ [kind]: {}, ...input }, this.deps);
    if (given?.kind !== kind) invalid(kind, 'must be given');
    const now = clock.now();
    const settings = given.applied(preset);
    const { clientSecret: secret } = given;
    const values = {
      id,
      organizationId: organizationId ?? null,
      kind,
      preset,
      name: cleanName(input.name),
      state: 'draft' as const,
      settings,
      sealedSecret: secret === null ? null : vault.seal(connectionSecretPurpose, id, checkedClientSecret(secret)),
      jit: input.jit ?? false,
      refreshesProfile: input.refreshesProfile ?? false,
      acceptsAssertions: input.acceptsAssertions ?? false,
      mappings: input.mappings == null ? defaultMappings : checkedProfileMappings(input.mappings),
      roleMappings: input.roleMappings == null ? null : checkedRoleMappings(input.roleMappings),
      metadataCheckedAt: given.hasMetadata ? now : null,
      certificateExpiresAt: expiryOf({ kind, settings }),
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
      await checkRoles(em, { project, ...values });
      await checkAssertions(em, { project, ...values });
      const connection = em.create(Connection, { ...values, project: project.id, failures: {}, version: 1 });
      em.persist(connection);
      this.record(em, 'connection.created', connection, actor, { preset, issuer: issuerOf(connection) });
      return connection;
    });
  }

  /**
   * Refuses `not-found`, `invalid`. A tested connection with other settings is a draft again.
   *
   * @param states refuses `conflict` in any other state
   */
  async update(
    key: TenantKey,
    change: ConnectionChange,
    actor: Actor,
    states: readonly ConnectionState[] = connectionStates,
  ): Promise<Connection> {
    const given = await givenSettings(change, this.deps);
    return this.deps.db.transaction(async (em) => {
      // Serialized, so that one connection of each issuer accepts assertions.
      if (change.acceptsAssertions === true) await existing(em, Project, key.project.id, 'project', locked);
      const connection = await existing(em, Connection, key, 'connection', locked);
      mustBeIn(connection as Connection, states);
      const changed = this.applied(connection as Connection, change, given);
      if (change.roleMappings != null) await checkRoles(em, connection as Connection);
      if (change.acceptsAssertions === true) await checkAssertions(em, connection as Connection);
      if (changed.length > 0) this.record(em, 'connection.updated', connection as Connection, actor, { changed });
      return connection as Connection;
    });
  }

  /** Applies the change; the names of the settings that differ. */
  private applied(
    connection: Connection,
    { mappings, roleMappings, ...rest }: ConnectionChange,
    given: GivenSettings | null,
  ): string[] {
    const { clock, vault } = this.deps;
    const before = { ...connection };
    const clientSecret = given?.clientSecret ?? null;
    if (rest.name !== undefined) connection.name = cleanName(rest.name);
    if (rest.jit !== undefined) connection.jit = rest.jit;
    if (rest.refreshesProfile !== undefined) connection.refreshesProfile = rest.refreshesProfile;
    if (rest.acceptsAssertions !== undefined) connection.acceptsAssertions = rest.acceptsAssertions;
    if (mappings != null) connection.mappings = checkedProfileMappings(mappings);
    if (roleMappings != null) connection.roleMappings = checkedRoleMappings(roleMappings);
    if (given) {
      if (given.kind !== connection.kind) invalid(given.kind, `must be absent: the kind is ${connection.kind}`);
      connection.settings = given.applied(connection.preset, connection.settings);
      if (connection.state === 'enabled') checkComplete(connection);
      if (given.hasMetadata) Object.assign(connection, { metadataCheckedAt: clock.now(), metadataFault: null });
      const expiresAt = expiryOf(connection);
      if (!isDeepStrictEqual(expiresAt, connection.certificateExpiresAt ?? null)) {
        Object.assign(connection, { certificateExpiresAt: expiresAt, warnedDays: null });
      }
    }
    // Otherwise an admin, who cannot read the secret, could send it to a provider of their own.
    const isMoved = issuerOf(connection) !== issuerOf(before);
    if (isMoved && connection.sealedSecret != null && clientSecret === null) {
      refuse({ code: 'invalid', field: 'oidc.clientSecret', reason: 'must be entered again for another issuer' });
    }
    // An admin trusted the assertions of the former one.
    if (isMoved && rest.acceptsAssertions === undefined) connection.acceptsAssertions = false;
    if (clientSecret !== null) {
      connection.sealedSecret = vault.seal(connectionSecretPurpose, connection.id, checkedClientSecret(clientSecret));
    }
    const isSame = (name: (typeof changeable)[number]) =>
      isDeepStrictEqual(connection[name] ?? null, before[name] ?? null);
    const changed: string[] = changeable.filter((name) => !isSame(name));
    if (clientSecret !== null) changed.push('clientSecret');
    if (changed.length === 0) return changed;
    connection.updatedAt = clock.now();
    if (changed.includes('settings') || changed.includes('clientSecret')) {
      connection.version += 1;
      connection.failures = {};
      if (connection.state === 'tested') connection.state = 'draft';
    }
    return changed;
  }

  /**
   * Enables or disables the connection. Its sessions stay; disabling refuses sign-ins in progress. Refuses `invalid`.
   *
   * @param states refuses `conflict` in any other state
   */
  async setState(
    key: TenantKey,
    state: ConnectionState,
    actor: Actor,
    states: readonly ConnectionState[] = connectionStates,
  ): Promise<Connection> {
    if (state !== 'enabled' && state !== 'disabled') {
      refuse({ code: 'invalid', field: 'state', reason: 'must be ENABLED or DISABLED' });
    }
    return this.deps.db.transaction(async (em) => {
      const connection = (await existing(em, Connection, key, 'connection', locked)) as Connection;
      if (connection.state === state) return connection;
      mustBeIn(connection, states);
      if (state === 'enabled') checkComplete(connection);
      connection.state = state;
      connection.updatedAt = this.deps.clock.now();
      this.record(em, state === 'enabled' ? 'connection.enabled' : 'connection.disabled', connection, actor);
      return connection;
    });
  }

  /** Deletes it with its identities. Refuses `not-found`. @param states refuses `conflict` in any other state */
  async remove(key: TenantKey, actor: Actor, states: readonly ConnectionState[] = connectionStates): Promise<void> {
    await this.deps.db.transaction(async (em) => {
      const connection = (await existing(em, Connection, key, 'connection', locked)) as Connection;
      mustBeIn(connection, states);
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

function mustBeIn({ state }: Connection, states: readonly ConnectionState[]): void {
  if (!states.includes(state)) refuse({ code: 'conflict', what: 'connection' });
}

/** Refuses `invalid` for a connection without an organization, and `not-found` for a role. */
async function checkRoles(
  em: EntityManager,
  {
    organizationId,
    project,
    roleMappings,
  }: Pick<Connection, 'organizationId' | 'roleMappings'> & { project: { id: string } },
): Promise<void> {
  if (roleMappings == null) return;
  if (organizationId == null) invalid('roleMappings', 'needs a connection of an organization');
  await rolesWithKeys(em, project.id, Object.values(roleMappings.roles));
}

/** Refuses `invalid` unless the connection has an issuer whose assertions no other connection of the project accepts. */
async function checkAssertions(
  em: EntityManager,
  connection: Pick<Connection, 'id' | 'kind' | 'settings' | 'acceptsAssertions'> & { project: { id: string } },
): Promise<void> {
  if (!connection.acceptsAssertions) return;
  const field = 'acceptsAssertions';
  if (connection.kind !== 'oidc' || issuerOf(connection) === '') invalid(field, 'needs an OpenID Connect issuer');
  const other = sql`select 1 as one from connections c where c.project_id = ${connection.project.id}::uuid
    and c.id <> ${connection.id}::uuid and c.accepts_assertions and c.settings ->> 'issuer' = ${issuerOf(connection)}::text limit 1`;
  if ((await query(em, other)).length > 0) invalid(field, 'is on at another connection of this issuer');
}

/** The connections of organizations, oldest first. */
export function connectionsOfOrganizations(
  em: EntityManager,
  organizations: readonly TenantKey[],
): Promise<Connection[]> {
  const of = organizations.map(({ project, id }) => ({ project: project.id, organizationId: id }));
  return em.find(Connection, { $or: of }, { orderBy: { id: 'asc' } });
}

/** The issuer of its identities. */
function issuerOf(connection: Pick<Connection, 'kind' | 'settings'>): string {
  return connection.kind === 'oidc' ? settingsOf(connection, 'oidc').issuer : settingsOf(connection, 'saml').entityId;
}

function expiryOf(connection: Pick<Connection, 'kind' | 'settings'>): Date | null {
  if (connection.kind !== 'saml') return null;
  const { certificates } = settingsOf(connection, 'saml');
  return certificates.length === 0 ? null : lastExpiry(certificates);
}
