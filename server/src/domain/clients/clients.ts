import type { EntityManager } from '@mikro-orm/postgresql';
import { type Audit, aboutClient } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { checkLogoId } from '../experience/logo-use.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, flushUnlessTaken, withoutTimeLimit } from '../kernel/database.ts';
import { named, type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { found, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { withDefaultsOf } from '../kernel/resource.ts';
import { inProject } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import type { AccessLost } from '../projects/lost-access.ts';
import { Project } from '../projects/project.entity.ts';
import { atKey, existing, locked, type TenantKey } from '../projects/tenant.ts';
import { lastExpiry } from '../saml/security/certificate.ts';
import { ApiKey, type ApiKeyKind } from './api-key.entity.ts';
import { apiKeyPrefixes } from './api-key.ts';
import { Client } from './client.entity.ts';
import { type ClientSettings, clientFields } from './client.resource.ts';
import type { ClientSecrets } from './client-secrets.ts';
import { checkedSettings } from './client-settings.ts';
import { checkFapi } from './fapi.ts';
import { checkPowers } from './powers.ts';
import { hasAppScheme } from './redirect-uri.ts';
import { checkSameKind, checkSamlApplication } from './saml/saml-application.ts';

export interface NewClient extends Partial<ClientSettings> {
  projectId: string;
  name: string;
  /** False: no secret key, for an application without a back end. Default true. */
  secretKey?: boolean | undefined;
}

/** Absent values stay unchanged. */
export interface ClientChange extends Partial<ClientSettings> {
  /** The version that the caller read; refuses `conflict` if it has changed since. */
  expectedVersion?: number | undefined;
}

/** A new key; the only time its text is available. */
export interface IssuedKey {
  apiKey: ApiKey;
  key: string;
}

export interface CreatedClient {
  client: Client;
  /** `lk_pk_…`. */
  publishableKey: string;
  /** `lk_sk_…`, shown once; null if none was wanted. */
  secretKey: string | null;
  /** `lk_cs_…`, shown once; null if the client authenticates otherwise. */
  clientSecret: string | null;
}

const maxLiveKeys = 50;
/** Seconds, for a new client with a secret: some products end their session with the ID token. */
const idTokenSeconds = 300;

export interface ClientFilter {
  /** Part of the name, ignoring case and accents. */
  search?: string | undefined;
  /** True: only clients that introduced themselves; else only those that admins created. */
  introduced?: boolean;
}

/** OIDC relying parties, and their API keys. */
export class Clients {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      secrets: Pick<ClientSecrets, 'make'>;
      accessLost: AccessLost;
      allowPrivateTargets: boolean;
    },
  ) {}

  /** The client of a built-in project, disabled or not; null if there is none. */
  async builtIn(name: 'console' | 'demo'): Promise<Client | null> {
    const { db } = this.deps;
    const project = await db.reader().findOne(Project, { builtIn: name });
    const find = (id: string) => db.reader().findOne(Client, { project: id, builtIn: name });
    return project && inProject(project.id, () => find(project.id));
  }

  /** Finds disabled clients, too. The caller must authorize. */
  find(em: EntityManager, client: TenantKey): Promise<Client | null> {
    return isUuid(client.id) ? em.findOne(Client, atKey(client)) : Promise.resolve(null);
  }

  /** The clients of one project, newest first. */
  list(em: EntityManager, projectId: string, filter: ClientFilter, page: PageRequest): Promise<Page<Client>> {
    return pageOf(em, Client, matching(projectId, filter), page);
  }

  count(em: EntityManager, projectId: string, filter: ClientFilter = {}): Promise<number> {
    return em.count(Client, matching(projectId, filter));
  }

  /** The keys of several clients, newest first, revoked ones included; their client is loaded. */
  apiKeysOf(em: EntityManager, clients: readonly TenantKey[]): Promise<ApiKey[]> {
    const where = { client: { $in: clients.map(({ project, id }): [string, string] => [project.id, id]) } };
    return em.find(ApiKey, where, { populate: ['client'], orderBy: { id: 'desc' } }) as Promise<ApiKey[]>;
  }

  /**
   * Creates a client with a publishable and a secret key. Refuses `not-found`, `invalid`, and `forbidden` for powers beyond `scopes`.
   *
   * @param scopes those of the application that creates it; absent: an admin creates it
   */
  create(input: NewClient, actor: Actor, scopes?: readonly string[]): Promise<CreatedClient> {
    const { db, audit } = this.deps;
    const settings = withDefaults(this.check(input));
    return db.transaction(async (em) => {
      const project = isUuid(input.projectId) ? await em.findOne(Project, input.projectId) : null;
      checkAdminScopes(settings, found(project, 'project'));
      await checkLogoId(em, input.projectId, 'logoId', settings.logoId);
      const client = this.make(em, found(project, 'project'), { ...settings, name: settings.name as string });
      checkPowers(scopes, null, client);
      checkKey(client);
      checkAppSchemes(client);
      checkFapi(client);
      checkSamlApplication(client);
      this.salt(client);
      noteExpiry(client);
      await flushUnlessTaken(em, 'client', 'samlEntityId');
      audit.record(em, { type: 'client.created', actor, ...aboutClient(client), detail: { after: settings } });
      const publishable = this.makeKey(em, client, 'publishable', actor);
      const secret = input.secretKey === false ? null : this.makeKey(em, client, 'secret', actor);
      const clientSecret = hasSecret(client) ? this.deps.secrets.make(em, client, actor).secret : null;
      return { client, publishableKey: publishable.key, secretKey: secret?.key ?? null, clientSecret };
    });
  }

  /** Joins: a new client with the defaults of service.md 2.5, without keys or an audit event. */
  make(em: EntityManager, project: Project, input: Partial<Client> & { name: string }): Client {
    const now = this.deps.clock.now();
    const client = em.create(Client, {
      id: this.deps.random.id(),
      project: project.id,
      ...withDefaultsOf(clientFields, input),
      builtIn: input.builtIn ?? null,
      jwk: input.jwk ?? null,
      jwkSet: input.jwkSet ?? null,
      introducedBy: input.introducedBy ?? null,
      metadataUrl: input.metadataUrl ?? null,
      samlSalt: input.samlSalt ?? null,
      samlMetadataCheckedAt: null,
      samlMetadataFault: null,
      samlCertificateExpiresAt: null,
      samlWarnedDays: null,
      disabledAt: input.disabledAt ?? null,
      version: 1,
      createdAt: now,
      updatedAt: now,
    });
    em.persist(client);
    return client;
  }

  /**
   * Refuses `not-found`, `invalid`, `conflict`, and `forbidden` for the console's own client and for powers beyond `scopes`.
   *
   * @param scopes those of the application that makes the change; absent: an admin makes it
   */
  update(key: TenantKey, input: ClientChange, actor: Actor, scopes?: readonly string[]): Promise<Client> {
    const { db, audit } = this.deps;
    const settings = this.check(input);
    return db.transaction(async (em) => {
      const client = await this.changeable(em, key);
      if (input.expectedVersion !== undefined && input.expectedVersion !== client.version) {
        refuse({ code: 'conflict', what: 'client' });
      }
      checkIntroduced(client, settings);
      checkAdminScopes(settings, await client.project.loadOrFail());
      await checkLogoId(em, client.project.id, 'logoId', settings.logoId);
      // Disabling again keeps the first time.
      if (settings.disabledAt && client.disabledAt) delete settings.disabledAt;
      const { adminScopes, relatedOrigins, redirectUris, thirdParty, disabledAt = null } = client;
      const { samlEntityId, samlMetadataUrl } = client;
      const before = { adminScopes, relatedOrigins, redirectUris, thirdParty, disabledAt };
      const isOpen = client.access === 'everyone';
      const changed = change<Client>(client, settings);
      checkPowers(scopes, before, client);
      checkKey(client);
      checkAppSchemes(client);
      checkFapi(client);
      checkSamlApplication(client);
      checkSameKind({ samlEntityId }, client);
      if (!changed) return client;
      this.salt(client);
      if (settings.samlCertificates) noteExpiry(client);
      // The next job reads it.
      if (samlMetadataUrl !== client.samlMetadataUrl) client.samlMetadataCheckedAt = client.samlMetadataFault = null;
      client.version += 1;
      client.updatedAt = this.deps.clock.now();
      await flushUnlessTaken(em, 'client', 'samlEntityId');
      audit.record(em, { type: 'client.updated', actor, ...aboutClient(client), detail: { ...changed } });
      if (isOpen && client.access === 'assigned') await this.deps.accessLost(em, aboutClient(client));
      return client;
    });
  }

  /** Kept when the NameID changes, so that it can change back. */
  private salt(client: Client): void {
    if (client.samlNameId === 'pairwise') client.samlSalt ??= newSecret(this.deps.random);
  }

  /**
   * Deletes its keys, devices, codes and deliveries, too. Refuses `not-found`, and `forbidden` for the console's own.
   */
  delete(key: TenantKey, actor: Actor): Promise<void> {
    const { db, audit } = this.deps;
    return db.transaction(async (em) => {
      const client = await this.changeable(em, key);
      await withoutTimeLimit(em);
      const { idTokenSignedResponseAlg } = client;
      const detail = { before: { idTokenSignedResponseAlg } };
      audit.record(em, { type: 'client.deleted', actor, ...aboutClient(client), detail });
      em.remove(client);
    });
  }

  /** Adds a key; earlier ones stay valid until revoked. Refuses `not-found`, `invalid`, `forbidden`. */
  issueApiKey(key: TenantKey, kind: ApiKeyKind, actor: Actor): Promise<IssuedKey> {
    return this.deps.db.transaction(async (em) => {
      const client = await this.changeable(em, key);
      checkIntroduced(client, { apiKeys: true });
      if ((await em.count(ApiKey, { client, revokedAt: null })) >= maxLiveKeys) {
        refuse({ code: 'invalid', field: 'clientId', reason: `already has ${maxLiveKeys} keys: revoke one first` });
      }
      return this.makeKey(em, client, kind, actor);
    });
  }

  /** Takes effect immediately in all processes. Revoking twice changes nothing. Refuses `not-found`. */
  revokeApiKey(key: TenantKey, actor: Actor): Promise<ApiKey> {
    return this.deps.db.transaction(async (em) => {
      const apiKey = await existing(em, ApiKey, key, 'api-key', locked);
      const client = await apiKey.client.loadOrFail();
      if (apiKey.revokedAt) return apiKey;
      apiKey.revokedAt = this.deps.clock.now();
      this.recordKey(em, 'api-key.revoked', apiKey, client, actor);
      return apiKey;
    });
  }

  /** The settings as they would be stored. Refuses `invalid`. */
  check(input: Partial<ClientSettings>): Partial<Client> {
    const { allowPrivateTargets, clock } = this.deps;
    return checkedSettings(input, { now: clock.now(), allowPrivateTargets });
  }

  private makeKey(em: EntityManager, client: Client, kind: ApiKeyKind, actor: Actor): IssuedKey {
    const key = newSecret(this.deps.random, apiKeyPrefixes[kind]);
    const apiKey = em.create(ApiKey, {
      project: client.project,
      id: this.deps.random.id(),
      client,
      kind,
      hash: digest(key),
      value: kind === 'publishable' ? key : null,
      hint: key.slice(-4),
      createdAt: this.deps.clock.now(),
      lastUsedAt: null,
      revokedAt: null,
    });
    em.persist(apiKey);
    this.recordKey(em, 'api-key.issued', apiKey, client, actor);
    return { apiKey, key };
  }

  private async changeable(em: EntityManager, key: TenantKey): Promise<Client> {
    const client = await existing(em, Client, key, 'client', locked);
    if (client.builtIn === 'console') {
      refuse({
        code: 'forbidden',
        reason: 'the console’s own client cannot be changed',
      });
    }
    return client;
  }

  private recordKey(em: EntityManager, type: EventType, apiKey: ApiKey, client: Client, actor: Actor): void {
    this.deps.audit.record(em, {
      type,
      actor,
      projectId: client.project.id,
      clientId: client.id,
      subject: { kind: 'api-key', id: apiKey.id, name: `…${apiKey.hint}` },
      detail: { kind: apiKey.kind, client: client.name },
    });
  }
}

