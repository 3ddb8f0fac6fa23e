import { isUuid } from '../kernel/secret.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';

/** SQL: the id of the organization of a project with this slug or id; null: there is none, or it is suspended. */
export function organizationNamed(projectId: string, name: string): Fragment {
  const is = isUuid(name) ? sql`o.id = ${name}::uuid` : sql`o.slug = ${name}::text`;
  return sql`(select o.id from organizations o where o.project_id = ${projectId}::uuid and ${is} and o.state = 'active')`;
}

/** The same, for the statement that follows. */
export async function findOrganization(on: Executing, projectId: string, name: string): Promise<string | null> {
  const statement = sql<{ id: string | null }>`select ${organizationNamed(projectId, name)} as id`;
  const [row] = await query(on, statement, { prepare: 'organizations.named' });
  return row?.id ?? null;
}

/** The name of an organization of a project; null: there is none. */
export async function organizationNameOf(on: Executing, projectId: string, id: string): Promise<string | null> {
  const [row] = await query(
    on,
    sql<{ name: string }>`select name from organizations where project_id = ${projectId}::uuid and id = ${id}::uuid`,
  );
  return row?.name ?? null;
}
