import { profileOf } from '../users/profile.ts';
import { attributeOf, type ClaimUser, customAttributeOf, valuesOf } from './attributes.ts';
import type { ClaimList, ClaimMapping } from './claim-settings.entity.ts';
import type { ClaimSettings } from './claim-settings.ts';
import { filledTemplate } from './mapping.ts';

/** The data from which an application's claims about a user are built. */
export interface ClaimSource {
  user: ClaimUser;
  /** The user's groups; `assigned` if the group has a role of the application. */
  groups: readonly { name: string; assigned: boolean }[];
  /** The keys of the user's roles in the application, direct and by groups. */
  roles: readonly string[];
  /** The names of custom attributes that applications may see. */
  custom: readonly string[];
}

type ClaimValue = string | number | boolean | readonly string[] | object;

interface ApplicationClaim {
  name: string;
  value: ClaimValue;
  /** The granted scope that releases it; null: a mapping for all sign-ins. */
  scope: string | null;
  /** Null: a claim of the scope. */
  mapping: ClaimMapping | null;
}

/** The user has no value, or a text is longer than {@link maxValueCharacters}. */
export const omissions = ['no-value', 'too-long'] as const;

/** A mapped claim that is not sent, and why. */
interface OmittedClaim {
  name: string;
  reason: (typeof omissions)[number];
  mapping: ClaimMapping;
}

export interface ClaimSet {
  claims: ApplicationClaim[];
  omitted: OmittedClaim[];
}

/** Maximum length of a mapped claim with one value. */
const maxValueCharacters = 1024;
/** Maximum size of all these claims in an ID token, in bytes: common proxies refuse larger headers. */
const maxTokenBytes = 8192;

/**
 * The claims about a user for one application at the project issuer, except `sub`: those of the granted scopes, then the
 * mapped ones. Sorted by scope and mapping; lists are sorted and have no duplicates. Pure.
 *
 * @param scopes the granted scopes
 */
export function applicationClaims(settings: ClaimSettings, scopes: readonly string[], source: ClaimSource): ClaimSet {
  const mapped = settings.mappings
    .filter(({ scope }) => scope === null || scopes.includes(scope))
    .map((mapping) => ({ mapping, value: mappedValue(mapping, settings, source) }));
  const taken = new Set(mapped.map(({ mapping }) => mapping.claim));
  const standard = [...new Set(scopes)].flatMap((scope) =>
    Object.entries(claimsOfScope(scope, settings, source))
      .filter(([name]) => !taken.has(name))
      .map(([name, value]): ApplicationClaim => ({ name, value, scope, mapping: null })),
  );
  const claims = mapped.flatMap(({ mapping, value }): ApplicationClaim[] =>
    value === undefined || isTooLong(value) ? [] : [{ name: mapping.claim, value, scope: mapping.scope, mapping }],
  );
  const omitted = mapped.flatMap(({ mapping, value }): OmittedClaim[] => {
    if (value !== undefined && !isTooLong(value)) return [];
    return [{ name: mapping.claim, reason: value === undefined ? 'no-value' : 'too-long', mapping }];
  });
  return { claims: [...standard, ...claims], omitted };
}

/** As members of a UserInfo response: all claims in full. */
export function userInfoMembers({ claims }: ClaimSet): Record<string, unknown> {
  return Object.fromEntries(claims.map(({ name, value }) => [name, value]));
}

/**
 * As members of an ID token. A list beyond the limit, or a claim with which all are beyond {@link maxTokenBytes}, is
 * replaced by a reference to UserInfo, which has all of it (OpenID Connect Core §5.6.2, as in Entra ID).
 */
export function idTokenMembers(
  { claims }: ClaimSet,
  { listLimit }: Pick<ClaimSettings, 'listLimit'>,
  userInfoEndpoint: string,
): Record<string, unknown> {
  let bytesLeft = maxTokenBytes;
  const fits = ({ name, value }: ApplicationClaim) => {
    const bytes = Buffer.byteLength(JSON.stringify([name, value]));
    if ((Array.isArray(value) && value.length > listLimit) || bytes > bytesLeft) return false;
    bytesLeft -= bytes;
    return true;
  };
  const kept = claims.filter(fits);
  const over = claims.filter((claim) => !kept.includes(claim)).map(({ name }) => name);
  const members = userInfoMembers({ claims: kept, omitted: [] });
  if (over.length === 0) return members;
  return {
    ...members,
    _claim_names: Object.fromEntries(over.map((name) => [name, 'userinfo'])),
    _claim_sources: { userinfo: { endpoint: userInfoEndpoint } },
  };
}

