import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, flushUnlessTaken } from '../kernel/database.ts';
import { cleanName } from '../kernel/name.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import type { AccessLost } from '../projects/lost-access.ts';
import { atKey, existing, type TenantKey } from '../projects/tenant.ts';
import { Group } from '../users/group.entity.ts';
import { countRows, type Listed, type Selection } from '../users/listing.ts';
import { User } from '../users/user.entity.ts';
import { ClientRole } from './client-role.entity.ts';
import { RoleAssignment } from './role-assignment.entity.ts';
import { type OfferedRole, offeredRoles } from './role-lists.ts';

export interface RoleValues {
  /** See {@link checkRoleKey}. */
  key: string;
  name: string;
  description: string | null;
}

/** The holder of a role: a user, or the members of a group. Exactly one. */
export interface RoleHolder {
  userId?: string | undefined;
  groupId?: string | undefined;
}

const maxRoles = 200;
const maxKey = 100;
const maxDescription = 500;

/** Roles of applications, and their assignments. Each method is one transaction. */
export class Roles {
  constructor(
    private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit; accessLost: AccessLost },
  ) {}

  /** Creates a role of a client. Refuses `not-found`, `invalid`, and `taken` if the client has a role with this key. */
  create(
    client: TenantKey,
    values: Pick<RoleValues, 'key' | 'name'> & Partial<RoleValues>,
    actor: Actor,
  ): Promise<ClientRole> {
    const { key, name, description } = checkedRole({ ...values, description: values.description ?? null });
    checkRoleKey(key);
    return this.deps.db.transaction(async (em) => {
      const owner = await existing(em, Client, client, 'client');
      // Serialized, so that the limit holds. Sign-ins only reference the client and do not wait.
      await query(
        em,
        sql`select 1 from clients where project_id = ${client.project.id} and id = ${client.id} for no key update`,
      );
      if ((await em.count(ClientRole, { client: owner })) >= maxRoles) {
        refuse({ code: 'invalid', field: 'clientId', reason: `already has ${maxRoles} roles` });
      }
      const now = this.deps.clock.now();
      const role = em.create(ClientRole, {
        project: owner.project,
        id: this.deps.random.id(),
        client: owner,
        key,
        name,
        description,
        createdAt: now,
        updatedAt: now,
      });
      this.record(em, 'role.created', role, owner, actor, { key });
      await flushUnlessTaken(em, 'role', 'key');
      // Directories that send the key named the role of another application until now.
      const isAmbiguous = (await em.count(ClientRole, { project: client.project.id, key })) > 1;
      if (isAmbiguous) await this.deps.accessLost(em, { projectId: client.project.id });
      return role;
    });
  }

  /** Changes name and description; the key stays, since applications rely on it. Refuses `not-found`, `invalid`. */
  update(key: TenantKey, values: Partial<Omit<RoleValues, 'key'>>, actor: Actor): Promise<ClientRole> {
    const wanted = checkedRole(values);
    return this.deps.db.transaction(async (em) => {
      const role = await this.locked(em, key);
      const changed = change<ClientRole>(role, wanted);
      if (!changed) return role;
      role.updatedAt = this.deps.clock.now();
      this.record(em, 'role.updated', role, role.client.getEntity(), actor, { ...changed });
      return role;
    });
  }

  /** Deletes a role and its assignments. Refuses `not-found`. */
  async delete(key: TenantKey, actor: Actor): Promise<void> {
    await this.deps.db.transaction(async (em) => {
      const role = await this.locked(em, key);
      const assignments = await em.count(RoleAssignment, { role });
      this.record(em, 'role.deleted', role, role.client.getEntity(), actor, { key: role.key, assignments });
      em.remove(role);
      await this.lost(em, role);
    });
  }

  /**
   * Gives a role to a user or a group of its project; idempotent. Refuses `not-found` for the role, user
   * or group, and `invalid` unless exactly one holder is named.
   */
  async assign(key: TenantKey, holder: RoleHolder, actor: Actor): Promise<RoleAssignment> {
    checkHolder(holder);
    return this.deps.db.transaction(async (em) => {
      const role = await this.locked(em, key);
      const named = await this.holderOf(em, key.project.id, holder);
      const inserted = await execute(
        em,
        sql`insert into role_assignments (project_id, id, role_id, user_id, group_id, created_at)
          values (${key.project.id}, ${this.deps.random.id()}, ${role.id}, ${holder.userId ?? null}::uuid,
            ${holder.groupId ?? null}::uuid, ${this.deps.clock.now()}) on conflict do nothing`,
      );
      if (inserted > 0) this.recordHolder(em, 'role.assigned', role, named, actor);
      return em.findOneOrFail(RoleAssignment, {
        role,
        ...(holder.userId === undefined
          ? { group: [key.project.id, named.id] as [string, string] }
          : { user: [key.project.id, named.id] as [string, string] }),
      });
    });
  }

  /** Takes a role from a user or a group; does nothing if they do not hold it. Refuses like {@link assign}. */
  async unassign(key: TenantKey, holder: RoleHolder, actor: Actor): Promise<ClientRole> {
    checkHolder(holder);
    return this.deps.db.transaction(async (em) => {
      const role = await this.locked(em, key);
      const named = await this.holderOf(em, key.project.id, holder);
      const column = sql.ref(`${named.kind}_id`);
      const removed = await execute(
        em,
        sql`delete from role_assignments
          where project_id = ${key.project.id} and role_id = ${role.id} and ${column} = ${named.id}`,
      );
      if (removed === 0) return role;
      this.recordHolder(em, 'role.unassigned', role, named, actor);
      await this.lost(em, role, holder.userId === undefined ? undefined : [named.id]);
      return role;
    });
  }

  /** A page of the roles of all applications, as directories see them. */
  offered(projectId: string, selection: Selection): Promise<Listed<OfferedRole>[]> {
    return offeredRoles(this.deps.db.alone, projectId, selection);
  }

  /** The number of roles that meet `where`, a condition on the row `r`. */
  countOffered(projectId: string, where?: Fragment): Promise<number> {
    return countRows(this.deps.db.alone, 'client_roles', projectId, where);
  }

  private async read(em: EntityManager, key: TenantKey): Promise<ClientRole> {
    const role = isUuid(key.id) ? await em.findOne(ClientRole, atKey(key), { populate: ['client'] }) : null;
    return found(role, 'role');
  }

  private async locked(em: EntityManager, key: TenantKey): Promise<ClientRole> {
    if (isUuid(key.id)) {
      await query(
        em,
        sql`select 1 from client_roles where project_id = ${key.project.id} and id = ${key.id} for no key update`,
      );
    }
    return this.read(em, key);
  }

  private async holderOf(em: EntityManager, projectId: string, { userId, groupId }: RoleHolder) {
    if (userId !== undefined) {
      const user = isUuid(userId) ? await em.findOne(User, { project: projectId, id: userId }) : null;
      const { id, userName } = found(user, 'user');
      return { kind: 'user', id, name: userName };
    }
    const group = isUuid(groupId) ? await em.findOne(Group, { project: projectId, id: groupId }) : null;
    const { id, displayName } = found(group, 'group');
    return { kind: 'group', id, name: displayName };
  }

  private async lost(em: EntityManager, { project, client }: ClientRole, userIds?: readonly string[]): Promise<void> {
    const { access, id } = client.getEntity();
    if (access === 'everyone') return;
    await this.deps.accessLost(em, { projectId: project.id, clientId: id, ...(userIds && { userIds }) });
  }

  private record(
    em: EntityManager,
    type: EventType,
    { id, name }: ClientRole,
    client: Client,
    actor: Actor,
    detail: Record<string, unknown>,
  ): void {
    const about = { projectId: client.project.id, clientId: client.id };
    const subject = { kind: 'role', id, name };
    this.deps.audit.record(em, { type, actor, ...about, subject, detail: { ...detail, client: client.name } });
  }

  private recordHolder(
    em: EntityManager,
    type: EventType,
    role: ClientRole,
    subject: { kind: string; id: string; name: string },
    actor: Actor,
  ): void {
    const client = role.client.getEntity();
    const detail = { role: role.name, key: role.key, client: client.name };
    this.deps.audit.record(em, { type, actor, projectId: client.project.id, clientId: client.id, subject, detail });
  }
}

