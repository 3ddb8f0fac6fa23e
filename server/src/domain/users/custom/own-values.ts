import { isDeepStrictEqual } from 'node:util';
import { refuse } from '../../kernel/problem.ts';
import type { EditedUser } from '../edits/profile-edit.ts';
import { type UserRecord, type UserValues, valuesOf } from '../user-record.ts';
import type { CustomAttribute, ScalarType } from './custom-schema.entity.ts';
import { customLimits, customUrn } from './definition.ts';
import { type CustomSchema, checkCustomValues, customName, customValuesOf, readScalar } from './values.ts';

/** Custom values to set, by name; null removes one. */
export type CustomEdit = Readonly<Record<string, unknown>>;

/**
 * The values of a user after an admin has edited custom attributes. Refuses `invalid`, naming the attribute: also for
 * an attribute that an authoritative directory manages, and for an immutable value.
 */
export function editedCustom(
  user: EditedUser,
  edit: CustomEdit,
  { schema, isLocked }: { schema: CustomSchema; isLocked: boolean },
): UserValues {
  const before = valuesOf(user);
  const values = { ...customValuesOf(user.attributes) };
  for (const [name, given] of Object.entries(edit)) {
    const attribute = schema.attributes.find((each) => each.name === name);
    if (!attribute) return invalid(name, 'is not an attribute of the project');
    const value = readCustomValue(attribute, given);
    const isEqual = isDeepStrictEqual(value, values[name]);
    // A hidden value is refused even if it is equal: the response would otherwise reveal that.
    if (isEqual && (value === undefined || attribute.returned !== 'never')) continue;
    checkEdit(attribute, user, values[name], value, isLocked);
    if (value === undefined) delete values[name];
    else values[name] = value;
  }
  checkCustomValues(schema, values, false);
  const { [customUrn]: _, ...rest } = before.attributes;
  const attributes = Object.keys(values).length > 0 ? { ...rest, [customUrn]: values } : rest;
  return { ...before, attributes };
}

function checkEdit(
  { name, mutability, required }: CustomAttribute,
  { provenance }: EditedUser,
  before: unknown,
  after: unknown,
  isLocked: boolean,
): void {
  const isOwnedByDirectory = isLocked && provenance === 'scim' && mutability !== 'readOnly';
  if (isOwnedByDirectory) invalid(name, 'is managed by the directory: change it there');
  if (mutability === 'immutable' && before !== undefined) invalid(name, 'is immutable and has a value');
  if (required && after === undefined) invalid(name, 'is required');
}

/** An admin's value of an attribute in its stored form; undefined if it assigns nothing. Refuses `invalid`. */
function readCustomValue(attribute: CustomAttribute, value: unknown): unknown {
  if (!attribute.multiValued) return readOne(attribute, value);
  const given = value === null || value === undefined ? [] : value;
  if (!Array.isArray(given)) return invalid(attribute.name, 'must be a list');
  if (given.length > customLimits.values) invalid(attribute.name, `has more than ${customLimits.values} values`);
  const read = given.map((each) => readOne(attribute, each)).filter((each) => each !== undefined);
  const distinct = read.filter((each, at) => read.findIndex((other) => isDeepStrictEqual(other, each)) === at);
  return distinct.length === 0 ? undefined : distinct;
}

function readOne({ name, type, subAttributes }: CustomAttribute, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (type !== 'complex') return readPart(name, type, value);
  if (typeof value !== 'object' || Array.isArray(value)) return invalid(name, 'must be an object');
  const unknown = Object.keys(value).find((key) => !subAttributes.some((part) => part.name === key));
  if (unknown !== undefined) invalid(name, 'has an unknown part');
  const parts = subAttributes.flatMap((part) => {
    const given = Object.hasOwn(value, part.name) ? (value as Record<string, unknown>)[part.name] : undefined;
    const read = given === null || given === undefined ? undefined : readPart(`${name}.${part.name}`, part.type, given);
    return read === undefined ? [] : [[part.name, read] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

/** Blank text assigns nothing. */
function readPart(name: string, type: ScalarType, value: unknown): unknown {
  if (typeof value === 'string' && value.trim() === '') return undefined;
  const read = readScalar(type, value);
  return 'fault' in read ? invalid(name, read.fault) : read.value;
}

function invalid(name: string, reason: string): never {
  refuse({ code: 'invalid', field: customName(name), reason });
}

/** A custom attribute of a user, for admins and for the user. */
export interface ShownCustomValue {
  attribute: CustomAttribute;
  hasValue: boolean;
  /** Null without a value, and for an attribute that is never returned. */
  value: unknown;
}

/** The custom attributes of a project with the values of a user, in the order of the definitions. */
export function shownCustomValues(
  { attributes }: CustomSchema,
  user: Pick<UserRecord, 'attributes'>,
): ShownCustomValue[] {
  const values = customValuesOf(user.attributes);
  return attributes.map((attribute) => {
    const hasValue = Object.hasOwn(values, attribute.name);
    return { attribute, hasValue, value: hasValue && attribute.returned !== 'never' ? values[attribute.name] : null };
  });
}
