import { hasAccessTo } from '../access/has-access.ts';
import type { Client } from '../clients/client.entity.ts';
import { byClientId, type ClientRegistry, currentClient } from '../clients/client-registry.ts';
import { credentialColumns, isOfLiveCredential } from '../clients/credential-of-tokens.ts';
import { boundKeyOf, isSentWithKey } from '../clients/dpop/binding.ts';
import { type CheckedProof, refuseUsedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import { isAllowedTo } from '../consents/consents.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { isUuid } from '../kernel/secret.ts';
import { query, type Statement, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { lacksNonce, needsProof } from '../policy/client.ts';
import type { Issuer } from '../projects/issuer.ts';
import { subOf, type WithSub } from '../users/identity/sub.ts';
import { type ProfileSource, profileOf, profileProperties } from '../users/profile.ts';
import { selectionOf } from '../users/user-record.ts';

/** The reason why an access token of a user is refused (RFC 6750 §3.1). */
export type TokenRefused =
  | { refused: 'invalid_token' | 'insufficient_scope' }
  /** The token is bound to a key, and came without a proof; or the other way round (RFC 9449 §7.1). */
  | { refused: 'bound' | 'not-bound' };

/** The user of a live access token for UserInfo, its client and its scopes. */
export interface Holder {
  user: ProfileSource & WithSub;
  client: Client;
  /** The organization of its context. */
  organizationId: string | null;
  /** The organization that is the user's home; null: the project. */
  homeId: string | null;
  scopes: string[];
}

export interface HolderDeps {
  db: Database;
  signer: Pick<Signer, 'verifyAccessToken'>;
  clients: Pick<ClientRegistry, 'cached' | 'current'>;
}

const invalid = { refused: 'invalid_token' } as const;

/**
 * Who an access token speaks for, unless its session was ended: an idle or expired session does not revoke it. Records the
 * proof. Refuses `proof-rejected` for a replayed one, and `nonce-rejected` if the client's proofs need a nonce.
 *
 * @param issuer the only issuer whose tokens are valid here
 * @param proof for a token that is bound to a key; single use
 */
export async function holderOf(
  { db, signer, clients }: HolderDeps,
  accessToken: string,
  issuer: Issuer,
  proof: CheckedProof | undefined,
): Promise<Holder | TokenRefused> {
  const token = await signer.verifyAccessToken(accessToken, issuer);
  if (!token || !isUuid(token.jti) || typeof token['scope'] !== 'string') return invalid;
  const scopes = token['scope'].split(' ');
  if (!scopes.includes('openid')) return { refused: 'insufficient_scope' };
  const key = boundKeyOf(token);
  if ((key === null) !== (proof === undefined)) return { refused: key === null ? 'not-bound' : 'bound' };
  if (!isSentWithKey(key, proof)) return invalid;
  // The cache, then the database, because a cached client may be stale.
  for (const source of [clients.cached, clients.current]) {
    const client = await byClientId(source, issuer.project?.id, String(token['client_id']));
    if (!client) return invalid;
    const isWithoutNonce = proof !== undefined && lacksNonce(client, proof);
    const reading = liveHolder(client, token.jti, isWithoutNonce ? undefined : proof);
    const [row] = await query(db.alone, reading, { prepare: 'tokens.user-info' });
    if (!row?.client_is_current) continue;
    if (row.id === null || (!proof && needsProof(client))) return invalid;
    if (isWithoutNonce) refuse({ code: 'nonce-rejected' });
    if (!row.proof_is_fresh) refuseUsedProof();
    return { user: { ...row, id: row.id }, client, organizationId: row.organization_id, homeId: row.home_id, scopes };
  }
  return invalid;
}

/** One row; without `id`, the token is not live. */
interface HolderRow extends ProfileSource {
  client_is_current: boolean;
  id: string | null;
  subject: string | null;
  organization_id: string | null;
  home_id: string | null;
  proof_is_fresh: boolean;
}

/** The token is found by its key, and only then its user. @param proof is recorded if the token is live */
function liveHolder(client: Client, tokenId: string, proof: CheckedProof | undefined): Statement<HolderRow> {
  const project = sql`${client.project.id}::uuid`;
  const allowed = client.thirdParty
    ? isAllowedTo(client, sql`t.user_id`, {
        scope: sql`t.scope`,
        resources: sql`t.resources`,
        organizationId: sql`t.organization_id`,
      })
    : sql`true`;
  return sql<HolderRow>`with client as materialized (${currentClient({ client }, credentialColumns)}),
    live as materialized (
      select r.id, r.subject, t.organization_id, r.organization_id as home_id, ${sql.raw(selectionOf(profileProperties))}, k.project_id, k.id as client_id
      from client k, (select user_id, session_id, organization_id, scope, resources, credential from authorization_codes
          where project_id = ${project} and id = ${tokenId}::uuid and client_id = ${client.id}::uuid
            and revoked_at is null offset 0) t
        join users r on r.project_id = ${project} and r.id = t.user_id
      where r.active and ${hasAccessTo(client, sql`t.user_id`, sql`t.organization_id`)} and ${allowed} and ${isOfLiveCredential}
        and (select ended_at from sessions where project_id = ${project} and id = t.session_id) is null
    )${proof ? sql`, proof as (${usedProof(proof, sql`live`)})` : sql``}
    select exists (select 1 from client) as client_is_current, ${proof ? sql`exists (select 1 from proof)` : sql`true`} as proof_is_fresh, live.*
    from (values (1)) one left join live on true`;
}

/** Claims of each scope (OpenID Connect Core §5.4). */
const claimsOfScope: Record<string, readonly string[]> = {
  profile: ['name', 'given_name', 'family_name', 'birthdate', 'locale', 'zoneinfo', 'updated_at'],
  email: ['email', 'email_verified'],
  phone: ['phone_number'],
  address: ['address'],
};

export function userInfoClaims({ user, scopes }: Pick<Holder, 'user' | 'scopes'>): Record<string, unknown> {
  const profile: Record<string, unknown> = { ...profileOf({ ...user, updatedAt: new Date(user.updatedAt) }) };
  const claims: Record<string, unknown> = { sub: subOf(user) };
  for (const scope of scopes) {
    for (const name of claimsOfScope[scope] ?? []) if (profile[name] !== undefined) claims[name] = profile[name];
  }
  return claims;
}
