import type { EntityManager } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import { type Audit, aboutClient } from '../../audit/audit.ts';
import type { Actor } from '../../kernel/actor.ts';
import { change } from '../../kernel/change.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { networkOf } from '../../kernel/network.ts';
import { inProject } from '../../kernel/scope.ts';
import { query, sql } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { Project } from '../../projects/project.entity.ts';
import { Client } from '../client.entity.ts';
import { isMetadataUrl } from '../client-id.ts';
import type { Clients } from '../clients.ts';
import { admitsDocumentsAt } from './admission.ts';
import { ClientIntroduction } from './client-introduction.entity.ts';
import { type ClientMetadata, MetadataError, readMetadata } from './client-metadata.ts';
import { makeRoom, touch } from './introduced-clients.ts';
import { metadataUrlFault } from './metadata-url.ts';

/** Reads the metadata document at an untrusted URL; never throws. `cacheSeconds`: null if the response has none. */
export type FetchDocument = (
  url: string,
) => Promise<{ json: unknown; cacheSeconds: number | null } | { error: string }>;

/** Lifetime of a document: shortest, longest, and without `Cache-Control`, in seconds. */
const lifetime = { min: 5 * 60, max: 24 * 3600, preset: 3600 };
/** Time until a document that was refused is read again, in seconds. The error itself is not cached. */
const pauseSeconds = 30;
/** Documents that this process reads at a time: each may take seconds. */
const maxReads = 50;
/** Documents of unknown clients. */
const perNetwork: LimitRule = { name: 'client-documents', max: 30, windowSeconds: 3600 };
const perProject: LimitRule = { name: 'client-documents-of-project', max: 300, windowSeconds: 3600 };

/** Why a client cannot be used. `error` depends on the host's response: it does not distinguish events. */
interface Fault {
  reason: string;
  error?: string;
}

interface KnownRow {
  id: string;
  is_blocked: boolean;
  is_fresh: boolean;
}

