import type { EntityManager } from '@mikro-orm/postgresql';
import { type Audit, aboutClient } from '../../audit/audit.ts';
import type { Actor } from '../../kernel/actor.ts';
import { change } from '../../kernel/change.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { networkOf } from '../../kernel/network.ts';
import { refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { digest, isUuid } from '../../kernel/secret.ts';
import { query, sql } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { Project } from '../../projects/project.entity.ts';
import { keyIn } from '../../projects/tenant.ts';
import type { Client } from '../client.entity.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import { type Clients, hasSecret } from '../clients.ts';
import { hostsOf, isAdmitted, isBlocked } from './admission.ts';
import { ClientIntroduction } from './client-introduction.entity.ts';
import { MetadataError, readMetadata } from './client-metadata.ts';
import { makeRoom } from './introduced-clients.ts';
import { useRegistrationToken } from './registration-tokens.ts';

/** Of registrations and updates. */
const perNetwork: LimitRule = { name: 'client-registrations', max: 20, windowSeconds: 3600 };
const perProject: LimitRule = { name: 'client-registrations-of-project', max: 200, windowSeconds: 3600 };
/** Of a registration access token. */
const prefix = 'lk_rg_';

/** A registered client; its secrets are in the response to the registration only (RFC 7591 section 3.2.1). */
export interface Registration {
  client: Client;
  claimedName: string | null;
  /** `lk_cs_…`; null: public, or authenticated by a key. */
  clientSecret: string | null;
  /** `lk_rg_…`, at the registration. */
  managementToken: string | null;
}

/** Clients that register themselves (RFC 7591), and manage their registration (RFC 7592); see decisions/0393. */
export class ClientRegistrations {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      limits: Limits;
      clients: Pick<Clients, 'make'>;
      secrets: Pick<ClientSecrets, 'make'>;
      allowPrivateTargets: boolean;
    },
  ) {}

  /**
   * Refuses `not-found` if the project accepts no registrations, `unauthenticated` without a valid initial access token where one is
   * needed, and `too-many`. Throws {@link MetadataError}.
   *
   * @param token initial access token
   */
  async register(projectId: string, metadata: unknown, token: string | undefined, actor: Actor): Promise<Registration> {
    const { db } = this.deps;
    const { clientRegistration: mode } = await this.projectOf(db.reader(), projectId);
    if (mode === 'off') refuse({ code: 'not-found', what: 'project' });
    if (mode === 'token' && token === undefined) refuse({ code: 'unauthenticated' });
    await this.spend(projectId, actor);
    const read = this.read(metadata);
    return db.transaction(async (em) => {
      // One at a time: the limit holds, and the policy stays.
      await query(em, sql`select 1 from projects where id = ${projectId}::uuid for no key update`);
      const project = await this.projectOf(em, projectId);
      if (project.clientRegistration === 'off') refuse({ code: 'not-found', what: 'project' });
      if (project.clientRegistration === 'token' || token !== undefined) {
        const isValid =
          token !== undefined && (await useRegistrationToken(em, projectId, token, this.deps.clock.now()));
        if (!isValid) refuse({ code: 'unauthenticated' });
      }
      if (isBlocked(hostsOf(read.settings.redirectUris), project)) {
        throw new MetadataError('invalid_redirect_uri', 'redirect_uris contains a domain that is not allowed');
      }
      await makeRoom(em, projectId);
      return this.make(em, project, read, actor);
    });
  }

  /** The client of a registration access token; null for any other (RFC 7592 section 2). */
  async find(projectId: string, clientId: string, token: string | undefined): Promise<Registration | null> {
    return this.held(this.deps.db.reader(), projectId, clientId, token);
  }

  /**
   * Replaces the metadata (RFC 7592 section 2.2), within the limits of registrations. Null as {@link find}. Refuses `too-many`. Throws
   * {@link MetadataError}.
   */
  async update(
    projectId: string,
    clientId: string,
    { token, metadata, actor }: { token: string | undefined; metadata: unknown; actor: Actor },
  ): Promise<Registration | null> {
    const { db, audit, clock } = this.deps;
    // A caller without the token spends nothing.
    if (!(await this.find(projectId, clientId, token))) return null;
    await this.spend(projectId, actor);
    return db.transaction(async (em) => {
      await query(em, sql`select 1 from projects where id = ${projectId}::uuid for no key update`);
      const held = await this.held(em, projectId, clientId, token);
      if (!held) return null;
      const { settings, claimedName } = this.read(metadata);
      const { client } = held;
      if (settings.tokenEndpointAuthMethod !== client.tokenEndpointAuthMethod) {
        throw new MetadataError(
          'invalid_client_metadata',
          'token_endpoint_auth_method cannot be changed: register again',
        );
      }
      if (isBlocked(hostsOf(settings.redirectUris), await this.projectOf(em, projectId))) {
        throw new MetadataError('invalid_redirect_uri', 'redirect_uris contains a domain that is not allowed');
      }
      // Consents name the host.
      if (settings.name !== client.name && hostsOf([...settings.redirectUris, ...client.redirectUris]).length > 0) {
        throw new MetadataError('invalid_redirect_uri', 'the host of redirect_uris cannot be changed: register again');
      }
      const introduction = await em.findOneOrFail(ClientIntroduction, { client: [projectId, client.id] });
      introduction.claimedName = claimedName;
      const changed = change<Client>(client, settings);
      if (changed) {
        client.version += 1;
        client.updatedAt = clock.now();
        audit.record(em, { type: 'client.updated', actor, ...aboutClient(client), detail: { ...changed } });
      }
      return { ...held, claimedName };
    });
  }

  /** Deletes the client with its tokens (RFC 7592 section 2.3). False as null of {@link find}. */
  remove(projectId: string, clientId: string, token: string | undefined, actor: Actor): Promise<boolean> {
    const { db, audit } = this.deps;
    return db.transaction(async (em) => {
      const held = await this.held(em, projectId, clientId, token);
      if (!held) return false;
      const { idTokenSignedResponseAlg } = held.client;
      const detail = { before: { idTokenSignedResponseAlg } };
      audit.record(em, { type: 'client.deleted', actor, ...aboutClient(held.client), detail });
      em.remove(held.client);
      return true;
    });
  }

  /** Each registration and each update can record an event. */
  private async spend(projectId: string, { ip }: Actor): Promise<void> {
    const { db, limits } = this.deps;
    for (const [rule, subject] of [[perNetwork, networkOf(ip)] as const, [perProject, projectId] as const]) {
      const { allowed, retryAfterSeconds } = await limits.spendPrepaid(db, rule, subject);
      if (!allowed) refuse({ code: 'too-many', retryAfterSeconds });
    }
  }

  private read(metadata: unknown) {
    return readMetadata(metadata, { metadataUrl: null, allowPrivate: this.deps.allowPrivateTargets });
  }

  private make(
    em: EntityManager,
    project: Project,
    { settings, claimedName }: ReturnType<typeof readMetadata>,
    actor: Actor,
  ): Registration {
    const { audit, clients, clock, random, secrets } = this.deps;
    const now = clock.now();
    const client = clients.make(em, project, {
      ...settings,
      ...{ introducedBy: 'registration', thirdParty: true, pkceRequired: true, pkceOptional: false },
    });
    const managementToken = newSecret(random, prefix);
    em.persist(
      em.create(ClientIntroduction, {
        ...{ project: project.id, client, claimedName, freshUntil: null, lastUsedAt: now, createdAt: now },
        managementHash: digest(managementToken),
        network: networkOf(actor.ip),
      }),
    );
    const detail = { redirectUris: settings.redirectUris, claimedName };
    audit.record(em, { type: 'client.introduced', actor, ...aboutClient(client), detail });
    const clientSecret = hasSecret(client) ? secrets.make(em, client, actor).secret : null;
    return { client, claimedName, clientSecret, managementToken };
  }

  /** Null also for a client that is blocked, or that the project no longer accepts. */
  private async held(
    em: EntityManager,
    projectId: string,
    clientId: string,
    token: string | undefined,
  ): Promise<Registration | null> {
    if (!isUuid(clientId) || token === undefined) return null;
    const { project, id } = keyIn(projectId, clientId);
    const introduction = await em.findOne(
      ClientIntroduction,
      { client: [project.id, id], managementHash: digest(token) },
      { populate: ['client'] },
    );
    const client = introduction?.client.getEntity();
    if (!introduction || !client || client.disabledAt) return null;
    if (!isAdmitted(client, await this.projectOf(em, projectId))) return null;
    return { client, claimedName: introduction.claimedName ?? null, clientSecret: null, managementToken: null };
  }

  private projectOf(em: EntityManager, projectId: string): Promise<Project> {
    return em.findOneOrFail(Project, projectId);
  }
}