/**
 * Adds what most products with a client secret expect, where the input has no value: ID tokens with RS256 that live for
 * minutes, refresh tokens, and optional PKCE (decisions/0332).
 */
function withDefaults(settings: Partial<Client>): Partial<Client> {
  if (!hasSecret({ tokenEndpointAuthMethod: 'none', ...settings })) return settings;
  const { idTokenTtlSeconds = idTokenSeconds, pkceOptional = settings.pkceRequired !== true } = settings;
  return {
    idTokenSignedResponseAlg: 'RS256',
    grantTypes: ['authorization_code', 'refresh_token'],
    ...settings,
    ...{ idTokenTtlSeconds, pkceOptional },
  };
}

function matching(projectId: string, { search, introduced = false }: ClientFilter) {
  return { project: projectId, introducedBy: introduced ? { $ne: null } : null, ...named(search) };
}

/** Refuses `invalid`: the users of the console's project are the admins of all projects. */
function checkAdminScopes({ adminScopes = [] }: Partial<Client>, { builtIn }: Project): void {
  if (adminScopes.length === 0 || builtIn !== 'console') return;
  refuse({ code: 'invalid', field: 'adminScopes', reason: 'must be empty in the project of the console' });
}

/** Settings of a client that introduced itself which an admin can change; it keeps the others as it introduced them. */
const ofIntroduced: readonly string[] = [
  ...['disabledAt', 'access', 'accessTokenTtlSeconds', 'refreshTokenTtlSeconds', 'refreshTokenIdleSeconds'],
];

