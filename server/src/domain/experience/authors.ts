import { type Fragment, sql } from '../kernel/sql.ts';

/**
 * SQL: two statements that remove the names of users of a project who changed drafts or published versions: only admins
 * do, and they are users of the console's project. The tables are small.
 */
export function withoutAuthors(projectId: string, names: readonly string[]): readonly Fragment[] {
  const areAdmins = sql`(select built_in = 'console' from projects where id = ${projectId}::uuid)`;
  return [
    sql`update experience_versions set published_by = null where ${areAdmins} and published_by = any(${names}::text[])`,
    sql`update experience_drafts set updated_by = null where ${areAdmins} and updated_by = any(${names}::text[])`,
  ];
}
