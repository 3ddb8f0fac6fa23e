import { type CheckedAssertion, usedAssertion } from '../clients/client-assertions.ts';
import { type CheckedClient, currentClient } from '../clients/client-registry.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Executing, query, sql } from '../kernel/sql.ts';
import type { Issuer } from '../projects/issuer.ts';

/** A token, and the authenticated client that sent it. */
export interface SentToken extends CheckedClient {
  issuer: Issuer;
  token: string;
  /** For `private_key_jwt`: recorded; single use. */
  assertion?: CheckedAssertion | undefined;
  actor: Actor;
}

/** Records the client's assertion. False if the client has changed, or the assertion was used before. */
export async function isAuthentic(on: Executing, sent: SentToken): Promise<boolean> {
  const jtiHash = sent.assertion?.jtiHash ?? null;
  const [caller] = await query(
    on,
    sql<{
      holds: boolean;
    }>`with client as materialized (${currentClient(sent)}), used as (${usedAssertion(sent.assertion)})
      select exists (select from client) and (${jtiHash}::text is null or exists (select from used)) as holds`,
  );
  return caller?.holds === true;
}
