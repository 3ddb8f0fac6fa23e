import type { EntityManager } from '@mikro-orm/postgresql';
import {
  Connection,
  type ConnectionKind,
  type ConnectionState,
  connectionKinds,
} from '../connections/connection.entity.ts';
import type { ConnectionCallback, Connections } from '../connections/connections.ts';
import type { SettingsInput } from '../connections/given-settings.ts';
import type { UpstreamSignIns } from '../connections/upstream-sign-ins.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { found, invalid, refuse } from '../kernel/problem.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { existing, keyIn, locked } from '../projects/tenant.ts';
import { mayDo, type OpenLink } from './open-links.ts';
import { providers } from './portal-providers.ts';

/** An enabled or disabled connection belongs to the admins. */
const openStates: readonly ConnectionState[] = ['draft', 'tested'];
/** Changes of a link's connection; each may read a document at an address that the contact gives. */
const changes: LimitRule = { name: 'portal-connections', max: 30, windowSeconds: 600 };

interface Deps {
  db: Database;
  limits: Pick<Limits, 'spend'>;
  connections: Pick<Connections, 'callback' | 'create' | 'remove' | 'setState' | 'testAddress' | 'update'>;
  upstreamSignIns: Pick<UpstreamSignIns, 'prepareTest'>;
}

/** The connection that the portal links of an organization set up: one, until it is removed. Others are not seen. */
export class PortalConnections {
  constructor(private readonly deps: Deps) {}

  /** Null: none yet. */
  async of(link: OpenLink, em: EntityManager = this.deps.db.reader()): Promise<Connection | null> {
    const [row] = await query(
      em,
      sql<{ id: string }>`select c.id from portal_links l
          join connections c on c.project_id = l.project_id and c.id = l.connection_id and c.organization_id = l.organization_id
        where l.project_id = ${link.projectId}::uuid and l.organization_id = ${link.organizationId}::uuid limit 1`,
    );
    return row ? em.findOne(Connection, { project: link.projectId, id: row.id }) : null;
  }

  /** The addresses to register at the provider. */
  callback(connection: Connection): ConnectionCallback {
    return this.deps.connections.callback(connection);
  }

  /** Creates a draft that creates accounts of new people. Refuses `invalid`, `too-many`, and `conflict` if there is one. */
  async create(link: OpenLink, { kind, provider }: { kind: string; provider: string }, actor: Actor): Promise<void> {
    mayDo(link, 'connection');
    const chosen = connectionKinds.find((one) => one === kind) ?? invalid('kind', 'must be oidc or saml');
    const { name } = Object.hasOwn(providers, provider)
      ? providers[provider as keyof typeof providers]
      : invalid('preset', 'must be a provider of the portal');
    await this.spend(link);
    if (await this.of(link)) refuse({ code: 'conflict', what: 'connection' });
    const { connections, db } = this.deps;
    const { organizationId, projectId } = link;
    const input = { projectId, organizationId, kind: chosen, preset: provider, name, jit: true };
    const connection = await connections.create(input, actor);
    const isFirst = await db.transaction(async (em) => {
      await existing(em, Organization, keyIn(projectId, organizationId), 'organization', locked);
      if (await this.of(link, em)) return false;
      await execute(
        em,
        sql`update portal_links set connection_id = ${connection.id}::uuid where project_id = ${projectId}::uuid and id = ${link.id}::uuid`,
      );
      return true;
    });
    if (!isFirst) await connections.remove(connection, actor, openStates);
  }

  /** Refuses as {@link Connections.update}, `too-many`, and `conflict` for an enabled connection. */
  async save(link: OpenLink, inputOf: (kind: ConnectionKind) => SettingsInput, actor: Actor): Promise<void> {
    const connection = await this.own(link);
    await this.spend(link);
    await this.deps.connections.update(connection, inputOf(connection.kind), actor, openStates);
  }

  /** The address of a test sign-in. Refuses `invalid` if a value is missing. */
  async test(link: OpenLink): Promise<string> {
    const connection = await this.own(link);
    await this.spend(link);
    return this.deps.connections.testAddress(connection.id, await this.deps.upstreamSignIns.prepareTest(connection));
  }

  /** Refuses `conflict` unless the test of the present settings succeeded. */
  async enable(link: OpenLink, actor: Actor): Promise<void> {
    await this.deps.connections.setState(await this.own(link), 'enabled', actor, ['tested']);
  }

  /** Refuses `conflict` for a connection that is or was enabled. */
  async remove(link: OpenLink, actor: Actor): Promise<void> {
    await this.deps.connections.remove(await this.own(link), actor, openStates);
  }

  private async own(link: OpenLink): Promise<Connection & { kind: ConnectionKind }> {
    mayDo(link, 'connection');
    return found(await this.of(link), 'connection');
  }

  private async spend({ id, projectId }: OpenLink): Promise<void> {
    const { db, limits } = this.deps;
    const spent = await db.transaction((em) => limits.spend(em, changes, `${projectId} ${id}`));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
  }
}
