import type { EntityManager } from '@mikro-orm/postgresql';
import { lacksAllAccess } from '../access/has-access.ts';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { type Executing, execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { Relay } from '../relay/relay.ts';
import type { Session } from '../sessions/session.entity.ts';
import type { OrganizationContext } from '../tokens/organization-tokens.ts';
import type { SamlNameIds } from '../tokens/saml/saml-name-ids.ts';
import { endUnredeemed } from '../tokens/user-tables.ts';
import { subOf } from '../users/identity/sub.ts';
import { nameIdPurpose } from './saml-logout-requests.ts';
import { type Use, type UseInProject, usesOf, usesUnder, usesWithoutMembership } from './uses.ts';

/** `global` ends all sessions of the user, `session` the current one (service.md 3.2). */
export type LogoutScope = 'global' | 'session';

/** A delivery to be written. */
interface NewDelivery {
  id: string;
  client: string;
  subject: string;
  sub: string | null;
  issuer: string | null;
  sid: string | null;
  /** The delivery whose first attempt must precede this one's. */
  after: string | null;
  jti: string;
  uri: string;
  /** Sealed, in base64; null: not for a SAML application. */
  nameId: string | null;
}

/**
 * Decides which applications get a logout token, and enqueues the deliveries in the caller's transaction
 * (server/docs/logout.md has the table).
 */
export class LogoutNotices {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      relay: Pick<Relay, 'wake'>;
      vault: Pick<Vault, 'seal'>;
      samlNameIds: Pick<SamlNameIds, 'ofLogout'>;
    },
  ) {}

  /**
   * Enqueues the tokens for the applications of sessions that have just ended.
   *
   * @param exceptId the SAML application that asked for the logout
   */
  async ofSessions(
    em: EntityManager,
    sessions: readonly Session[],
    scope: LogoutScope,
    exceptId?: string,
  ): Promise<void> {
    const [first] = sessions;
    if (!first) return;
    // A code that is being redeemed adds its client to the session before the clients are read; every other code is
    // revoked.
    await em.flush();
    const sessionIds = sessions.map(({ id }) => id);
    const user = { id: first.user.id, project: first.project };
    await endUnredeemed(em, user, { sessionIds, now: this.deps.clock.now() });
    const uses = await query(em, usesUnder(first.project.id, sessionIds));
    const others = uses.filter(({ clientId }) => clientId !== exceptId);
    await this.enqueue(em, first.project.id, others, scope);
  }

  /** Joins: {@link ofUsers} for a user whose sessions and open work have ended. */
  async ofUser(em: EntityManager, { project, id }: TenantKey, actor: Actor): Promise<void> {
    await em.flush();
    const uses = await query(em, usesOf(project.id, [id]), { prepare: 'logout.uses-of-user' });
    await this.ofUsers(em, project.id, uses, actor);
  }

  /** Enqueues tokens to this client alone, for those of the users who may not use it. */
  async ofLostAccess(on: Executing, client: TenantKey, userIds: readonly string[]): Promise<void> {
    const { project, id } = client;
    const ofClient = sql`u.client_id = ${id}::uuid and ${lacksAllAccess(client, sql`u.user_id`)}`;
    await this.enqueue(on, project.id, await query(on, usesOf(project.id, userIds, ofClient)), 'global');
  }

  /** Enqueues tokens for those of the users who are not members, to applications that they used in the organization. */
  async ofLostMembership(on: Executing, context: OrganizationContext, userIds: readonly string[]): Promise<void> {
    const uses = await query(on, usesWithoutMembership(context, userIds));
    await this.enqueue(on, context.projectId, uses, 'global');
  }

  /**
   * Enqueues the tokens for users whose access ends: global ones. If a directory ends it, `notifyOnDeactivation` of the
   * project decides (decisions/0305), and an event for each user names the applications that get none.
   */
  async ofUsers(on: Executing, projectId: string, uses: readonly UseInProject[], actor: Actor): Promise<void> {
    const isNotified = (use: UseInProject) => actor.kind !== 'scim' || admits(use);
    await this.enqueue(on, projectId, uses.filter(isNotified), 'global');
    const omitted = Map.groupBy(
      uses.filter((use) => !isNotified(use)),
      ({ userId }) => userId,
    );
    if (omitted.size === 0) return;
    const events = [...omitted].map(([id, those]): AuditEntry => {
      const applications = [...new Set(those.map(({ clientName }) => clientName))].sort().slice(0, maxNames);
      const reason = those[0]?.notifyOnDeactivation === false ? 'off' : 'base-issuer';
      const detail = { reason, applications };
      return { type: 'logout-delivery.omitted', actor, projectId, subject: { kind: 'user', id }, detail };
    });
    await execute(on, this.deps.audit.insertions(events), { prepare: 'logout.record-omitted' });
  }

  /**
   * Global scope: each application gets one token without `sid`, from its latest issuer; then, if it requires `sid`, one
   * for each session, since receivers that key sessions by `sid` ignore the first. SAML applications: {@link samlDeliveries}.
   */
  private async enqueue(on: Executing, projectId: string, uses: readonly Use[], scope: LogoutScope): Promise<void> {
    const byReceiver = Map.groupBy(uses, ({ clientId, userId }) => `${userId} ${clientId}`);
    const deliveries: NewDelivery[] = [];
    for (const those of byReceiver.values()) {
      const isSaml = those[0]?.saml != null;
      deliveries.push(
        ...(isSaml ? await this.samlDeliveries(on, projectId, those, scope) : this.deliveriesTo(those, scope)),
      );
    }
    if (deliveries.length === 0) return;
    const now = this.deps.clock.now();
    await execute(
      on,
      sql`insert into logout_deliveries (project_id, id, client_id, subject, sub, issuer, sid, after_id, jti, uri, sealed_name_id, state,
          attempts, created_at, next_attempt_at)
        select ${projectId}::uuid, (x->>'id')::uuid, (x->>'client')::uuid, (x->>'subject')::uuid, x->>'sub', x->>'issuer', (x->>'sid')::uuid,
          (x->>'after')::uuid, x->>'jti', x->>'uri', decode(x->>'nameId', 'base64'), 'pending', '[]', ${now}::timestamptz, ${now}::timestamptz
        from jsonb_array_elements(${JSON.stringify(deliveries)}::jsonb) x`,
      { prepare: 'logout.enqueue' },
    );
    this.deps.db.afterCommit(on, this.deps.relay.wake);
  }

  /** @param uses of one user and client, at least one */
  private deliveriesTo(uses: readonly Use[], scope: LogoutScope): NewDelivery[] {
    const { random } = this.deps;
    const [first] = uses as [Use];
    const latest = uses.at(-1) as Use;
    const delivery = ({ issuer, sessionId }: Pick<Use, 'issuer' | 'sessionId'>, after: string | null): NewDelivery => ({
      id: random.id(),
      client: first.clientId,
      subject: first.userId,
      sub: first.subject,
      issuer,
      sid: sessionId,
      after,
      jti: random.id(),
      uri: first.uri,
      nameId: null,
    });
    const general = scope === 'global' ? delivery({ issuer: latest.issuer, sessionId: null }, null) : null;
    if (general && !first.needsSid) return [general];
    const ofSessions = new Map(uses.flatMap((use) => (use.sessionId === null ? [] : [[use.sessionId, use] as const])));
    const named = [...ofSessions.values()].map((use) => delivery(use, general?.id ?? null));
    return general ? [general, ...named] : named;
  }

  /**
   * One logout request for each NameID that the application received: of all sessions for the global scope, else of the one
   * session. Those of an erased or transient user without a value get none.
   */
  private async samlDeliveries(
    on: Executing,
    projectId: string,
    uses: readonly Use[],
    scope: LogoutScope,
  ): Promise<NewDelivery[]> {
    const { random, samlNameIds, vault } = this.deps;
    const found = new Map<string, NewDelivery>();
    for (const { saml, clientId, userId, subject, sessionId, issuer, uri } of uses) {
      if (saml === null || (saml.kind === 'transient' && sessionId === null)) continue;
      const client = {
        id: clientId,
        project: { id: projectId },
        samlSalt: saml.salt,
        samlNameIdAttribute: saml.attribute,
      };
      const source = { userId, sub: subOf({ id: userId, subject }), email: saml.email, sessionId };
      const nameId = await samlNameIds.ofLogout(on, saml.kind, client, source);
      if (nameId === null) continue;
      const sid = scope === 'global' && saml.kind !== 'transient' ? null : sessionId;
      const key = JSON.stringify([nameId, sid]);
      const id = found.get(key)?.id ?? random.id();
      const sealed = vault.seal(nameIdPurpose, id, JSON.stringify(nameId)).toString('base64');
      const about = { id, client: clientId, subject: userId, sub: subject, issuer, sid, after: null };
      found.set(key, { ...about, jti: random.id(), uri, nameId: sealed });
    }
    return [...found.values()];
  }
}

/** Names of applications in one event. */
const maxNames = 20;

/** Whether the setting admits a token at this issuer: null admits all but the base issuer. */
function admits({ issuer, notifyOnDeactivation: setting }: UseInProject): boolean {
  return issuer === null ? setting === true : setting !== false;
}
