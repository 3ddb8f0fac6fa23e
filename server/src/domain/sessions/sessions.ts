import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { NameIdKind } from '../clients/saml/saml.resource.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, earliest, secondsLater } from '../kernel/clock.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { columnsOf, type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import {
  asksForFacts,
  begun,
  endsOf,
  hasExpired,
  meetsSignInPolicy,
  type SessionLimits,
  type SessionTimes,
  type SessionUse,
  used,
} from '../policy/session.ts';
import type { Project } from '../projects/project.entity.ts';
import { atKey, type TenantKey } from '../projects/tenant.ts';
import { type Impersonation, Session } from './session.entity.ts';
import { toUserFacts, type UserFactsRow, userFacts } from './user-facts.ts';

export type SessionEnd = NonNullable<Session['endReason']>;

interface PasskeyOfUser {
  userId: string;
  passkeyId: string;
}

/** A finished sign-in. */
export interface SignIn {
  project: Project;
  userId: string;
  deviceId?: string | undefined;
  /** The passkey that this sign-in used or created, if it verified the user. */
  passkeyId?: string | undefined;
  /** The session ends then at the latest; absent or null: by the limits of the project. */
  until?: Date | null;
  /** RFC 8176. */
  amr: string[];
  /** Organizations whose connection signed in. */
  connected?: readonly string[] | undefined;
  authTime: Date;
  /** Time of this sign-in's last mail code, factor or recovery code; undefined: device key only. */
  freshAt: Date | undefined;
  /** `moment` of this sign-in's authorization request; undefined: now. */
  requestMoment?: number | undefined;
  /** The browser's current session cookie for the project; see {@link presented}. */
  currentSecret?: string | undefined;
  /** The custom domain of the sign-in; absent: the base host. */
  domain?: string | null | undefined;
  actor: Actor;
}

/**
 * A cookie's secret as the database stores it: with the host that received the cookie, so that one that leaks at a
 * custom domain does not work at another host. Secrets contain no `@`.
 *
 * @param domain the custom domain; null: the base host
 */
export function presented(secret: string, domain: string | null): string {
  return domain === null ? secret : `${secret}@${domain}`;
}

/**
 * SSO sessions (service.md 2.6, 3.2): one per browser and project, with a sliding idle limit and an absolute limit. The
 * cookie holds a secret, the database its hash.
 */
export class Sessions {
  constructor(private readonly deps: { clock: Clock; random: Random; audit: Audit }) {}

  /**
   * Creates or renews the session after a sign-in. The same user in the same browser keeps the session (`sid`) with a
   * new `auth_time`; a session of another user is ended first. The secret is always new, which prevents session
   * fixation. A sign-in only by a device key does not change the freshness of the session.
   */
  async signIn(
    em: EntityManager,
    signIn: SignIn,
  ): Promise<{ session: Session; secret: string; replaced: Session | null }> {
    const { project, actor, domain = null } = signIn;
    const now = this.deps.clock.now();
    const current = signIn.currentSecret ? await this.live(em, project, signIn.currentSecret, now) : null;
    if (current && current.user.id === signIn.userId) {
      const secret = newSecret(this.deps.random);
      const moment = await nextMoment(em);
      Object.assign(current, {
        moment,
        ...freshness(signIn, moment, current),
        secretHash: digest(presented(secret, domain)),
        deviceId: deviceOf(signIn, current),
        passkeyId: signIn.passkeyId ?? null,
        authTime: signIn.authTime,
        amr: signIn.amr,
        connected: connectedBy(signIn, now, current.connected),
        expiresAt: boundedBy(signIn, current.expiresAt),
        ...used(project, now),
      });
      return { session: current, secret, replaced: null };
    }
    // The new user ends the session: IP address and user agent are theirs.
    const by: Actor = actor.kind === 'anonymous' ? { ...actor, kind: 'user', id: signIn.userId } : actor;
    if (current) await this.end(em, current, 'replaced', by);
    const { secret, insertion } = this.begin(signIn);
    const inserting = sql<object>`${insertion} returning ${columnsOf(em, Session)}`;
    const [row] = await query(em, inserting, { prepare: 'sessions.begin' });
    const session = em.map(Session, row ?? {});
    return { session, secret, replaced: current };
  }

  /** SQL: begins a session where `when` holds, in table alias `c`; and the secret of its cookie. */
  begin(signIn: SignIn, when: Fragment = sql`true`): { secret: string; insertion: Fragment } {
    const { project, actor, domain = null, freshAt = null, requestMoment = null } = signIn;
    const secret = newSecret(this.deps.random);
    const now = this.deps.clock.now();
    const { createdAt, lastSeenAt, idleExpiresAt, ...end } = begun(project, now);
    const expiresAt = boundedBy(signIn, end.expiresAt);
    const connected = connectedBy(signIn, now, null);
    const insertion = sql`insert into sessions as c (project_id, id, user_id, domain, secret_hash, device_id, passkey_id, auth_time,
        fresh_at, moment, fresh_moment, amr, connected, created_at, last_seen_at, idle_expires_at, expires_at, ip, user_agent)
      select ${project.id}::uuid, ${this.deps.random.id()}::uuid, ${signIn.userId}::uuid, ${domain}::text,
        ${digest(presented(secret, domain))}::text, ${signIn.deviceId ?? null}::uuid, ${signIn.passkeyId ?? null}::uuid,
        ${signIn.authTime}::timestamptz, ${freshAt}::timestamptz, n.moment,
        case when ${freshAt}::timestamptz is not null then coalesce(${requestMoment}::bigint, n.moment) end, ${signIn.amr}::text[],
        ${connected && JSON.stringify(connected)}::jsonb, ${createdAt}::timestamptz, ${lastSeenAt}::timestamptz, ${idleExpiresAt}::timestamptz, ${expiresAt}::timestamptz,
        ${actor.ip ?? null}::text, ${actor.userAgent ?? null}::text
      from (select nextval('moments') as moment) n where ${when}`;
    return { secret, insertion };
  }

  /**
   * The live session of a cookie, with its idle limit extended; null if it has ended or expired, belongs to another
   * project, its user is inactive or has no factor that the project currently requires, or it was not proved by a
   * passkey that the policy requires now.
   */
  async resume(em: EntityManager, project: Project, secret: string): Promise<Session | null> {
    const session = await this.peek(em, project, secret);
    return session && this.extend(session, project);
  }

  /** Extends the idle limit of a live session. */
  extend(session: Session, project: Project): Session {
    return Object.assign(session, used(project, this.deps.clock.now()));
  }

  /** Like {@link resume}, without extending the idle limit. */
  async peek(em: EntityManager, project: Project, secret: string): Promise<Session | null> {
    const session = await this.held(em, project, secret);
    return session && (await meetsPolicyOf(em, project, session)) ? session : null;
  }

  /** Like {@link peek}, but also for a user without a required factor: used to end the session. */
  async held(em: EntityManager, project: Project, secret: string): Promise<Session | null> {
    return this.live(em, project, secret, this.deps.clock.now());
  }

  /** Records a passkey that the user of this session has just created: the session then counts as proved by a passkey. */
  async createdPasskey(em: EntityManager, project: Project, secret: string, { userId, passkeyId }: PasskeyOfUser) {
    const session = await this.held(em, project, secret);
    if (session?.user.id === userId) session.passkeyId ??= passkeyId;
  }

  /** The live session with this id. */
  async findLive(em: EntityManager, key: TenantKey): Promise<Session | null> {
    if (!isUuid(key.id)) return null;
    const where = { ...atKey(key), endedAt: null, user: { active: true } };
    const session = await em.findOne(Session, where, { populate: ['project'] });
    return session && !hasExpired(session, session.project.getEntity(), this.deps.clock.now()) ? session : null;
  }

  /** A user's live sessions, most recently used first. @param limit sessions that are read */
  async listLive(em: EntityManager, project: Project, userId: string, limit?: number): Promise<Session[]> {
    const where = { project: project.id, user: { id: userId }, endedAt: null };
    const orderBy = { lastSeenAt: 'desc', id: 'desc' } as const;
    const open = await em.find(Session, where, { orderBy, ...(limit !== undefined && { limit }) });
    const now = this.deps.clock.now();
    return open.filter((session) => !hasExpired(session, project, now));
  }

  /** The number of a user's sessions that have not ended; those that have expired count until they are swept. */
  countOpen(em: EntityManager, project: Project, userId: string): Promise<number> {
    return em.count(Session, { project: project.id, user: { id: userId }, endedAt: null });
  }

  /** Ends a live session; null if it had already ended. */
  async end(em: EntityManager, key: TenantKey, reason: SessionEnd, actor: Actor): Promise<Session | null> {
    const session = await em.findOne(Session, { ...atKey(key), endedAt: null });
    if (!session) return null;
    this.close(em, session, reason, actor);
    return session;
  }

  /** Ends every live session of a user, in all browsers. */
  async endAllOfUser(em: EntityManager, user: TenantKey, reason: SessionEnd, actor: Actor): Promise<Session[]> {
    const sessions = await em.find(Session, { project: user.project.id, user: { id: user.id }, endedAt: null });
    for (const session of sessions) this.close(em, session, reason, actor);
    return sessions;
  }

  private close(em: EntityManager, session: Session, reason: SessionEnd, actor: Actor): void {
    session.endedAt = this.deps.clock.now();
    session.endReason = reason;
    const key = { id: session.id, userId: session.user.id, impersonation: session.impersonation };
    this.deps.audit.record(em, endOfSession(session.project.id, key, reason, actor));
  }

  private async live(em: EntityManager, project: Project, secret: string, now: Date): Promise<Session | null> {
    const session = await em.findOne(
      Session,
      { project: project.id, secretHash: digest(secret), endedAt: null, user: { active: true } },
      { populate: ['user'] },
    );
    return session && !hasExpired(session, project, now) ? session : null;
  }
}

/** The end of a session that has this one by its limits. A provider says when its session ends. */
function boundedBy({ until }: Pick<SignIn, 'until'>, end: Date): Date {
  return until ? earliest(end, until) : end;
}

/** The connections of a session after a sign-in: those of before stay, with the times of their sign-ins. */
function connectedBy(
  { connected }: SignIn,
  now: Date,
  before: Readonly<Record<string, string>> | null | undefined,
): Record<string, string> | null {
  if (!connected?.length) return before ?? null;
  return { ...before, ...Object.fromEntries(connected.map((id) => [id, now.toISOString()])) };
}

/** The version of a session: every sign-in changes secret and moment. */
interface SessionVersion {
  projectId: string;
  id: string;
  secretHash: string;
  moment: number;
}

/**
 * SQL: `project_id` of session `s`, if it has not ended or been renewed since it was read, and `where` holds; records its use.
 *
 * @param use null: already recorded. The session is locked all the same, so that its end waits for the code, or is seen
 */
export function usedIfUnchanged(
  { projectId, id, secretHash, moment }: SessionVersion,
  use: SessionUse | null,
  { from, where }: { from: Fragment; where: Fragment },
): Fragment {
  const isUnchanged = sql`s.project_id = ${projectId}::uuid and s.id = ${id}::uuid and s.secret_hash = ${secretHash}::text
        and s.moment = ${moment}::bigint and s.ended_at is null and ${where}`;
  if (!use) return sql`select s.project_id from sessions s, ${from} where ${isUnchanged} for share of s`;
  return sql`update sessions s set last_seen_at = ${use.lastSeenAt}::timestamptz, idle_expires_at = ${use.idleExpiresAt}::timestamptz
      from ${from} where ${isUnchanged} returning s.project_id`;
}

/** The event of a session that ends. */
export function endOfSession(
  projectId: string,
  { id, userId, impersonation }: { id: string; userId: string; impersonation?: Impersonation | null | undefined },
  reason: SessionEnd,
  actor: Actor,
): AuditEntry {
  const detail = { reason, userId, ...(impersonation && { impersonatorId: impersonation.adminId }) };
  return { type: 'session.ended', actor, projectId, subject: { kind: 'session', id }, detail };
}

/** The times of the browser's session: {@link timesOfHeld}. Instants are text; null: none that has not ended. */
export interface HeldRow {
  held: { createdAt: string; lastSeenAt: string; idleExpiresAt: string; expiresAt: string } | null;
}

/** SQL: one column, the times of the session of this cookie. */
export function timesOfHeld(projectId: string, secret: string | undefined): Fragment {
  if (secret === undefined) return sql`null::json as held`;
  return sql`(select json_build_object('createdAt', s.created_at, 'lastSeenAt', s.last_seen_at,
      'idleExpiresAt', s.idle_expires_at, 'expiresAt', s.expires_at)
    from sessions s where s.project_id = ${projectId}::uuid and s.secret_hash = ${digest(secret)}::text and s.ended_at is null) as held`;
}

/** Whether the browser's session is live, if its user is active. */
export function isHeldLive({ held }: HeldRow, project: Project, now: Date): boolean {
  if (held === null) return false;
  const { createdAt, lastSeenAt, idleExpiresAt, expiresAt } = held;
  const times = {
    ...{ createdAt: new Date(createdAt), lastSeenAt: new Date(lastSeenAt) },
    ...{ idleExpiresAt: new Date(idleExpiresAt), expiresAt: new Date(expiresAt) },
  };
  return !hasExpired(times, project, now);
}

const columns = {
  createdAt: sql`s.created_at`,
  lastSeenAt: sql`s.last_seen_at`,
  idleExpiresAt: sql`s.idle_expires_at`,
  expiresAt: sql`s.expires_at`,
} satisfies Record<keyof SessionTimes, Fragment>;

/** SQL condition: session `s` is live, by {@link endsOf}. */
export function isLive(limits: SessionLimits, now: Date): Fragment {
  const isBefore = endsOf(limits).map(
    ([time, plusSeconds]) => sql`${columns[time]} > ${secondsLater(now, -plusSeconds)}::timestamptz`,
  );
  return sql`s.ended_at is null and ${sql.join(isBefore, sql` and `)}`;
}

/** SQL condition: a session of any project had ended at that time, by its stored limits. */
export function hadEnded(at: Date): Fragment {
  return sql`least(expires_at, ended_at, idle_expires_at) <= ${at}`;
}

interface LiveSession {
  id: string;
  userId: string;
  impersonation: Impersonation | null;
}

/** SQL: the users' sessions that have not ended, expired ones included. */
export function liveSessions(projectId: string, userIds: readonly string[]): Statement<LiveSession> {
  return sql<LiveSession>`select id, user_id as "userId", impersonation from sessions
    where project_id = ${projectId} and user_id = any(${userIds}::uuid[]) and ended_at is null`;
}

/** Minimum seconds between updates of `last_at`: limits writes of busy sessions. */
const participationSeconds = 60;

/**
 * SQL: the parts of a statement that write a participation for each row of `from` (`project_id`, `session_id`, `client_id`,
 * `issuer`): of several at once, one adds it. Two parts, because `on conflict do update` would lock a row that needs no change: a write.
 *
 * @param nameId of a SAML application
 */
export function participation(from: Fragment, now: Date, nameId?: NameIdKind): { renewed: Fragment; added: Fragment } {
  const isSaml = nameId !== undefined;
  const kind = sql`${nameId ?? null}::text`;
  return {
    renewed: sql`update participations p set last_at = ${now}::timestamptz, issuer = r.issuer${isSaml ? sql`, saml_name_id = ${kind}` : sql``} from ${from} r
      where p.project_id = r.project_id and p.session_id = r.session_id and p.client_id = r.client_id
        and (p.last_at <= ${secondsLater(now, -participationSeconds)}::timestamptz or p.issuer is distinct from r.issuer
          ${isSaml ? sql`or p.saml_name_id is distinct from ${kind}` : sql``})`,
    added: sql`insert into participations (project_id, session_id, client_id, issuer, first_at, last_at${isSaml ? sql`, saml_name_id` : sql``})
      select project_id, session_id, client_id, issuer, ${now}::timestamptz, ${now}::timestamptz${isSaml ? sql`, ${kind}` : sql``} from ${from} r
      where session_id is not null and not exists (select 1 from participations p
        where p.project_id = r.project_id and p.session_id = r.session_id and p.client_id = r.client_id)
      on conflict do nothing`,
  };
}

/** Reads the credentials of the user only if the policy depends on them. */
async function meetsPolicyOf(em: EntityManager, project: Project, session: Session): Promise<boolean> {
  if (!asksForFacts(project)) return true;
  const userId = sql`${session.user.id}::uuid`;
  const [facts] = await query(em, sql<UserFactsRow>`select ${userFacts(project.id, userId)}`, {
    prepare: 'sessions.user-facts',
  });
  return facts !== undefined && meetsSignInPolicy(session, toUserFacts(facts), project);
}

/** Next sequence number over all sign-ins and requests; independent of process clocks. */
async function nextMoment(em: EntityManager): Promise<number> {
  const [next] = await query(em, sql<{ moment: string }>`select nextval('moments') as moment`, {
    prepare: 'sessions.next-moment',
  });
  return Number(next?.moment);
}

/**
 * The device of a renewed session. A sign-in by passkey keeps the browser's: it ends with that device, too, and
 * `passkeyId` names the passkey.
 */
function deviceOf({ deviceId, passkeyId }: SignIn, current: Session): string | null {
  const isNamed = deviceId !== undefined && deviceId === passkeyId;
  return (isNamed ? current.deviceId : deviceId) ?? deviceId ?? current.deviceId ?? null;
}

function freshness({ freshAt, requestMoment }: SignIn, moment: number, current: Session) {
  if (!freshAt) return {};
  return { freshAt, freshMoment: Math.max(requestMoment ?? moment, current.freshMoment ?? 0) };
}
