import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { Recollection } from '../kernel/recollection.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import type { ApiKeyKind } from './api-key.entity.ts';
import { isApiKey } from './api-key.ts';
import { Client } from './client.entity.ts';

/** How long a client is remembered; for no longer than until a statement or a look at the rows has found it changed. */
const rememberSeconds = 60;
const mostRemembered = 10_000;

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
  private readonly remembered: Recollection<Client>;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
    this.remembered = new Recollection(clock, rememberSeconds, mostRemembered);
  }

  /** Null where there is no such client, or it is disabled. */
  readonly findEnabled = async (clientId: string): Promise<Client | null> => {
    // Letter by letter (RFC 6749 §1.8: values are case sensitive): PostgreSQL would take a UUID in any case.
    if (!isUuid(clientId) || clientId !== clientId.toLowerCase()) return null;
    const where = { id: clientId, disabledAt: null };
    const client = await this.db.reader().findOne(Client, where, { populate: ['project'] });
    // Memory that is found to be old is not asked again.
    const known = this.remembered.peek(clientId);
    if (known && !(client && isOf(known, versionsOf(client)))) this.forget(clientId);
    return client;
  };

  /**
   * As {@link findEnabled}, perhaps from memory: to be read only, and for callers whose statement asks again whether
   * the client is enabled and still of this `version`.
   */
  readonly recall = (clientId: string): Promise<Client | null> =>
    this.remembered.recall(clientId, () => this.findEnabled(clientId));

  /** A change was told of; without an id: of any client. */
  forget(clientId?: string): void {
    this.remembered.forget(clientId);
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
    const known = await this.recall(row.client_id);
    if (known && isOf(known, row)) return { client: known, kind: row.kind };
    this.forget(row.client_id);
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

function versionsOf({ version, project }: Client): Versions {
  return { version, project_version: project.getEntity().version };
}

function isOf(client: Client, wanted: Versions): boolean {
  const { version, project_version } = versionsOf(client);
  return version === wanted.version && project_version === wanted.project_version;
}
