import type { EntityManager } from '@mikro-orm/postgresql';
import type { Page, PageRequest } from '../kernel/page.ts';
import { joined, query, type Sql, sql } from '../kernel/statement.ts';
import { foldCase } from './login.ts';
import { User } from './user.entity.ts';

/** Which users of a project; what is absent is not asked. */
export interface UserFilter {
  /** The beginning of a userName, login e-mail or displayName, in any case, or of an externalId as it is. */
  search?: string | undefined;
  active?: boolean | undefined;
  provenance?: User['provenance'] | undefined;
}

/** Newest first. */
export async function listUsers(
  em: EntityManager,
  projectId: string,
  filter: UserFilter,
  { first, after }: PageRequest,
): Promise<Page<User>> {
  const beyond = after === null ? sql`` : sql`and u.id < ${after}`;
  const found = await query<{ id: string }>(
    em,
    sql`select u.id from users u where ${matching(projectId, filter)} ${beyond} order by u.id desc limit ${first + 1}`,
  );
  const ids = found.slice(0, first).map(({ id }) => id);
  const users = ids.length === 0 ? [] : await em.find(User, { id: { $in: ids } }, { orderBy: { id: 'desc' } });
  return { items: users, hasNextPage: found.length > first };
}

export async function countUsers(em: EntityManager, projectId: string, filter: UserFilter): Promise<number> {
  const [row] = await query<{ count: string }>(
    em,
    sql`select count(*) as count from users u where ${matching(projectId, filter)}`,
  );
  return Number(row?.count ?? 0);
}

function matching(projectId: string, { search, active, provenance }: UserFilter): Sql {
  const start = (search ?? '').trim();
  const conditions = [sql`u.project_id = ${projectId}`];
  if (active !== undefined) conditions.push(sql`u.active = ${active}`);
  if (provenance !== undefined) conditions.push(sql`u.provenance = ${provenance}`);
  if (start !== '') conditions.push(startingWith(start));
  return joined(conditions, ' and ');
}

/**
 * A range in byte order for each column: where few begin so, each is a walk along its own index; where many do, the
 * walk along the newest users soon has a page full.
 */
function startingWith(start: string): Sql {
  const key = foldCase(start);
  const within = (column: Sql, from: string) =>
    sql`${column} collate "C" >= ${from} and ${column} collate "C" < ${`${from}\u{10ffff}`}`;
  return sql`(${within(sql`u.user_name_key`, key)} or ${within(sql`u.email_key`, key)}
    or ${within(sql`lower(u.display_name)`, key)} or ${within(sql`u.external_id`, start)})`;
}
