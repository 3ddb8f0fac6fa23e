import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../../kernel/problem.ts';
import { isUuid } from '../../kernel/secret.ts';
import { type Fragment, query, sql } from '../../kernel/sql.ts';
import type { Group } from '../group.entity.ts';
import { containsItself, membersOfRow } from '../memberships.ts';
import { inBatches, packed } from './packed-ids.ts';

export interface GroupValues {
  displayName: string;
  externalId: string | null;
}

export type GroupRecord = Pick<
  Group,
  'id' | 'displayName' | 'externalId' | 'provenance' | 'version' | 'createdAt' | 'updatedAt'
>;

/** A locked group during a change. Members are ids of users and groups of the same home. */
export interface GroupEdit {
  readonly group: Readonly<GroupRecord>;
  set(values: Partial<GroupValues>): void;
  /** Skips current members. Refuses `invalid` if one is not a user or group of the same home, or contains this group. */
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

/** Class of the advisory locks, one for each project: serializes the additions of groups to its groups. */
const nestingLock = 731_691;

export class Editing implements GroupEdit {
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
    checkIds(userIds);
    const ids = [...new Set(userIds)];
    const missing: string[] = [];
    for (let from = 0; from < ids.length; from += batchSize) {
      missing.push(...(await this.addBatch(ids.slice(from, from + batchSize))));
    }
    if (missing.length > 0) refuseMembers(missing.sort());
  }

  /** Returns the ids that belong to no user or group of the home. Each id is looked up by key, see `GroupMembers`. */
  private async addBatch(ids: readonly string[]): Promise<string[]> {
    const project = sql`${this.projectId}::uuid`;
    const known = (table: 'users' | 'groups') => sql`select o.id from wanted w cross join lateral (
      select o.id from ${sql.table(table)} o where o.project_id = ${project} and o.id = w.id
        and o.organization_id is not distinct from ${this.group.organizationId ?? null}::uuid limit 1) o`;
    const [result] = await query(
      this.em,
      sql<{ missing: string[]; added: { id: string }[]; nested: { id: string }[] }>`
        with wanted as (select distinct unnest(${ids}::uuid[]) as id),
               present as (${known('users')}),
               added as (insert into group_members (project_id, group_id, user_id, created_at)
                         select ${project}, ${this.group.id}::uuid, id, ${this.now}::timestamptz from present
                         on conflict do nothing returning user_id as id),
               inner_groups as (${known('groups')}),
               nested as (insert into group_nestings (project_id, group_id, member_id, created_at)
                          select ${project}, ${this.group.id}::uuid, id, ${this.now}::timestamptz
                          from inner_groups on conflict do nothing returning member_id as id)
          select array(select id::text from wanted except select id::text from present
                       except select id::text from inner_groups order by 1) as missing,
                 array(select to_jsonb(added) from added) as added, array(select to_jsonb(nested) from nested) as nested`,
      { prepare: 'groups.add-missing' },
    );
    const { missing = [], added = [], nested = [] } = result ?? {};
    move(
      [...added, ...nested].map(({ id }) => id),
      this.removed,
      this.added,
    );
    this.hasNested ||= nested.length > 0;
    return missing;
  }

  async addUsers(userIds: readonly string[]): Promise<void> {
    const ids = userIds.filter(isUuid);
    const [known] = await query(
      this.em,
      sql<{ count: number }>`select count(*)::int as count from users
        where project_id = ${this.projectId} and id = any(${ids}::uuid[])
          and organization_id is not distinct from ${this.group.organizationId ?? null}::uuid`,
    );
    if (known?.count !== new Set(userIds).size) {
      refuse({ code: 'invalid', field: 'userIds', reason: 'must be ids of users of this project' });
    }
    await this.add(ids);
  }

