import type { EntityManager } from '@mikro-orm/postgresql';
import { invalid } from '../domain/kernel/problem.ts';
import { execute, sql } from '../domain/kernel/sql.ts';
import { customUrn } from '../domain/users/custom/definition.ts';
import { editedCustom } from '../domain/users/custom/own-values.ts';
import { type CustomSchema, customValuesOf, type ValueKey, valueKeys } from '../domain/users/custom/values.ts';
import { editedProfile, ownAttributes } from '../domain/users/edits/profile-edit.ts';
import { isSubject } from '../domain/users/identity/sub.ts';
import { provenances } from '../domain/users/user.entity.ts';
import type { UserRecord, UserValues } from '../domain/users/user-record.ts';
import { emailKeys, loginOf } from '../domain/users/user-writing.ts';
import { userType } from '../scim/schema/resource-type.ts';
import { ScimError } from '../scim/scim-error.ts';
import { readUser, resourceOf, unassigned, valuesOfResource } from '../scim/user-mapping.ts';

type Data = Record<string, unknown>;

/** The columns of {@link UserValues} in a file. */
const valueColumns = {
  userName: 'user_name',
  externalId: 'external_id',
  displayName: 'display_name',
  givenName: 'given_name',
  familyName: 'family_name',
  active: 'active',
} as const satisfies Partial<Record<keyof UserValues, string>>;

/** A user of a file, as the database stores it. */
export interface ImportedUser {
  row: Data;
  /** The index of their addresses. */
  emails: string[];
  /** The index of their custom values. */
  keys: ValueKey[];
}

/**
 * Reads the values of a user as a request of a directory would set them, those of a local user also as an admin would, and derives
 * all other columns from them. Refuses `invalid`, naming the attribute.
 *
 * @param schema definitions of the custom attributes; undefined: not known yet, and custom values are not checked
 */
export function importedUser(data: Data, schema: CustomSchema | undefined, now: Date): ImportedUser {
  const { attributes = {}, active = true, provenance = 'local', phone = null } = data;
  if (!isRecord(attributes)) return invalid('attributes', 'must be an object');
  if (typeof active !== 'boolean') return invalid('active', 'must be true or false');
  if (!provenances.some((one) => one === provenance))
    return invalid('provenance', `must be ${provenances.join(' or ')}`);
  if (data['subject'] != null && !isSubject(String(data['subject'])))
    return invalid('subject', 'must be 1 to 255 printable ASCII characters');
  const isGuest = data['account_id'] != null;
  if (isGuest && data['organization_id'] == null)
    return invalid('account_id', 'must be of a user at home in an organization');
  const { [customUrn]: custom = {}, ...standard } = attributes;
  const names = Object.entries(valueColumns).map(([name, column]) => [name, data[column] ?? null]);
  const given = { ...Object.fromEntries(names), active, provenance, attributes: standard } as UserRecord;
  const read = asLocal(asDirectory(given), given, now);
  const values = schema ? withCustom({ ...read, provenance: given.provenance }, custom, schema) : read;
  const { email, emailKey, phone: loginPhone, userNameKey } = loginOf(values);
  const set = Object.entries(valueColumns).filter(([, column]) => column in data);
  const row = {
    ...data,
    ...Object.fromEntries(set.map(([name, column]) => [column, values[name as keyof typeof valueColumns]])),
    attributes: schema ? values.attributes : attributes,
    // Null: another user had the number. A user at another home may have the address. The record of a guest has no login.
    ...{ user_name_key: userNameKey, phone: isGuest || phone === null ? null : loginPhone },
    ...(isGuest || data['withheld_email_key'] != null
      ? { email: null, email_key: null, withheld_email_key: emailKey }
      : { email, email_key: emailKey }),
    ...(data['withheld_phone'] != null && { withheld_phone: loginPhone }),
  };
  // A trigger derives it.
  Reflect.deleteProperty(row, 'sign_in_hour');
  return {
    row,
    emails: [...new Set(emailKeys(values.attributes))],
    keys: schema ? valueKeys(schema, customValuesOf(values.attributes)) : [],
  };
}