function claimsOfScope(scope: string, settings: ClaimSettings, source: ClaimSource): Record<string, ClaimValue> {
  const { user } = source;
  const profile = profileOf(user);
  switch (scope) {
    case 'profile': {
      const { name, given_name, family_name, birthdate, locale, zoneinfo, updated_at } = profile;
      const preferred_username = user.userName;
      return present({
        ...{ name, given_name, family_name, middle_name: short(attributeOf(user, 'name.middleName')) },
        ...{ nickname: short(attributeOf(user, 'nickName')), preferred_username },
        ...{ profile: webAddress(attributeOf(user, 'profileUrl')), picture: webAddress(attributeOf(user, 'photo')) },
        ...{ birthdate, locale, zoneinfo, updated_at },
      });
    }
    case 'email':
      return present({ email: profile.email, email_verified: profile.email_verified });
    case 'phone':
      return present({ phone_number: profile.phone_number });
    case 'address':
      return present({ address: profile.address });
    case 'groups':
      return { groups: selectedGroups(settings, source) };
    case 'roles':
      return Object.fromEntries([[settings.rolesClaim, rolesOf(settings, source)]]);
    default:
      return {};
  }
}

function selectedGroups({ groups: selection, groupPrefix }: ClaimSettings, { groups }: ClaimSource): string[] {
  const selected = groups.filter(({ name, assigned }) => {
    if (selection === 'assigned') return assigned;
    return selection === 'all' || name.startsWith(groupPrefix as string);
  });
  return sorted(selected.map(({ name }) => name));
}

function rolesOf({ directoryRoles }: ClaimSettings, { user, roles }: ClaimSource): string[] {
  return sorted([...roles, ...(directoryRoles ? valuesOf(user, 'roles') : [])]);
}

/** Undefined if the user has no value. */
function mappedValue(mapping: ClaimMapping, settings: ClaimSettings, source: ClaimSource): ClaimValue | undefined {
  const { user } = source;
  if ('constant' in mapping) return mapping.constant;
  const customOf = (name: string) => customAttributeOf(user, name, source.custom);
  if ('attribute' in mapping) return attributeOf(user, mapping.attribute) ?? customOf(mapping.attribute);
  if ('template' in mapping) {
    return filledTemplate(mapping.template, (name) => attributeOf(user, name) ?? textOf(customOf(name)));
  }
  const { of, prefix, removePrefix } = mapping.list;
  const entries = listOf(of, settings, source).filter((entry) => entry.startsWith(prefix));
  return sorted(removePrefix ? entries.map((entry) => entry.slice(prefix.length)) : entries);
}

/** In a template; lists and complex values have no text. */
function textOf(value: ClaimValue | undefined): string | undefined {
  return value === undefined || typeof value === 'object' ? undefined : String(value);
}

function listOf(of: ClaimList, settings: ClaimSettings, source: ClaimSource): string[] {
  const lists: Record<ClaimList, () => string[]> = {
    groups: () => source.groups.map(({ name }) => name),
    roles: () => rolesOf(settings, source),
    'directory-roles': () => valuesOf(source.user, 'roles'),
    entitlements: () => valuesOf(source.user, 'entitlements'),
    emails: () => valuesOf(source.user, 'emails'),
  };
  return lists[of]();
}

/** In the order of UTF-16 code units, regardless of the locale; without duplicates or blank entries. */
function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].filter((value) => value.trim() !== '').sort();
}

function isTooLong(value: ClaimValue): boolean {
  return typeof value === 'string' && value.length > maxValueCharacters;
}

function short(value: string | undefined): string | undefined {
  return value !== undefined && value.length <= maxValueCharacters ? value : undefined;
}

/** A picture inside the claim would be too long. */
function webAddress(value: string | undefined): string | undefined {
  return value !== undefined && /^https?:\/\//i.test(value) ? short(value) : undefined;
}

function present(values: Record<string, ClaimValue | undefined>): Record<string, ClaimValue> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<
    string,
    ClaimValue
  >;
}
