import { type Audit, aboutClient } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { isUuid } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';

/** A refusal of an application's request. */
export interface TokenRefusal {
  /**
   * `client.rejected`: client authentication failed. `token.refused`: the code was refused. `authorization.refused`: the
   * authorization request failed. `logout.address_refused`: the post-logout redirect URI is not one of the client.
   */
  type: 'authorization.refused' | 'client.rejected' | 'logout.address_refused' | 'token.refused';
  /** A constant; logged, never sent to the caller. */
  reason: string;
  /** The request's client_id, authenticated or not. */
  clientId: string | undefined;
  actor: Actor;
  /** A constant without input. */
  description?: string;
  /** The redirect URI that was refused; recorded escaped and cut. The newest one of the hour counts. */
  redirectUri?: string | undefined;
}

/** Audit events of refusals at the authorization and token endpoints, at most one of a kind per hour (`Audit.recordRepeated`). */
export class TokenRefusals {
  constructor(private readonly deps: { db: Database; audit: Audit }) {}

  /** Records in the client's project; for an unknown client_id, in none. */
  async record({ type, reason, clientId, actor, description, redirectUri }: TokenRefusal): Promise<void> {
    const client = isUuid(clientId) ? await this.find(clientId) : undefined;
    const about = client && aboutClient({ ...client, project: { id: client.project_id } });
    const detail = description === undefined ? {} : { detail: { description } };
    const ofLast = redirectUri === undefined ? {} : { redirectUri: escaped(redirectUri) };
    await this.deps.audit.recordRepeated(this.deps.db.alone, { type, actor, ...about, ...detail }, reason, { ofLast });
  }

  private async find(clientId: string): Promise<ClientRow | undefined> {
    const statement = sql<ClientRow>`select id, name, project_id from clients where id = ${clientId}`;
    const [client] = await query(this.deps.db.alone, statement, { prepare: 'token-refusals.client' });
    return client;
  }
}

const longestAddress = 500;

/** A caller's address for an event: printable ASCII, the rest percent-encoded, cut. */
function escaped(address: string): string {
  const text = address
    .slice(0, longestAddress)
    .toWellFormed()
    .replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  return text.length > longestAddress || address.length > longestAddress ? `${text.slice(0, longestAddress)}…` : text;
}

interface ClientRow {
  id: string;
  name: string;
  project_id: string;
}
