import { customUrn } from '../users/custom/definition.ts';
import { enterpriseUrn } from '../users/manager.ts';
import type { User } from '../users/user.entity.ts';

/** The properties of a user that claims are built from. */
export const claimProperties = [
  'id',
  'userName',
  'externalId',
  'displayName',
  'givenName',
  'familyName',
  'email',
  'phone',
  'active',
  'attributes',
  'updatedAt',
  'organizationId',
] as const satisfies readonly (keyof User)[];

export type ClaimUser = Pick<User, (typeof claimProperties)[number]>;

type Reader = (user: ClaimUser) => unknown;

const inAttributes = (...path: readonly string[]): Reader => {
  return ({ attributes }) => path.reduce<unknown>((value, name) => own(value, name), attributes);
};
const named = (parent: string, names: readonly string[], read: (name: string) => Reader): [string, Reader][] =>
  names.map((name) => [`${parent}${name}`, read(name)]);

/** The readers of attributes with one value, by the attribute's path (RFC 7643 §4). */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['id', ({ id }) => id],
  ['userName', ({ userName }) => userName],
  ['externalId', ({ externalId }) => externalId],
  ['displayName', ({ displayName }) => displayName],
  ['name.givenName', ({ givenName }) => givenName],
  ['name.familyName', ({ familyName }) => familyName],
  ...named('name.', ['formatted', 'middleName', 'honorificPrefix', 'honorificSuffix'], (name) =>
    inAttributes('name', name),
  ),
  ['email', ({ email }) => email],
  ['phone', ({ phone }) => phone],
  ...named('', ['nickName', 'profileUrl', 'title', 'userType', 'preferredLanguage'], (name) => inAttributes(name)),
  ...named('', ['locale', 'timezone', 'birthdate'], (name) => inAttributes(name)),
  ...named(
    'address.',
    ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'],
    (name) => (user) => own(primary(user, 'addresses'), name),
  ),
  ['photo', (user) => own(primary(user, 'photos'), 'value')],
  ...named('enterprise.', ['employeeNumber', 'costCenter', 'organization', 'division', 'department'], (name) =>
    inAttributes(enterpriseUrn, name),
  ),
  ['enterprise.manager', inAttributes(enterpriseUrn, 'manager', 'value')],
]);

/** The attributes that a mapping or a template can name, as paths of SCIM. */
export const attributeNames: readonly string[] = [...readers.keys()];

/** A custom attribute, or a part of one: `custom.badge`, `custom.office.city`. */
const customPath = /^custom\.([A-Za-z][A-Za-z0-9_-]*)(?:\.([A-Za-z][A-Za-z0-9_-]*))?$/;

/** Whether a mapping or a template can name it. Whether a custom attribute exists is decided for each claim. */
export const isAttribute = (name: string): boolean => readers.has(name) || customPath.test(name);

/**
 * The value of a custom attribute that `visible` names, in its own type; undefined for any other, and if there is none.
 *
 * @param visible the custom attributes that applications may see
 */
export function customAttributeOf(
  { attributes }: Pick<ClaimUser, 'attributes'>,
  path: string,
  visible: readonly string[],
): string | number | boolean | object | undefined {
  const [, name = '', part] = customPath.exec(path) ?? [];
  if (!visible.includes(name)) return undefined;
  const value = own(own(attributes, customUrn), name);
  const chosen = part === undefined ? value : own(value, part);
  return chosen === null || chosen === undefined || chosen === '' ? undefined : (chosen as string);
}

/** The value of an attribute; undefined if the user has none, or only blank text. */
export function attributeOf(user: ClaimUser, name: string): string | undefined {
  const value = readers.get(name)?.(user);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/**
 * The values of a multi-valued attribute (RFC 7643 §2.4). The directory of an organization gives no roles and entitlements: applications
 * trust those.
 */
export function valuesOf(
  { attributes, organizationId }: ClaimUser,
  name: 'roles' | 'entitlements' | 'emails',
): string[] {
  if (organizationId != null && name !== 'emails') return [];
  const elements = own(attributes, name);
  if (!Array.isArray(elements)) return [];
  return elements.map((element) => own(element, 'value')).filter((value) => typeof value === 'string');
}

/** The primary element of a multi-valued attribute, else the first. */
function primary({ attributes }: ClaimUser, name: string): unknown {
  const elements = own(attributes, name);
  if (!Array.isArray(elements)) return undefined;
  return elements.find((element) => own(element, 'primary') === true) ?? elements[0];
}

function own(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