/** Refuses `forbidden` for a change that could make a first-party application of a client that introduced itself. */
function checkIntroduced({ introducedBy }: Client, settings: object): void {
  if (introducedBy == null || Object.keys(settings).every((name) => ofIntroduced.includes(name))) return;
  refuse({ code: 'forbidden', reason: 'an application that introduced itself can only be blocked or limited' });
}

/** Whether the client authenticates with a client secret. */
export function hasSecret({ tokenEndpointAuthMethod }: Pick<Client, 'tokenEndpointAuthMethod'>): boolean {
  return tokenEndpointAuthMethod === 'client_secret_basic' || tokenEndpointAuthMethod === 'client_secret_post';
}

/** Refuses `invalid` if a confidential client has the scheme of an app: any app on a device can claim it (RFC 8252 section 8.6). */
export function checkAppSchemes({ tokenEndpointAuthMethod, ...addresses }: Partial<Client>): void {
  if (tokenEndpointAuthMethod === 'none') return;
  for (const field of ['redirectUris', 'postLogoutRedirectUris'] as const) {
    const index = (addresses[field] ?? []).findIndex(hasAppScheme);
    if (index < 0) continue;
    refuse({
      code: 'invalid',
      field: `${field}[${index}]`,
      reason: 'only a public client may have the scheme of an app',
    });
  }
}

