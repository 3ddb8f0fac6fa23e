import { isDeepStrictEqual } from 'node:util';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import { refuse } from '../kernel/problem.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { customUrn } from './custom/definition.ts';
import { customName, customValuesOf } from './custom/values.ts';
import { type CustomWrite, currentSchema, forgottenValues, indexedValues, takenValue } from './custom/writing.ts';
import { addressKey, contactsOf, foldCase, loginEmail, loginPhone, userNameKey } from './login.ts';
import { type UserRecord, type UserValues, updateOf, valuesOf } from './user-record.ts';

/** Columns derived from a user's values. */
export interface Login {
  userNameKey: string;
  email: string | null;
  emailKey: string | null;
  phone: string | null;
  /** Another user may have this login phone; then this one has none. */
  isShared: boolean;
  /** See `User.withheldEmailKey`. */
  withheldEmailKey: string | null;
  withheldPhone: string | null;
}

export function loginOf({ userName, attributes }: Pick<UserValues, 'userName' | 'attributes'>): Login {
  const email = loginEmail(userName, contactsOf(attributes, 'emails'));
  const phone = loginPhone(contactsOf(attributes, 'phoneNumbers'));
  const emailKey = email === null ? null : addressKey(email);
  return { userNameKey: userNameKey(userName), email, emailKey, ...phone, withheldEmailKey: null, withheldPhone: null };
}

/** A login without the email or the phone that a user at another home has. */
export function withheld(login: Login, { email, phone }: { email: boolean; phone: boolean }): Login {
  return {
    ...login,
    ...(email && { email: null, emailKey: null, withheldEmailKey: login.emailKey }),
    ...(phone && { phone: null, withheldPhone: login.isShared ? null : login.phone }),
  };
}

/** Like {@link loginOf}, after a change: the login email and phone stay unless the addresses and numbers yield another one. */
export function loginAfter(before: UserRecord, after: UserValues): Login {
  const [was, next] = [loginOf(before), loginOf(after)];
  if (before.accountId != null) return withheld(next, { email: true, phone: true });
  const isSame = was.phone === next.phone && was.isShared === next.isShared;
  const email = before.withheldEmailKey != null && before.withheldEmailKey === next.emailKey;
  const login = withheld(next, { email, phone: false });
  return isSame ? { ...login, phone: before.phone ?? null, withheldPhone: before.withheldPhone ?? null } : login;
}

type Phoned = Pick<UserRecord, 'userName' | 'attributes' | 'phone'> & Partial<Pick<UserRecord, 'accountId'>>;

/**
 * The number that a user waits for: their directory's or their own, which was another user's login phone when it was
 * written. Null: none.
 */
export function awaitedPhone(user: Phoned): string | null {
  return user.phone == null && user.accountId == null ? loginOf(user).phone : null;
}

/** The number of a user: the login phone, else the one that they wait for. */
export function phoneOf(user: Phoned): string | null {
  return user.phone ?? awaitedPhone(user);
}

/**
 * Whether the directory's number of a user (service.md 3.1) keeps the phone from becoming `phone`. A first number is
 * possible where the directory has none.
 *
 * @param isAuthoritative whether the directory of the project is
 */
export function isPhoneLocked(
  user: Phoned & Pick<UserRecord, 'provenance'>,
  phone: string | null,
  { isAuthoritative }: { isAuthoritative: boolean },
): boolean {
  const number = phoneOf(user);
  return isAuthoritative && user.provenance === 'scim' && number !== null && number !== phone;
}

/** Whether a login address, ignoring case, or the login phone would change. */
export function changesLogin(before: UserRecord, after: UserValues): boolean {
  const { userName, email, phone } = before;
  const next = loginAfter(before, after);
  const emailKey = email ? addressKey(email) : null;
  return userNameKey(userName) !== next.userNameKey || emailKey !== next.emailKey || (phone ?? null) !== next.phone;
}

/**
 * The names of changed values; attributes by their own names, custom ones after their URN.
 *
 * @param hidden custom attributes that count as changed in any case
 */