/** Validates the values against the SCIM schema. */
function asDirectory(given: UserRecord): UserValues {
  try {
    const { resource } = readUser(userType, resourceOf(given));
    const own = [...ownAttributes, unassigned].flatMap((name) =>
      given.attributes[name] === undefined ? [] : [[name, given.attributes[name]]],
    );
    // As if all were changed, so that size and login address are checked.
    return valuesOfResource(resource, { ...given, attributes: Object.fromEntries(own) });
  } catch (error) {
    if (!(error instanceof ScimError)) throw error;
    const [, field = '', reason = ''] = /^(\S+) (.*?)\.?$/s.exec(error.message) ?? [];
    return invalid(field, reason);
  }
}

/** Names and other attributes of this service, by the rules of the admin API. */
function asLocal(values: UserValues, { provenance }: UserRecord, now: Date): UserValues {
  const { birthdate } = values.attributes as { birthdate?: string };
  const { displayName, givenName, familyName } = values;
  const names = provenance === 'local' ? { displayName, givenName, familyName } : {};
  editedProfile(values, { ...names, ...(birthdate !== undefined && { birthdate }) }, now);
  return values;
}

function withCustom(
  user: UserValues & Pick<UserRecord, 'provenance'>,
  custom: unknown,
  schema: CustomSchema,
): UserValues {
  if (!isRecord(custom)) return invalid(customUrn, 'must be an object');
  const { provenance: _, ...values } = user;
  return Object.keys(custom).length === 0 ? values : editedCustom(user, custom, { schema, isLocked: false });
}

/** Writes the indexes of the users' addresses and custom values. */
export async function indexUsers(em: EntityManager, users: readonly ImportedUser[]): Promise<void> {
  const of = ({ row }: ImportedUser) => ({ project_id: row['project_id'], user_id: row['id'] });
  const written = JSON.stringify(users.map(of));
  const emails = JSON.stringify(users.flatMap((user) => user.emails.map((key) => ({ ...of(user), value_key: key }))));
  const keys = users.flatMap((user) =>
    user.keys.map(({ attribute, key, isUnique }) => ({
      ...of(user),
      attribute,
      key,
      is_unique: isUnique,
    })),
  );
  for (const [name, rows, columns] of [
    ['user_emails', emails, ['project_id', 'user_id', 'value_key']],
    [
      'custom_values',
      JSON.stringify(keys),
      ['project_id', 'user_id', 'attribute', 'key', 'is_unique', 'organization_id'],
    ],
  ] as const) {
    // A unique value of another user is an error.
    const key = sql.join(
      columns.filter((column) => !['is_unique', 'organization_id'].includes(column)).map((column) => sql.id(column)),
    );
    const table = sql.table(name);
    const list = sql.join(columns.map((column) => sql.id(column)));
    // At their home here: a file may not have it.
    const home = columns.find((column) => column === 'organization_id');
    const values = sql.join(columns.map((column) => (column === home ? sql`h.organization_id` : sql.id('r', column))));
    const entries = sql`(select ${values} from json_populate_recordset(null::${table}, ${rows}::json) r
      ${home === undefined ? sql`` : sql`join users h on h.project_id = r.project_id and h.id = r.user_id`})`;
    await execute(
      em,
      sql`delete from ${table} t using json_populate_recordset(null::${table}, ${written}::json) u
        where t.project_id = u.project_id and t.user_id = u.user_id
          and not exists (select 1 from ${entries} e where (${sql.join(columns.map((column) => sql.id('t', column)))})
            is not distinct from (${sql.join(columns.map((column) => sql.id('e', column)))}))`,
    );
    await execute(
      em,
      sql`insert into ${table} (${list}) select ${list} from ${entries} on conflict (${key}) do nothing`,
    );
  }
}

function isRecord(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
