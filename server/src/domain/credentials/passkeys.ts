import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import type { Project } from '../projects/project.entity.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';
import type { CredentialOrigin } from './credential.entity.ts';
import type { DeviceOwner } from './devices.ts';
import { Passkey } from './passkey.entity.ts';
import { passkeyName } from './passkey-name.ts';
import type { NewPasskey } from './webauthn.ts';

export interface PasskeyRegistration {
  user: User;
  created: NewPasskey;
  createdBy: CredentialOrigin;
  clientId?: string | undefined;
  /** The custom domain whose host is its relying-party id; absent: the base host. */
  domain?: string | null;
  actor: Actor;
}

interface PasskeyUse {
  signCount: number;
  backedUp: boolean;
}

/** Maximum number of passkeys per user. */
const maxPerUser = 25;

/** Passkeys: WebAuthn credentials of users (decisions/0106). */
export class Passkeys {
  constructor(private readonly deps: { clock: Clock; random: Random; audit: Audit }) {}

  /** A passkey of an active user that is not revoked and was created at this host, with its user. */
  find(
    em: EntityManager,
    projectId: string,
    credentialId: string,
    domain: string | null = null,
  ): Promise<Passkey | null> {
    const where = { project: projectId, credentialId, domain, revokedAt: null, user: { active: true } };
    return em.findOne(Passkey, where, { populate: ['user'] });
  }

  /**
   * Whether no project has this credential: a page may then ask the user's device to forget it. Projects share the
   * relying-party id of the base host, so a passkey of another project shows on this one's pages, too. Not in a transaction.
   */
  async isUnknown(db: Database, credentialId: string | null): Promise<boolean> {
    if (credentialId === null) return false;
    const live = sql`select 1 from credentials where credential_id = ${credentialId} and revoked_at is null limit 1`;
    return (await inAllProjects(() => query(db.alone, live))).length === 0;
  }

  /**
   * A user's passkeys that are not revoked, most recently used first.
   *
   * @param owner.domain those of this host only; absent: of all hosts
   */
  list(em: EntityManager, owner: DeviceOwner & { domain?: string | null }): Promise<Passkey[]> {
    const { domain } = owner;
    const at = domain === undefined ? {} : { domain };
    const where = { project: owner.projectId, user: { id: owner.userId }, revokedAt: null, ...at };
    return em.find(Passkey, where, { orderBy: { lastUsedAt: 'desc', id: 'desc' } });
  }

  /** Whether the user has a passkey that counts as second factor: the project uses passkeys, and it has verified them. */
  async isSecondFactorOf(em: EntityManager, project: Project, userId: string): Promise<boolean> {
    return project.passkeys && this.isHeldBy(em, { projectId: project.id, userId });
  }

  /** Whether the user has a passkey that has verified them, also while the project's passkeys are off. */
  async isHeldBy(em: EntityManager, owner: DeviceOwner): Promise<boolean> {
    return (await this.list(em, owner)).some(({ userVerified }) => userVerified);
  }

  /** Refuses `taken` for a credential that any user of the project has or had, and `invalid` beyond 25 per user. */
  async register(em: EntityManager, { user, created, createdBy, clientId, domain = null, actor }: PasskeyRegistration) {
    const projectId = user.project.id;
    const { credentialId, publicKey, alg, aaguid, attestedRoot, transports, signCount } = created;
    const { backupEligible, backedUp, userVerified } = created;
    if (await em.findOne(Passkey, { project: projectId, credentialId })) {
      refuse({ code: 'taken', what: 'passkey', field: 'credential' });
    }
    if ((await this.list(em, { projectId, userId: user.id })).length >= maxPerUser) {
      refuse({
        code: 'invalid',
        field: 'credential',
        reason: `exceeds the limit of ${maxPerUser} for a user`,
      });
    }
    const now = this.deps.clock.now();
    const passkey = em.create(Passkey, {
      ...{ id: this.deps.random.id(), kind: 'passkey', project: projectId, user: [projectId, user.id] },
      ...{ credentialId, publicKey, coseAlg: alg, aaguid, attestedRoot, transports, signCount },
      ...{ backupEligible, backedUp, userVerified, createdBy },
      domain,
      name: passkeyName(aaguid, actor.userAgent),
      userAgent: actor.userAgent ?? null,
      createdAt: now,
      lastUsedAt: now,
    });
    em.persist(passkey);
    this.deps.audit.record(em, {
      type: 'passkey.registered',
      actor,
      projectId,
      ...(clientId !== undefined && { clientId }),
      subject: { kind: 'passkey', id: passkey.id, name: passkey.name },
      detail: { userId: user.id, createdBy, backupEligible, userVerified, aaguid, attested: attestedRoot !== null },
    });
    return passkey;
  }

  /** SQL: records a use of a passkey that has verified its user before. */
  notedUse({ project, id }: TenantKey<string | Fragment>, { signCount, backedUp }: PasskeyUse): Fragment {
    return sql`update credentials set sign_count = ${signCount}, backed_up = ${backedUp}, last_used_at = ${this.deps.clock.now()}
      where project_id = ${project.id} and id = ${id}`;
  }

  /** Records a verified use. */
  used(passkey: Passkey, use: PasskeyUse & { backupEligible: boolean; userVerified: boolean }): void {
    const { backupEligible, signCount, backedUp } = use;
    const userVerified = passkey.userVerified || use.userVerified;
    Object.assign(passkey, { signCount, backupEligible, backedUp, userVerified, lastUsedAt: this.deps.clock.now() });
  }
}
