import type { Client } from '../clients/client.entity.ts';
import { type ClientRegistry, currentClient } from '../clients/client-registry.ts';
import { credentialColumns, isOfLiveCredential } from '../clients/credential-of-tokens.ts';
import { boundKeyOf, isSentWithKey } from '../clients/dpop/binding.ts';
import { type CheckedProof, refuseUsedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import { adminApiUrl } from '../kernel/admin-api.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { isUuid } from '../kernel/secret.ts';
import { query, type Statement, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { lacksNonce, needsProof } from '../policy/client.ts';
import type { Issuers } from '../projects/issuers.ts';

/** A client that calls the admin API on its own behalf. */
export interface AdminClient {
  id: string;
  name: string;
  projectId: string;
  /** The token's scopes that the client still has. */
  scopes: string[];
}

/** A token, and a check of the proof that came with it; the check returns null without a proof. */
export interface SentAdminToken {
  token: string;
  /** RFC 6750 §2.1, RFC 9449 §7.1. */
  scheme: 'Bearer' | 'DPoP';
  proof(token: string): Promise<CheckedProof | null>;
}

/** Clients at the admin API, by access tokens of the grant `client_credentials` (RFC 9068 section 4). */
export class AdminClients {
  constructor(
    private readonly deps: {
      db: Database;
      issuers: Issuers;
      signer: Signer;
      clients: Pick<ClientRegistry, 'cached' | 'current'>;
      issuer: string;
    },
  ) {}

  /**
   * The client of a token for the admin API. Null if the token is not valid there, was revoked, came without the proof
   * of its key, or was obtained with a credential that has ended; also if the client was disabled or deleted, has lost
   * its rights, or now requires a proof that the token lacks. Refuses `proof-rejected` and `nonce-rejected`.
   */
  async byToken({ token, scheme, proof: proofOf }: SentAdminToken): Promise<AdminClient | null> {
    const { db, clients, issuer: baseUrl, issuers, signer } = this.deps;
    const issuer = await issuers.ofToken(token);
    if (!issuer?.project) return null;
    const claims = await signer.verify('api-token', token, { issuer, audience: adminApiUrl(baseUrl) });
    const clientId = claims?.['client_id'];
    if (!claims || !isUuid(claims.jti) || !isUuid(clientId) || claims.sub !== clientId) return null;
    const key = boundKeyOf(claims);
    if ((key === null) !== (scheme === 'Bearer')) return null;
    const proof = key === null ? null : await proofOf(token);
    if (!isSentWithKey(key, proof)) return null;
    // The cache, then the database, because a cached client may be stale.
    for (const source of [clients.cached, clients.current]) {
      const client = await source.byId(clientId);
      if (client?.project.id !== issuer.project.id) return null;
      const isWithoutNonce = proof !== null && lacksNonce(client, proof);
      const statement = liveToken(client, claims.jti, isWithoutNonce ? null : proof);
      const [row] = await query(db.alone, statement, { prepare: 'admins.client-by-token' });
      if (!row?.client_is_current) continue;
      if (row.scope === null || !mayCall(client) || (!proof && needsProof(client))) return null;
      if (isWithoutNonce) refuse({ code: 'nonce-rejected' });
      if (!row.proof_is_fresh) refuseUsedProof();
      const granted = row.scope.split(' ');
      const scopes = client.adminScopes.filter((scope) => granted.includes(scope));
      return { id: client.id, name: client.name, projectId: client.project.id, scopes };
    }
    return null;
  }
}

function mayCall({ adminScopes, grantTypes, project, tokenEndpointAuthMethod }: Client): boolean {
  const isAlone = grantTypes.includes('client_credentials') && tokenEndpointAuthMethod !== 'none';
  return isAlone && adminScopes.length > 0 && project.getEntity().builtIn !== 'console';
}

/** One row. `scope`: of the token; null if it is not live. */
interface TokenRow {
  client_is_current: boolean;
  proof_is_fresh: boolean;
  scope: string | null;
}

/** @param proof is recorded if the token is live */
function liveToken(client: Client, tokenId: string, proof: CheckedProof | null): Statement<TokenRow> {
  return sql<TokenRow>`with client as materialized (${currentClient({ client }, credentialColumns)}),
    live as materialized (
      select t.scope, k.project_id, k.id as client_id
      from client k join authorization_codes t on t.project_id = k.project_id and t.client_id = k.id
      where t.project_id = ${client.project.id}::uuid and t.id = ${tokenId}::uuid and t.user_id is null and t.revoked_at is null
        and ${isOfLiveCredential}
    ), proof as (${proof ? usedProof(proof, sql`live`) : sql`select 1`})
    select exists (select 1 from client) as client_is_current, exists (select 1 from proof) as proof_is_fresh, live.scope
    from (values (1)) one left join live on true`;
}
