import { isUuid } from '../kernel/secret.ts';
import { type Executing, query, sql } from '../kernel/sql.ts';
import { isUserIn, type Place } from './identity/home.ts';
import { managerName } from './manager.ts';
import { groupsOfRow, type ShownGroup } from './members/shown-groups.ts';
import type { User } from './user.entity.ts';

/**
 * The columns of a user, and when each is written: `values` are set by clients and directories, `derived` columns follow at
 * each change, `apart` ones are written by separate statements. Selects, inserts, updates and the types below derive from
 * this table.
 */
const columns = {
  id: 'once',
  subject: 'once',
  userName: 'values',
  externalId: 'values',
  displayName: 'values',
  givenName: 'values',
  familyName: 'values',
  email: 'derived',
  phone: 'derived',
  withheldEmailKey: 'derived',
  withheldPhone: 'derived',
  active: 'values',
  provenance: 'derived',
  attributes: 'values',
  version: 'derived',
  createdAt: 'once',
  updatedAt: 'derived',
  lastSignInAt: 'apart',
  invitedAt: 'apart',
  organizationId: 'apart',
  accountId: 'apart',
} as const satisfies { [Property in keyof User]?: 'once' | 'values' | 'derived' | 'apart' };

type Columns = typeof columns;
type Property = keyof Columns;

/** A user as read from the database. */
export type UserRecord = Pick<User, Property>;

/** The values that clients and directories set. */
export type UserValues = {
  [P in Property as Columns[P] extends 'values' ? P : never]: Exclude<User[P], undefined>;
};

/** A user with values of other rows: their groups, by id, at most {@link mostGroups}, and their manager. */
export interface ShownUser extends UserRecord {
  groups: readonly ShownGroup[];
  /** `displayName` of the manager, if that is a user of the project. */
  managerName: string | null;
}

const properties = Object.keys(columns) as Property[];
const valueProperties = properties.filter((name) => columns[name] === 'values') as (keyof UserValues)[];
const changingProperties = properties.filter((name) => columns[name] === 'values' || columns[name] === 'derived');

/** The values of a user. */
export function valuesOf(user: Pick<UserRecord, keyof UserValues>): UserValues {
  return Object.fromEntries(valueProperties.map((name) => [name, user[name] ?? null])) as unknown as UserValues;
}

/** A copy of a row. */
export function recordOf(user: UserRecord): UserRecord {
  return Object.fromEntries(properties.map((name) => [name, user[name]])) as unknown as UserRecord;
}

/** The column of a property. */
export function columnOf(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Selects properties of the row `r` by name, for {@link withInstants}. */
export function selectionOf(names: readonly Property[]): string {
  return names.map((name) => `r.${columnOf(name)} as "${name}"`).join(', ');
}

/** Selects a {@link UserRecord} from the row `r`, for {@link withInstants}. */
export const recordSelection = selectionOf(properties);

/** Selects a {@link ShownUser} without groups from the row `r`, for {@link withInstants}. */
export const listedSelection = `${recordSelection}, ${managerName} as "managerName"`;

/** Parses the instants of a selected row. */
export function withInstants<Row extends Instants>(row: Row): Row {
  const { createdAt, updatedAt, lastSignInAt, invitedAt } = row;
  return {
    ...row,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    lastSignInAt: lastSignInAt && new Date(lastSignInAt),
    ...(invitedAt ? { invitedAt: new Date(invitedAt) } : {}),
  };
}

type Instants = Pick<UserRecord, 'createdAt' | 'updatedAt' | 'lastSignInAt'> & Partial<Pick<UserRecord, 'invitedAt'>>;

const insertedNames = sql.raw(['user_name_key', 'email_key', ...properties.map(columnOf)].join(', '));
const updatedNames = sql.raw(changingProperties.map(columnOf).join(', '));

/** The columns that an insert writes, and their values. */
export function insertOf(user: UserRecord, { userNameKey, emailKey }: UserKeys) {
  return { names: insertedNames, values: sql.join([userNameKey, emailKey, ...columnValues(user, properties)]) };
}

/** The columns that an update writes if the login stays, and their values. */
export function updateOf(user: UserRecord) {
  return { names: updatedNames, values: sql.join(columnValues(user, changingProperties)) };
}

function columnValues(user: UserRecord, names: readonly Property[]) {
  const values = { ...user, attributes: JSON.stringify(user.attributes) };
  return names.map((name) => values[name] ?? null);
}

/** The columns that an insert writes, and new users as a table with these columns. */
export function newRows(users: readonly { user: UserRecord; login: UserKeys }[]) {
  const records = users.map(({ user, login: { userNameKey, emailKey } }) => ({
    user_name_key: userNameKey,
    email_key: emailKey,
    ...Object.fromEntries(properties.map((name) => [columnOf(name), user[name] ?? null])),
  }));
  return {
    names: insertedNames,
    rows: sql`jsonb_populate_recordset(null::users, ${JSON.stringify(records)}::jsonb)`,
  };
}

/** Columns for unique indexes; never read. */
interface UserKeys {
  userNameKey: string;
  emailKey: string | null;
}

/** Null if the place has no such user. */
export async function findShown(em: Executing, place: Place, userId: string): Promise<ShownUser | null> {
  if (!isUuid(userId)) return null;
  const statement = sql<ShownUser>`select ${sql.raw(listedSelection)}, ${groupsOfRow} as groups from users r
    where r.id = ${userId}::uuid and ${isUserIn(place)}`;
  const [row] = await query(em, statement, { prepare: 'users.shown' });
  return row ? withInstants(row) : null;
}
