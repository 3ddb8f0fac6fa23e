import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { customUrn } from '../domain/users/custom/definition.ts';
import { ownAttributes } from '../domain/users/edits/profile-edit.ts';
import { type Contact, contactsOf, isAddress, trimmed } from '../domain/users/login.ts';
import { enterpriseUrn } from '../domain/users/manager.ts';
import type { ShownUser, UserRecord, UserValues } from '../domain/users/user-record.ts';
import { assertedBy, shownCustom } from './custom-values.ts';
import { applyStep, PatchCost, type Resource } from './patch.ts';
import { entries, isObject } from './patch-operations.ts';
import type { Asserted } from './projection.ts';
import type { ResourceType } from './schema/resource-type.ts';
import { invalid } from './schema/values.ts';
import { badRequest } from './scim-error.ts';

/** Maximum size of a user's attributes as JSON, in bytes: a page of a hundred users must fit into memory. */
const maxUserBytes = 256 * 1024;

/** Set if a directory has removed `active`: access stays as it was, and `active` is not returned. */
export const unassigned = 'activeUnassigned';

/** A copy of the writable part of a user, by the schema's names. */
export function resourceOf(user: UserRecord): Resource {
  return writableOf({ ...user, attributes: structuredClone(user.attributes) });
}

/** Like {@link resourceOf}, only for reading: it shares values with the user. */
function writableOf(user: UserRecord): Resource {
  const { [unassigned]: isUnassigned, name, ...rest } = user.attributes;
  const names = defined({
    ...(isObject(name) ? name : {}),
    familyName: user.familyName ?? undefined,
    givenName: user.givenName ?? undefined,
  });
  return defined({
    ...rest,
    userName: user.userName,
    externalId: user.externalId ?? undefined,
    displayName: user.displayName ?? undefined,
    name: Object.keys(names).length > 0 ? names : undefined,
    active: isUnassigned ? undefined : user.active,
  });
}

/** Parses the user of a POST or PUT. Throws `invalidValue`, `invalidSyntax`. */
export function readUser(
  type: ResourceType,
  body: Record<string, unknown>,
): { resource: Resource; asserted: Asserted } {
  const resource: Resource = {};
  const cost = new PatchCost();
  const steps = [...entries(type, 'replace', body)];
  for (const step of steps) applyStep(resource, step, cost);
  if (resource['userName'] === undefined) throw invalid('userName', 'is required');
  return { resource, asserted: assertedBy(type, steps) };
}

/** The values to store. Throws `invalidValue`. @param current the user to be changed, if any */
export function valuesOfResource(resource: Resource, current?: UserRecord): UserValues {
  const { userName, externalId, displayName, active, name, ...rest } = resource;
  if (!isDeepStrictEqual(rest['emails'], current?.attributes['emails'])) checkLoginEmail(contactsOf(rest, 'emails'));
  const { familyName, givenName, ...names } = isObject(name) ? name : {};
  // A PUT replaces the attributes of SCIM.
  const own = ownAttributes.flatMap((key) =>
    current?.attributes[key] === undefined ? [] : [[key, current.attributes[key]]],
  );
  const attributes = {
    ...rest,
    ...Object.fromEntries(own),
    ...(Object.keys(names).length > 0 ? { name: names } : {}),
    ...(current && active === undefined ? { [unassigned]: true } : {}),
  };
  checkSize(attributes, current?.attributes);
  return {
    userName: trimmed(userName as string),
    externalId: textOrNull(externalId),
    displayName: textOrNull(displayName),
    givenName: textOrNull(givenName),
    familyName: textOrNull(familyName),
    active: (active as boolean | undefined) ?? current?.active ?? true,
    attributes,
  };
}

/**
 * Without a limit, many changes could make a user so large that a list of users exhausts memory. A user that is already
 * too large may shrink. Custom attributes have a separate limit, which hides the size of those that are never returned.
 */
function checkSize(next: Resource, before: Resource = {}): void {
  const bytes = bytesOf(next);
  if (bytes <= maxUserBytes || bytes <= bytesOf(before)) return;
  throw badRequest('invalidValue', `The user is too large: its attributes may have at most ${maxUserBytes} bytes.`);
}

const bytesOf = ({ [customUrn]: _, ...attributes }: Resource) => Buffer.byteLength(JSON.stringify(attributes));

/**
 * The login email must be an address: the primary one, or one of several without a primary. The others are stored
 * unchecked (RFC 7643 §4.1.2).
 */
function checkLoginEmail(emails: readonly Contact[]): void {
  const isUsable = ({ value }: Contact) => value !== undefined && isAddress(value);
  const stated = emails.filter(({ value }) => value !== undefined);
  const primary = stated.filter((email) => email.primary);
  const candidates = primary.length > 0 ? primary : stated;
  if (candidates.length > 0 && !candidates.some(isUsable)) throw invalid('emails.value', 'must be an email address');
}

/** The response for a user, attributes in the order of the schema. */
export function userResource(type: ResourceType, user: ShownUser, baseUrl: string): Resource {
  const { schema, extensions } = type;
  const resource = shownCustom(type, withManagerName(writableOf(user), user.managerName));
  const extended = extensions.filter(({ id }) => resource[id] !== undefined);
  const location = `${baseUrl}/Users/${user.id}`;
  const memberships = user.groups.map(({ id, displayName }) => ({
    value: id,
    $ref: `${baseUrl}/Groups/${id}`,
    display: displayName,
    type: 'direct',
  }));
  if (memberships.length > 0) resource['groups'] = memberships;
  const names = ['externalId', ...schema.attributes.map(({ name }) => name), ...extended.map(({ id }) => id)];
  const shown: Resource = { schemas: [schema.id, ...extended.map(({ id }) => id)], id: user.id };
  for (const name of names) if (resource[name] !== undefined) shown[name] = resource[name];
  shown['meta'] = {
    resourceType: 'User',
    created: user.createdAt.toISOString(),
    lastModified: user.updatedAt.toISOString(),
    location,
    version: userVersion(user),
  };
  return shown;
}

function withManagerName(resource: Resource, displayName: string | null): Resource {
  const extension = resource[enterpriseUrn];
  if (displayName === null || !isObject(extension) || !isObject(extension['manager'])) return resource;
  return { ...resource, [enterpriseUrn]: { ...extension, manager: { ...extension['manager'], displayName } } };
}

/** The ETag: the user's version and, after a dash, a digest of the groups and the manager in the response. */
export function userVersion({ version, groups, managerName }: ShownUser): string {
  if (groups.length === 0 && managerName === null) return `W/"${version}"`;
  const digest = createHash('sha256').update(managerName ?? '');
  for (const { id, displayName } of groups) digest.update(`${id}\0${displayName}\0`);
  return `W/"${version}-${digest.digest('base64url').slice(0, 12)}"`;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function defined(values: Resource): Resource {
  const result: Resource = {};
  for (const name of Object.keys(values)) if (values[name] !== undefined) result[name] = values[name];
  return result;
}
