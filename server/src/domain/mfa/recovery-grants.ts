import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';
import { ofUser } from '../users/user-tables.ts';
import { newRecoveryCode, normalize } from './recovery-codes.ts';
import { RecoveryGrant } from './recovery-grant.entity.ts';
import { endGrants } from './user-tables.ts';

const purpose = 'recovery-grant';
/** A code can be used for this long after its waiting time. */
const usableSeconds = 24 * 3600;

/** A new grant, with its secrets: neither can be read again. */
export interface IssuedGrant {
  grant: RecoveryGrant;
  /** For the user: four groups of four characters. */
  code: string;
  /** For the link that cancels it. */
  cancelSecret: string;
}

/** Recovery grants of admins (decisions/0108): one open grant per user, single use, after a waiting time. */
export class RecoveryGrants {
  constructor(private readonly deps: { clock: Clock; random: Random; vault: Vault }) {}

  /** Replaces an open grant. The caller holds the user's lock. */
  async issue(em: EntityManager, user: User, reason: string, waitSeconds: number): Promise<IssuedGrant> {
    const { clock, random, vault } = this.deps;
    const now = clock.now();
    await endGrants(em, user, now);
    const [code, cancelSecret] = [newRecoveryCode(random), newSecret(random)];
    const usableAt = secondsLater(now, waitSeconds);
    const grant = em.create(RecoveryGrant, {
      project: user.project,
      id: random.id(),
      user,
      codeHash: vault.mac(purpose, user.id, normalize(code)),
      cancelHash: digest(cancelSecret),
      reason,
      createdAt: now,
      usableAt,
      expiresAt: secondsLater(usableAt, usableSeconds),
    });
    em.persist(grant);
    return { grant, code, cancelSecret };
  }

  /** The user's grant that is neither used nor ended nor expired, waiting or not. */
  open(em: EntityManager, user: TenantKey): Promise<RecoveryGrant | null> {
    const where = { ...this.isOpen, user: { id: user.id }, project: user.project.id };
    return em.findOne(RecoveryGrant, where, { orderBy: { id: 'desc' } });
  }

  /** The open grant that this secret cancels. */
  ofSecret(em: EntityManager, projectId: string, cancelSecret: string): Promise<RecoveryGrant | null> {
    const where = { ...this.isOpen, project: projectId, cancelHash: digest(cancelSecret) };
    return em.findOne(RecoveryGrant, where, { populate: ['user'] });
  }

  /** Whether the user has a grant whose waiting time is over. */
  async isUsable(em: EntityManager, user: TenantKey): Promise<boolean> {
    const grant = await this.open(em, user);
    return grant !== null && grant.usableAt <= this.deps.clock.now();
  }

  /** Redeems a code; null if it is wrong, used, cancelled, expired, or still waiting. Returns the id of the grant. */
  async use(em: EntityManager, user: User, typed: string): Promise<string | null> {
    const now = this.deps.clock.now();
    const hashes = this.deps.vault.macs(purpose, user.id, normalize(typed));
    const [used] = await query(
      em,
      sql<{ id: string }>`
        update recovery_grants set used_at = ${now}
        where ${ofUser(user)} and code_hash = any(${hashes}) and used_at is null and ended_at is null
          and usable_at <= ${now} and expires_at > ${now}
        returning id`,
    );
    return used?.id ?? null;
  }

  /** Records the session of the sign-in that used the grant. */
  async bind(em: EntityManager, user: TenantKey, grantId: string, sessionId: string): Promise<void> {
    await execute(
      em,
      sql`update recovery_grants set session_id = ${sessionId} where ${ofUser(user)} and id = ${grantId}`,
    );
  }

  /** Ends expired grants of all projects. Returns their users. */
  expire(em: EntityManager): Promise<{ project: string; id: string; name: string }[]> {
    return query(
      em,
      sql<{ project: string; id: string; name: string }>`
        update recovery_grants g set ended_at = g.expires_at from users u
        where u.project_id = g.project_id and u.id = g.user_id
          and g.expires_at <= ${this.deps.clock.now()} and g.used_at is null and g.ended_at is null
        returning g.project_id as project, u.id, u.user_name as name`,
    );
  }

  /** Whether a grant was used in this session within these seconds. */
  async wasUsedIn(em: EntityManager, user: TenantKey, sessionId: string, seconds: number): Promise<boolean> {
    const since = secondsLater(this.deps.clock.now(), -seconds);
    return (
      (await em.count(RecoveryGrant, {
        user: { id: user.id },
        project: user.project.id,
        sessionId,
        usedAt: { $gt: since },
      })) > 0
    );
  }

  private get isOpen() {
    return { usedAt: null, endedAt: null, expiresAt: { $gt: this.deps.clock.now() } };
  }
}
