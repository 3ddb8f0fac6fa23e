import { ForeignKeyConstraintViolationException, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { Group } from './group.entity.ts';
import {
  type CostlyPart,
  type Criteria,
  costlyPart,
  countRows,
  isLarge,
  type Listed,
  listRows,
  type Selection,
} from './listing.ts';
import { containsItself, membersOfRow } from './memberships.ts';

export interface GroupValues {
  displayName: string;
  externalId: string | null;
}

export type GroupRecord = Pick<
  Group,
  'id' | 'displayName' | 'externalId' | 'provenance' | 'version' | 'createdAt' | 'updatedAt'
>;

/** A user or group in a group. */
export interface Member {
  id: string;
  kind: 'User' | 'Group';
  displayName: string | null;
}

/** A locked group during a change. Members are ids of users and groups of the same project. */
export interface GroupEdit {
  readonly group: Readonly<GroupRecord>;
  set(values: Partial<GroupValues>): void;
  /** Skips current members. Refuses `invalid` if one is not a user or group of the project, or contains this group. */
  add(userIds: readonly string[]): Promise<void>;
  /** Like {@link add}, only for users. Refuses `invalid` for `userIds`. */
  addUsers(userIds: readonly string[]): Promise<void>;
  /** Skips those who are not members. */
  remove(userIds: readonly string[]): Promise<void>;
  /** Refuses like {@link add}. */
  replace(userIds: readonly string[]): Promise<void>;
  /** The ids of the members `e` (`member_id`, `kind`) that meet the condition. */
  membersWhere(condition: Fragment): Promise<string[]>;
  /** The number of members, counted up to `most`. */
  countMembers(most: number): Promise<number>;
}

interface GroupRow {
  id: string;
  display_name: string;
  external_id: string | null;
  provenance: Group['provenance'];
  version: number;
  created_at: string;
  updated_at: string;
}

/** Class of the advisory locks, one for each project: serializes the additions of groups to its groups. */
const nestingLock = 731_691;
const columns = 'r.id, r.display_name, r.external_id, r.provenance, r.version, r.created_at, r.updated_at';

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

  costlyPart(projectId: string, criteria: Criteria): Promise<CostlyPart | undefined> {
    return costlyPart(this.deps.db.alone, 'groups', projectId, criteria);
  }

  /** The members of each group, by their ids. */
  async membersOf(projectId: string, groupIds: readonly string[]): Promise<Map<string, Member[]>> {
    const members = new Map<string, Member[]>(groupIds.map((id) => [id, []]));
    if (groupIds.length === 0) return members;
    const rows = await query(
      this.deps.db.alone,
      sql<Member & { group: string }>`
        select m.group_id as group, m.user_id as id, 'User' as kind, u.display_name as "displayName"
        from group_members m join users u on u.project_id = m.project_id and u.id = m.user_id
        where m.project_id = ${projectId}::uuid and m.group_id = any(${groupIds}::uuid[])
        union all select n.group_id, n.member_id, 'Group', g.display_name
        from group_nestings n join groups g on g.project_id = n.project_id and g.id = n.member_id
        where n.project_id = ${projectId}::uuid and n.group_id = any(${groupIds}::uuid[])
        order by 1, 2`,
      { prepare: 'groups.shown-members' },
    );
    for (const { group, ...member } of rows) members.get(group)?.push(member);
    return members;
  }

  isLarge(projectId: string): Promise<boolean> {
    return isLarge(this.deps.db.alone, projectId);
  }

  /** Whether the groups together have more than `limit` members. */
  async exceed(projectId: string, groupIds: readonly string[], limit: number): Promise<boolean> {
    const next = await query(
      this.deps.db.alone,
      sql`select from group_members where project_id = ${projectId}::uuid and group_id = any(${groupIds}::uuid[])
        offset ${limit}::int limit 1`,
      { prepare: 'groups.exceed' },
    );
    return next.length > 0;
  }

  /** Creates a group for a directory or an admin. Refuses `invalid` if a member is not a user of the project. */
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
        provenance: actor.kind === 'scim' ? 'scim' : 'local',
        createdAt: now,
        updatedAt: now,
      });
      em.persist(group);
      await em.flush();
      const editing = new Editing(em, projectId, group, now);
      await editing.add(memberIds);
      await editing.checkNesting();
      this.record(em, 'group.created', projectId, group, actor, { members: memberIds.length });
      return group;
    });
  }

  /**
   * Changes one locked group. A change without effect keeps its version and time. A directory that changes a local group
   * takes it over, as it does with users. Refuses `not-found`, `invalid`; rethrows errors of `edit`, which roll back.
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
      await editing.checkNesting();
      const { added, removed } = editing;
      if (!editing.changed) return group;
      if (actor.kind === 'scim') group.provenance = 'scim';
      group.version += 1;
      group.updatedAt = now;
      this.record(em, 'group.updated', projectId, group, actor, {
        added: added.size,
        removed: removed.size,
        ...editing.renaming,
      });
      return group;
    });
  }

  /** Refuses `not-found`; rethrows errors of `check`. The members stay users. */
  async remove(projectId: string, groupId: string, actor: Actor, check?: (group: GroupRecord) => void): Promise<void> {
    await this.atomically(async (em) => {
      const group = found(await this.locked(em, projectId, groupId), 'group');
      check?.(group);
      this.record(em, 'group.deleted', projectId, group, actor);
      em.remove(group);
    });
  }

  private async locked(em: EntityManager, projectId: string, groupId: string): Promise<Group | null> {
    if (!isUuid(groupId)) return null;
    return em.findOne(Group, { id: groupId, project: projectId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  private record(
    em: EntityManager,
    type: EventType,
    projectId: string,
    group: GroupRecord,
    actor: Actor,
    detail?: Record<string, unknown>,
  ): void {
    const subject = { kind: 'group', id: group.id, name: group.displayName };
    this.deps.audit.record(em, { type, actor, projectId, subject, ...(detail ? { detail } : {}) });
  }

  /** Repeated if a member is erased meanwhile: the second attempt finds and names the member. */
  private async atomically<T>(work: (em: EntityManager) => Promise<T>, isRetry = false): Promise<T> {
    try {
      return await pastDeadlocks(() => this.deps.db.transaction(work));
    } catch (error) {
      if (isRetry || !(error instanceof ForeignKeyConstraintViolationException)) throw error;
      return this.atomically(work, true);
    }
  }
}

class Editing implements GroupEdit {
  /** Members that the whole change adds and removes: not those that one step adds and another removes. */
  readonly added = new Set<string>();
  readonly removed = new Set<string>();
  private hasNested = false;
  private before: GroupValues | undefined;

  constructor(
    private readonly em: EntityManager,
    private readonly projectId: string,
    readonly group: Group,
    private readonly now: Date,
  ) {}

  get changed(): boolean {
    return this.added.size + this.removed.size > 0 || Object.keys(this.renaming).length > 0;
  }

  set(values: Partial<GroupValues>): void {
    const { group } = this;
    const { displayName = group.displayName, externalId = group.externalId ?? null } = values;
    if (displayName === group.displayName && externalId === (group.externalId ?? null)) return;
    this.before ??= valuesOf(group);
    Object.assign(group, { displayName, externalId });
  }

  /** Values that differ, before and after, for the log. */
  get renaming(): Record<string, Partial<GroupValues>> {
    return this.before ? changedValues(this.before, valuesOf(this.group)) : {};
  }

  private get own(): Fragment {
    return sql`project_id = ${this.projectId} and group_id = ${this.group.id}`;
  }

  async add(userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return;
    checkIds(userIds);
    const [result] = await query(
      this.em,
      sql<{ missing: string[]; added: { id: string }[]; nested: { id: string }[] }>`
        with wanted as (select distinct unnest(${userIds}::uuid[]) as id),
               present as (select u.id from users u join wanted w on w.id = u.id
               where u.project_id = ${this.projectId}::uuid),
               added as (insert into group_members (project_id, group_id, user_id, created_at)
                         select ${this.projectId}::uuid, ${this.group.id}::uuid, id, ${this.now}::timestamptz from present
                         on conflict do nothing returning user_id as id),
               inner_groups as (select g.id from groups g join wanted w on w.id = g.id
               where g.project_id = ${this.projectId}::uuid),
               nested as (insert into group_nestings (project_id, group_id, member_id, created_at)
                          select ${this.projectId}::uuid, ${this.group.id}::uuid, id, ${this.now}::timestamptz
                          from inner_groups on conflict do nothing returning member_id as id)
          select array(select id::text from wanted except select id::text from present
                       except select id::text from inner_groups order by 1) as missing,
                 array(select to_jsonb(added) from added) as added, array(select to_jsonb(nested) from nested) as nested`,
      { prepare: 'groups.add-missing' },
    );
    if (!result) return;
    if (result.missing.length > 0) refuseMembers(result.missing);
    move([...result.added, ...result.nested], this.removed, this.added);
    this.hasNested ||= result.nested.length > 0;
  }

  async addUsers(userIds: readonly string[]): Promise<void> {
    const ids = userIds.filter(isUuid);
    const [known] = await query(
      this.em,
      sql<{ count: number }>`select count(*)::int as count from users
        where project_id = ${this.projectId} and id = any(${ids}::uuid[])`,
    );
    if (known?.count !== new Set(userIds).size) {
      refuse({ code: 'invalid', field: 'userIds', reason: 'must be ids of users of this project' });
    }
    await this.add(ids);
  }

  async remove(userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return;
    const ids = userIds.filter(isUuid);
    const rows = await query(
      this.em,
      sql<{ id: string }>`
        with members as (delete from group_members where ${this.own} and user_id = any(${ids}::uuid[])
                         returning user_id as id),
             nested as (delete from group_nestings where ${this.own} and member_id = any(${ids}::uuid[])
                        returning member_id as id)
          select id from members union all select id from nested`,
      { prepare: 'groups.remove' },
    );
    move(rows, this.added, this.removed);
  }

  /**
   * Refuses a group that would contain itself. The lock lets the check see the inner groups of
   * other transactions. It comes after the locks of groups, so that no transaction waits for a group while it holds it.
   */
  async checkNesting(): Promise<void> {
    if (!this.hasNested) return;
    await query(this.em, sql`select pg_advisory_xact_lock(${sql.lit(nestingLock)}, hashtext(${this.projectId}::text))`);
    const cycle = sql<{ found: boolean }>`select ${containsItself(this.projectId, this.group.id)} as found`;
    const [result] = await query(this.em, cycle);
    if (!result?.found) return;
    refuse({
      code: 'invalid',
      field: 'members',
      reason: 'must not contain the group itself, directly or through groups',
    });
  }

  async replace(userIds: readonly string[]): Promise<void> {
    checkIds(userIds);
    const rows = await query(
      this.em,
      sql<{ id: string }>`
        with members as (delete from group_members where ${this.own} and not (user_id = any(${userIds}::uuid[]))
                         returning user_id as id),
             nested as (delete from group_nestings where ${this.own} and not (member_id = any(${userIds}::uuid[]))
                        returning member_id as id)
          select id from members union all select id from nested`,
    );
    move(rows, this.added, this.removed);
    await this.add(userIds);
  }

  async countMembers(most: number): Promise<number> {
    const [row] = await query(
      this.em,
      sql<{ count: number }>`select count(*)::int as count from (
        select from groups r, lateral ${sql.raw(membersOfRow)} e
        where r.project_id = ${this.projectId} and r.id = ${this.group.id} limit ${most}::int) counted`,
      { prepare: 'groups.count-members' },
    );
    return row?.count ?? 0;
  }

  async membersWhere(condition: Fragment): Promise<string[]> {
    const chosen = await query(
      this.em,
      sql<{ id: string }>`select e.member_id as id
        from groups r, lateral ${sql.raw(membersOfRow)} e
        where r.project_id = ${this.projectId} and r.id = ${this.group.id} and ${condition}`,
    );
    return chosen.map(({ id }) => id);
  }
}

/** Removes members from `from`; those that are not in it are added to `to`. */
function move(members: readonly { id: string }[], from: Set<string>, to: Set<string>): void {
  for (const { id } of members) if (!from.delete(id)) to.add(id);
}

const valuesOf = ({ displayName, externalId }: GroupRecord): GroupValues => ({
  displayName,
  externalId: externalId ?? null,
});

function changedValues(before: GroupValues, after: GroupValues): Record<string, Partial<GroupValues>> {
  const names = (['displayName', 'externalId'] as const).filter((name) => before[name] !== after[name]);
  const only = (values: GroupValues) => Object.fromEntries(names.map((name) => [name, values[name]]));
  return names.length === 0 ? {} : { before: only(before), after: only(after) };
}

/** Maximum number of ids in a refusal. */
const maxNamed = 10;

function checkIds(userIds: readonly string[]): void {
  const others = userIds.filter((id) => !isUuid(id));
  if (others.length > 0) refuseMembers(others);
}

/** @param unknown the ids that belong to no user of the project, if known */
function refuseMembers(unknown: readonly string[] = []): never {
  const named = unknown.slice(0, maxNamed).map((id) => id.slice(0, 80));
  const more = unknown.length > maxNamed ? ` and ${unknown.length - maxNamed} more` : '';
  const which = named.length > 0 ? `; invalid: ${named.join(', ')}${more}` : '';
  refuse({ code: 'invalid', field: 'members', reason: `must be ids of users or groups of this project${which}` });
}

function groupOfRow(row: GroupRow): GroupRecord {
  return {
    id: row.id,
    displayName: row.display_name,
    externalId: row.external_id,
    provenance: row.provenance,
    version: row.version,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