const confidentialGrants = ['client_credentials', 'token_exchange', 'jwt_bearer'] as const;
const workloadFields = ['workloadIssuer', 'workloadSubject', 'workloadAudience'] as const;

/**
 * Refuses `invalid` if the client authenticates by a key and has none, or has two sources of keys, or if it uses
 * `client_credentials`, `token_exchange` or `jwt_bearer` without client authentication.
 */
export function checkKey(client: Partial<Client>): void {
  const { tokenEndpointAuthMethod, jwk, jwkSet, jwksUri, grantTypes } = client;
  const needing = confidentialGrants.find((grant) => grantTypes?.includes(grant));
  if (needing !== undefined && tokenEndpointAuthMethod === 'none') {
    refuse({ code: 'invalid', field: 'grantTypes', reason: `${needing} needs client authentication` });
  }
  const hasKeys = jwk != null || jwkSet != null;
  if (hasKeys && jwksUri != null) {
    refuse({ code: 'invalid', field: 'jwksUri', reason: 'cannot be combined with jwks: clear one of them' });
  }
  const missing = workloadFields.filter((name) => client[name] == null);
  if (missing[0] !== undefined && missing.length < workloadFields.length) {
    refuse({ code: 'invalid', field: missing[0], reason: 'is required with the other settings of the workload' });
  }
  const isWorkload = missing.length === 0;
  if (isWorkload && (tokenEndpointAuthMethod !== 'private_key_jwt' || client.fapiProfile === true)) {
    const reason = 'needs private_key_jwt, without the FAPI 2.0 Security Profile';
    refuse({ code: 'invalid', field: 'workloadIssuer', reason });
  }
  if (tokenEndpointAuthMethod !== 'private_key_jwt' || hasKeys || jwksUri != null || isWorkload) return;
  refuse({ code: 'invalid', field: 'jwks', reason: 'is required for private_key_jwt' });
}

/** The certificates have changed: they are warned about again. */
function noteExpiry(client: Client): void {
  client.samlCertificateExpiresAt = client.samlCertificates.length === 0 ? null : lastExpiry(client.samlCertificates);
  client.samlWarnedDays = null;
}
