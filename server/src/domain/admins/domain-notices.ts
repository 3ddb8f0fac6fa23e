import type { EntityManager } from '@mikro-orm/postgresql';
import { notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { DomainNotice } from '../domains/domains.ts';
import type { Clock } from '../kernel/clock.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { adminsOf } from './admins-of.ts';

/** Limits the mails of a project, because domains can be added and removed at any rate. */
const mails: LimitRule = { name: 'domain-mails', max: 20, windowSeconds: 24 * 3600 };

/** Notifies admins by mail of a custom domain that fails its checks, and of its loss. */
export class DomainNotices {
  constructor(private readonly deps: { clock: Clock; delivery: Delivery; limits: Pick<Limits, 'spend'> }) {}

  /** Joins. The caller's transaction must see the users of all projects. */
  async send(em: EntityManager, projectId: string, { since, until, ...notice }: DomainNotice): Promise<void> {
    const { clock, delivery, limits } = this.deps;
    if (!(await limits.spend(em, mails, projectId)).allowed) return;
    const { name: app } = await em.findOneOrFail(Project, projectId);
    const times = { since: since.toISOString(), until: until.toISOString(), at: clock.now().toISOString() };
    for (const admin of await adminsOf(em, projectId)) {
      await notifyEverywhere(em, delivery, admin, { ...notice, app, ...times });
    }
  }
}
