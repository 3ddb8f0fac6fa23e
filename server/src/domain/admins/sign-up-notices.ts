import { notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import type { SignUpRequests } from '../signups/sign-up-requests.ts';
import { adminsOf } from './admins-of.ts';

/** Requests that arrive meanwhile are in the next mail. */
const mails: LimitRule = { name: 'sign-up-mails', max: 1, windowSeconds: 3600 };

interface Deps {
  db: Database;
  clock: Clock;
  limits: Pick<Limits, 'spend'>;
  signUpRequests: Pick<SignUpRequests, 'unannounced' | 'lockUnannounced' | 'announce'>;
  delivery: Delivery;
  issuer: string;
}

/** Notifies admins by mail of requests to sign up that wait for them (decisions/0351). */
export class SignUpNotices {
  constructor(private readonly deps: Deps) {}

  /** Job. Locks a project's requests until its mails are queued: of several processes, one sends. */
  async send(): Promise<void> {
    const { clock, db, delivery, issuer, limits, signUpRequests } = this.deps;
    for (const projectId of await signUpRequests.unannounced()) {
      await db.transaction(async (em) => {
        if (!(await signUpRequests.lockUnannounced(em, projectId))) return;
        if (!(await limits.spend(em, mails, projectId)).allowed) return;
        const count = await signUpRequests.announce(em, projectId);
        const { name: app } = await em.findOneOrFail(Project, projectId);
        const url = `${issuer}/admin/projects/${projectId}/users/sign-ups`;
        const content = { template: 'sign-up-requests', app, count, url, at: clock.now().toISOString() } as const;
        for (const admin of await adminsOf(em, projectId)) await notifyEverywhere(em, delivery, admin, content);
      });
    }
  }
}
