import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { matchesTarget, missesTarget, requestedApi } from '../apis/token-target.ts';
import type { Audit } from '../audit/audit.ts';
import { refuseUsedProof } from '../clients/dpop/dpop-proofs.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type GrantFault, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { storedIssuer } from '../projects/issuer.ts';
import { keyIn } from '../projects/tenant.ts';
import { isLive, isProvedBy, noted, type Refresh, type RefreshRow, refreshed, rotation } from './refresh.ts';
import { RefreshGrant } from './refresh-grant.entity.ts';
import { parseRefreshToken, type RefreshToken, successors } from './refresh-token.ts';
import type { TokenResponse, Tokens } from './tokens.ts';
import { endRefreshGrant } from './user-tables.ts';

/** Seconds after its replacement during which a token gives the same new one: for requests of parallel tabs. */
const parallelSeconds = 30;

interface Refreshed {
  row: RefreshRow;
  token: RefreshToken;
}

function isPart(scope: string | undefined, granted: string): boolean {
  return scope === undefined || scope.split(' ').every((one) => granted.split(' ').includes(one));
}

/**
 * Refresh tokens (RFC 6749 section 6): replaced at each use. While the new one is unused, the response may have been lost:
 * the replaced one gives another, and the unused one ends. Any other reuse ends the grant (RFC 9700 section 4.14).
 */
export class RefreshTokens {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      vault: Vault;
      audit: Audit;
      tokens: Pick<Tokens, 'of' | 'claimsOf'>;
    },
  ) {}

  /**
   * New tokens. Null, with nothing written, if the cached client is stale. Refuses `client-rejected` for a replayed
   * assertion, and `grant-rejected` if the token is unknown, expired, ended, or another client's or issuer's.
   */
  async refresh(refresh: Refresh): Promise<TokenResponse | null> {
    const { db, clock, random, tokens, vault } = this.deps;
    const presented = parseRefreshToken(refresh.token);
    if (!presented) return refuse({ code: 'grant-rejected', reason: 'malformed' });
    // FAPI 2.0 Security Profile section 5.3.2.1: its client and key protect the token, not its replacement.
    const [next] = refresh.client.fapiProfile ? [presented] : (successors(vault, presented) as [RefreshToken]);
    const statement = rotation(refresh, { presented, next }, { random, now: clock.now() });
    const [row] = await query(db.alone, statement, { prepare: 'tokens.refresh' });
    if (!row?.client_is_current) return null;
    if (!row.assertion_is_fresh) refuse({ code: 'client-rejected', reason: 'jti was used before' });
    if (!row.proof_is_fresh) refuseUsedProof();
    const found = row.id === null ? await this.again(refresh, presented) : { row, token: next };
    const scoped = { ...found.row, scope: refresh.scope ?? found.row.scope };
    return tokens.of(scoped, refresh.issuer, {
      claims: await tokens.claimsOf(db.alone, scoped, refresh.issuer),
      refreshToken: found.token.text,
      jkt: refresh.proof?.jkt,
    });
  }

  /** New tokens for one whose replacement is unused. Any other replaced token ends the grant. */
  private async again(refresh: Refresh, presented: RefreshToken): Promise<Refreshed> {
    const outcome = await this.deps.db.transaction((em) => this.check(em, refresh, presented));
    return typeof outcome === 'string' ? refuse({ code: 'grant-rejected', reason: outcome }) : outcome;
  }

  private async check(em: EntityManager, refresh: Refresh, presented: RefreshToken): Promise<Refreshed | GrantFault> {
    const { clock, random, vault } = this.deps;
    const { client, issuer } = refresh;
    const now = clock.now();
    const resource = refresh.resource ?? null;
    const grant = await em.findOne(
      RefreshGrant,
      { project: client.project.id, familyHash: digest(presented.family) },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!grant) return 'unknown';
    if (grant.client.id !== client.id || grant.issuer !== storedIssuer(issuer)) return 'mismatch';
    if (grant.revokedAt) return 'revoked';
    const hash = digest(presented.text);
    const isProved = isProvedBy(grant, refresh);
    const isKnown = hash === grant.currentHash || hash === grant.previousHash;
    if (isKnown && missesTarget(grant.resources, refresh.resource)) return 'target';
    if (hash === grant.currentHash) {
      if (!isProved) return 'mismatch';
      return isPart(refresh.scope, grant.scope) ? 'expired' : 'scope';
    }
    if (hash === grant.previousHash && !isPart(refresh.scope, grant.scope)) return 'scope';
    if (hash !== grant.previousHash || !isProved) {
      await this.endReused(em, refresh, grant, now);
      return 'used';
    }
    const same = successors(vault, presented, grant.renewals).find(({ text }) => digest(text) === grant.currentHash);
    const isParallel = grant.rotatedAt != null && grant.rotatedAt > secondsLater(now, -parallelSeconds);
    const renewals = same && isParallel ? grant.renewals : grant.renewals + 1;
    const token = same && isParallel ? same : (successors(vault, presented, renewals)[0] as RefreshToken);
    const [row] = await query(
      em,
      sql<RefreshRow>`with target as materialized (${requestedApi(
        sql`(select ${client.project.id}::uuid as project_id, ${client.id}::uuid as id)`,
        sql`(select resources from refresh_grants where project_id = ${grant.project.id} and id = ${grant.id})`,
        resource,
      )}),
        live as (update refresh_grants g set current_hash = ${digest(token.text)}, renewals = ${renewals}::int,
            rotated_at = case when g.renewals = ${renewals}::int then g.rotated_at else ${now}::timestamptz end,
            last_used_at = ${now}::timestamptz
          from users u, clients k, projects p
          where g.project_id = ${grant.project.id} and g.id = ${grant.id} and g.previous_hash = ${hash}
            and g.current_hash = ${grant.currentHash} and ${isLive(now)} and ${matchesTarget(sql`g`, resource)}
          returning ${refreshed}),
        token as (${noted(refresh, random, now, sql`live`)} returning id)
        select live.*, token.id, t.* from live cross join token left join target t on true`,
    );
    return row ? { row, token } : 'expired';
  }

  private async endReused(
    em: EntityManager,
    { actor, client }: Refresh,
    grant: RefreshGrant,
    now: Date,
  ): Promise<void> {
    await endRefreshGrant(em, keyIn(grant.project.id, grant.id), now);
    this.deps.audit.record(em, {
      type: 'refresh-token.replayed',
      result: 'failure',
      actor,
      projectId: grant.project.id,
      clientId: client.id,
      subject: { kind: 'user', id: grant.user.id },
    });
  }
}
