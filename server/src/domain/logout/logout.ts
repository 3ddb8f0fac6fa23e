import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import { isSamlApplication } from '../clients/saml/saml-application.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import { query, sql } from '../kernel/sql.ts';
import { atKey, keyIn, type TenantKey } from '../projects/tenant.ts';
import type { Relay } from '../relay/relay.ts';
import type { SessionEnd, Sessions } from '../sessions/sessions.ts';
import { leaseSeconds } from './logout-channel.ts';
import { LogoutDelivery } from './logout-delivery.entity.ts';
import type { LogoutNotices, LogoutScope } from './notices.ts';

export interface LogoutDeps {
  db: Database;
  clock: Clock;
  audit: Audit;
  sessions: Sessions;
  logoutNotices: Pick<LogoutNotices, 'ofSessions'>;
  relay: Relay;
}

/** The ids of sessions that have ended. */
export type EndedSessions = readonly string[];

/**
 * Ends sessions and notifies their clients (OpenID Connect Back-Channel Logout 1.0, service.md 6). Sessions and
 * deliveries are written in one transaction and sent after its commit.
 */
export class Logout {
  constructor(private readonly deps: LogoutDeps) {}

  /** Delivers the tokens. */
  get relay(): Relay {
    return this.deps.relay;
  }

  /**
   * Ends one session (scope `session`): its clients get a token with `sid`.
   *
   * @param exceptId the SAML application that asked for it, and ends its own
   */
  endSession(session: TenantKey, actor: Actor, exceptId?: string): Promise<EndedSessions> {
    return this.deps.db.transaction((em) => this.endSessionIn(em, session, 'logout', actor, exceptId));
  }

  /** Like {@link endSession}, in the caller's transaction. */
  async endSessionIn(
    em: EntityManager,
    session: TenantKey,
    reason: SessionEnd,
    actor: Actor,
    exceptId?: string,
  ): Promise<EndedSessions> {
    const ended = await this.deps.sessions.end(em, session, reason, actor);
    if (!ended) return [];
    await this.deps.logoutNotices.ofSessions(em, [ended], 'session', exceptId);
    return [ended.id];
  }

  /**
   * Ends every session of a user (scope `global`) and their open work. Each client gets one token without `sid`, then,
   * if it requires `sid`, one for each session that it joined, since receivers that key sessions by `sid` ignore the
   * first.
   */
  endAllOfUser(user: TenantKey, actor: Actor, exceptId?: string): Promise<EndedSessions> {
    const { db, clock } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        await endOpenWork(em, clock.now(), user, { isLogout: true });
        return this.endAllOfUserIn(em, user, 'logout', actor, exceptId);
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
    hint: { userId: string; sid: string | undefined },
    scope: LogoutScope,
    actor: Actor,
  ): Promise<EndedSessions> {
    const { db, clock, sessions } = this.deps;
    const { sid, userId } = hint;
    if (sid === undefined) return Promise.resolve([]);
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        const user = keyIn(projectId, userId);
        // A sign-in that replaces the session in the meantime is not ended.
        await query(em, sql`select 1 from users where project_id = ${projectId} and id = ${userId} for no key update`);
        const session = await sessions.findLive(em, keyIn(projectId, sid));
        if (session?.user.id !== userId) return [];
        // An admin's logout ends nothing of the user.
        if (scope === 'session' || session.impersonation) return this.endSessionIn(em, session, 'logout', actor);
        await endOpenWork(em, clock.now(), user, { isLogout: true });
        return this.endAllOfUserIn(em, user, 'logout', actor);
      }),
    );
  }

  /** Like {@link endAllOfUser}, in the caller's transaction. */
  async endAllOfUserIn(
    em: EntityManager,
    user: TenantKey,
    reason: SessionEnd,
    actor: Actor,
    exceptId?: string,
  ): Promise<EndedSessions> {
    const ended = await this.deps.sessions.endAllOfUser(em, user, reason, actor);
    await this.deps.logoutNotices.ofSessions(em, ended, 'global', exceptId);
    return ended.map(({ id }) => id);
  }

  /**
   * Schedules another attempt now, at the client's current URI, unless one is due anyway. Refuses `not-found`,
   * `invalid` if it was delivered.
   */
  async retry(key: TenantKey, actor: Actor): Promise<LogoutDelivery> {
    const { db, clock, audit } = this.deps;
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
      const client = row.client.getEntity();
      const uri = (isSamlApplication(client) ? client.samlLogoutSoapUri : client.backchannelLogoutUri) ?? row.uri;
      const moved = uri === row.uri ? {} : { before: { uri: row.uri }, after: { uri } };
      Object.assign(row, { state: 'pending', nextAttemptAt: clock.now(), uri });
      audit.record(em, {
        type: 'logout-delivery.retried',
        actor,
        projectId: key.project.id,
        clientId: row.client.id,
        subject: { kind: 'logout-delivery', id: row.id, name: client.name },
        detail: { userId: row.subject, attempts: row.attempts.length, ...moved },
      });
      db.afterCommit(em, this.relay.wake);
      return row;
    });
  }
}
