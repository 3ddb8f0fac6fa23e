import { Cache } from '../kernel/cache.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { inAllProjects, inProject, openProject } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { type Fragment, findPrepared, query, type Statement, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import type { ApiKeyKind } from './api-key.entity.ts';
import { isApiKey } from './api-key.ts';
import { Client } from './client.entity.ts';
import { isMetadataUrl } from './client-id.ts';
import { isAdmitted } from './introductions/admission.ts';

/** A request that finds its client stale reads the row, which replaces the entry. */
const cacheSeconds = 60;
const cacheSize = 10_000;

/** Precision of `lastUsedAt`, to limit writes. */
const lastUsedSeconds = 60;

/** An API key or a client secret. */
type KeyKind = ApiKeyKind | 'client-secret';

/** An API key or client secret, and its client. */
export interface KeyHolder {
  client: Client;
  kind: KeyKind;
  /** SHA-256 of the key. */
  keyHash: string;
}

/** A source of enabled clients with their projects. The entities are read-only. A request's client opens its project. */
export interface ClientSource {
  /** Null if the client does not exist or is disabled. */
  byId(clientId: string): Promise<Client | null>;
  /** The same by the URL of its metadata document. */
  byUrl(projectId: string, url: string): Promise<Client | null>;
  /** Null if the key is unknown or revoked, or its client disabled. */
  byKeyHash(keyHash: string): Promise<KeyHolder | null>;
  /** The same for a client secret. */
  bySecretHash(keyHash: string): Promise<KeyHolder | null>;
}

/** The client with a `client_id`; a metadata URL is one only in a project. */
export function byClientId(
  source: Pick<ClientSource, 'byId' | 'byUrl'>,
  projectId: string | undefined,
  clientId: string,
): Promise<Client | null> {
  if (!isMetadataUrl(clientId)) return source.byId(clientId);
  return projectId === undefined ? Promise.resolve(null) : source.byUrl(projectId, clientId);
}

/** Clients for the protocol endpoints. */
export class ClientRegistry {
  private readonly clients: Cache<Client>;
  private readonly keys: Cache<KeyHolder>;

  constructor(private readonly deps: { db: Database; clock: Clock }) {
    this.clients = new Cache(deps.clock, cacheSeconds, cacheSize);
    this.keys = new Cache(deps.clock, cacheSeconds, cacheSize);
  }

  /**
   * The cache, then the database. Only for requests whose statement has {@link currentClient} as a condition: if the
   * cached client is stale, the request is checked again with {@link current} (decisions/0080).
   */
  readonly cached: ClientSource = {
    byId: async (clientId) => {
      const client = await this.clients.get(clientId, () => inAllProjects(() => this.read(clientId)));
      if (client) openProject(client.project.id);
      return client;
    },
    byUrl: async (projectId, url) => {
      const find = () => this.find(sql`project_id = ${projectId}::uuid and metadata_url = ${url}`, 'clients.by-url');
      const client = await this.clients.get(urlKey(projectId, url), () => inAllProjects(find));
      if (client) openProject(client.project.id);
      return client;
    },
    byKeyHash: (keyHash) => this.holder(keyHash, apiKeys),
    bySecretHash: (keyHash) => this.holder(keyHash, clientSecrets),
  };

  /** The database; replaces the cached entry. */
  readonly current: ClientSource = {
    byId: (clientId) => {
      this.clients.invalidate(clientId);
      return this.cached.byId(clientId);
    },
    byUrl: (projectId, url) => {
      this.clients.invalidate(urlKey(projectId, url));
      return this.cached.byUrl(projectId, url);
    },
    byKeyHash: (keyHash) => {
      this.keys.invalidate(keyHash);
      return this.cached.byKeyHash(keyHash);
    },
    bySecretHash: (keyHash) => {
      this.keys.invalidate(keyHash);
      return this.cached.bySecretHash(keyHash);
    },
  };

  /** The enabled SAML application of a project with this entity ID, from the database. Opens the project. */
  async bySamlEntityId(projectId: string, entityId: string): Promise<Client | null> {
    const found = sql<{ id: string }>`select id from clients
      where project_id = ${projectId}::uuid and saml_entity_id = ${entityId}::text`;
    const [row] = await inProject(projectId, () =>
      query(this.deps.db.alone, found, { prepare: 'clients.by-entity-id' }),
    );
    return row ? this.current.byId(row.id) : null;
  }

  /** The client of a live secret key (`lk_sk_…`), from the database; null for any other text. */
  readonly bySecretKey = async (key: string): Promise<Client | null> => {
    const holder = isApiKey(key) ? await this.current.byKeyHash(digest(key)) : null;
    return holder?.kind === 'secret' ? holder.client : null;
  };

