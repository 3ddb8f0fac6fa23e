import { isDeepStrictEqual } from 'node:util';
import { refuse } from '../../kernel/problem.ts';
import { type Executing, execute, type Fragment, query, sql } from '../../kernel/sql.ts';
import { customUrn } from './definition.ts';
import { type CustomSchema, customName, customValuesOf, type ValueKey, valueKeys } from './values.ts';

type Attributes = Readonly<Record<string, unknown>>;

/** A change of a user's custom values, checked against the definitions of this version. */
export interface CustomWrite {
  version: number;
  keys: readonly ValueKey[];
}

/** Undefined if the custom values do not change. Refuses `invalid`. @param schema `after` was checked against it */
export function customWrite(
  schema: CustomSchema | undefined,
  before: Attributes,
  after: Attributes,
): CustomWrite | undefined {
  if (isDeepStrictEqual(before[customUrn], after[customUrn])) return undefined;
  if (!schema) throw new Error('custom values changed without their definitions');
  return { version: schema.version, keys: valueKeys(schema, customValuesOf(after)) };
}

/**
 * SQL: the project, locked against changes of its definitions; no row if they no longer have this version. Every
 * statement that writes custom values depends on it.
 */
export function currentSchema(projectId: string, { version }: CustomWrite): Fragment {
  return sql`select project_id from custom_schemas
    where project_id = ${projectId}::uuid and version = ${version}::int for share`;
}

/** SQL: writes the index of the users in `written` (`project_id`, `id`, `organization_id`), who have no entries yet. */
export function indexedValues({ keys }: CustomWrite, written: Fragment): Fragment {
  return sql`insert into custom_values (project_id, user_id, organization_id, attribute, key, is_unique)
    select u.project_id, u.id, u.organization_id, k.attribute, k.key, k.is_unique from ${written} u, ${rowsOf(keys)}
    on conflict (project_id, user_id, attribute, key) do nothing`;
}

/** SQL: deletes the entries of the users in `written` that are not among the new ones. */
export function forgottenValues({ keys }: CustomWrite, written: Fragment): Fragment {
  return sql`delete from custom_values v using ${written} u where v.project_id = u.project_id and v.user_id = u.id
    and (v.attribute, v.key) not in (select k.attribute, k.key from ${rowsOf(keys)})`;
}

/** Writes the index of one user in the caller's transaction. Refuses `taken`, and `conflict` if the definitions have changed. */
export async function writeIndex(em: Executing, projectId: string, userId: string, write: CustomWrite): Promise<void> {
  await checkCurrent(em, projectId, write);
  const user = sql`(select project_id, id, organization_id from users
    where project_id = ${projectId}::uuid and id = ${userId}::uuid)`;
  const taken = await takenValue(em, user, write);
  if (taken !== undefined) refuse({ code: 'taken', what: 'user', field: taken });
  await execute(em, forgottenValues(write, user));
  await execute(em, indexedValues(write, user));
}

/** Refuses `conflict` if the definitions have changed since they were read: the caller reads them again. */
export async function checkCurrent(em: Executing, projectId: string, write: CustomWrite): Promise<void> {
  const [current] = await query(em, currentSchema(projectId, write));
  if (!current) refuse({ code: 'conflict', what: 'custom-attribute' });
}

/**
 * The unique custom attribute for which another user of the same home has the value; undefined if there is none.
 *
 * @param user SQL: one user (`project_id`, `id`, `organization_id`)
 */
export async function takenValue(
  em: Executing,
  user: Fragment,
  write: CustomWrite | undefined,
): Promise<string | undefined> {
  const unique = write?.keys.filter(({ isUnique }) => isUnique) ?? [];
  if (unique.length === 0) return undefined;
  const [taken] = await query(
    em,
    sql<{ attribute: string }>`select v.attribute from custom_values v, ${rowsOf(unique)}
        , ${user} u
      where v.project_id = u.project_id and v.is_unique and v.attribute = k.attribute and v.key = k.key
        and v.organization_id is not distinct from u.organization_id and v.user_id <> u.id limit 1`,
  );
  return taken && customName(taken.attribute);
}

function rowsOf(keys: readonly ValueKey[]): Fragment {
  return sql`unnest(${keys.map(({ attribute }) => attribute)}::text[], ${keys.map(({ key }) => key)}::text[],
    ${keys.map(({ isUnique }) => isUnique)}::boolean[]) as k(attribute, key, is_unique)`;
}
