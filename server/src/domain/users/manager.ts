import { isUuid } from '../kernel/secret.ts';
import { type Executing, query, sql } from '../kernel/sql.ts';
import { type Home, isAt } from './identity/home.ts';

/** The enterprise extension, under which a user's attributes name the manager (RFC 7643 §4.3). */
export const enterpriseUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const value = `r.attributes->'${enterpriseUrn}'->'manager'->>'value'`;

/** SQL: the `displayName` of the manager of the row `r`; null if the manager is not a user of the same home. */
export const managerName = `(select m.display_name from users m where m.project_id = r.project_id
  and m.organization_id is not distinct from r.organization_id and m.id =
  case when ${value} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (${value})::uuid end)`;

type Attributes = Readonly<Record<string, unknown>>;

/** The id that the attributes name as manager, if any. */
export function managerIdOf(attributes: Attributes): string | null {
  const { manager } = (attributes[enterpriseUrn] ?? {}) as { manager?: { value?: unknown } };
  return isUuid(manager?.value) ? manager.value : null;
}

/** Like {@link managerName}, for attributes that are about to be shown. */
export async function managerNameOf(em: Executing, home: Home, attributes: Attributes): Promise<string | null> {
  const id = managerIdOf(attributes);
  if (id === null) return null;
  const named = sql<{ name: string | null }>`
    select r.display_name as name from users r where ${isAt(home)} and r.id = ${id}::uuid`;
  const [manager] = await query(em, named, { prepare: 'users.manager-name' });
  return manager?.name ?? null;
}
