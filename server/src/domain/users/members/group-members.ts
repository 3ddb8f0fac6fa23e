import type { Database } from '../../kernel/database.ts';
import { type Fragment, query, sql } from '../../kernel/sql.ts';
import { leadingWithin } from './nested-lists.ts';
import { inBatches, packed } from './packed-ids.ts';

/** A user or group in a group. */
export interface Member {
  id: string;
  kind: Kind;
  /** At most {@link longestName} characters. */
  displayName: string | null;
}

type Kind = 'User' | 'Group';

/** A longer name of a member is cut: members are many, and their names may have thousands of characters. */
const longestName = 256;

interface MemberRow extends Member {
  group: string;
}

/** The tables of members, and of those who are members. */
const kinds = [
  { kind: 'User', table: 'group_members', column: 'user_id', named: 'users' },
  { kind: 'Group', table: 'group_nestings', column: 'member_id', named: 'groups' },
] as const;

/**
 * Reads the members of groups, for responses. Each member's name is read by its key: with the statistics of a table that has
 * just grown, a join could compare every membership with every user of the project.
 */
export class GroupMembers {
  constructor(private readonly deps: { db: Database }) {}

  /** The members of each group, users before groups, by their ids; undefined if they are more than `most` together. */
  async few(projectId: string, groupIds: readonly string[], most: number): Promise<Map<string, Member[]> | undefined> {
    const members = new Map<string, Member[]>(groupIds.map((id) => [id, []]));
    if (groupIds.length === 0) return members;
    // `offset 0`: each group's members are looked up, and reading ends at the limit.
    const arms = kinds.map(
      ({
        kind,
        table,
        column,
        named,
      }) => sql`(select m.${sql.id(column)} as id, ${sql.lit(kind)} as kind, named."displayName"
        from ${sql.table(table)} m cross join lateral (${nameOf(named, projectId, sql`m.${sql.id(column)}`)}) named
        where m.project_id = ${projectId}::uuid and m.group_id = g.id offset 0)`,
    );
    const rows = await query(
      this.deps.db.alone,
      sql<MemberRow>`select g.id as group, m.* from unnest(${groupIds}::uuid[]) g(id)
        cross join lateral (${sql.join(arms, sql` union all `)}) m limit ${most}::int + 1`,
      { prepare: 'groups.few-members' },
    );
    if (rows.length > most) return undefined;
    for (const { group, ...member } of rows) members.get(group)?.push(member);
    for (const each of members.values()) each.sort(usersFirst);
    return members;
  }

  /** The number of leading groups that have at most `budget` members together. */
  leading(projectId: string, groupIds: readonly string[], budget: number): Promise<number> {
    const elements = (id: Fragment) =>
      sql.join(
        kinds.map(
          ({ table }) =>
            sql`select 1 from ${sql.table(table)} m where m.project_id = ${projectId}::uuid and m.group_id = ${id}`,
        ),
        sql` union all `,
      );
    return leadingWithin(this.deps.db.alone, groupIds, elements, budget);
  }

  /**
   * The number of members of a group, and the length of their names as JSON, in bytes; counts at most `most` members.
   */
  async size(projectId: string, groupId: string, most: number): Promise<{ members: number; nameBytes: number }> {
    const names = kinds.map(({ table, column, named }) => {
      const members = sql`select m.${sql.id(column)} as id from ${sql.table(table)} m
        where m.project_id = ${projectId}::uuid and m.group_id = ${groupId}::uuid limit ${most}::int`;
      return sql`(select named."displayName" as name from (${members}) m
        cross join lateral (${nameOf(named, projectId, sql`m.id`)}) named)`;
    });
    const [row] = await query(
      this.deps.db.alone,
      sql<{ members: number; bytes: number }>`select count(*)::int as members,
          coalesce(sum(octet_length(to_json(name)::text)), 0)::int as bytes from (${sql.join(names, sql` union all `)}) all_names`,
    );
    return { members: row?.members ?? 0, nameBytes: row?.bytes ?? 0 };
  }

  /**
   * The members of one group as of one moment, users before groups, in batches: their ids are read by one statement, 16
   * bytes each, so that no connection is held while a slow client reads. A member who is erased meanwhile is left out.
   */
  async *each(projectId: string, groupId: string, batch: number): AsyncGenerator<Member[]> {
    const selected = kinds.map(
      ({ table, column, kind }) => sql`(select ${packed(column)}
        from ${sql.table(table)} where project_id = ${projectId}::uuid and group_id = ${groupId}::uuid) as ${sql.id(kind)}`,
    );
    const [ids] = await query(this.deps.db.alone, sql<Record<Kind, Buffer | null>>`select ${sql.join(selected)}`, {
      prepare: 'groups.member-ids',
    });
    for (const { kind, named } of kinds) {
      for await (const some of inBatches(ids?.[kind], batch)) yield await this.named(projectId, kind, named, some);
    }
  }

  private named(projectId: string, kind: Kind, table: 'users' | 'groups', ids: readonly string[]): Promise<Member[]> {
    return query(
      this.deps.db.alone,
      sql<Member>`select w.id, ${sql.lit(kind)} as kind, named."displayName"
        from unnest(${ids}::uuid[]) with ordinality w(id, n)
          cross join lateral (${nameOf(table, projectId, sql`w.id`)}) named order by w.n`,
      { prepare: `groups.names-of-${table}` },
    );
  }
}

/** SQL: the name of a user or group; no row if there is none. */
function nameOf(table: 'users' | 'groups', projectId: string, id: Fragment): Fragment {
  return sql`select left(o.display_name, ${sql.lit(longestName)}) as "displayName" from ${sql.table(table)} o
    where o.project_id = ${projectId}::uuid and o.id = ${id} limit 1`;
}

function usersFirst(a: Member, b: Member): number {
  if (a.kind !== b.kind) return a.kind === 'User' ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
