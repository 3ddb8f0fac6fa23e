import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import { type Actor, system } from '../kernel/actor.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { Runs } from '../kernel/jobs.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Queue } from '../kernel/queue.ts';
import type { Random } from '../kernel/random.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { atKey, keyIn, type TenantKey } from '../projects/tenant.ts';
import type { SessionEnd, Sessions } from '../sessions/sessions.ts';
import { isFinal, isSuccess, maxAttempts, nextAttemptAt } from './attempts.ts';
import { type DeliveryAttempt, LogoutDelivery } from './logout-delivery.entity.ts';
import { deliverData, deliverJob, type LogoutNotices, type LogoutScope } from './notices.ts';

/** Posts one logout token; never throws. */
export type PostLogoutToken = (uri: string, logoutToken: string) => Promise<{ status: number } | { error: string }>;

/** Lifetime of a claim; after it, another process may attempt the delivery. */
const leaseSeconds = 10;
/** Maximum concurrent attempts per process; further jobs wait. */
const maxInFlight = 500;
/** Maximum concurrent attempts at one client: one that hangs leaves the others theirs. Further ones are postponed. */
const maxPerClient = 100;
const postponedSeconds = 20;
/** Lifetime of a logout token. */
const tokenTtlSeconds = 120;

export interface LogoutDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  sessions: Sessions;
  logoutNotices: Pick<LogoutNotices, 'ofSessions'>;
  signer: Signer;
  queue: Queue;
  post: PostLogoutToken;
}

/**
 * Ends sessions and notifies their clients (OpenID Connect Back-Channel Logout 1.0, service.md 6). Sessions and
 * deliveries are written in one transaction and sent after its commit.
 */
export class Logout {
  private readonly attempts = new Runs(maxInFlight);
  /** Attempts in progress by client id. */
  private readonly atClient = new Map<string, number>();

  constructor(private readonly deps: LogoutDeps) {}

  /** Ends one session (scope `session`): its clients get a token with `sid`. */
  endSession(session: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction((em) => this.endSessionIn(em, session, 'logout', actor));
  }

  /** Like {@link endSession}, in the caller's transaction. */
  async endSessionIn(em: EntityManager, session: TenantKey, reason: SessionEnd, actor: Actor): Promise<void> {
    const ended = await this.deps.sessions.end(em, session, reason, actor);
    if (ended) await this.deps.logoutNotices.ofSessions(em, [ended], 'session');
  }

