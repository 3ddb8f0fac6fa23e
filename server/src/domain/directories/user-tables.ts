import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';
import { hashedMarks, marksOf } from './concerned.ts';

/** SQL: the path of a record, reduced to the type and id of the resource. */
const bare: Fragment = sql`coalesce(substring(path from ${'^/(?:Users|Groups|Bulk)(?:/[0-9a-fA-F-]{36})?(?=$|[/?])'}), '/')`;

/** SQL: the assignments that remove the texts of a record; the request itself stays visible. */
const withoutTexts: Fragment = sql`path = ${bare}, detail = null, request_body = null, response_body = null, ignored = null,
  concerns = '{}'`;

export const directoryTables: UserTables = {
  tables: ['scim_request_records'],
  handOver: null,
  /** Removes the texts of records of the user's directory that concern the user: other directories have users with the same names. */
  erase: ({ projectId, users }, now) => {
    const marks = users.map(marksOf);
    const homes = [...new Set(users.map(({ organizationId }) => organizationId ?? projectId))];
    const erasures = users.map(({ id }, at) => ({ id, marks: hashedMarks(projectId, marks[at] ?? []) }));
    return [
      sql`insert into scim_erasures (project_id, id, at, marks)
        select ${projectId}::uuid, (x->>'id')::uuid, ${now}::timestamptz, array(select jsonb_array_elements_text(x->'marks'))
        from jsonb_array_elements(${JSON.stringify(erasures)}::jsonb) x`,
      sql`update scim_request_records set ${withoutTexts}
        where project_id = ${projectId} and coalesce(organization_id, project_id) = any(${homes}::uuid[])
          and (concerns is null or concerns && ${marks.flat()}::text[])`,
    ];
  },
  exportRows: {
    directoryRequests: (user) => sql`
      select r.id, r.at, r.token_name as "tokenName", r.method, r.path, r.status, r.detail,
        r.request_body as "requestBody", r.response_body as "responseBody"
      from scim_request_records r where r.project_id = ${user.project.id} and r.concerns && ${marksOf(user)}::text[]
        and r.organization_id is not distinct from ${user.organizationId ?? null}::uuid`,
  },
};

/** Class of the advisory locks, one for each project. */
const recordsLock = 731_690;

/**
 * SQL expression: holds back the writer of records until the transaction ends. So a record either exists when its user
 * is erased, or its writer sees the erasure.
 */
export const recordsHeld = (projectId: string): Fragment =>
  sql`pg_advisory_xact_lock_shared(${sql.lit(recordsLock)}, hashtext(${projectId}::text))`;

/** Waits for erasures in these projects, and holds them back until the transaction ends: to write records. */
export async function lockRecords(em: EntityManager, projectIds: readonly string[]): Promise<void> {
  await query(
    em,
    sql`select pg_advisory_xact_lock(${sql.lit(recordsLock)}, key) from (
        select distinct hashtext(id) as key from unnest(${projectIds}::text[]) as id order by key) as keys`,
  );
}

/** Removes the texts of all records of the project. Holds back the writer of records until the transaction ends. */
export async function clearTexts(em: EntityManager, projectId: string): Promise<void> {
  await lockRecords(em, [projectId]);
  await execute(em, sql`update scim_request_records set ${withoutTexts} where project_id = ${projectId}`);
}

/**
 * SQL: those of these hashed marks that belong to recently erased users. Looks up each mark, so the cost does not
 * depend on the number of erased users.
 */
export function erasedAmong(marks: readonly string[]): Statement<{ mark: string }> {
  return sql<{ mark: string }>`select mark from unnest(${marks}::text[]) as mark
    where exists (select 1 from scim_erasures e where e.marks @> array[mark])`;
}
