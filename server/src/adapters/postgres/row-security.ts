import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * The role of statements within a project (PostgreSQL's row security). It owns no table, so the policies of the tables of
 * tenants apply to it: it sees the rows of the project in the setting `latchkey.project` only. A connection uses this
 * role during a request for one project (`driver.ts`), and its own user for work on all projects. The databases of one
 * server share the role.
 */
export const tenantRole = 'latchkey_tenant';

/** The reason why row security cannot be enforced, and the remedy. */
export const tenantRoleMissing = `DATABASE_ROW_SECURITY needs the role ${tenantRole}. As an administrator of PostgreSQL, run: create role ${tenantRole} nologin; grant ${tenantRole} to <the user of DATABASE_URL>;`;

/** SQLSTATE: insufficient privilege. */
const notAllowed = '42501';
/** SQLSTATE: duplicate object, unique violation. */
const alreadyThere = ['42710', '23505'];

/**
 * Creates {@link tenantRole}, if the user may, and grants it every table, present and future. The table's owner calls it
 * after each migration. @returns false if the role does not exist and this user may not create it
 */
export async function grantTenantRole(em: EntityManager): Promise<boolean> {
  if (!(await hasTenantRole(em)) && !(await createRole(em))) return false;
  const rows = 'select, insert, update, delete on';
  // The schema of the domain, and that of the jobs, which the first start creates later. Every grant makes
  // all connections plan their statements again: run it only if one is missing.
  const schemas = await em.execute<{ name: string }[]>(
    `select distinct quote_ident(nspname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where nspname in (current_schema(), 'jobs') and relkind in ('r', 'p')
       and not has_table_privilege(?, c.oid, 'insert')`,
    [tenantRole],
  );
  if (schemas.length === 0) return true;
  for (const { name } of schemas) {
    await em.execute(`grant usage on schema ${name} to ${tenantRole}`);
    await em.execute(`grant ${rows} all tables in schema ${name} to ${tenantRole}`);
    await em.execute(`grant usage, select on all sequences in schema ${name} to ${tenantRole}`);
  }
  const byDefault = 'alter default privileges grant';
  await em.execute(`${byDefault} ${rows.replace(' on', '')} on tables to ${tenantRole}`);
  await em.execute(`${byDefault} usage, select on sequences to ${tenantRole}`);
  await em.execute(`${byDefault} usage on schemas to ${tenantRole}`);
  return true;
}

/** Whether this connection's user may assume {@link tenantRole}. */
export async function hasTenantRole(em: EntityManager): Promise<boolean> {
  const [found] = await em.execute<{ may: boolean }[]>(
    `select pg_has_role(current_user, oid, 'member') as may from pg_roles where rolname = ?`,
    [tenantRole],
  );
  return found?.may === true;
}

async function createRole(em: EntityManager): Promise<boolean> {
  try {
    await em.fork().transactional(async (own) => {
      await own.execute(`create role ${tenantRole} nologin`);
      await own.execute(`grant ${tenantRole} to current_user`);
    });
    return true;
  } catch (error) {
    // Another database of the server may have created it in the meantime.
    if ([notAllowed, ...alreadyThere].includes((error as { code?: string }).code ?? ''))
      return hasTenantRole(em.fork());
    throw error;
  }
}
