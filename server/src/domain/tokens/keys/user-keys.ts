import type { EntityManager } from '@mikro-orm/postgresql';
import { Api, type ApiScope } from '../../apis/api.entity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Client } from '../../clients/client.entity.ts';
import type { Actor } from '../../kernel/actor.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { cleanName } from '../../kernel/name.ts';
import { addressOf } from '../../kernel/network.ts';
import { found, refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { digest, isUuid } from '../../kernel/secret.ts';
import { type Executing, execute, query, type Statement, sql } from '../../kernel/sql.ts';
import { activeMemberships, isMember } from '../../organizations/membership.ts';
import { checkedNetworks } from '../../projects/networks.ts';
import type { Project } from '../../projects/project.entity.ts';
import { atKey, keyIn, type TenantKey } from '../../projects/tenant.ts';
import { subColumn } from '../../users/identity/sub.ts';
import type { User } from '../../users/user.entity.ts';
import { UserKey } from './user-key.entity.ts';

/** A key to be made. */
export interface NewUserKey {
  apiId: string;
  /** The organization of its context; absent: none. */
  organizationId?: string | undefined;
  name: string;
  /** At least one scope of the API. */
  scopes: readonly string[];
  /** 1 to 366. */
  days: number;
  /** Addresses and ranges from which it works; empty: all. */
  networks: readonly string[];
}

/** An API for which a user can make keys. */
export interface KeyedApi {
  id: string;
  name: string;
  scopes: ApiScope[];
}

/** A live key at its API. */
export interface LiveUserKey {
  id: string;
  userId: string;
  organizationId: string | null;
  sub: string;
  audience: string;
  /** Those that the API still has. */
  scopes: string[];
  createdAt: string;
  expiresAt: string;
}

const prefix = 'lk_user_';
const maxLength = 100;
/** Of one user: live ones, and all until they are forgotten. */
const maxLive = 20;
const maxRows = 100;
const maxDays = 366;
const usedSeconds = 60;

/** Whether a token has the form of a user's API key. */
export function isUserKey(token: string): boolean {
  return token.startsWith(prefix) && token.length <= maxLength;
}

/** API keys of users: access tokens for one API, which the API introspects (RFC 7662, decisions/0423). */
export class UserKeys {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** The APIs of the project that allow keys, by name. */
  async apis(em: EntityManager, projectId: string): Promise<KeyedApi[]> {
    const apis = await em.find(Api, { project: projectId, userKeys: true }, { orderBy: { name: 'asc', id: 'asc' } });
    return apis.map(({ id, name, scopes }) => ({ id, name, scopes }));
  }

  /** The organizations that a user can choose for a key, by name. */
  async organizations(on: Executing, { project, id }: TenantKey): Promise<{ id: string; name: string }[]> {
    const reading = sql<{ id: string; name: string }>`select o.id, o.name from (${activeMemberships}) held
      join organizations o on o.project_id = held.project_id and o.id = held.organization_id
      where held.project_id = ${project.id}::uuid and held.user_id = ${id}::uuid order by lower(o.name), o.id limit 200`;
    return query(on, reading, { prepare: 'user-keys.organizations' });
  }

  /** The keys of a user that have neither expired nor been revoked, newest first; each with its API. */
  async list(em: EntityManager, user: TenantKey): Promise<UserKey[]> {
    const where = { ...this.live(), project: user.project.id, user: { id: user.id } };
    return (await em.find(UserKey, where, { populate: ['api'], orderBy: { id: 'desc' } })) as UserKey[];
  }

  /** Joins; the user is locked. The token is returned once. Refuses `not-found`, `invalid`. */
  async create(
    em: EntityManager,
    user: User,
    wanted: NewUserKey,
    actor: Actor,
  ): Promise<{ key: UserKey; token: string }> {
    const { clock, random } = this.deps;
    const projectId = user.project.id;
    const api = await this.apiOf(em, keyIn(projectId, wanted.apiId));
    const name = cleanName(wanted.name);
    const scopes = api.scopes.map(({ key }) => key).filter((key) => wanted.scopes.includes(key));
    if (scopes.length === 0 || scopes.length !== new Set(wanted.scopes).size) {
      refuse({ code: 'invalid', field: 'scopes', reason: 'must be scopes of the API, at least one' });
    }
    const { days } = wanted;
    if (!Number.isInteger(days) || days < 1 || days > maxDays) {
      refuse({ code: 'invalid', field: 'days', reason: `must be from 1 to ${maxDays}` });
    }
    const networks = checkedNetworks(wanted.networks, { field: 'networks' });
    const organizationId = wanted.organizationId ?? null;
    if (organizationId !== null) await this.checkMember(em, user, organizationId);
    await this.checkCount(em, user);
    const [token, now] = [newSecret(random, prefix), clock.now()];
    const key = em.create(UserKey, {
      ...{ project: projectId, id: random.id(), user, api, organizationId, name, scopes, networks },
      ...{ hash: digest(token), hint: token.slice(-4), createdAt: now, expiresAt: secondsLater(now, days * 24 * 3600) },
      ...{ lastUsedAt: null, lastUsedAddress: null, revokedAt: null },
    });
    em.persist(key);
    this.record(em, 'user-key.created', key, actor);
    return { key, token };
  }

  /** Joins. Does nothing if it has ended. Refuses `not-found`. @param userId absent: of any user of the project */
  async revoke(em: EntityManager, of: TenantKey, actor: Actor, userId?: string): Promise<void> {
    if (!isUuid(of.id)) refuse({ code: 'not-found', what: 'user-key' });
    const where = { ...atKey(of), ...(userId !== undefined && { user: { id: userId } }) };
    const key = found(await em.findOne(UserKey, where, { populate: ['api'] }), 'user-key') as UserKey;
    const now = this.deps.clock.now();
    const ended = await execute(
      em,
      sql`update user_keys set revoked_at = ${now}::timestamptz
        where project_id = ${of.project.id}::uuid and id = ${of.id}::uuid and revoked_at is null`,
    );
    if (ended === 1) this.record(em, 'user-key.revoked', key, actor);
  }

  /** Like {@link revoke}, in its own transaction. */
  revokeAny(of: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction((em) => this.revoke(em, of, actor));
  }

  /**
   * The live key of a token, if the client is its API; null otherwise. Records its use.
   *
   * @param address of the caller of the API, as the API reports it; a key with networks needs it
   */
  async introspect(client: Client, token: string, address: string | undefined): Promise<LiveUserKey | null> {
    const { clock, db } = this.deps;
    const now = clock.now();
    const ip = addressOf(address);
    const [key] = await query(db.alone, liveKey(client, { hash: digest(token), ip, now }), {
      prepare: 'user-keys.live',
    });
    if (!key || key.scopes.length === 0) return null;
    const used = sql`update user_keys set last_used_at = ${now}::timestamptz, last_used_address = ${ip}::text
      where project_id = ${client.project.id}::uuid and id = ${key.id}::uuid
        and (last_used_at is null or last_used_at <= ${secondsLater(now, -usedSeconds)}::timestamptz)`;
    await execute(db.alone, used, { prepare: 'user-keys.used' });
    return key;
  }

  private live() {
    return { revokedAt: null, expiresAt: { $gt: this.deps.clock.now() } };
  }

  private async apiOf(em: EntityManager, key: TenantKey): Promise<Api> {
    const api = isUuid(key.id) ? await em.findOne(Api, { ...atKey(key), userKeys: true }) : null;
    return found(api, 'api');
  }

  private async checkMember(em: EntityManager, { project, id }: User, organizationId: string): Promise<void> {
    if (!isUuid(organizationId)) refuse({ code: 'not-found', what: 'organization' });
    const member = isMember({
      projectId: sql`${project.id}::uuid`,
      organizationId: sql`${organizationId}::uuid`,
      userId: sql`${id}::uuid`,
    });
    const [row] = await query(em, sql<{ is: boolean }>`select ${member} as is`);
    if (!row?.is) refuse({ code: 'not-found', what: 'organization' });
  }

  private async checkCount(em: EntityManager, { project, id }: User): Promise<void> {
    const ofUser = { project: project.id, user: { id } };
    const isFull =
      (await em.count(UserKey, { ...this.live(), ...ofUser })) >= maxLive ||
      (await em.count(UserKey, ofUser)) >= maxRows;
    if (isFull) refuse({ code: 'invalid', field: 'count', reason: `already has ${maxLive} keys: revoke one first` });
  }

  private record(em: EntityManager, type: 'user-key.created' | 'user-key.revoked', key: UserKey, actor: Actor): void {
    const { expiresAt, hint, id, name, networks, organizationId, project, scopes, user } = key;
    const { identifier } = key.api.getEntity();
    const detail = { userId: user.id, api: identifier, scopes, networks, hint, expiresAt: expiresAt.toISOString() };
    const inside = organizationId == null ? {} : { organizationId };
    const subject = { kind: 'user-key', id, name };
    this.deps.audit.record(em, { type, actor, projectId: project.id, subject, detail: { ...detail, ...inside } });
  }
}

/** SQL: the live key with this hash, if its user is active and the client is its API. */
function liveKey(
  { id: clientId, project }: Client,
  { hash, ip, now }: { hash: string; ip: string | null; now: Date },
): Statement<LiveUserKey> {
  const { id: projectId } = project as Pick<Project, 'id'>;
  const member = isMember({
    projectId: sql`k.project_id`,
    organizationId: sql`k.organization_id`,
    userId: sql`k.user_id`,
  });
  return sql<LiveUserKey>`select k.id, k.user_id as "userId", k.organization_id as "organizationId", ${subColumn('u')} as sub,
      a.identifier as audience, k.created_at as "createdAt", k.expires_at as "expiresAt",
      array(select s.one ->> 'key' from jsonb_array_elements(a.scopes) s(one) where s.one ->> 'key' = any(k.scopes)) as scopes
    from user_keys k join users u on u.project_id = ${projectId}::uuid and u.id = k.user_id and u.active
      join apis a on a.project_id = ${projectId}::uuid and a.id = k.api_id and a.user_keys
    where k.project_id = ${projectId}::uuid and k.hash = ${hash}::text and k.revoked_at is null and k.expires_at > ${now}::timestamptz
      and (k.networks = '{}' or coalesce(${ip}::inet <<= any(k.networks::inet[]), false))
      and case when k.organization_id is null then true else ${member} end
      and exists (select 1 from api_grants g where g.project_id = ${projectId}::uuid and g.client_id = ${clientId}::uuid
        and g.api_id = k.api_id and g.introspects)`;
}
