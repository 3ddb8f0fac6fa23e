import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { system } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { adminsOf } from './admins-of.ts';

/** Limits the mailed warnings of a project. */
const mails: LimitRule = { name: 'certificate-mails', max: 50, windowSeconds: 24 * 3600 };
const secondsOfDay = 24 * 3600;
/** Of one run. */
const maxWarnings = 500;

interface Deps {
  db: Database;
  clock: Clock;
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  delivery: Delivery;
}

interface Expiring {
  name: string;
  projectName: string;
  expiresAt: string;
  days: number;
}

/** Warns admins by mail and event 30, 7 and 1 days before the last certificate of a SAML provider expires, which ends sign-ins by it. */
export class CertificateWarnings {
  constructor(private readonly deps: Deps) {}

  /** Job. Each warning is claimed in the transaction that queues its mails, and so is sent once. */
  async send(): Promise<void> {
    const { db } = this.deps;
    const due = await query(
      db.alone,
      sql<{ project: string; id: string }>`select c.project_id as project, c.id from connections c
        where ${this.isDue()} order by c.certificate_expires_at limit ${maxWarnings}`,
    );
    for (const { project, id } of due) await db.transaction((em) => this.warn(em, keyIn(project, id)));
  }

  private async warn(em: EntityManager, { project, id }: TenantKey): Promise<void> {
    const { audit, delivery, limits } = this.deps;
    const [claimed] = await query(
      em,
      sql<Expiring>`update connections c set warned_days = ${this.daysLeft()} from projects p
        where p.id = c.project_id and c.project_id = ${project.id} and c.id = ${id} and ${this.isDue()}
        returning c.name, p.name as "projectName", c.certificate_expires_at as "expiresAt", c.warned_days as days`,
    );
    if (!claimed) return;
    const { days, name, projectName } = claimed;
    const at = new Date(claimed.expiresAt).toISOString();
    const subject = { kind: 'connection', id, name };
    const detail = { days, expiresAt: at };
    audit.record(em, {
      type: 'connection.certificate_expiring',
      actor: system,
      projectId: project.id,
      subject,
      detail,
    });
    if (!(await limits.spend(em, mails, project.id)).allowed) return;
    const content = { template: 'certificate-expiring', app: projectName, connection: name, days, at } as const;
    for (const admin of await adminsOf(em, project.id)) await notifyEverywhere(em, delivery, admin, content);
  }

  /** SQL: the warning that is due for the connection `c`, in days. */
  private daysLeft(): Fragment {
    const now = this.deps.clock.now();
    return sql`case when c.certificate_expires_at <= ${secondsLater(now, secondsOfDay)}::timestamptz then 1
      when c.certificate_expires_at <= ${secondsLater(now, 7 * secondsOfDay)}::timestamptz then 7 else 30 end`;
  }

  private isDue(): Fragment {
    const now = this.deps.clock.now();
    return sql`c.state <> 'disabled' and c.certificate_expires_at > ${now}::timestamptz
      and c.certificate_expires_at <= ${secondsLater(now, 30 * secondsOfDay)}::timestamptz
      and (c.warned_days is null or c.warned_days > ${this.daysLeft()})`;
  }
}
