import type { EntityManager } from '@mikro-orm/postgresql';
import { type Executing, type Fragment, query, sql } from '../../kernel/sql.ts';
import { addressKeys } from '../login.ts';
import type { User } from '../user.entity.ts';
import { countedMoves, countedUsers } from '../user-counts.ts';
import { recordSelection, type UserRecord, withInstants } from '../user-record.ts';
import { loginOf, withheld } from '../user-writing.ts';
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

/** A directory and the person of an address that it names: their transactions run one after the other (decisions/0408). */
const addressLock = 731_692;

/** Joins: waits for directories that create a user with this address, and for the person who signs up with it. */
export async function lockAddress(on: Executing, projectId: string, emailKey: string): Promise<void> {
  const key = `${projectId} ${emailKey}`;
  await query(on, sql`select pg_advisory_xact_lock(${sql.lit(addressLock)}, hashtext(${key}::text))`);
}

/**
 * SQL condition: the directory of an organization has created the user `u`, or the one of another name, and no person has used the account:
 * there was no sign-in, and no credential of another system came with it.
 */
export function isUnclaimed(u = 'u'): Fragment {
  const of = (column: string) => sql.ref(`${u}.${column}`);
  return sql`${of('organization_id')} is not null and ${of('account_id')} is null and ${of('provenance')} = 'scim'
    and ${isUnused(u)}`;
}

/** SQL condition: no person has used the account of the user `u`, or the one of another name. */
export function isUnused(u = 'u'): Fragment {
  const of = (column: string) => sql.ref(`${u}.${column}`);
  const has = (table: string) =>
    sql`exists (select 1 from ${sql.table(table)} x where x.project_id = ${of('project_id')} and x.user_id = ${of('id')})`;
  return sql`${of('last_sign_in_at')} is null and ${of('subject')} is null and not ${has('credentials')} and not ${has('enrolments')}`;
}

/** SQL condition: the user `u` waits for the person of one of these addresses, outside the verified domains of the organization. */
const awaits = (projectId: string, keys: readonly string[]) =>
  sql`u.project_id = ${projectId}::uuid and u.withheld_email_key = any(${keys}::text[]) and ${isUnclaimed()}`;

/** Whether the directory of an active organization has an active user who waits for the person of this address: they may sign up. */
export async function isNamedByDirectory(on: Executing, projectId: string, address: string): Promise<boolean> {
  const [row] = await query(
    on,
    sql<{ awaited: boolean }>`select exists (select 1 from users u
      join organizations o on o.project_id = u.project_id and o.id = u.organization_id and o.state = 'active'
      where ${awaits(projectId, addressKeys(address))} and u.active) as awaited`,
  );
  return row?.awaited === true;
}

/**
 * Joins: users whom directories of organizations created before the person of their address had this account become records of it as a
 * guest. Their version and time stay: the directory must not notice. None of an organization that has such a record, or is the account's home.
 */
export async function becomeRecords(
  em: EntityManager,
  { email, id, organizationId, project }: User,
): Promise<UserRecord[]> {
  if (email == null) return [];
  const waiting = await query(
    em,
    sql<UserRecord>`select ${sql.raw(recordSelection)} from users r where r.id in (select u.id from users u
        where ${awaits(project.id, addressKeys(email))} and u.organization_id is distinct from ${organizationId ?? null}::uuid
          and not exists (select 1 from users g where g.project_id = ${project.id}::uuid and g.account_id = ${id}::uuid
            and g.organization_id = u.organization_id))
      and r.project_id = ${project.id}::uuid order by r.id for no key update`,
    { prepare: 'users.awaiting' },
  );
  const records: UserRecord[] = [];
  for (const user of waiting.map(withInstants)) {
    const { withheldPhone } = withheld(loginOf(user), { email: true, phone: true });
    const [made] = await query(
      em,
      sql<UserRecord>`with r as (
          update users u set account_id = ${id}::uuid, phone = null, withheld_phone = ${withheldPhone}::text
          where u.id = ${user.id}::uuid and ${awaits(project.id, addressKeys(email))}
          returning u.*
        ), counted as (${countedUsers(sql`(select project_id, organization_id, null::uuid as account_id from r) as was`, -1)})
        select ${sql.raw(recordSelection)} from r`,
    );
    if (made) records.push(withInstants(made));
  }
  return records;
}
