import type { EntityManager } from '@mikro-orm/postgresql';
import { secondsLater } from '../../kernel/clock.ts';
import { refuse } from '../../kernel/problem.ts';
import { type Executing, execute, type Fragment, query, sql } from '../../kernel/sql.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import type { Home } from '../identity/home.ts';
import { addressKeys } from '../login.ts';
import type { UserRecord } from '../user-record.ts';
import { ofUser } from '../user-tables.ts';
import { type HeldIdentity, heldSeconds, type Identity, identityOf, type NewLogin } from './hands.ts';

/** Keeps the identity of a user who becomes inactive. */
export async function suspend(em: EntityManager, { project }: TenantKey, before: UserRecord, now: Date): Promise<void> {
  const { userNameKey, emailKey, phone, externalId } = identityOf(before);
  // An active user whom a server from before release 1.0 activated has a row.
  await execute(
    em,
    sql`insert into suspensions (project_id, user_id, suspended_at, user_name_key, email_key, phone, external_id)
      values (${project.id}, ${before.id}, ${now}, ${userNameKey}, ${emailKey}, ${phone}, ${externalId})
      on conflict (project_id, user_id) do update set suspended_at = excluded.suspended_at,
        user_name_key = excluded.user_name_key, email_key = excluded.email_key, phone = excluded.phone,
        external_id = excluded.external_id`,
  );
}

/** The held identity of an inactive user; null: none is known. */
export async function heldIdentity(em: EntityManager, user: TenantKey): Promise<HeldIdentity | null> {
  const [held] = await query(
    em,
    sql<HeldIdentity>`select suspended_at as "suspendedAt", user_name_key as "userNameKey", email_key as "emailKey", phone,
      external_id as "externalId" from suspensions where ${ofUser(user)}`,
  );
  return held ? { ...held, suspendedAt: new Date(held.suspendedAt) } : null;
}

export async function endSuspension(em: EntityManager, user: TenantKey): Promise<void> {
  await execute(em, sql`delete from suspensions where ${ofUser(user)}`);
}

/** SQL: the suspensions `s` of the project that still reserve their identifiers, except that of the user `exceptId`. */
function reserving(projectId: string, now: Date, exceptId: string | null = null): Fragment {
  return sql`suspensions s join users u on u.project_id = s.project_id and u.id = s.user_id and not u.active
    where s.project_id = ${projectId}::uuid and s.suspended_at > ${secondsLater(now, -heldSeconds)}::timestamptz
      and s.user_id is distinct from ${exceptId}::uuid`;
}

/** A reserved identifier, by the name that {@link NewLogin} has for it, or `email`. */
export interface ReservedValue {
  field: 'userName' | 'email' | 'phone';
  key: string;
  userId: string;
}

/**
 * The identifiers of these logins that are reserved for inactive users. An address is reserved as userName and as login
 * email: either would receive the other's codes. A userName is reserved at the home of the inactive user only.
 *
 * @param home of the users with these logins
 */
export async function reservedValues(
  em: Executing,
  { projectId, organizationId }: Home,
  logins: readonly NewLogin[],
  now: Date,
  exceptId: string | null = null,
): Promise<ReservedValue[]> {
  const names = logins.flatMap(({ userNameKey }) => (userNameKey ? addressKeys(userNameKey) : []));
  const emails = logins.flatMap(({ emailKey }) => (emailKey ? addressKeys(emailKey) : []));
  const phones = logins.flatMap(({ phone }) => phone ?? []);
  const ofKey = (field: string, column: 'user_name_key' | 'email_key' | 'phone', keys: readonly string[]) =>
    sql`select ${field}::text as field, s.${sql.ref(column)} as key, s.user_id as "userId"
      from ${reserving(projectId, now, exceptId)} and s.${sql.ref(column)} = any(${keys}::text[])
        ${column === 'user_name_key' ? sql`and u.organization_id is not distinct from ${organizationId}::uuid` : sql``}`;
  return query(
    em,
    sql<ReservedValue>`${ofKey('userName', 'user_name_key', names)}
      union all ${ofKey('userName', 'email_key', names)}
      union all ${ofKey('email', 'email_key', emails)}
      union all ${ofKey('email', 'user_name_key', emails)}
      union all ${ofKey('phone', 'phone', phones)}`,
    { prepare: 'suspensions.reserved' },
  );
}

/** Whether the address is reserved for an inactive user: no one can sign up with it to this home. */
export async function isAddressReserved(em: Executing, home: Home, address: string, now: Date): Promise<boolean> {
  return (await reservedValues(em, home, [{ emailKey: address }], now)).length > 0;
}

/** SQL conditions: the email and the phone of this login are reserved for an inactive user at another home. */
export function reservedElsewhere(
  { projectId, organizationId }: Home,
  { emailKey, phone }: Pick<Identity, 'emailKey' | 'phone'>,
  now: Date,
): Record<'email' | 'phone', Fragment> {
  const keys = emailKey === null ? [] : addressKeys(emailKey);
  const outside = { projectId, organization: sql`${organizationId}::uuid`, now };
  return {
    email: isAddressReservedOutside(outside, sql`${keys}::text[]`),
    phone: isReservedOutside(outside, sql`s.phone = ${phone}::text`),
  };
}

interface Outside {
  projectId: string;
  /** SQL: the id of the organization that is the home; null: the project. Not of a row `u` or `s`. */
  organization: Fragment;
  now: Date;
}

/** SQL condition: an address with one of these keys is reserved for an inactive user outside the home. */
export function isAddressReservedOutside(outside: Outside, keys: Fragment): Fragment {
  return sql`(${isReservedOutside(outside, sql`s.email_key = any(${keys})`)}
    or ${isReservedOutside(outside, sql`u.organization_id is null and s.user_name_key = any(${keys})`)})`;
}

function isReservedOutside({ now, organization, projectId }: Outside, named: Fragment): Fragment {
  return sql`exists (select 1 from ${reserving(projectId, now)}
    and u.organization_id is distinct from ${organization} and ${named})`;
}

const attributes = { userName: 'userName', email: 'emails', phone: 'phoneNumbers' } as const;

/**
 * Refuses `taken` for identifiers that are reserved for another user. To be called after they are written: a deactivation
 * that frees them has then committed, or waits.
 */
export async function refuseReserved(
  em: Executing,
  home: Home,
  userId: string,
  login: NewLogin,
  now: Date,
): Promise<void> {
  const values = await reservedValues(em, home, [login], now, userId);
  const reserved = values.find(({ field }) => field === 'email') ?? values[0];
  if (!reserved) return;
  refuse({ code: 'taken', what: 'user', field: attributes[reserved.field], isReserved: true });
}
