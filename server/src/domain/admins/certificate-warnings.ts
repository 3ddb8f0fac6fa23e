import type { Audit } from '../audit/audit.ts';
import { notifyEverywhere } from '../ceremonies/notices.ts';
import type { CertificateExpiry } from '../connections/saml/certificate-expiry.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { system } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { adminsOf } from './admins-of.ts';

/** Limits the mailed warnings of a project. */
const mails: LimitRule = { name: 'certificate-mails', max: 50, windowSeconds: 24 * 3600 };

interface Deps {
  db: Database;
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  certificateExpiry: CertificateExpiry;
  delivery: Delivery;
}

/** Warns admins by mail and event 30, 7 and 1 days before the last certificate of a SAML provider expires, which ends sign-ins by it. */
export class CertificateWarnings {
  constructor(private readonly deps: Deps) {}

  /** Job. Each warning is claimed in the transaction that queues its mails, and so is sent once. */
  async send(): Promise<void> {
    const { audit, certificateExpiry, db, delivery, limits } = this.deps;
    for (const key of await certificateExpiry.due()) {
      await db.transaction(async (em) => {
        const expiring = await certificateExpiry.claimWarning(em, key);
        if (!expiring) return;
        const { days, expiresAt, id, name, project, projectName } = expiring;
        const at = expiresAt.toISOString();
        const subject = { kind: 'connection', id, name };
        const event = { type: 'connection.certificate_expiring', actor: system, projectId: project.id } as const;
        audit.record(em, { ...event, subject, detail: { days, expiresAt: at } });
        if (!(await limits.spend(em, mails, project.id)).allowed) return;
        const content = { template: 'certificate-expiring', app: projectName, connection: name, days, at } as const;
        for (const admin of await adminsOf(em, project.id)) await notifyEverywhere(em, delivery, admin, content);
      });
    }
  }
}
