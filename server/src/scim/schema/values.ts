import { isStorableText } from '../../domain/kernel/secret.ts';
import { foldCase } from '../../domain/users/login.ts';
import { badRequest, type ScimError } from '../scim-error.ts';
import { type Attribute, attributeNamed, defaultMaxLength, defaultSubAttribute, isReadOnly } from './attribute.ts';

/** A complex value with the names of the schema; unassigned attributes are absent. */
export type Complex = Record<string, unknown>;

/** Maximum number of values of one attribute. */
export const maxElements = 500;

/**
 * Parses a client's value of `attribute` into its stored form; undefined if it assigns nothing (null, an empty array or
 * object). Unknown and read-only parts are ignored. Throws `invalidValue`.
 */
export function readValue(attribute: Attribute, value: unknown): unknown {
  return attribute.multiValued ? readElements(attribute, value) : readSingle(attribute, value, attribute.name);
}

/** Parses the elements of a multi-valued attribute. A single element counts as a list of one; blank ones are unassigned. */
export function readElements(attribute: Attribute, value: unknown): Complex[] | undefined {
  const given = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
  if (given.length > maxElements) throw invalid(attribute.name, `has more than ${maxElements} values`);
  if (attribute.type !== 'complex') return readPlain(attribute, given) as Complex[] | undefined;
  const elements = given.flatMap((each) => {
    const element = readSingle(attribute, each, attribute.name) as Complex | undefined;
    return element === undefined || isEmpty(attribute, element) ? [] : [element];
  });
  return elements.length === 0 ? undefined : normalized(attribute, elements);
}

/** Values without parts; Okta and PATCH may wrap each as `{"value": …}`. */
function readPlain(attribute: Attribute, given: readonly unknown[]): unknown[] | undefined {
  const values = given.flatMap((each) => {
    const isWrapped = typeof each === 'object' && each !== null && Object.hasOwn(each, 'value');
    const value = readSingle(attribute, isWrapped ? (each as Complex)['value'] : each, attribute.name);
    return value === undefined || isBlank(value) ? [] : [value];
  });
  return values.length === 0 ? undefined : distinct(values);
}

/** Entra ID sends a type with a null value for every number that is not set. */
function isEmpty(attribute: Attribute, element: Complex): boolean {
  return (
    defaultSubAttribute(attribute) !== undefined &&
    Object.keys(element).every((name) => name === 'type' || name === 'primary')
  );
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Set(values)];
}

/** Keeps one primary value, the last one, and merges duplicates. */
export function normalized(attribute: Attribute, elements: readonly Complex[]): Complex[] {
  if (elements.some((element) => typeof element !== 'object')) return distinct(elements) as Complex[];
  const primary = elements.findLastIndex((element) => element['primary'] === true);
  const kept = new Map<string, Complex>();
  for (const [index, element] of elements.entries()) {
    const demoted = element['primary'] === true && index !== primary ? { ...element, primary: false } : element;
    const key = identityOf(attribute, demoted);
    const same = kept.get(key);
    kept.set(key, same ? { ...same, ...demoted } : demoted);
  }
  return [...kept.values()];
}

/** RFC 7643 §2.4: the same value and type is the same element; without a value, all of it must agree. */
function identityOf(attribute: Attribute, element: Complex): string {
  const { value, type } = element;
  if (value === undefined) return JSON.stringify(Object.entries(element).sort());
  const identity = JSON.stringify([value, type ?? null]);
  return attribute.ignoresCase ? foldCase(identity) : identity;
}

/** Parses one value, or one element of several. */
export function readSingle(attribute: Attribute, value: unknown, name: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (attribute.read) return readCustom(attribute, value, name);
  switch (attribute.type) {
    case 'complex':
      return readComplex(attribute, value, name);
    case 'boolean':
      return readBoolean(value, name);
    default:
      return readText(attribute, value, name);
  }
}

/**
 * Whether a client's value for the `value` of a complex attribute unassigns it. Directories send `""` for a user
 * without a number.
 */
export function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

/** A complex value as an object. Entra ID once sent a manager as a list of one. */
export function unwrapped(attribute: Attribute, value: unknown): unknown {
  const isWrapped = Array.isArray(value) && value.length <= 1 && !attribute.multiValued;
  return isWrapped && defaultSubAttribute(attribute) ? (value[0] ?? null) : value;
}

