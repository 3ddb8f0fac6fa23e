import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { Recollection } from '../kernel/recollection.ts';
import { isUuid } from '../kernel/secret.ts';
import { Client } from './client.entity.ts';
import type { Clients } from './clients.ts';

/** How long a client is remembered by a process that has not heard of a change. */
const rememberSeconds = 5;
const mostRemembered = 10_000;

/** Clients as the protocol endpoints ask for them: live ones only, their project loaded. */
export class ClientRegistry {
  private readonly db: Database;
  private readonly clients: Clients;
  private readonly remembered: Recollection<Client>;

  constructor(db: Database, clock: Clock, clients: Clients) {
    this.db = db;
    this.clients = clients;
    this.remembered = new Recollection(clock, rememberSeconds, mostRemembered);
  }

  /** Null where there is no such client, or it is disabled. */
  readonly findEnabled = async (clientId: string): Promise<Client | null> => {
    if (!isUuid(clientId)) return null;
    return this.db.reader().findOne(Client, { id: clientId, disabledAt: null }, { populate: ['project'] });
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

  /** The client of a live secret key (`lk_sk_…`); null for any other key. */
  readonly bySecretKey = async (key: string): Promise<Client | null> => {
    const found = await this.clients.byApiKey(this.db.reader(), key);
    return found?.apiKey.kind === 'secret' ? found.client : null;
  };
}
