import type { EntityManager } from '@mikro-orm/postgresql';
import { languageOf } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import type { Admins, Granter, NewRole } from './admins.ts';
import type { Membership } from './membership.entity.ts';

/** Invitations that one user gets from the admins of a project, or of the instance: others can still invite the user. */
const perAddress: LimitRule = { name: 'admin-invitation.address', max: 10, windowSeconds: 24 * 3600 };
/** Invitations of all admins of a project, or of the instance. */
const perProject: LimitRule = { name: 'admin-invitation.project', max: 200, windowSeconds: 24 * 3600 };

/** Invites admins by mail. The link leads to the console, where a code is sent to the address; it contains no secret. */
export class AdminInvitations {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      limits: Limits;
      admins: Pick<Admins, 'grantRoleIn'>;
      delivery: Pick<Delivery, 'enqueueNotices'>;
      issuer: string;
    },
  ) {}

  /** Grants a role, and sends a mail about it in the same transaction. Refuses like `Admins.grantRole`, and `too-many`. */
  grantRole(wanted: NewRole, { invite }: { invite: boolean }, by: Granter): Promise<Membership> {
    return this.deps.db.transaction(async (em) => {
      const membership = await this.deps.admins.grantRoleIn(em, wanted, by);
      if (invite) await this.send(em, membership);
      return membership;
    });
  }

  private async send(em: EntityManager, { project: granted, role, user: reference }: Membership): Promise<void> {
    const { clock, delivery, issuer, limits } = this.deps;
    const user = reference.getEntity() as User;
    const to = user.email ?? user.userName;
    const by = granted?.id ?? 'instance';
    const rules = { each: perAddress, shared: { ...perProject, subject: by } };
    const { each, shared: all } = await limits.spendMany(em, rules, [`${by} ${user.id}`]);
    for (const { allowed, retryAfterSeconds } of [...each, all]) {
      if (!allowed) refuse({ code: 'too-many', retryAfterSeconds });
    }
    const { name: app } = await em.findOneOrFail(Project, granted?.id ?? user.project.id);
    const at = clock.now().toISOString();
    const notice = {
      projectId: user.project.id,
      channel: 'mail' as const,
      to,
      locale: languageOf(user),
      content: { template: 'admin-invitation' as const, app, role, url: `${issuer}/admin`, at },
      context: { account: user.id, mailbox: to },
    };
    await delivery.enqueueNotices(em, [notice]);
  }
}