  private async holder(keyHash: string, source: KeySource): Promise<KeyHolder | null> {
    const holder = await this.keys.get(keyHash, () => inAllProjects(() => this.readKey(keyHash, source)));
    if (holder) openProject(holder.client.project.id);
    return holder;
  }

  private async read(clientId: string): Promise<Client | null> {
    // Case-sensitive (RFC 6749 §1.8); PostgreSQL would accept a UUID in any case.
    return isUuid(clientId) ? this.find(sql`id = ${clientId}`, 'clients.by-id') : null;
  }

  /** Null also if the project does not accept the client as it introduced itself. */
  private async find(where: Fragment, prepare: string): Promise<Client | null> {
    const em = this.deps.db.reader();
    const client = await findPrepared(em, Client, sql`${where} and disabled_at is null`, prepare);
    // Both belong to one entity manager, so the client refers to the project that is read.
    const project = client && (await findPrepared(em, Project, sql`id = ${client.project.id}`, 'clients.project'));
    return project && client && isAdmitted(client, project) ? client : null;
  }

  /** Reads the key's row, and the client only if the cached one has another version. */
  private async readKey(keyHash: string, { rows, used, prepare }: KeySource): Promise<KeyHolder | null> {
    const now = this.deps.clock.now();
    const [row] = await query(
      this.deps.db.alone,
      sql<KeyRow>`with found as (
          select a.project_id, a.id, a.kind, a.last_used_at, a.client_id, k.version, p.version as project_version
          from (${rows}) a join clients k on k.project_id = a.project_id and k.id = a.client_id join projects p on p.id = k.project_id
          where a.hash = ${keyHash} and a.revoked_at is null and k.disabled_at is null
        ), used as (
          update ${used} t set last_used_at = ${now}::timestamptz from found
          where t.project_id = found.project_id and t.id = found.id
            and (found.last_used_at is null or found.last_used_at <= ${secondsLater(now, -lastUsedSeconds)}::timestamptz)
        )
        select kind, client_id, version, project_version from found`,
      { prepare },
    );
    if (!row) return null;
    const client = await this.ofVersion(row);
    return client && { client, kind: row.kind, keyHash };
  }

  /** The client of a row that was just read: cached if client and project still have the versions of the row. */
  async ofVersion({ client_id: id, version, project_version: ofProject }: ClientVersion): Promise<Client | null> {
    const cached = await this.cached.byId(id);
    const isCurrent = cached?.version === version && cached.project.getEntity().version === ofProject;
    return isCurrent ? cached : this.current.byId(id);
  }
}

const urlKey = (projectId: string, url: string) => `${projectId} ${url}`;

/** A table of keys: its rows, its name, and that of its prepared statement. */
interface KeySource {
  rows: Fragment;
  used: Fragment;
  prepare: string;
}

const apiKeys: KeySource = {
  rows: sql`select * from api_keys`,
  used: sql.table('api_keys'),
  prepare: 'clients.by-key',
};
const clientSecrets: KeySource = {
  rows: sql`select *, 'client-secret' as kind from client_secrets`,
  used: sql.table('client_secrets'),
  prepare: 'clients.by-secret',
};

/** A client, and the versions of it and of its project. */
export interface ClientVersion {
  client_id: string;
  version: number;
  project_version: number;
}

interface KeyRow extends ClientVersion {
  kind: KeyKind;
}

/** The client of a request, possibly cached, and the API key sent. */
export interface CheckedClient {
  client: Client;
  key?: Pick<KeyHolder, 'kind' | 'keyHash'> | undefined;
}

/**
 * SQL query of one row, or none if the client is disabled, its key is not live, or the version of client or project has
 * changed. Every statement that grants something by a cached client depends on it. Its text depends on the kind of the key.
 *
 * @param columns further ones, of client `k`
 */
export function currentClient(
  { client, key }: CheckedClient,
  columns: Fragment = sql``,
): Statement<{ id: string; project_id: string }> {
  const isOfKey = key?.kind === 'client-secret' ? sql`true` : sql`a.kind = ${key?.kind ?? null}::text`;
  const keys = key?.kind === 'client-secret' ? clientSecrets.used : apiKeys.used;
  const hasLiveKey = sql`and (select a.client_id = k.id and ${isOfKey} and a.revoked_at is null
      from ${keys} a where a.project_id = k.project_id and a.hash = ${key?.keyHash ?? null}::text)`;
  return sql`select k.id, k.project_id${columns} from clients k join projects p on p.id = k.project_id
    where k.project_id = ${client.project.id}::uuid and k.id = ${client.id}::uuid and k.disabled_at is null
      and k.version = ${client.version}::int and p.version = ${client.project.getEntity().version}::int ${key ? hasLiveKey : sql``}`;
}
