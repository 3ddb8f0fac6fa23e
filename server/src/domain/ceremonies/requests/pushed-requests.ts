import { type CheckedAssertion, wasUsed } from '../../clients/assertions/client-assertions.ts';
import type { CheckedClient } from '../../clients/client-registry.ts';
import type { CheckedProof } from '../../clients/dpop/dpop-proofs.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { networkOf } from '../../kernel/network.ts';
import { refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { query, sql } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { type Issuer, storedIssuer } from '../../projects/issuer.ts';
import { type Accepted, isAccepted, presented } from '../../tokens/grants/grant.ts';

/** Seconds until a pushed request expires. */
export const pushedTtlSeconds = 60;
/** Maximum characters of a form. */
export const longestPush = 16_384;
/** A back end pushes for all its users. */
const perClientFactor = 20;

/** The parameters of an authenticated client, checked by the caller. */
export interface Push extends CheckedClient {
  issuer: Issuer;
  /** A form of at most {@link longestPush} characters, without the parameters that authenticate the client. */
  parameters: string;
  /** For `private_key_jwt`: recorded; single use. */
  assertion?: CheckedAssertion | undefined;
  /** Recorded; single use. */
  proof: CheckedProof | null;
}

const usedBefore = { code: 'client-rejected', reason: 'jti was used before' } as const;

/** Pushed authorization requests (RFC 9126). */
export class PushedRequests {
  private readonly perNetwork: LimitRule;
  private readonly perClient: LimitRule;

  /** @param deps.perMinute requests that one network may push per minute for a public client */
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      limits: Pick<Limits, 'spendPrepaid'>;
      perMinute: number;
    },
  ) {
    this.perNetwork = { name: 'push-network', max: deps.perMinute, windowSeconds: 60 };
    this.perClient = { name: 'push-client', max: deps.perMinute * perClientFactor, windowSeconds: 60 };
  }

  /**
   * Stores the request for 60 seconds and returns its handle. Refuses `too-many`, `client-rejected` for a replayed
   * assertion or if the client has changed, and `proof-rejected` for a replayed proof.
   */
  async push(push: Push, ip: string | undefined): Promise<string> {
    const { db, clock, random } = this.deps;
    const { client, assertion } = push;
    // First: a replayed assertion must not spend the client's budget.
    if (assertion && (await wasUsed(db.alone, client, assertion))) refuse(usedBefore);
    await this.spend(push, ip);
    const handle = newSecret(random);
    const now = clock.now();
    const { columns, ctes, hold } = presented(push, push);
    const [row] = await query(
      db.alone,
      sql<PushRow>`with ${ctes}, stored as (
          insert into pushed_requests (project_id, id, client_id, handle_hash, issuer, parameters, created_at, expires_at)
          select project_id, ${random.id()}::uuid, id, ${digest(handle)}, ${storedIssuer(push.issuer)}::text, ${push.parameters},
            ${now}::timestamptz, ${secondsLater(now, pushedTtlSeconds)}::timestamptz
          from client where ${hold} returning 1
        )
        select ${columns}, exists (select 1 from stored) as is_stored`,
    );
    if (row?.is_stored) return handle;
    isAccepted(row);
    return refuse({ code: 'client-rejected', reason: `${client.id} changed during the request` });
  }

  /**
   * The parameters of a request; single use. Null if it is unknown, expired, used, or another client's or issuer's.
   */
  async take(handle: string, { client, issuer }: Pick<Push, 'client' | 'issuer'>): Promise<string | null> {
    const now = this.deps.clock.now();
    const [row] = await query(
      this.deps.db.alone,
      sql<{ parameters: string }>`update pushed_requests set used_at = ${now}::timestamptz
        where project_id = ${client.project.id}::uuid and handle_hash = ${digest(handle)} and client_id = ${client.id}::uuid
          and issuer is not distinct from ${storedIssuer(issuer)}::text
          and used_at is null and expires_at > ${now}::timestamptz
        returning parameters`,
      { prepare: 'pushed-requests.take' },
    );
    return row?.parameters ?? null;
  }

  /** Anyone can act as a public client, so its requests are limited per network (IPv6: a /64); others per client. */
  private async spend({ client }: Push, ip: string | undefined): Promise<void> {
    const { db, limits } = this.deps;
    const isPublic = client.tokenEndpointAuthMethod === 'none';
    const [rule, subject] = isPublic ? [this.perNetwork, networkOf(ip)] : [this.perClient, client.id];
    const spent = await limits.spendPrepaid(db, rule, subject);
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
  }
}

interface PushRow extends Accepted {
  is_stored: boolean;
}