  /**
   * Ends every session of a user (scope `global`) and their open work. Each client gets one token without `sid`, then,
   * if it requires `sid`, one for each session that it joined, since receivers that key sessions by `sid` ignore the
   * first.
   */
  endAllOfUser(user: TenantKey, actor: Actor): Promise<void> {
    const { db, clock } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        await endOpenWork(em, clock.now(), user, { isLogout: true });
        await this.endAllOfUserIn(em, user, 'logout', actor);
      }),
    );
  }

  /**
   * Logout by an ID token, for a browser without a session cookie. The token is valid while the session of its `sid` is
   * live: an old token ends no newer session, and one without `sid` (of the browser SDK) ends nothing. Scope `global` is
   * {@link endAllOfUser}.
   *
   * @param projectId the project of the client in `aud`
   */
  endByHint(
    projectId: string,
    hint: { subject: string; sid: string | undefined },
    scope: LogoutScope,
    actor: Actor,
  ): Promise<void> {
    const { db, clock, sessions } = this.deps;
    const { sid, subject } = hint;
    if (sid === undefined) return Promise.resolve();
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        const user = keyIn(projectId, subject);
        // A sign-in that replaces the session in the meantime is not ended.
        await query(em, sql`select from users where project_id = ${projectId} and id = ${subject} for no key update`);
        const session = await sessions.findLive(em, keyIn(projectId, sid));
        if (session?.user.id !== subject) return;
        if (scope === 'session') return this.endSessionIn(em, session, 'logout', actor);
        await endOpenWork(em, clock.now(), user, { isLogout: true });
        await this.endAllOfUserIn(em, user, 'logout', actor);
      }),
    );
  }

  /** Like {@link endAllOfUser}, in the caller's transaction. */
  async endAllOfUserIn(em: EntityManager, user: TenantKey, reason: SessionEnd, actor: Actor): Promise<void> {
    const ended = await this.deps.sessions.endAllOfUser(em, user, reason, actor);
    await this.deps.logoutNotices.ofSessions(em, ended, 'global');
  }

  /**
   * Claims the delivery, then starts an attempt and does not wait for it, so that a slow receiver delays no other job.
   * If this process dies before the claim, its job is retried; after it, a job at the claim's expiry takes over.
   */
  async dispatch(key: TenantKey, onError: (error: unknown) => void): Promise<void> {
    await this.attempts.freeSlot();
    const client = await this.claim(key);
    if (client !== null) this.attempts.start(() => this.counted(client, () => this.attempt(key)), onError);
  }

  private async counted(client: string, work: () => Promise<void>): Promise<void> {
    this.atClient.set(client, (this.atClient.get(client) ?? 0) + 1);
    try {
      await work();
    } finally {
      const left = (this.atClient.get(client) ?? 0) - 1;
      if (left > 0) this.atClient.set(client, left);
      else this.atClient.delete(client);
    }
  }

  /** Waits for attempts in progress. */
  drain(): Promise<void> {
    return this.attempts.settled();
  }

  /** One attempt at one delivery, if it is due and no other process is attempting it. */
  async deliver(key: TenantKey): Promise<void> {
    if ((await this.claim(key)) !== null) await this.attempt(key);
  }

  private async attempt(key: TenantKey): Promise<void> {
    const { db, clock, post, queue } = this.deps;
    const delivery = await db.reader().findOneOrFail(LogoutDelivery, atKey(key), { populate: ['client'] });
    const startedAt = clock.now();
    const outcome = await post(delivery.uri, await this.token(delivery));
    const attempt: DeliveryAttempt = {
      at: startedAt.toISOString(),
      ...outcome,
      durationMs: clock.now().getTime() - startedAt.getTime(),
    };
    await db.transaction(async (em) => {
      const row = await em.findOne(LogoutDelivery, { ...atKey(key), state: 'pending' });
      if (!row) return;
      row.attempts = [...row.attempts, attempt];
      if (row.sid === null && row.attempts.length === 1) await this.sendFollowers(em, key);
      if (isSuccess(outcome)) Object.assign(row, { state: 'delivered', deliveredAt: clock.now(), nextAttemptAt: null });
      else if (isFinal(outcome) || row.attempts.length >= maxAttempts) {
        Object.assign(row, { state: 'failed', nextAttemptAt: null });
        this.recordGivenUp(em, delivery, attempt);
      } else {
        const at = nextAttemptAt(clock.now(), row.attempts.length, this.deps.random);
        row.nextAttemptAt = at;
        await queue.send(em, deliverJob, deliverData(key), { startAfter: at });
      }
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
   * Returns the client, to one caller only; null also if the attempt is postponed. Schedules a job at the claim's expiry,
   * or for the postponed attempt.
   */
  private claim(key: TenantKey): Promise<string | null> {
    const { db, clock, queue } = this.deps;
    return db.transaction(async (em) => {
      const now = clock.now();
      const full = [...this.atClient].filter(([, count]) => count >= maxPerClient).map(([client]) => client);
      const isFull = sql`client_id = any(${full}::uuid[])`;
      const [claimed] = await query(
        em,
        sql<{ client: string; isFull: boolean }>`
          update logout_deliveries set next_attempt_at = case when ${isFull}
            then ${secondsLater(now, postponedSeconds)}::timestamptz else ${secondsLater(now, leaseSeconds)}::timestamptz end
          where project_id = ${key.project.id} and id = ${key.id} and state = 'pending' and next_attempt_at <= ${now} and ${isFirst}
          returning client_id as client, ${isFull} as "isFull"`,
      );
      if (!claimed) return null;
      const startAfter = secondsLater(now, claimed.isFull ? postponedSeconds : leaseSeconds);
      await queue.send(em, deliverJob, deliverData(key), { startAfter });
      return claimed.isFull ? null : claimed.client;
    });
  }

  /** Due deliveries whose job or process was lost, for the sweep. */
  async due(): Promise<TenantKey[]> {
    const { db, clock } = this.deps;
    const due = await query(
      db.alone,
      sql<{ project_id: string; id: string }>`
        select project_id, id from logout_deliveries
        where state = 'pending' and next_attempt_at <= ${clock.now()} and ${isFirst}
        order by next_attempt_at limit 500`,
    );
    return due.map((row) => keyIn(row.project_id, row.id));
  }

  /**
   * Schedules another attempt now, at the client's current URI, unless one is due anyway. Refuses `not-found`,
   * `invalid` if it was delivered.
   */
  async retry(key: TenantKey, actor: Actor): Promise<LogoutDelivery> {
    const { db, clock, audit, queue } = this.deps;
    return db.transaction(async (em) => {
      const row = found(
        await em.findOne(LogoutDelivery, atKey(key), {
          populate: ['client'],
          lockMode: LockMode.PESSIMISTIC_WRITE,
          lockTableAliases: ['l0'],
        }),
        'logout-delivery',
      );
      if (row.state === 'delivered') refuse({ code: 'invalid', field: 'id', reason: 'was already delivered' });
      const isUnderWay = row.nextAttemptAt != null && row.nextAttemptAt <= secondsLater(clock.now(), leaseSeconds);
      if (row.state === 'pending' && isUnderWay) return row;
      const uri = row.client.getEntity().backchannelLogoutUri ?? row.uri;
      const moved = uri === row.uri ? {} : { before: { uri: row.uri }, after: { uri } };
      Object.assign(row, { state: 'pending', nextAttemptAt: clock.now(), uri });
      audit.record(em, {
        type: 'logout-delivery.retried',
        actor,
        projectId: key.project.id,
        clientId: row.client.id,
        subject: { kind: 'logout-delivery', id: row.id, name: row.client.getEntity().name },
        detail: { userId: row.subject, attempts: row.attempts.length, ...moved },
      });
      await queue.send(em, deliverJob, deliverData(key));
      return row;
    });
  }

  /** Sends jobs for the deliveries that wait for this one's first attempt. */
  private async sendFollowers(em: EntityManager, { project, id: first }: TenantKey): Promise<void> {
    const followers = sql<{ id: string }>`
      select id from logout_deliveries
      where project_id = ${project.id} and after_id = ${first} and state = 'pending'`;
    for (const { id } of await query(em, followers)) {
      await this.deps.queue.send(em, deliverJob, deliverData({ project, id }));
    }
  }

  /**
   * Back-Channel Logout 1.0 §2.4. `exp` and `iat` are new in each attempt, `jti` is not. `toe`, the time of the logout
   * (RFC 8417 §2.2), shows receivers of a late attempt which sessions are newer; the base issuer's claims are fixed.
   */
  private token(delivery: LogoutDelivery): Promise<string> {
    const now = seconds(this.deps.clock.now());
    const client = delivery.client.getEntity();
    const kind = client.logoutTokenType === 'logout' ? 'logout-logout' : 'logout-secevent';
    const claims = {
      aud: client.id,
      sub: delivery.subject,
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

/** The delivery that this one follows was attempted, or no longer exists. */
const isFirst = sql`not exists (select from logout_deliveries before
  where before.project_id = logout_deliveries.project_id and before.id = logout_deliveries.after_id and before.state = 'pending' and before.attempts = '[]')`;
