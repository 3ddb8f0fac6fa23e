import type { EntityManager } from '@mikro-orm/postgresql';
import { Client } from '../clients/client.entity.ts';
import { type Page, type PageRequest, pageOf, type Total, totalOf } from '../kernel/page.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import { activeMemberships } from '../organizations/membership.ts';
import { type TenantKey } from '../projects/tenant.ts';
import { rolesHeld } from '../roles/role-lists.ts';
import { groupsOf, insideGroups } from '../users/memberships.ts';
import { AccessRule } from './access-rule.entity.ts';
import { clientColumns, hasSomeAccess } from './has-access.ts';

/** The rules of a client, newest first. */
export function rulesOf(em: EntityManager, { project, id }: TenantKey, page: PageRequest): Promise<Page<AccessRule>> {
  return pageOf(em, AccessRule, { client: [project.id, id] as [string, string] }, page);
}

export function countRules(on: Executing, { project, id }: TenantKey): Promise<Total> {
  return totalOf(on, sql`from access_rules where project_id = ${project.id}::uuid and client_id = ${id}::uuid`);
}

/** The number of active users who may use a client. */
export function countUsers(on: Executing, { project, id, access }: TenantKey & Pick<Client, 'access'>): Promise<Total> {
  const of = sql`u.project_id = ${project.id}::uuid and u.active and u.account_id is null`;
  if (access === 'everyone') return totalOf(on, sql`from users u where ${of}`);
  return totalOf(on, sql`from (${assignedUsers(project.id, id)}) a join users u on u.id = a.user_id and ${of}`);
}

/** SQL: `user_id` of the users whom the rules of a client name: the same as `hasSomeAccess`, beginning at the rules. */
function assignedUsers(projectId: string, clientId: string): Fragment {
  const ofClient = sql`r.project_id = ${projectId}::uuid and r.client_id = ${clientId}::uuid`;
  const assigned = (column: string) => sql`select a.${sql.id(column)} as id from access_rules r join role_assignments a
    on a.project_id = r.project_id and a.role_id = r.role_id where ${ofClient} and a.${sql.id(column)} is not null`;
  const groups = sql`select r.group_id as id from access_rules r where ${ofClient} and r.group_id is not null
    union ${assigned('group_id')}`;
  const byDirectory = sql`select u.id from users u where u.project_id = ${projectId}::uuid
      and exists (select 1 from access_rules r where ${ofClient} and r.role_id is not null)
      and (u.attributes ? 'roles' or u.attributes ? 'entitlements')
      and exists (select 1 from (${rolesHeld(sql`u.project_id`, sql`u.id`)}) h join access_rules r
        on ${ofClient} and r.role_id = h.role_id)`;
  return sql`select r.user_id from access_rules r where ${ofClient} and r.user_id is not null
    union ${assigned('user_id')}
    union select m.user_id from (${insideGroups(projectId, groups)}) g join group_members m
      on m.project_id = ${projectId}::uuid and m.group_id = g.id
    union select h.user_id from access_rules r join (${activeMemberships}) h
      on h.project_id = r.project_id and h.organization_id = r.organization_id where ${ofClient}
    union ${byDirectory}`;
}

/** An application that a user may use, and the rules that give access; none if everyone has it. */
export interface UsableClient {
  id: string;
  client: Client;
  through: AccessRule[];
}

/** Rules that are shown for each application of a user. */
const maxThrough = 20;

/** The applications that a user may use, newest first. Disabled ones are left out. */
export async function clientsOfUser(
  em: EntityManager,
  { project, id }: TenantKey,
  { first, after }: PageRequest,
): Promise<Page<UsableClient>> {
  const rows = await query(
    em,
    sql<{ id: string }>`select k.id ${usableBy({ project, id })}
    and (${after}::uuid is null or k.id < ${after}::uuid) order by k.id desc limit ${first + 1}`,
  );
  const ids = rows.slice(0, first).map((row) => row.id);
  const clients = await em.find(Client, { project: project.id, id: { $in: ids } });
  const rules = await throughRules(em, { project, id }, ids);
  const items = ids.flatMap((clientId) => {
    const client = clients.find((one) => one.id === clientId) as Client | undefined;
    const through = client?.access === 'assigned' ? rules.filter((rule) => rule.client.id === clientId) : [];
    return client ? [{ id: clientId, client, through }] : [];
  });
  return { items, hasNextPage: rows.length > first };
}

export function countClientsOfUser(on: Executing, user: TenantKey): Promise<Total> {
  return totalOf(on, usableBy(user));
}

/** An application that a user can open. */
export interface OpenableClient {
  id: string;
  name: string;
  /** Its start address. */
  start: string;
  logoId: string | null;
}

const maxOpenable = 200;

/** The applications with a start address that a user may use, by name. */
export function openableClients(on: Executing, user: TenantKey): Promise<OpenableClient[]> {
  return query(
    on,
    sql<OpenableClient>`select k.id, k.name, k.start_uri as start, k.logo_id as "logoId" ${usableBy(user)} and k.start_uri is not null
      order by lower(k.name), k.id limit ${maxOpenable}::int`,
  );
}

function usableBy({ project, id }: TenantKey): Fragment {
  return sql`from clients k where k.project_id = ${project.id}::uuid and k.disabled_at is null
    and ${hasSomeAccess({ ...clientColumns, userId: sql`${id}::uuid` })}`;
}

/** The rules of these clients that name the user, a group or a role of theirs; at most {@link maxThrough} for each client. */
async function throughRules(
  em: EntityManager,
  { project, id }: TenantKey,
  clientIds: readonly string[],
): Promise<AccessRule[]> {
  const rows = await query(
    em,
    sql<{ id: string }>`select o.id from unnest(${clientIds}::uuid[]) k(id) cross join lateral (
      select r.id from access_rules r where r.project_id = ${project.id}::uuid and r.client_id = k.id
        and (r.user_id = ${id}::uuid or r.group_id in (select group_id from (${groupsOf(project.id, id)}) m)
          or r.role_id in (select role_id from (${rolesHeld(project.id, id)}) h)
          or r.organization_id in (select organization_id from (${activeMemberships}) m
            where m.project_id = ${project.id}::uuid and m.user_id = ${id}::uuid))
      order by r.id desc limit ${maxThrough}::int) o`,
  );
  const where = { project: project.id, id: { $in: rows.map((row) => row.id) } };
  return em.find(AccessRule, where, { orderBy: { id: 'desc' } }) as Promise<AccessRule[]>;
}