/** Clients that introduce themselves by a Client ID Metadata Document (decisions/0392). */
export class ClientDocuments {
  /** Addresses with a failed read, by project. */
  private readonly paused: LRUCache<string, Fault>;
  private readonly reading = new Map<string, Promise<Fault | null>>();

  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      audit: Audit;
      limits: Limits;
      clients: Pick<Clients, 'make'>;
      fetchDocument: FetchDocument;
      allowPrivateTargets: boolean;
    },
  ) {
    const perf = { now: () => deps.clock.now().getTime() };
    this.paused = new LRUCache({ max: 10_000, ttl: pauseSeconds * 1000, ttlResolution: 0, perf });
  }

  /**
   * Reads the document of a `client_id` at the project's issuer, unless the client is known and its document fresh. Then the client
   * has the settings of the document. False, with an event, if the document cannot be used. True for any other `client_id`.
   */
  async meet(projectId: string | undefined, clientId: string | undefined, actor: Actor): Promise<boolean> {
    if (projectId === undefined || clientId === undefined || !isMetadataUrl(clientId)) return true;
    return inProject(projectId, async () => {
      const fault = await this.read(projectId, clientId, actor);
      if (fault !== null) await this.refused(projectId, clientId, fault, actor);
      return fault === null;
    });
  }

  /** Records the use of a client that introduced itself. */
  async used(client: Client): Promise<void> {
    if (client.introducedBy == null) return;
    await touch(this.deps.db.alone, client, this.deps.clock.now());
  }

  /** The reason why the client cannot be used; null if it can. */
  private async read(projectId: string, url: string, actor: Actor): Promise<Fault | null> {
    const { db, allowPrivateTargets } = this.deps;
    const project = await db.reader().findOne(Project, projectId);
    // The project accepts none: nothing is recorded, as for any unknown client.
    if (!project || project.clientMetadataDocuments === 'off') return null;
    const fault = metadataUrlFault(url, allowPrivateTargets);
    if (fault !== null) return { reason: fault };
    if (!admitsDocumentsAt(new URL(url).hostname, project)) return { reason: 'the domain is not allowed' };
    const known = await this.known(projectId, url);
    if (known) await touch(db.alone, { project, id: known.id }, this.deps.clock.now());
    if (known?.is_blocked || known?.is_fresh) return null;
    const key = `${projectId} ${url}`;
    const paused = this.paused.get(key);
    if (paused !== undefined) return paused;
    // Limits concern the caller, not the document: callers share a read, and no refusal by a limit.
    const exceeded = known || this.reading.has(key) ? null : await this.exceeded(project, actor);
    if (exceeded !== null) return exceeded;
    // A read of another caller may have ended meanwhile.
    if (!known && (await this.known(projectId, url))?.is_fresh) return null;
    const failed = this.paused.get(key);
    if (failed !== undefined) return failed;
    const running = this.reading.get(key);
    if (running) return running;
    if (this.reading.size >= maxReads) return { reason: 'too many documents are being read' };
    const work = this.renew(project, url, actor)
      .then((outcome) => {
        if (outcome !== null) this.paused.set(key, outcome);
        return outcome;
      })
      .finally(() => this.reading.delete(key));
    this.reading.set(key, work);
    return work;
  }

  /** The limit on unknown documents that the caller exceeds. */
  private async exceeded(project: Project, { ip }: Actor): Promise<Fault | null> {
    const { db, limits } = this.deps;
    const network = await limits.spendPrepaid(db, perNetwork, networkOf(ip));
    if (!network.allowed) return { reason: 'too many new clients from one network' };
    const all = await limits.spendPrepaid(db, perProject, project.id);
    return all.allowed ? null : { reason: 'too many new clients' };
  }

  private async renew(project: Project, url: string, actor: Actor): Promise<Fault | null> {
    const { clock, db, fetchDocument } = this.deps;
    const answer = await fetchDocument(url);
    if ('error' in answer) return { reason: 'the document cannot be read', error: answer.error };
    const { json, cacheSeconds } = answer;
    try {
      const metadata = readMetadata(json, { metadataUrl: url, allowPrivate: this.deps.allowPrivateTargets });
      const seconds = Math.min(lifetime.max, Math.max(lifetime.min, cacheSeconds ?? lifetime.preset));
      const freshUntil = secondsLater(clock.now(), seconds);
      await db.transaction((em) => this.write(em, project.id, url, { ...metadata, freshUntil }, actor));
      return null;
    } catch (error) {
      if (error instanceof MetadataError) return { reason: 'the document is not valid', error: error.message };
      throw error;
    }
  }

  /** Creates the client, or updates it from the document. */
  private async write(
    em: EntityManager,
    projectId: string,
    url: string,
    { settings, claimedName, freshUntil }: ClientMetadata & { freshUntil: Date },
    actor: Actor,
  ): Promise<void> {
    const { audit, clients, clock } = this.deps;
    const now = clock.now();
    // One at a time: the client is created once, and the limit holds.
    await query(em, sql`select 1 from projects where id = ${projectId}::uuid for no key update`);
    const known = await em.findOne(Client, { project: projectId, metadataUrl: url });
    if (known) {
      const introduction = await em.findOneOrFail(ClientIntroduction, { client: [projectId, known.id] });
      Object.assign(introduction, { claimedName, freshUntil });
      const changed = change<Client>(known, settings);
      if (!changed) return;
      known.version += 1;
      known.updatedAt = now;
      audit.record(em, { type: 'client.updated', actor, ...aboutClient(known), detail: { ...changed, document: url } });
      return;
    }
    await makeRoom(em, projectId);
    const project = await em.findOneOrFail(Project, projectId);
    const client = clients.make(em, project, {
      ...settings,
      ...{ introducedBy: 'document', metadataUrl: url, thirdParty: true, pkceRequired: true, pkceOptional: false },
    });
    em.persist(
      em.create(ClientIntroduction, {
        ...{ project: projectId, client, claimedName, freshUntil, lastUsedAt: now, createdAt: now },
        managementHash: null,
        network: networkOf(actor.ip),
      }),
    );
    const detail = { document: url, redirectUris: settings.redirectUris, claimedName };
    audit.record(em, { type: 'client.introduced', actor, ...aboutClient(client), detail });
  }

  private async known(projectId: string, url: string): Promise<KnownRow | undefined> {
    const now = this.deps.clock.now();
    const statement = sql<KnownRow>`select k.id, k.disabled_at is not null as is_blocked,
        i.fresh_until > ${now}::timestamptz as is_fresh
      from clients k join client_introductions i on i.project_id = k.project_id and i.client_id = k.id
      where k.project_id = ${projectId}::uuid and k.metadata_url = ${url}`;
    const [row] = await query(this.deps.db.alone, statement, { prepare: 'client-documents.known' });
    return row;
  }

  /** One event an hour for each reason and network, however many addresses are tried. */
  private refused(projectId: string, url: string, { reason, error }: Fault, actor: Actor): Promise<void> {
    const entry = { type: 'client.introduction_refused', actor, projectId } as const;
    const document = url.slice(0, 500).replace(/[^\x21-\x7e]/g, '?');
    const ofLast = { document, ...(error !== undefined && { error }) };
    return this.deps.audit.recordRepeated(this.deps.db.alone, entry, reason, { ofLast });
  }
}
