import { ForeignKeyConstraintViolationException, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import { pastDeadlocks } from './deadlock.ts';
import { Group } from './group.entity.ts';
import { countRows, type Listed, listRows, type Selection } from './listing.ts';

export interface GroupValues {
  displayName: string;
  externalId: string | null;
}

export type GroupRecord = Pick<Group, 'id' | 'displayName' | 'externalId' | 'version' | 'createdAt' | 'updatedAt'>;

/** A locked group during a change. Members are ids of users of the same project. */
export interface GroupEdit {
  readonly group: Readonly<GroupRecord>;
  set(values: Partial<GroupValues>): void;
  /** Skips current members. Refuses `invalid` if one is not a user of the project. */
  add(userIds: readonly string[]): Promise<void>;
  /** Skips users who are not members. */
  remove(userIds: readonly string[]): Promise<void>;
  /** Refuses like {@link add}. */
  replace(userIds: readonly string[]): Promise<void>;
  /** Removes the members `e` (`e.user_id`) that meet the condition; returns their number. */
  removeWhere(condition: Fragment): Promise<number>;
}

interface GroupRow {
  id: string;
  display_name: string;
  external_id: string | null;
  version: number;
  created_at: string;
  updated_at: string;
}

const columns = 'r.id, r.display_name, r.external_id, r.version, r.created_at, r.updated_at';

/** Groups and their members. One method is one transaction. */
export class Groups {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  async find(projectId: string, groupId: string): Promise<GroupRecord | null> {
    return isUuid(groupId) ? this.deps.db.reader().findOne(Group, { id: groupId, project: projectId }) : null;
  }

  async list(projectId: string, selection: Selection): Promise<Listed<GroupRecord>[]> {
    const rows = await listRows<GroupRow>(this.deps.db.alone, 'groups', columns, projectId, selection);
    return rows.map((row) => ({ ...groupOfRow(row), order_key: row.order_key }));
  }

  count(projectId: string, where?: Fragment): Promise<number> {
    return countRows(this.deps.db.alone, 'groups', projectId, where);
  }

  /** The members of each group, by their ids. */
  async membersOf(groupIds: readonly string[]): Promise<Map<string, string[]>> {
    const members = new Map<string, string[]>(groupIds.map((id) => [id, []]));
    if (groupIds.length === 0) return members;
    const rows = await query(
      this.deps.db.alone,
      sql<{
        group_id: string;
        user_id: string;
      }>`select group_id, user_id from group_members
        where group_id = any(${groupIds}::uuid[]) order by group_id, user_id`,
      { prepare: 'groups.members-of' },
    );
    for (const { group_id, user_id } of rows) members.get(group_id)?.push(user_id);
    return members;
  }

  /** Refuses `invalid` if a member is not a user of the project. */
  create(
    projectId: string,
    values: GroupValues,
    memberIds: readonly string[],
    actor: Actor,
    id?: string,
  ): Promise<GroupRecord> {
    return this.atomically(async (em) => {
      const now = this.deps.clock.now();
      const group = em.create(Group, {
        id: id ?? this.deps.random.id(),
        project: projectId,
        ...values,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(group);
      await em.flush();
      await new Editing(em, projectId, group, now).add(memberIds);
      this.tell(em, 'group.created', projectId, group, actor, { members: memberIds.length });
      return group;
    });
  }

  /**
   * Changes one locked group. A change without effect keeps its version and time. Refuses `not-found`, `invalid`, and
   * what `edit` throws, which rolls back.
   */
  change(
    projectId: string,
    groupId: string,
    edit: (edit: GroupEdit) => Promise<void>,
    actor: Actor,
  ): Promise<GroupRecord> {
    return this.atomically(async (em) => {
      const now = this.deps.clock.now();
      const group = found(await this.locked(em, projectId, groupId), 'group');
      const editing = new Editing(em, projectId, group, now);
      await edit(editing);
      const { added, removed } = editing;
      if (!editing.changed) return group;
      group.version += 1;
      group.updatedAt = now;
      this.tell(em, 'group.updated', projectId, group, actor, { added, removed });
      return group;
    });
  }

  /** Refuses `not-found`, and what `check` throws. The members stay users. */
  async remove(projectId: string, groupId: string, actor: Actor, check?: (group: GroupRecord) => void): Promise<void> {
    await this.atomically(async (em) => {
      const group = found(await this.locked(em, projectId, groupId), 'group');
      check?.(group);
      this.tell(em, 'group.deleted', projectId, group, actor);
      em.remove(group);
    });
  }

  private async locked(em: EntityManager, projectId: string, groupId: string): Promise<Group | null> {
    if (!isUuid(groupId)) return null;
    return em.findOne(Group, { id: groupId, project: projectId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  private tell(
    em: EntityManager,
    type: string,
    projectId: string,
    group: GroupRecord,
    actor: Actor,
    detail?: Record<string, unknown>,
  ): void {
    const subject = { kind: 'group', id: group.id, name: group.displayName };
    this.deps.audit.record(em, { type, actor, projectId, subject, ...(detail ? { detail } : {}) });
  }

  /** A member who is erased meanwhile is refused as `invalid`. */
  private async atomically<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    try {
      return await pastDeadlocks(() => this.deps.db.transaction(work));
    } catch (error) {
      if (error instanceof ForeignKeyConstraintViolationException) return refuseMembers();
      throw error;
    }
  }
}

class Editing implements GroupEdit {
  added = 0;
  removed = 0;
  private renamed = false;

  constructor(
    private readonly em: EntityManager,
    private readonly projectId: string,
    readonly group: Group,
    private readonly now: Date,
  ) {}

  get changed(): boolean {
    return this.renamed || this.added + this.removed > 0;
  }

  set(values: Partial<GroupValues>): void {
    const { group } = this;
    const { displayName = group.displayName, externalId = group.externalId ?? null } = values;
    if (displayName === group.displayName && externalId === (group.externalId ?? null)) return;
    Object.assign(group, { displayName, externalId });
    this.renamed = true;
  }

  private get own(): Fragment {
    return sql`project_id = ${this.projectId} and group_id = ${this.group.id}`;
  }

  async add(userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return;
    if (!userIds.every(isUuid)) refuseMembers();
    const [counts] = await query(
      this.em,
      sql<{ wanted: number; present: number; added: number }>`
        with wanted as (select distinct unnest(${userIds}::uuid[]) as id),
               present as (select u.id from users u join wanted w on w.id = u.id
               where u.project_id = ${this.projectId}),
               added as (insert into group_members (project_id, group_id, user_id, created_at)
                         select ${this.projectId}::uuid, ${this.group.id}::uuid, id, ${this.now}::timestamptz from present
                         on conflict do nothing returning 1)
          select (select count(*)::int from wanted) as wanted, (select count(*)::int from present) as present,
                 (select count(*)::int from added) as added`,
      { prepare: 'groups.add' },
    );
    if (!counts || counts.present < counts.wanted) refuseMembers();
    this.added += counts.added;
  }

  async remove(userIds: readonly string[]): Promise<void> {
    const ids = userIds.filter(isUuid);
    this.removed += await execute(
      this.em,
      sql`delete from group_members where ${this.own} and user_id = any(${ids}::uuid[])`,
      { prepare: 'groups.remove' },
    );
  }

  async replace(userIds: readonly string[]): Promise<void> {
    if (!userIds.every(isUuid)) refuseMembers();
    this.removed += await execute(
      this.em,
      sql`delete from group_members where ${this.own} and not (user_id = any(${userIds}::uuid[]))`,
    );
    await this.add(userIds);
  }

  async removeWhere(condition: Fragment): Promise<number> {
    const removed = await execute(this.em, sql`delete from group_members e where ${this.own} and ${condition}`);
    this.removed += removed;
    return removed;
  }
}

function refuseMembers(): never {
  refuse({ code: 'invalid', field: 'members', reason: 'must be ids of users of this project' });
}

function groupOfRow(row: GroupRow): GroupRecord {
  return {
    id: row.id,
    displayName: row.display_name,
    externalId: row.external_id,
    version: row.version,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
