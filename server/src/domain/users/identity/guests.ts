import type { EntityManager } from '@mikro-orm/postgresql';
import { type Executing, execute, type Fragment, query, sql } from '../../kernel/sql.ts';
import { domainOfAddress } from '../login.ts';
import { countedMoves, countedUsers } from '../user-counts.ts';
import { recordSelection, type UserRecord, withInstants } from '../user-record.ts';
import { loginOf } from '../user-writing.ts';
import { type Home, isAt } from './home.ts';

/** The user at another home who has this login email, locked. Undefined: none. */
export async function holderElsewhere(
  em: EntityManager,
  { projectId, organizationId }: Home,
  emailKey: string,
): Promise<string | undefined> {
  const [holder] = await query(
    em,
    sql<{ id: string }>`select id from users where project_id = ${projectId}::uuid and email_key = ${emailKey}::text
      and organization_id is distinct from ${organizationId}::uuid for no key update`,
  );
  return holder?.id;
}

/** Whether the directory of the home has a record of this user as a guest. */
export async function isGuestOf(on: Executing, home: Home, accountId: string): Promise<boolean> {
  const record = sql`select 1 from users r where ${isAt(home)} and r.account_id = ${accountId}::uuid`;
  return (await query(on, record)).length > 0;
}

/**
 * SQL: an organization becomes the home of a user, with the userName that its directory gives; groups of the former home lose the user.
 */
export function movedTo(
  { projectId, organizationId }: Home,
  userId: string,
  userName: { name: string; key: string },
  now: Date,
): Fragment[] {
  const user = sql`project_id = ${projectId}::uuid and user_id = ${userId}::uuid`;
  return [
    sql`with left_groups as (delete from group_members where ${user} returning group_id)
      update groups set version = version + 1, updated_at = ${now}::timestamptz
      where project_id = ${projectId}::uuid and id in (select group_id from left_groups)`,
    sql`with former as (select project_id from users
        where project_id = ${projectId}::uuid and id = ${userId}::uuid and organization_id is null
      ), counted as (${countedMoves(sql`former`, 1)})
      update users set organization_id = ${organizationId}::uuid, provenance = 'scim', user_name = ${userName.name}::text,
        user_name_key = ${userName.key}::text, version = version + 1, updated_at = ${now}::timestamptz
      where project_id = ${projectId}::uuid and id = ${userId}::uuid`,
    sql`update custom_values set organization_id = ${organizationId}::uuid where ${user}`,
  ];
}

/**
 * Records of guests whose accounts are about to be erased become users at home, without a login. Their version and time stay: the directory
 * must not notice.
 */
export async function freeRecords(
  on: Executing,
  projectId: string,
  accountIds: readonly string[],
): Promise<UserRecord[]> {
  const rows = await query(
    on,
    sql<UserRecord>`with r as (
        update users set account_id = null
        where project_id = ${projectId}::uuid and account_id = any(${accountIds}::uuid[]) returning *
      ), counted as (${countedUsers(sql`r`, 1)})
      select ${sql.raw(recordSelection)} from r`,
  );
  return rows.map(withInstants);
}

/** Gives freed records the login email that their directory named, unless another user has it, or another organization its domain. */
export async function giveLogins(on: Executing, projectId: string, freed: readonly UserRecord[]): Promise<void> {
  for (const user of freed) {
    const { email, emailKey } = loginOf(user);
    await execute(
      on,
      sql`update users u set email = ${email}::text, email_key = ${emailKey}::text, withheld_email_key = null
        where u.project_id = ${projectId}::uuid and u.id = ${user.id}::uuid
          and not exists (select 1 from users o where o.project_id = u.project_id and o.email_key = ${emailKey}::text)
          and not exists (select 1 from organization_domains d where d.project_id = u.project_id and d.state = 'verified'
            and d.domain = ${emailKey && domainOfAddress(emailKey)}::text and d.organization_id <> u.organization_id)`,
    );
  }
}
