import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';
import { hashedMarks, marksOf } from './concerned.ts';

export const directoryTables: UserTables = {
  tables: ['scim_request_records'],
  /** Removes the texts of records that concern the user; that a request was made stays visible. */
  erase: async (em, user, now) => {
    const projectId = user.project.id;
    await lockRecords(em, [projectId], 'shared');
    const marks = marksOf(user);
    await execute(
      em,
      sql`insert into scim_erasures (project_id, id, at, marks)
          values (${projectId}, ${user.id}, ${now}, ${hashedMarks(projectId, marks)}::text[])`,
    );
    await execute(
      em,
      sql`update scim_request_records set path = ${bare}, detail = null, request_body = null, response_body = null, concerns = '{}'
          where project_id = ${projectId} and (concerns is null or concerns && ${marks}::text[])`,
    );
  },
  exportRows: {
    directoryRequests: (user) => sql`
      select r.id, r.at, r.token_name as "tokenName", r.method, r.path, r.status, r.detail,
        r.request_body as "requestBody", r.response_body as "responseBody"
      from scim_request_records r where r.project_id = ${user.project.id} and r.concerns && ${marksOf(user)}::text[]`,
  },
};

/** SQL: the path of a record without query and without anything but the type and id of the resource. */
const bare: Fragment = sql`coalesce(substring(path from ${'^/(?:Users|Groups|Bulk)(?:/[0-9a-fA-F-]{36})?(?=$|[/?])'}), '/')`;

/** Class of the advisory locks, one for each project. */
const recordsLock = 731_690;

/**
 * Until the transaction ends: `shared` while users are erased, `alone` while records are written. So a record either is there when
 * its user is erased, or is written when the erasure can be seen.
 */
export async function lockRecords(
  em: EntityManager,
  projectIds: readonly string[],
  as: 'shared' | 'alone',
): Promise<void> {
  const lock = as === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  await query(
    em,
    sql`select ${lock}(${recordsLock}, key) from (
        select distinct hashtext(id) as key from unnest(${projectIds}::text[]) as id order by key) as keys`,
  );
}
