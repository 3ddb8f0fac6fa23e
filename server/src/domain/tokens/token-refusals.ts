import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { isUuid } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';

/** Why the token endpoint has refused. */
export interface TokenRefusal {
  /** `client.rejected`: the client has not authenticated. `token.refused`: it has, and its code was refused. */
  type: 'client.rejected' | 'token.refused';
  /** A constant of the code; never shown to the caller. */
  reason: string;
  /** As the request names it, proved or not. */
  clientId: string | undefined;
  actor: Actor;
}

/** The audit events of refusals at the token endpoint, one for all of a kind in an hour (`Audit.recordRepeated`). */
export class TokenRefusals {
  constructor(private readonly deps: { db: Database; audit: Audit }) {}

  /** In the client's project where there is such a client; else in none, whatever id the request has named. */
  async record({ type, reason, clientId, actor }: TokenRefusal): Promise<void> {
    const client = isUuid(clientId) ? await this.find(clientId) : undefined;
    const about = client && {
      projectId: client.project_id,
      clientId: client.id,
      subject: { kind: 'client', id: client.id, name: client.name },
    };
    await this.deps.audit.recordRepeated(this.deps.db.alone, { type, actor, ...about }, reason);
  }

  private async find(clientId: string): Promise<ClientRow | undefined> {
    const statement = sql<ClientRow>`select id, name, project_id from clients where id = ${clientId}`;
    const [client] = await query(this.deps.db.alone, statement, { prepare: 'token-refusals.client' });
    return client;
  }
}

interface ClientRow {
  id: string;
  name: string;
  project_id: string;
}
