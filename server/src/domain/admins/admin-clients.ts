import { isOfLiveCredential } from '../clients/credential-of-tokens.ts';
import { type CheckedProof, refuseUsedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import { adminApiUrl } from '../kernel/admin-api.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { inProject } from '../kernel/scope.ts';
import { isUuid } from '../kernel/secret.ts';
import { query, type Statement, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import type { Issuers } from '../projects/issuers.ts';
import { boundKeyOf } from '../tokens/claims.ts';

/** A client that calls the admin API on its own behalf. */
export interface AdminClient {
  id: string;
  name: string;
  projectId: string;
  /** The token's scopes that the client still has. */
  scopes: string[];
}

interface ClientRow extends AdminClient {
  lacksNonce: boolean;
  isFresh: boolean;
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
  constructor(private readonly deps: { db: Database; issuers: Issuers; signer: Signer; issuer: string }) {}

  /**
   * The client of a token for the admin API; null if the token is not valid for it, was revoked, or came without the proof
   * of its key, or if the client was disabled or deleted, or has lost the credential that obtained it or its rights, or if
   * it must prove a key since then. Refuses `proof-rejected` and
   * `nonce-rejected`.
   */
  async byToken({ token, scheme, proof: proofOf }: SentAdminToken): Promise<AdminClient | null> {
    const { db, issuer: baseUrl, issuers, signer } = this.deps;
    const issuer = await issuers.ofToken(token);
    if (!issuer?.project) return null;
    const claims = await signer.verify('api-token', token, { issuer, audience: adminApiUrl(baseUrl) });
    const clientId = claims?.['client_id'];
    if (!claims || !isUuid(claims.jti) || !isUuid(clientId) || claims.sub !== clientId) return null;
    const jkt = boundKeyOf(claims);
    if ((jkt === null) !== (scheme === 'Bearer')) return null;
    const proof = jkt === null ? null : await proofOf(token);
    if (proof?.jkt !== (jkt ?? undefined)) return null;
    const { id: projectId } = issuer.project;
    const statement = live({ projectId, clientId, tokenId: claims.jti }, proof);
    const [row] = await inProject(projectId, () => query(db.alone, statement, { prepare: 'admins.client-by-token' }));
    if (!row) return null;
    if (row.lacksNonce) refuse({ code: 'nonce-rejected' });
    if (!row.isFresh) refuseUsedProof();
    const { id, name, scopes } = row;
    return { id, name, projectId, scopes };
  }
}

/** The client of a live token; records the proof. */
function live(
  { projectId, clientId, tokenId }: { projectId: string; clientId: string; tokenId: string },
  proof: CheckedProof | null,
): Statement<ClientRow> {
  return sql<ClientRow>`with live as materialized (
      select k.id, k.name, k.project_id, array(select one from unnest(k.admin_scopes) one
          where one = any(string_to_array(t.scope, ' '))) as scopes,
        k.dpop_nonce_required and ${proof?.hasNonce === false}::boolean as "lacksNonce"
      from authorization_codes t join clients k on k.project_id = t.project_id and k.id = t.client_id
        join projects p on p.id = k.project_id
      where t.project_id = ${projectId}::uuid and t.id = ${tokenId}::uuid and t.client_id = ${clientId}::uuid
        and t.user_id is null and t.revoked_at is null and k.disabled_at is null and 'client_credentials' = any(k.grant_types)
        and k.token_endpoint_auth_method <> 'none' and ${isOfLiveCredential}
        and (${proof !== null}::boolean or not (k.dpop_required or k.fapi_profile)) and k.admin_scopes <> '{}'
        and p.built_in is distinct from 'console'
    ),
    proof as (${
      proof
        ? usedProof(proof, sql`(select project_id, id as client_id from live where not "lacksNonce") proving`)
        : sql`select 1`
    })
    select live.*, exists (select from proof) as "isFresh" from live`;
}
