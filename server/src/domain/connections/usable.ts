import { sql } from '../kernel/sql.ts';

/**
 * SQL condition: people can sign in by connection `c`: it is enabled, and its organization, if it has one, is active, in a project that has
 * organizations switched on.
 */
export const isUsable = sql`c.state = 'enabled' and (c.organization_id is null or exists (
  select 1 from organizations o join projects p on p.id = o.project_id and p.organizations_enabled
  where o.project_id = c.project_id and o.id = c.organization_id and o.state = 'active'))`;