/** Refuses `invalid`: the key is sent to applications, so it stays plain ASCII without spaces. */
export function checkRoleKey(key: unknown): void {
  const field = 'key';
  if (typeof key !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9_.:/@-]*$/.test(key)) {
    const reason = 'must begin with a letter or digit, and contain only letters, digits and _ . : / @ -';
    refuse({ code: 'invalid', field, reason });
  }
  if (key.length > maxKey) refuse({ code: 'invalid', field, reason: `must have at most ${maxKey} characters` });
}

/** The values as stored. Refuses `invalid`. */
export function checkedRole<Values extends Partial<RoleValues>>(values: Values): Values {
  const { name, description } = values;
  if (description != null && (typeof description !== 'string' || [...description].length > maxDescription)) {
    refuse({ code: 'invalid', field: 'description', reason: `must have at most ${maxDescription} characters` });
  }
  return {
    ...values,
    ...(name === undefined ? {} : { name: cleanName(name) }),
    ...(description === undefined ? {} : { description: description?.trim() || null }),
  };
}

/** Refuses `invalid` unless exactly one holder is named. */
export function checkHolder({ userId, groupId }: RoleHolder): void {
  if ((userId === undefined) !== (groupId === undefined)) return;
  const reason = 'must be given if groupId is not, and only then';
  refuse({ code: 'invalid', field: 'userId', reason });
}