  async remove(userIds: readonly string[]): Promise<void> {
    const ids = [...new Set(userIds.filter(isUuid))];
    for (let from = 0; from < ids.length; from += batchSize) {
      const batch = ids.slice(from, from + batchSize);
      const rows = await query(
        this.em,
        sql<{ id: string }>`
        with members as (delete from group_members where ${this.own} and user_id = any(${batch}::uuid[])
                         returning user_id as id),
             nested as (delete from group_nestings where ${this.own} and member_id = any(${batch}::uuid[])
                        returning member_id as id)
          select id from members union all select id from nested`,
        { prepare: 'groups.remove' },
      );
      move(
        rows.map(({ id }) => id),
        this.added,
        this.removed,
      );
    }
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
    // As text: pg would compose the array element by element. `except` never compares each id with each.
    const wanted = sql`(select unnest(${`{${userIds.join(',')}}`}::uuid[]))`;
    const others = (table: string, column: string) =>
      sql`array((select ${sql.id(column)} from ${sql.table(table)} where ${this.own}) except ${wanted})`;
    const [gone] = await query(
      this.em,
      sql<{ ids: Buffer | null }>`
        with members as (delete from group_members
                         where ${this.own} and user_id = any(${others('group_members', 'user_id')})
                         returning user_id as id),
             nested as (delete from group_nestings
                        where ${this.own} and member_id = any(${others('group_nestings', 'member_id')})
                        returning member_id as id)
          select ${packed('id')} as ids from (select id from members union all select id from nested) gone`,
    );
    for await (const ids of inBatches(gone?.ids)) move(ids, this.added, this.removed);
    const [fresh] = await query(
      this.em,
      sql<{ ids: Buffer | null }>`select ${packed('id')} as ids from (
        ${wanted} except ((select user_id from group_members where ${this.own})
                          union all (select member_id from group_nestings where ${this.own}))) fresh(id)`,
    );
    const missing: string[] = [];
    for await (const ids of inBatches(fresh?.ids, batchSize)) missing.push(...(await this.addBatch(ids)));
    if (missing.length > 0) refuseMembers(missing.sort());
  }

  async countMembers(most: number): Promise<number> {
    const [row] = await query(
      this.em,
      sql<{ count: number }>`select count(*)::int as count from (
        select 1 from groups r, lateral ${sql.raw(membersOfRow)} e
        where r.project_id = ${this.projectId} and r.id = ${this.group.id} limit ${most}::int) counted`,
      { prepare: 'groups.count-members' },
    );
    return row?.count ?? 0;
  }

  /** The users whom the change removes; undefined if they are more than `most`, or groups are among them. */
  async removedUsers(most: number): Promise<string[] | undefined> {
    const ids = [...this.removed];
    if (ids.length > most) return undefined;
    const known = sql`select 1 from groups where project_id = ${this.projectId}::uuid and id = any(${ids}::uuid[])`;
    const [row] = await query(this.em, sql<{ nested: boolean }>`select exists (${known}) as nested`);
    return row?.nested ? undefined : ids;
  }

  /** The users of the group; undefined if they are more than `most`, or groups are among its members. */
  async users(most: number): Promise<string[] | undefined> {
    const rows = await query(
      this.em,
      sql<{
        id: string;
        kind: string;
      }>`select e.member_id as id, e.kind from groups r, lateral ${sql.raw(membersOfRow)} e
        where r.project_id = ${this.projectId} and r.id = ${this.group.id} order by e.kind limit ${most}::int + 1`,
    );
    const isKnown = rows.length <= most && rows.every(({ kind }) => kind === 'User');
    return isKnown ? rows.map(({ id }) => id) : undefined;
  }

  async membersWhere(condition: Fragment): Promise<string[]> {
    const [chosen] = await query(
      this.em,
      sql<{ ids: Buffer | null }>`select ${packed('e.member_id')} as ids
        from groups r, lateral ${sql.raw(membersOfRow)} e
        where r.project_id = ${this.projectId} and r.id = ${this.group.id} and ${condition}`,
    );
    const all: string[] = [];
    for await (const ids of inBatches(chosen?.ids)) for (const id of ids) all.push(id);
    return all;
  }
}

/** Members that one statement adds or removes. */
const batchSize = 2000;

/** Removes members from `from`; those that are not in it are added to `to`. */
function move(ids: readonly string[], from: Set<string>, to: Set<string>): void {
  for (const id of ids) if (!from.delete(id)) to.add(id);
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
