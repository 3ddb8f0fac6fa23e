import { Cache } from '../kernel/cache.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import type { ApiKeyKind } from './api-key.entity.ts';
import { isApiKey } from './api-key.ts';
import { Client } from './client.entity.ts';

/** A stale entry is invalidated as soon as a statement or a read finds another version. */
const cacheSeconds = 60;
const cacheSize = 10_000;

/** `lastUsedAt` is as exact as this, so that a busy key is not a busy row. */
const lastUsedSeconds = 60;

/** Whose API key it is, and of which kind. */
export interface KeyHolder {
  client: Client;
  kind: ApiKeyKind;
}

/** Clients as the protocol endpoints ask for them: live ones only, their project loaded. */
export class ClientRegistry {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly clients: Cache<Client>;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
    this.clients = new Cache(clock, cacheSeconds, cacheSize);
  }

  /** As the database has it now; null if the client does not exist or is disabled. */
  readonly findEnabled = (clientId: string): Promise<Client | null> => {
    this.invalidate(clientId);
    return this.cached(clientId);
  };

  /**
   * As {@link findEnabled}, perhaps from the cache: read-only, for callers whose statement checks that the client is
   * enabled and still at this `version`.
   */
  readonly cached = (clientId: string): Promise<Client | null> =>
    this.clients.get(clientId, async () => {
      // Case-sensitive (RFC 6749 §1.8); PostgreSQL would accept a UUID in any case.
      if (!isUuid(clientId) || clientId !== clientId.toLowerCase()) return null;
      return this.db.reader().findOne(Client, { id: clientId, disabledAt: null }, { populate: ['project'] });
    });

  invalidate(clientId: string): void {
    this.clients.invalidate(clientId);
  }

  /**
   * The client of a live API key (`X-Api-Key`), perhaps from memory, but of the versions that its row and its project's
   * have now; null where the key is unknown or revoked, or the client disabled. Notes the use, to the minute.
   */
  async byApiKey(key: string): Promise<KeyHolder | null> {
    if (!isApiKey(key)) return null;
    const now = this.clock.now();
    const [row] = await this.db.rows<KeyRow>(
      `with found as (
         select k.id, k.kind, k.last_used_at, k.client_id, c.version, p.version as project_version
         from api_keys k join clients c on c.id = k.client_id join projects p on p.id = c.project_id
         where k.hash = ? and k.revoked_at is null and c.disabled_at is null
       ), used as (
         update api_keys set last_used_at = ?::timestamptz from found
         where api_keys.id = found.id and (found.last_used_at is null or found.last_used_at <= ?::timestamptz)
       )
       select kind, client_id, version, project_version from found`,
      [digest(key), now, secondsLater(now, -lastUsedSeconds)],
    );
    if (!row) return null;
    const cached = await this.cached(row.client_id);
    if (cached && isOf(cached, row)) return { client: cached, kind: row.kind };
    const client = await this.findEnabled(row.client_id);
    return client && { client, kind: row.kind };
  }

  /** The client of a live secret key (`lk_sk_…`); null for any other key. */
  readonly bySecretKey = async (key: string): Promise<Client | null> => {
    const found = await this.byApiKey(key);
    return found?.kind === 'secret' ? found.client : null;
  };
}

/** Counted up by every change. */
interface Versions {
  version: number;
  project_version: number;
}

interface KeyRow extends Versions {
  kind: ApiKeyKind;
  client_id: string;
}

function isOf({ version, project }: Client, wanted: Versions): boolean {
  return version === wanted.version && project.getEntity().version === wanted.project_version;
}
