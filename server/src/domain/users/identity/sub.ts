import { isUuid } from '../../kernel/secret.ts';
import { type Executing, type Fragment, query, type Statement, sql } from '../../kernel/sql.ts';

/** A user, as far as `sub` depends on it. */
export interface WithSub {
  id: string;
  subject?: string | null | undefined;
}

/**
 * `sub` of a user in tokens and wherever applications read it: `subject` of a user who came from another system with one, else the
 * id (decisions/0375). Unique in the project, not in the instance: clients see users of their own project only.
 */
export function subOf({ id, subject }: WithSub): string {
  return subject ?? id;
}

/** SQL: {@link subOf} the row. */
export function subColumn(row: string): Fragment {
  return sql`coalesce(${sql.ref(`${row}.subject`)}, ${sql.ref(`${row}.id`)}::text)`;
}

/** The id of the user with this `sub`. Null if the project has none. */
export async function userIdOfSub(on: Executing, projectId: string, sub: string): Promise<string | null> {
  const statement = sql<{ id: string }>`
    select id from users where project_id = ${projectId}::uuid and subject = ${sub}::text
    union all select id from users where project_id = ${projectId}::uuid and id = ${isUuid(sub) ? sub : null}::uuid and subject is null`;
  const [user] = await query(on, statement, { prepare: 'users.by-sub' });
  return user?.id ?? null;
}

/** By user id: the `subject` of those that have one. */
export async function subjectsOf(
  on: Executing,
  projectId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(userIds)].filter(isUuid);
  if (ids.length === 0) return new Map();
  const statement = sql<{ id: string; subject: string }>`select id, subject from users
    where project_id = ${projectId}::uuid and id = any(${ids}::uuid[]) and subject is not null`;
  const rows = await query(on, statement, { prepare: 'users.subjects' });
  return new Map(rows.map(({ id, subject }) => [id, subject]));
}

/** SQL: users of the projects whose `subject` is the id of another user, or of a client. */
export function ambiguousSubjects(projectIds: readonly string[]): Statement<{ id: string; subject: string }> {
  return sql<{ id: string; subject: string }>`with named as materialized (
      select project_id, id, subject, subject::uuid as other from users
      where project_id = any(${projectIds}::uuid[]) and subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
    select id, subject from named n
    where exists (select 1 from users u where u.project_id = n.project_id and u.id = n.other and u.id <> n.id)
      or exists (select 1 from clients c where c.project_id = n.project_id and c.id = n.other)
    limit 1`;
}

/** Whether a text can be `sub`: at most 255 printable ASCII characters (OpenID Connect Core §2). */
export function isSubject(text: string): boolean {
  return /^[!-~](?:[ -~]{0,253}[!-~])?$/.test(text);
}
