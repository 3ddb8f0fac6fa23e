import type { Audit } from '../../audit/audit.ts';
import { system } from '../../kernel/actor.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { Refusal } from '../../kernel/problem.ts';
import { inProject } from '../../kernel/scope.ts';
import { execute, query, sql } from '../../kernel/sql.ts';
import { atKey, keyIn, locked, type TenantKey } from '../../projects/tenant.ts';
import type { ServiceProvider } from '../../saml/messages/metadata.ts';
import { lastExpiry } from '../../saml/security/certificate.ts';
import { Client } from '../client.entity.ts';
import type { Clients } from '../clients.ts';
import type { MetadataFault } from './saml.resource.ts';
import type { ServiceProviderMetadata } from './sp-metadata.ts';

const secondsOfDay = 24 * 3600;
/** At most so many documents are read at once. */
const batch = 20;

interface Deps {
  db: Database;
  clock: Clock;
  audit: Audit;
  clients: Pick<Clients, 'update'>;
  metadata: Pick<ServiceProviderMetadata, 'again'>;
}

interface Expiring {
  projectId: string;
  id: string;
  name: string;
  expiresAt: string;
  days: number;
}

/** Certificates of SAML applications: reads new ones from their metadata daily, and warns before the last one expires. */
export class ApplicationCertificates {
  constructor(private readonly deps: Deps) {}

  /** Job. Each document is read by one process: the statement that finds it marks it as read. */
  async refreshDue(): Promise<void> {
    const now = this.deps.clock.now();
    const due = await query(
      this.deps.db.alone,
      sql<{
        projectId: string;
        id: string;
        url: string;
      }>`update clients set saml_metadata_checked_at = ${now}::timestamptz
        where (project_id, id) in (
          select project_id, id from clients
          where saml_metadata_url is not null and saml_entity_id is not null and disabled_at is null
            and (saml_metadata_checked_at is null or saml_metadata_checked_at <= ${secondsLater(now, -secondsOfDay)}::timestamptz
              or saml_metadata_checked_at > ${now}::timestamptz)
          order by saml_metadata_checked_at nulls first limit ${batch} for update skip locked)
        returning project_id as "projectId", id, saml_metadata_url as url`,
    );
    // A failure of one does not end the job while the others are read.
    const done = await Promise.allSettled(
      due.map(({ projectId, id, url }) => inProject(projectId, () => this.refresh(keyIn(projectId, id), url))),
    );
    for (const one of done) if (one.status === 'rejected') throw one.reason;
  }

  /** Job. Each warning is claimed by the statement that finds it: 30, 7 and 1 days before the end. */
  async warnDue(): Promise<void> {
    const { audit, clock, db } = this.deps;
    const within = (days: number) => secondsLater(clock.now(), days * secondsOfDay);
    const end = sql`c.saml_certificate_expires_at`;
    const days = sql`(case when ${end} <= ${within(1)}::timestamptz then 1 when ${end} <= ${within(7)}::timestamptz then 7 else 30 end)`;
    await db.transaction(async (em) => {
      const expiring = await query(
        em,
        sql<Expiring>`update clients c set saml_warned_days = ${days}
          where c.disabled_at is null and ${end} > ${within(0)}::timestamptz and ${end} <= ${within(30)}::timestamptz
            and (c.saml_warned_days is null or c.saml_warned_days > ${days})
          returning c.project_id as "projectId", c.id, c.name, ${end} as "expiresAt", c.saml_warned_days as days`,
      );
      const events = expiring.map(({ projectId, id, name, expiresAt, days: left }) => ({
        ...({ type: 'client.certificate_expiring', actor: system, projectId, clientId: id } as const),
        subject: { kind: 'client', id, name },
        detail: { days: left, expiresAt: new Date(expiresAt).toISOString() },
      }));
      if (events.length > 0) await execute(em, audit.insertions(events));
    });
  }

  private async refresh(key: TenantKey, url: string): Promise<void> {
    const { audit, clock, db } = this.deps;
    const found = await this.deps.metadata.again(url);
    const client = await db.reader().findOne(Client, atKey(key));
    // An admin has changed it meanwhile.
    if (client?.samlMetadataUrl !== url) return;
    const fault = 'fault' in found ? found.fault : await this.applied(key, client, found.read, clock.now());
    await db.transaction(async (em) => {
      const row = (await em.findOne(Client, atKey(key), locked)) as Client | null;
      if (row?.samlMetadataUrl !== url) return;
      const isNew = fault !== null && fault !== row.samlMetadataFault;
      row.samlMetadataFault = fault;
      if (!isNew) return;
      const { id, name } = row;
      const about = { actor: system, projectId: key.project.id, clientId: id, subject: { kind: 'client', id, name } };
      audit.record(em, { type: 'client.metadata_refused', ...about, detail: { fault } });
    });
  }

  /** Only certificates change: addresses and the entity ID are an admin's to change. */
  private async applied(
    key: TenantKey,
    { samlCertificates, samlEncryptionCertificate, samlEntityId, version }: Client,
    { encryptionCertificates, entityId, signingCertificates }: ServiceProvider,
    now: Date,
  ): Promise<MetadataFault | null> {
    if (entityId !== samlEntityId) return 'entity-id';
    const hasNone = signingCertificates.length === 0 || lastExpiry(signingCertificates) <= now;
    if (samlCertificates.length > 0 && hasNone) return 'certificates';
    const [encryption] = encryptionCertificates;
    // One that an admin has not set is not set by the document: it may name a key that the application cannot decrypt with.
    const encrypts = samlEncryptionCertificate != null && encryption !== undefined;
    const settings = {
      ...(samlCertificates.length > 0 && { samlCertificates: signingCertificates }),
      ...(encrypts && { samlEncryptionCertificate: encryption }),
    };
    try {
      await this.deps.clients.update(key, { ...settings, expectedVersion: version }, system);
      return null;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The next run reads it again.
      return error.problem.code === 'conflict' ? null : 'invalid';
    }
  }
}
