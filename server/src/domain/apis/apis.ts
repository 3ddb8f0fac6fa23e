import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, flushUnlessTaken } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { atKey, existing, locked, type TenantKey } from '../projects/tenant.ts';
import { Api } from './api.entity.ts';
import { ApiGrant } from './api-grant.entity.ts';
import { type ApiSettings, checkedApi, checkIdentifier, defaultTtlSeconds } from './api-settings.ts';
import { apisForUsers } from './token-target.ts';

export interface NewApi extends Pick<ApiSettings, 'name' | 'scopes'> {
  accessTokenTtlSeconds?: number;
  thirdPartyAccess?: boolean;
  tokenExchange?: boolean;
  userKeys?: boolean;
  projectId: string;
  identifier: string;
}

/** Absent values stay unchanged. */
export interface ApiChange extends Partial<ApiSettings> {
  /** The version that the caller read; refuses `conflict` if it has changed since. */
  expectedVersion?: number | undefined;
}

/** The current rights of a client at an API. */
export interface GrantedApi {
  audience: string;
  /** Scopes. */
  granted: string[];
}

/** The rights of a client; with neither scopes nor `introspects`, the grant ends. */
export interface ApiAccess {
  scopes: readonly string[];
  introspects: boolean;
}

const maxApis = 100;

