import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { type Fragment, query, sql } from '../../kernel/sql.ts';
import { keyIn, type TenantKey } from '../../projects/tenant.ts';

const secondsOfDay = 24 * 3600;
/** Of one run of the job. */
const maxWarnings = 500;

/** A SAML connection without a valid certificate in `days` or less. */
export interface ExpiringConnection extends TenantKey {
  name: string;
  projectName: string;
  expiresAt: Date;
  days: 1 | 7 | 30;
}

interface Row {
  name: string;
  project_name: string;
  expires_at: string;
  days: 1 | 7 | 30;
}

/** The end of the last certificate of SAML providers. */
export class CertificateExpiry {
  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /** Connections whose warning is due, the first to end first. */
  async due(): Promise<TenantKey[]> {
    const rows = await query(
      this.deps.db.alone,
      sql<{ project: string; id: string }>`select c.project_id as project, c.id from connections c
        where ${this.isDue()} order by c.certificate_expires_at limit ${maxWarnings}`,
    );
    return rows.map(({ project, id }) => keyIn(project, id));
  }

  /** Joins: claims the next warning; undefined if it was given in the meantime. */
  async claimWarning(em: EntityManager, { project, id }: TenantKey): Promise<ExpiringConnection | undefined> {
    const [row] = await query(
      em,
      sql<Row>`update connections c set warned_days = ${this.daysLeft()} from projects p
        where p.id = c.project_id and c.project_id = ${project.id} and c.id = ${id} and ${this.isDue()}
        returning c.name, p.name as project_name, c.certificate_expires_at as expires_at, c.warned_days as days`,
    );
    if (!row) return undefined;
    const { name, project_name: projectName, expires_at: at, days } = row;
    return { project, id, name, projectName, expiresAt: new Date(at), days };
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
