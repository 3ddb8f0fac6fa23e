import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { isSamlApplication } from '../clients/saml/saml-application.ts';
import { system } from '../kernel/actor.ts';
import { type Clock, seconds } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { atKey, keyIn } from '../projects/tenant.ts';
import type { Claimed } from '../relay/channel.ts';
import type { Lane } from '../relay/round-robin.ts';
import { RowChannel } from '../relay/row-channel.ts';
import { type DeliveryOutcome, isFinal, isSuccess, maxAttempts, retries } from './attempts.ts';
import { type DeliveryAttempt, LogoutDelivery } from './logout-delivery.entity.ts';
import type { SamlLogoutRequests } from './saml-logout-requests.ts';

/** Posts one logout token; never throws. Takes at most 5 seconds. */
export type PostLogoutToken = (uri: string, logoutToken: string) => Promise<{ status: number } | { error: string }>;

/** Lifetime of a claim; after it, another process may attempt the delivery. */
export const leaseSeconds = 10;
/** The NameID is kept for further attempts only. */
const delivered = { state: 'delivered', nextAttemptAt: null, sealedNameId: null } as const;
/** Lifetime of a logout token. */
const tokenTtlSeconds = 120;

export interface LogoutChannelDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  signer: Signer;
  post: PostLogoutToken;
  samlRequests: Pick<SamlLogoutRequests, 'send'>;
}

/** Posts logout tokens (OpenID Connect Back-Channel Logout 1.0) and SAML logout requests. First attempts do not wait for retries. */
export class LogoutChannel extends RowChannel<LogoutChannelDeps> {
  readonly lanes: readonly Lane[] = [
    { name: 'logout', atOnce: 200, ofProject: 100, ofReceiver: 50 },
    { name: 'logout-slow', atOnce: 400, ofProject: 100, ofReceiver: 50 },
  ];
  readonly slowLane = 1;
  readonly table = 'logout_deliveries';
  readonly lane = sql`(case when t.attempts = '[]' then 0 else 1 end)`;
  override readonly receiver = sql`t.client_id`;
  readonly token = sql`t.next_attempt_at`;
  protected readonly leaseSeconds = leaseSeconds;
  protected readonly retries = retries;
  protected readonly attempts = sql`jsonb_array_length(t.attempts)`;

  /** Not while the delivery that this one follows awaits its first attempt. */
  override isDue(now: Date) {
    return sql`${super.isDue(now)} and not exists (select 1 from logout_deliveries before
      where before.project_id = t.project_id and before.id = t.after_id and before.state = 'pending' and before.attempts = '[]')`;
  }

  async deliver({ project, id }: Claimed): Promise<void> {
    const { db, clock, post, random } = this.deps;
    const key = keyIn(project, id);
    const delivery = await db.reader().findOne(LogoutDelivery, atKey(key), { populate: ['client'] });
    if (!delivery) return;
    const startedAt = clock.now();
    const isSaml = isSamlApplication(delivery.client.getEntity());
    const outcome: DeliveryOutcome = isSaml
      ? await this.deps.samlRequests.send(delivery)
      : await post(delivery.uri, await this.logoutToken(delivery));
    const attempt: DeliveryAttempt = {
      at: startedAt.toISOString(),
      ...('status' in outcome ? { status: outcome.status } : { error: outcome.error }),
      durationMs: clock.now().getTime() - startedAt.getTime(),
    };
    await db.transaction(async (em) => {
      const row = await em.findOne(LogoutDelivery, { ...atKey(key), state: 'pending' });
      if (!row) return;
      row.attempts = [...row.attempts, attempt];
      if (isSuccess(outcome)) Object.assign(row, { ...delivered, deliveredAt: clock.now() });
      else if (isFinal(outcome) || row.attempts.length >= maxAttempts) {
        Object.assign(row, { state: 'failed', nextAttemptAt: null });
        this.recordGivenUp(em, delivery, attempt);
      } else row.nextAttemptAt = retries.next(clock.now(), row.attempts.length, random);
    });
  }

  private recordGivenUp(em: EntityManager, delivery: LogoutDelivery, { status, error }: DeliveryAttempt): void {
    this.deps.audit.record(em, {
      type: 'logout-delivery.failed',
      result: 'failure',
      actor: system,
      projectId: delivery.project.id,
      clientId: delivery.client.id,
      subject: { kind: 'logout-delivery', id: delivery.id, name: delivery.client.getEntity().name },
      detail: {
        userId: delivery.subject,
        attempts: delivery.attempts.length + 1,
        ...(status === undefined ? { error } : { status }),
      },
    });
  }

  /**
   * Back-Channel Logout 1.0 §2.4. `exp` and `iat` are new in each attempt, `jti` is not. `toe`, the time of the logout
   * (RFC 8417 §2.2), shows receivers of a late attempt which sessions are newer; the base issuer's claims are fixed.
   */
  private logoutToken(delivery: LogoutDelivery): Promise<string> {
    const now = seconds(this.deps.clock.now());
    const client = delivery.client.getEntity();
    const kind = client.logoutTokenType === 'logout' ? 'logout-logout' : 'logout-secevent';
    const claims = {
      aud: client.id,
      sub: delivery.sub ?? delivery.subject,
      iat: now,
      exp: now + tokenTtlSeconds,
      jti: delivery.jti,
      ...(delivery.sid ? { sid: delivery.sid } : {}),
      ...(delivery.issuer == null ? {} : { toe: seconds(delivery.createdAt) }),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    return this.deps.signer.sign(
      kind,
      claims,
      delivery.issuer == null ? {} : { issuer: delivery.issuer, alg: client.idTokenSignedResponseAlg },
    );
  }
}