export function changedNames(before: UserRecord, after: UserValues, hidden: readonly string[]): string[] {
  const { attributes: all, ...columns } = valuesOf(before);
  const { [customUrn]: oldCustom, ...old } = all;
  const { attributes: allAfter, ...newColumns } = after;
  const { [customUrn]: newCustom, ...attributes } = allAfter;
  const differing = (a: Record<string, unknown>, b: Record<string, unknown>) =>
    [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => !isDeepStrictEqual(a[name], b[name]));
  const custom = differing(customValuesOf({ [customUrn]: oldCustom }), customValuesOf({ [customUrn]: newCustom }));
  const names = [...new Set([...custom, ...hidden])].map(customName);
  return [...differing(columns, newColumns), ...differing(old, attributes), ...names];
}

/** Every email address of a user, as stored in `user_emails`. */
export function emailKeys(attributes: Record<string, unknown>): string[] {
  return contactsOf(attributes, 'emails').flatMap(({ value }) => (value === undefined ? [] : [foldCase(value)]));
}

const uniqueFields: Record<string, string> = {
  users_project_id_user_name_key_unique: 'userName',
  users_project_id_email_key_unique: 'emails',
  users_project_id_phone_unique: 'phoneNumbers',
  users_withheld_email_unique: 'emails',
  users_withheld_phone_unique: 'phoneNumbers',
  custom_values_project_id_attribute_key_unique: customUrn,
};

/**
 * Runs a write of a user. Refuses `taken` if another user has one of the values, which ends the transaction.
 *
 * @param taken finds the custom attribute with such a value, where statements can still run
 */
export async function unlessTaken<T>(
  write: () => Promise<T>,
  taken: () => Promise<string | undefined> = async () => undefined,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const constraint =
      error instanceof UniqueConstraintViolationException ? Reflect.get(error, 'constraint') : undefined;
    const known = typeof constraint === 'string' ? uniqueFields[constraint] : undefined;
    if (known === undefined) throw error;
    const field = known === customUrn ? ((await taken()) ?? known) : known;
    refuse({ code: 'taken', what: 'user', field });
  }
}

/** SQL: sets the user's last sign-in. */
export function notedSignIn({ project, id }: TenantKey<string | Fragment>, at: Date): Fragment {
  return sql`update users set last_sign_in_at = ${at} where project_id = ${project.id} and id = ${id}`;
}

/**
 * Writes a user whose login stays, their addresses and the event in one statement. False, with nothing written, if the
 * version has changed since it was read, or the definitions of its custom attributes have. Refuses `taken`.
 */
export async function writeIfUnchanged(
  em: Executing,
  audit: Audit,
  projectId: string,
  next: UserRecord,
  { changed, event, custom }: { changed: readonly string[]; event: AuditEntry; custom?: CustomWrite | undefined },
): Promise<boolean> {
  const { names, values } = updateOf(next);
  const withEmails = changed.includes('emails');
  const written = sql`changed`;
  const defined = custom ? sql`defined as materialized (${currentSchema(projectId, custom)}),` : sql``;
  const reindexedValues = custom
    ? sql`unvalued as (${forgottenValues(custom, written)}), valued as (${indexedValues(custom, written)}),`
    : sql``;
  const statement = sql`with ${defined} changed as (
      update users set (${names}) = (${values})
      where project_id = ${projectId}::uuid and id = ${next.id}::uuid and version = ${next.version - 1}
        ${custom ? sql`and exists (select 1 from defined)` : sql``}
      returning id, project_id, organization_id
    ), ${reindexedValues} ${withEmails ? reindexed(emailKeys(next.attributes)) : sql``} audited as (
      ${audit.insertion(event, sql`exists (select 1 from changed)`)}
    )
    select id from changed`;
  const rows = await unlessTaken(
    () => query(em, statement, { prepare: 'users.write' }),
    () =>
      takenValue(
        em,
        sql`(select ${projectId}::uuid as project_id, ${next.id}::uuid as id, ${next.organizationId ?? null}::uuid as organization_id)`,
        custom,
      ),
  );
  return rows.length === 1;
}

function reindexed(keys: readonly string[]): Fragment {
  return sql`forgotten as (
      delete from user_emails e using changed
      where e.project_id = changed.project_id and e.user_id = changed.id and not (e.value_key = any(${keys}::text[]))
    ), indexed as (
      insert into user_emails (user_id, value_key, project_id)
      select changed.id, key, changed.project_id from changed, unnest(${keys}::text[]) as key on conflict do nothing
    ),`;
}
