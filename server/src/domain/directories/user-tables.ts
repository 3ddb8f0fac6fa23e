import { execute, sql } from '../kernel/sql.ts';
import { countErasure } from '../projects/erasures.ts';
import { contactsOf, foldCase } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import type { UserTables } from '../users/user-tables.ts';

export const directoryTables: UserTables = {
  tables: ['scim_request_records'],
  /** Deletes records of the user's id, and records that contain one of their names. */
  erase: async (em, user) => {
    // Records still queued in any process are then written without texts; this waits for a write in progress.
    await countErasure(em, user.project.id);
    await execute(
      em,
      sql`delete from scim_request_records r
          where r.resource_id = ${user.id} or (r.project_id = ${user.project.id} and exists (
            select 1 from unnest(${namesOf(user)}::text[]) as name
            where strpos(lower(concat_ws(' ', r.path, r.detail, r.request_body, r.response_body)), name) > 0))`,
    );
  },
  exportRows: {
    directoryRequests: ({ id, project }) => sql`
      select r.id, r.at, r.token_name as "tokenName", r.method, r.path, r.status, r.detail,
        r.request_body as "requestBody", r.response_body as "responseBody"
      from scim_request_records r where r.project_id = ${project.id} and r.resource_id = ${id}`,
  },
};

function namesOf(user: User): string[] {
  const emails = contactsOf(user.attributes, 'emails').map(({ value }) => value);
  const names = [user.userName, user.email, user.phone, user.externalId, user.displayName, ...emails];
  return names.flatMap((name) => (name ? [foldCase(name)] : []));
}
