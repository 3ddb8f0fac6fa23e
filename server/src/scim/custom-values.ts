import { isDeepStrictEqual } from 'node:util';
import { customUrn } from '../domain/users/custom/definition.ts';
import { type CustomSchema, checkCustomValues, customName, customValuesOf } from '../domain/users/custom/values.ts';
import type { UserValues } from '../domain/users/user-record.ts';
import type { Resource } from './patch.ts';
import type { DropStep, PatchStep } from './patch-operations.ts';
import type { Asserted } from './projection.ts';
import { type Attribute, isHidden } from './schema/attribute.ts';
import type { ResourceType } from './schema/resource-type.ts';
import { badRequest } from './scim-error.ts';

/** The custom attributes that a request names, by name. */
export function assertedBy({ custom }: ResourceType, steps: readonly (PatchStep | DropStep)[]): Asserted {
  if (!custom) return new Set();
  const names = steps.flatMap((step) => {
    if (step.op === 'drop') return step.schema === custom ? custom.attributes.map(({ name }) => name) : [];
    return step.path.target.extension === custom ? [step.path.target.attribute.name] : [];
  });
  return new Set(names);
}

/** Names of the asserted attributes that are never returned. */
export function hiddenAmong({ custom }: ResourceType, asserted: Asserted): string[] {
  return custom?.attributes.filter((each) => isHidden(each) && asserted.has(each.name)).map(({ name }) => name) ?? [];
}

/**
 * The user of a PUT with the custom values that a client cannot replace: read-only and immutable ones, and those that
 * it cannot read. A hidden immutable value stays, regardless of the request, so that the response does not reveal
 * whether it is the same. Throws `mutability`.
 */
export function keptByReplace(type: ResourceType, before: Resource, next: Resource): Resource {
  const { custom } = type;
  if (!custom) return next;
  const old = customValuesOf(before);
  const given = customValuesOf(next);
  const values = custom.attributes.flatMap((attribute) => {
    const { name } = attribute;
    const isFixed = attribute.mutability === 'immutable' && isHidden(attribute) && Object.hasOwn(old, name);
    const isKept = isFixed || attribute.mutability === 'readOnly' || !Object.hasOwn(given, name);
    const value = isKept && isHeld(attribute) ? old[name] : given[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { [custom.id]: _, ...rest } = next;
  const kept = values.length > 0 ? { ...rest, [custom.id]: Object.fromEntries(values) } : rest;
  checkImmutable(type, before, kept);
  return kept;
}

/** Whether a PUT without the attribute leaves its value (RFC 7644 §3.5.1). */
function isHeld({ mutability, returned }: Attribute): boolean {
  return mutability !== undefined || returned === 'never';
}

/**
 * Throws `mutability` if an immutable value has changed. A hidden one that a PATCH names is refused in any case: a client
 * could otherwise guess the value, any number of times.
 */
export function checkImmutable(
  { custom }: ResourceType,
  before: Resource,
  next: Resource,
  asserted: Asserted = new Set(),
): void {
  const old = customValuesOf(before);
  const values = customValuesOf(next);
  for (const attribute of custom?.attributes ?? []) {
    const { name, mutability } = attribute;
    if (mutability !== 'immutable' || !Object.hasOwn(old, name)) continue;
    const isGuess = isHidden(attribute) && asserted.has(name);
    if (!isGuess && isDeepStrictEqual(old[name], values[name])) continue;
    throw badRequest('mutability', `${customName(name)} is immutable and has a value.`);
  }
}

/** Checks size and presence. An inactive user needs no values: deactivation must not depend on them. Refuses `invalid`. */
export function checkCustom(schema: CustomSchema, { active, attributes }: UserValues, isChecked: boolean): void {
  const isRequired = schema.attributes.some(({ required }) => required);
  if (isChecked || isRequired) checkCustomValues(schema, customValuesOf(attributes), active);
}

/** The resource with the custom values that responses may show, in the order of their definitions. */
export function shownCustom({ custom }: ResourceType, resource: Resource): Resource {
  if (resource[customUrn] === undefined) return resource;
  const { [customUrn]: _, ...rest } = resource;
  if (!custom) return rest;
  const values = customValuesOf(resource);
  const shown = custom.attributes.flatMap(({ name, returned }) =>
    returned === 'never' || !Object.hasOwn(values, name) ? [] : [[name, values[name]] as const],
  );
  return shown.length > 0 ? { ...rest, [custom.id]: Object.fromEntries(shown) } : rest;
}