/** APIs of projects (resource servers, RFC 8707), and the rights of clients at them. Each method is one transaction. */
export class Apis {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit; issuer: string }) {}

  /** The APIs of a project, by name: at most 100. */
  list(em: EntityManager, projectId: string): Promise<Api[]> {
    return em.find(Api, { project: projectId }, { orderBy: { name: 'asc', id: 'asc' } });
  }

  find(em: EntityManager, key: TenantKey): Promise<Api | null> {
    return isUuid(key.id) ? em.findOne(Api, atKey(key)) : Promise.resolve(null);
  }

  /** A client's grants, with their APIs. */
  grantsOfClient(em: EntityManager, { project, id }: TenantKey): Promise<ApiGrant[]> {
    const where = { client: [project.id, id] as [string, string] };
    return em.find(ApiGrant, where, { populate: ['api'] }) as Promise<ApiGrant[]>;
  }

  /** The identifier and the settings as they would be stored. Refuses `invalid`. */
  check(input: Pick<NewApi, 'identifier'> & Partial<ApiSettings>): Partial<ApiSettings> & { identifier: string } {
    return { ...checkedApi(input), identifier: checkIdentifier(input.identifier, this.deps.issuer) };
  }

  /** Refuses `not-found`, `invalid`, and `taken` if the project has an API with this identifier. */
  create(input: NewApi, actor: Actor): Promise<Api> {
    const { identifier, ...settings } = this.check(input);
    return this.deps.db.transaction(async (em) => {
      const project = await existing(em, Project, input.projectId, 'project');
      // Serialized, so that the limit holds. Sign-ins only reference the project and do not wait.
      await query(em, sql`select 1 from projects where id = ${project.id} for no key update`);
      if ((await em.count(Api, { project })) >= maxApis) {
        refuse({ code: 'invalid', field: 'projectId', reason: `already has ${maxApis} APIs` });
      }
      const now = this.deps.clock.now();
      const api = em.create(Api, {
        project: project.id,
        id: this.deps.random.id(),
        identifier,
        name: settings.name as string,
        scopes: settings.scopes as ApiSettings['scopes'],
        accessTokenTtlSeconds: settings.accessTokenTtlSeconds ?? defaultTtlSeconds,
        thirdPartyAccess: settings.thirdPartyAccess ?? false,
        tokenExchange: settings.tokenExchange ?? false,
        userKeys: settings.userKeys ?? false,
        version: 1,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(api);
      this.record(em, 'api.created', api, actor, { identifier, scopes: keysOf(api) });
      await flushUnlessTaken(em, 'api', 'identifier');
      return api;
    });
  }

  /**
   * Changes all but the identifier, the `aud` that APIs check. A scope that is removed is taken from all clients.
   * Refuses `not-found`, `invalid`, `conflict`.
   */
  update(key: TenantKey, input: ApiChange, actor: Actor): Promise<Api> {
    const settings = checkedApi(input);
    return this.deps.db.transaction(async (em) => {
      const api = await this.locked(em, key);
      if (input.expectedVersion !== undefined && input.expectedVersion !== api.version) {
        refuse({ code: 'conflict', what: 'api' });
      }
      const changed = change<Api>(api, settings);
      if (!changed) return api;
      api.version += 1;
      api.updatedAt = this.deps.clock.now();
      if (settings.scopes) await this.narrowGrants(em, key, keysOf(api));
      this.record(em, 'api.updated', api, actor, { ...changed });
      return api;
    });
  }

  /** Ends its tokens: introspection returns them as inactive, and none are issued. Refuses `not-found`. */
  delete(key: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const api = await this.locked(em, key);
      this.record(em, 'api.deleted', api, actor, { identifier: api.identifier });
      em.remove(api);
    });
  }

  /**
   * Sets the rights of a client at an API of its project. Refuses `not-found`, and `invalid` for a scope that the API
   * does not have, and for scopes of a third-party client that gets no tokens for APIs.
   *
   * @returns null if the client has no rights left
   */
  grant(client: TenantKey, apiId: string, granted: ApiAccess, actor: Actor): Promise<ApiGrant | null> {
    return this.deps.db.transaction(async (em) => {
      const holder = await existing(em, Client, client, 'client');
      // Locked: a scope cannot be removed in the meantime.
      const api = await this.locked(em, { project: client.project, id: apiId });
      const known = keysOf(api);
      const unknown = granted.scopes.find((scope) => !known.includes(scope));
      if (unknown !== undefined) {
        refuse({ code: 'invalid', field: 'scopes', reason: 'must contain only scopes of the API' });
      }
      const scopes = known.filter((key) => granted.scopes.includes(key));
      if (scopes.length > 0 && holder.thirdParty && !holder.grantTypes.includes('client_credentials')) {
        const reason = 'give a third-party application no tokens, except with client credentials';
        refuse({ code: 'invalid', field: 'scopes', reason });
      }
      const { introspects } = granted;
      const grant = await em.findOne(ApiGrant, { client: holder, api });
      const before = grant && { scopes: grant.scopes, introspects: grant.introspects };
      const now = this.deps.clock.now();
      if (scopes.length === 0 && !introspects) {
        if (grant) em.remove(grant);
        if (before) this.recordGrant(em, 'api.revoked', { api, holder, actor }, { before });
        return null;
      }
      const changed = grant
        ? change<ApiGrant>(grant, { scopes, introspects })
        : { before, after: { scopes, introspects } };
      if (!changed) return grant;
      this.recordGrant(em, 'api.granted', { api, holder, actor }, { ...changed });
      if (grant) {
        grant.updatedAt = now;
        return grant;
      }
      const at = { createdAt: now, updatedAt: now };
      const made = em.create(ApiGrant, { project: client.project.id, client: holder, api, scopes, introspects, ...at });
      em.persist(made);
      return made;
    });
  }

  /** Those of the project with one of the identifiers. */
  named(em: EntityManager, projectId: string, identifiers: readonly string[]): Promise<Api[]> {
    return em.find(Api, { project: projectId, identifier: { $in: [...identifiers] } });
  }

  /** The APIs among `identifiers` for which the client gets tokens of users. */
  async usableBy({ project, id }: TenantKey, identifiers: readonly string[]): Promise<GrantedApi[]> {
    const client = sql`(select ${project.id}::uuid as project_id, ${id}::uuid as id)`;
    const statement = sql<GrantedApi>`select audience, granted from (${apisForUsers(client)}) t
      where audience = any(${[...identifiers]}::text[])`;
    return query(this.deps.db.alone, statement, { prepare: 'apis.usable-by' });
  }

  private async narrowGrants(em: EntityManager, { project, id }: TenantKey, keys: string[]): Promise<void> {
    await execute(
      em,
      sql`update api_grants set scopes = array(select one from unnest(scopes) one where one = any(${keys}::text[]))
        where project_id = ${project.id} and api_id = ${id}`,
    );
    await execute(
      em,
      sql`delete from api_grants where project_id = ${project.id} and api_id = ${id} and scopes = '{}' and not introspects`,
    );
  }

  private async locked(em: EntityManager, key: TenantKey): Promise<Api> {
    return existing(em, Api, key, 'api', locked);
  }

  private record(em: EntityManager, type: EventType, api: Api, actor: Actor, detail: Record<string, unknown>): void {
    const subject = { kind: 'api', id: api.id, name: api.name };
    this.deps.audit.record(em, { type, actor, projectId: api.project.id, subject, detail });
  }

  private recordGrant(
    em: EntityManager,
    type: EventType,
    { api, holder, actor }: { api: Api; holder: Client; actor: Actor },
    detail: Record<string, unknown>,
  ): void {
    const subject = { kind: 'client', id: holder.id, name: holder.name };
    const about = { projectId: api.project.id, clientId: holder.id, subject };
    this.deps.audit.record(em, {
      type,
      actor,
      ...about,
      detail: { api: api.name, identifier: api.identifier, ...detail },
    });
  }
}

const keysOf = ({ scopes }: Api): string[] => scopes.map(({ key }) => key);
