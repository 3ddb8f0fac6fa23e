import type { Audit } from '../audit/audit.ts';
import { notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Directories } from '../directories/directories.ts';
import { system } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { adminsOf } from './admins-of.ts';

/** Limits the mailed warnings of a project, because tokens can be issued and revoked at any rate. */
const mails: LimitRule = { name: 'scim-token-mails', max: 50, windowSeconds: 24 * 3600 };

interface Deps {
  db: Database;
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  directories: Directories;
  delivery: Delivery;
}

/** Warns admins by mail and event 30, 7 and 1 days before a SCIM token expires, which would stop the sync. */
export class DirectoryWarnings {
  constructor(private readonly deps: Deps) {}

  /** Job. Each warning is claimed in the transaction that queues its mails, and so is sent once. */
  async send(): Promise<void> {
    const { audit, db, delivery, directories, limits } = this.deps;
    for (const key of await directories.expiring()) {
      await db.transaction(async (em) => {
        const token = await directories.claimWarning(em, key);
        if (!token) return;
        const { days, expiresAt, id, name, project, projectName } = token;
        const at = expiresAt.toISOString();
        const subject = { kind: 'scim-token', id, name };
        const detail = { days, expiresAt: at };
        audit.record(em, { type: 'scim-token.expiring', actor: system, projectId: project.id, subject, detail });
        if (!(await limits.spend(em, mails, project.id)).allowed) return;
        const content = { template: 'scim-token-expiring', app: projectName, token: name, days, at } as const;
        for (const admin of await adminsOf(em, project.id)) await notifyEverywhere(em, delivery, admin, content);
      });
    }
  }
}
