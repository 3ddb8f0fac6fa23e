import { isDeepStrictEqual } from 'node:util';
import type { Audit } from '../../audit/audit.ts';
import type { MetadataFault } from '../../clients/saml/saml.resource.ts';
import { system } from '../../kernel/actor.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { inProject } from '../../kernel/scope.ts';
import { query, sql } from '../../kernel/sql.ts';
import { atKey, keyIn, locked, type TenantKey } from '../../projects/tenant.ts';
import type { IdentityProvider } from '../../saml/messages/metadata.ts';
import { lastExpiry } from '../../saml/security/certificate.ts';
import { Connection, type SamlSettings, settingsOf } from '../connection.entity.ts';
import type { ProviderMetadata, ReadMetadata } from './provider-metadata.ts';

const everySeconds = 24 * 3600;
/** At most so many documents are read at once. */
const batch = 20;

/** Reads the metadata of SAML providers daily, for their new certificates and addresses. */
export class MetadataRefresh {
  constructor(
    private readonly deps: { db: Database; clock: Clock; audit: Audit; metadata: Pick<ProviderMetadata, 'at'> },
  ) {}

  /** Job. Each document is read by one process: the statement that finds it marks it as read. */
  async runDue(): Promise<void> {
    const { clock, db } = this.deps;
    const now = clock.now();
    const due = await query(
      db.alone,
      sql<{ projectId: string; id: string; url: string }>`update connections set metadata_checked_at = ${now}
        where (project_id, id) in (
          select project_id, id from connections
          where kind = 'saml' and state <> 'disabled' and settings ->> 'metadataUrl' is not null
            and (metadata_checked_at <= ${secondsLater(now, -everySeconds)} or metadata_checked_at > ${now})
          order by metadata_checked_at limit ${batch} for update skip locked)
        returning project_id as "projectId", id, settings ->> 'metadataUrl' as url`,
    );
    // A failure of one does not end the job while the others are read.
    const done = await Promise.allSettled(
      due.map(({ projectId, id, url }) => inProject(projectId, () => this.refresh(keyIn(projectId, id), url))),
    );
    for (const one of done) if (one.status === 'rejected') throw one.reason;
  }

  private async refresh(key: TenantKey, url: string): Promise<void> {
    const { clock, db } = this.deps;
    const read = await this.deps.metadata.at(url);
    await db.transaction(async (em) => {
      const connection = (await em.findOne(Connection, atKey(key), locked)) as Connection | null;
      if (!connection) return;
      const before = settingsOf(connection, 'saml');
      // An admin has changed it meanwhile.
      if (before.metadataUrl !== url) return;
      const fault = faultOf(read, before, clock.now());
      const isNewFault = fault !== null && fault !== connection.metadataFault;
      connection.metadataFault = fault;
      if (isNewFault) this.record(em, 'connection.metadata_refused', connection, { fault });
      if (fault !== null || !('provider' in read)) return;
      const settings = { ...before, ...refreshed(read.provider) };
      if (isDeepStrictEqual(settings, before)) return;
      connection.settings = settings;
      connection.certificateExpiresAt = lastExpiry(settings.certificates);
      connection.warnedDays = null;
      connection.updatedAt = clock.now();
      this.record(em, 'connection.metadata_refreshed', connection, { certificates: settings.certificates.length });
    });
  }

  private record(
    em: Parameters<Audit['record']>[0],
    type: 'connection.metadata_refreshed' | 'connection.metadata_refused',
    { id, name, project }: Connection,
    detail: Record<string, unknown>,
  ): void {
    const subject = { kind: 'connection', id, name };
    this.deps.audit.record(em, { type, actor: system, projectId: project.id, subject, detail });
  }
}

/** Why a document is not applied. The settings then stay, with their certificates. */
function faultOf(read: ReadMetadata, { entityId }: SamlSettings, now: Date): MetadataFault | null {
  if ('fault' in read) return read.fault;
  const { entityId: named, signingCertificates } = read.provider;
  // Identities belong to the entity ID: only an admin gives them to another one.
  if (named !== entityId) return 'entity-id';
  return signingCertificates.length === 0 || lastExpiry(signingCertificates) <= now ? 'certificates' : null;
}

/** What a provider may change. */
function refreshed({ signingCertificates: certificates, ssoUrl }: IdentityProvider) {
  return { certificates, ssoUrl };
}
