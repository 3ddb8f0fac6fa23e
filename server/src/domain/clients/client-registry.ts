import type { Database } from '../kernel/database.ts';
import { isUuid } from '../kernel/secret.ts';
import { Client } from './client.entity.ts';
import type { Clients } from './clients.ts';

/** Clients as the protocol endpoints ask for them: live ones only, their project loaded. */
export class ClientRegistry {
  private readonly db: Database;
  private readonly clients: Clients;

  constructor(db: Database, clients: Clients) {
    this.db = db;
    this.clients = clients;
  }

  /** Null where there is no such client, or it is disabled. */
  readonly findEnabled = async (clientId: string): Promise<Client | null> => {
    if (!isUuid(clientId)) return null;
    return this.db.reader().findOne(Client, { id: clientId, disabledAt: null }, { populate: ['project'] });
  };

  /** The client of a live secret key (`lk_sk_…`); null for any other key. */
  readonly bySecretKey = async (key: string): Promise<Client | null> => {
    const found = await this.clients.byApiKey(this.db.reader(), key);
    return found?.apiKey.kind === 'secret' ? found.client : null;
  };
}