function readComplex(attribute: Attribute, given: unknown, name: string): Complex | undefined {
  const whole = defaultSubAttribute(attribute);
  if (isBlank(given)) return undefined;
  const value = withoutJson(attribute, given, name);
  if (typeof value === 'string' && whole) return readComplex(attribute, { value }, name);
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(name, 'must be an object');
  if (whole && Object.entries(value as object).some(([key, part]) => isDefault(key) && isBlank(part))) return undefined;
  const complex: Complex = {};
  for (const [key, part] of Object.entries(value as object)) {
    const sub = attributeNamed(attribute.subAttributes, key);
    if (!sub || isReadOnly(sub)) continue;
    if (Object.hasOwn(complex, sub.name)) throw badRequest('invalidSyntax', `${name}.${sub.name} occurs twice.`);
    const read = readSingle(sub, part, `${name}.${sub.name}`);
    if (read !== undefined) complex[sub.name] = read;
  }
  return Object.keys(complex).length === 0 ? undefined : complex;
}

/**
 * A complex value that a client sent as JSON text, whole or as its `value`, as an object: Entra ID sends app roles as
 * `{"value": "{\"id\": …, \"value\": \"editor\", \"displayName\": \"Editor\"}"}`. Throws `invalidValue` for an array, and for a
 * `value` that names none.
 */
function withoutJson(attribute: Attribute, value: unknown, name: string): unknown {
  if (typeof value === 'string') {
    const packed = jsonIn(value, name);
    return packed ? withoutJson(attribute, withDisplay(attribute, packed), name) : value;
  }
  if (typeof value !== 'object' || value === null || !defaultSubAttribute(attribute)) return value;
  const key = Object.keys(value).find(isDefault);
  const text = key === undefined ? undefined : (value as Complex)[key];
  const packed = typeof text === 'string' ? jsonIn(text, `${name}.value`) : undefined;
  if (key === undefined || packed === undefined) return value;
  if (!Object.keys(packed).some(isDefault)) throw invalid(`${name}.value`, 'is JSON without a value');
  const { [key]: _, ...rest } = value as Complex;
  return withoutJson(attribute, { ...withDisplay(attribute, packed), ...rest }, name);
}

/** The object in a text that is JSON; undefined for any other text. */
function jsonIn(text: string, name: string): Complex | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const parsed = parsedJson(text);
  if (Array.isArray(parsed)) throw invalid(name, 'must not be a JSON array as text');
  return parsed;
}

function parsedJson(text: string): Complex | unknown[] | undefined {
  try {
    return JSON.parse(text) as Complex | unknown[];
  } catch {
    return undefined;
  }
}

/** App roles have a `displayName`. */
function withDisplay(attribute: Attribute, packed: Complex): Complex {
  const { displayName } = packed;
  const hasDisplay = attributeNamed(attribute.subAttributes, 'display') && typeof displayName === 'string';
  return hasDisplay ? { display: displayName, ...packed } : packed;
}

/**
 * A value for an attribute with one value that a client wrapped: Entra ID sends `[{"$ref": null, "value": "False"}]`.
 */
export function plainValue(value: unknown): unknown {
  const only = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
  const isWrapped = typeof only === 'object' && only !== null && Object.hasOwn(only, 'value');
  return isWrapped ? (only as Complex)['value'] : value;
}

const isDefault = (name: string) => name.toLowerCase() === 'value';

/** Blank text assigns nothing. */
function readCustom(attribute: Attribute, value: unknown, name: string): unknown {
  if (isBlank(value)) return undefined;
  const { maxLength = defaultMaxLength } = attribute;
  if (typeof value === 'string' && value.length > maxLength) {
    throw invalid(name, `must not be longer than ${maxLength} characters`);
  }
  const read = attribute.read?.(value) ?? { value };
  if ('fault' in read) throw invalid(name, read.fault);
  return read.value;
}

function readBoolean(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (word === 'true') return true;
  if (word === 'false') return false;
  throw invalid(name, 'must be true or false');
}

function readText(attribute: Attribute, value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalid(name, 'must be a string');
  const { maxLength = defaultMaxLength, check } = attribute;
  if (value.length > maxLength) throw invalid(name, `must not be longer than ${maxLength} characters`);
  if (!isStorableText(value)) throw invalid(name, 'must not contain NUL or an unpaired surrogate');
  const reason = check?.(value);
  if (reason !== undefined) throw invalid(name, reason);
  return value;
}

export function invalid(name: string, reason: string): ScimError {
  return badRequest('invalidValue', `${name} ${reason}.`);
}
