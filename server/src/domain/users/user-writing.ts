import { isDeepStrictEqual } from 'node:util';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import { refuse } from '../kernel/problem.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { contactsOf, foldCase, loginEmail, loginPhone } from './login.ts';
import { type UserRecord, type UserValues, valuesOf, writtenOf } from './user-record.ts';

/** Columns derived from a user's values. */
export interface Login {
  userNameKey: string;
  email: string | null;
  emailKey: string | null;
  phone: string | null;
  /** Another user may have this login phone; then this one has none. */
  isShared: boolean;
}

export function loginOf({ userName, attributes }: Pick<UserValues, 'userName' | 'attributes'>): Login {
  const email = loginEmail(userName, contactsOf(attributes, 'emails'));
  const phone = loginPhone(contactsOf(attributes, 'phoneNumbers'));
  return { userNameKey: foldCase(userName), email, emailKey: email === null ? null : foldCase(email), ...phone };
}

/** Like {@link loginOf}, after a change: the login phone stays as it is unless another follows from the numbers. */
export function loginAfter(before: UserRecord, after: UserValues): Login {
  const [was, next] = [loginOf(before), loginOf(after)];
  const isSame = was.phone === next.phone && was.isShared === next.isShared;
  return isSame ? { ...next, phone: before.phone ?? null } : next;
}

/** Whether a login address, ignoring case, or the login phone would change. */
export function changesLogin(before: UserRecord, after: UserValues): boolean {
  const { userName, email, phone } = before;
  const next = loginAfter(before, after);
  const emailKey = email ? foldCase(email) : null;
  return foldCase(userName) !== next.userNameKey || emailKey !== next.emailKey || (phone ?? null) !== next.phone;
}

/** The names of changed values; attributes by their own names. */
export function changedNames(before: UserRecord, after: UserValues): string[] {
  const { attributes: old, ...columns } = valuesOf(before);
  const { attributes, ...newColumns } = after;
  const differing = (a: Record<string, unknown>, b: Record<string, unknown>) =>
    [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => !isDeepStrictEqual(a[name], b[name]));
  return [...differing(columns, newColumns), ...differing(old, attributes)];
}

/** Every e-mail address of a user, as stored in `user_emails`. */
export function emailKeys(attributes: Record<string, unknown>): string[] {
  return contactsOf(attributes, 'emails').flatMap(({ value }) => (value === undefined ? [] : [foldCase(value)]));
}

const uniqueFields: Record<string, string> = {
  users_project_id_user_name_key_unique: 'userName',
  users_project_id_email_key_unique: 'emails',
  users_project_id_phone_unique: 'phoneNumbers',
};

/** Runs a write of a user. Refuses `taken` if another user has one of the values, which ends the transaction. */
export async function unlessTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const constraint =
      error instanceof UniqueConstraintViolationException ? Reflect.get(error, 'constraint') : undefined;
    const field = typeof constraint === 'string' ? uniqueFields[constraint] : undefined;
    if (field === undefined) throw error;
    refuse({ code: 'taken', what: 'user', field });
  }
}

/** SQL: sets the user's last sign-in. */
export function notedSignIn({ project, id }: TenantKey<string | Fragment>, at: Date): Fragment {
  return sql`update users set last_sign_in_at = ${at} where project_id = ${project.id} and id = ${id}`;
}

/**
 * Writes a user, their addresses and the event in one statement. False, with nothing written, if the version has
 * changed since it was read. Refuses `taken`.
 */
export async function writeIfUnchanged(
  em: Executing,
  audit: Audit,
  projectId: string,
  next: UserRecord,
  { changed, event }: { changed: readonly string[]; event: AuditEntry },
): Promise<boolean> {
  const { names, values } = writtenOf(next, loginOf(next), 'update');
  const withEmails = changed.includes('emails');
  const statement = sql`with changed as (
      update users set (${names}) = (${values})
      where project_id = ${projectId}::uuid and id = ${next.id}::uuid and version = ${next.version - 1}
      returning id, project_id
    ), ${withEmails ? reindexed(emailKeys(next.attributes)) : sql``} told as (
      ${audit.insertion(event, sql`exists (select from changed)`)}
    )
    select id from changed`;
  const written = await unlessTaken(() => query(em, statement, { prepare: 'users.write' }));
  return written.length === 1;
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
