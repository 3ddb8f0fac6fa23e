import { parseInstant } from '../../kernel/instant.ts';
import { refuse } from '../../kernel/problem.ts';
import { isStorableText } from '../../kernel/secret.ts';
import { foldCase } from '../login.ts';
import type { CustomAttribute, ScalarType } from './custom-schema.entity.ts';
import { customLimits, customUrn } from './definition.ts';

/** The custom attributes of a user by name. */
export type CustomValues = Readonly<Record<string, unknown>>;

/** The definitions of a project, and their version. */
export interface CustomSchema {
  version: number;
  attributes: readonly CustomAttribute[];
}

/** An entry of the index of values. */
export interface ValueKey {
  attribute: string;
  key: string;
  isUnique: boolean;
}

type Attributes = Readonly<Record<string, unknown>>;

/** Hidden values count in steps of this many bytes. */
const hiddenStep = 64;

/** The stored custom values of a user, those of deleted attributes included. */
export function customValuesOf(attributes: Attributes): CustomValues {
  const values = attributes[customUrn];
  return typeof values === 'object' && values !== null && !Array.isArray(values) ? (values as CustomValues) : {};
}

/** The name of a custom attribute in errors, filters and events. */
export const customName = (name: string): string => `${customUrn}:${name}`;
export const isCustomName = (name: string): boolean => name.startsWith(`${customUrn}:`);

/**
 * The stored form of a single value: numbers as numbers, instants in UTC with milliseconds. Directories send numbers and
 * booleans as text, too. Returns the reason for a refusal.
 */
export function readScalar(type: ScalarType, value: unknown): { value: string | number | boolean } | { fault: string } {
  switch (type) {
    case 'boolean': {
      const flag = typeof value === 'string' ? { true: true, false: false }[value.toLowerCase()] : value;
      return typeof flag === 'boolean' ? { value: flag } : { fault: 'must be true or false' };
    }
    case 'integer':
    case 'decimal': {
      const isText = typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
      const number = isText ? Number(value) : value;
      if (typeof number !== 'number' || !Number.isFinite(number)) return { fault: 'must be a number' };
      if (type === 'integer' && !Number.isSafeInteger(number)) {
        return { fault: 'must be an integer between -9007199254740991 and 9007199254740991' };
      }
      return { value: number === 0 ? 0 : number };
    }
    case 'dateTime': {
      const at = typeof value === 'string' ? parseInstant(value) : undefined;
      const text = at === undefined ? '' : new Date(at).toISOString();
      return text.length === 24 ? { value: text } : { fault: 'must be a time such as 2026-01-31T12:00:00Z' };
    }
    default: {
      if (typeof value !== 'string') return { fault: 'must be a string' };
      if (!isStorableText(value)) return { fault: 'must not contain NUL or an unpaired surrogate' };
      const isSpaced = type === 'reference' && /[\s\p{Cc}]/u.test(value);
      return isSpaced ? { fault: 'must be a URI' } : { value };
    }
  }
}

/**
 * Checks custom values that have changed: their size and, if they must be complete, that each required one is present.
 * Refuses `invalid`.
 */
export function checkCustomValues({ attributes }: CustomSchema, values: CustomValues, isComplete: boolean): void {
  if (sizeOf(attributes, values) > customLimits.bytes) {
    refuse({ code: 'invalid', field: customUrn, reason: `must have at most ${customLimits.bytes} bytes` });
  }
  const missing = attributes.find(({ name, required }) => required && !Object.hasOwn(values, name));
  if (isComplete && missing) invalid(missing.name, 'is required');
}

/**
 * The size in bytes. A hidden value counts in steps, and so does each part of one, since a client can change it alone: the
 * size of the other values that are still accepted would otherwise distinguish `true` from `false`.
 */
function sizeOf(attributes: CustomSchema['attributes'], values: CustomValues): number {
  const hidden = attributes.filter(({ name, returned }) => returned === 'never' && Object.hasOwn(values, name));
  const names = new Set(hidden.map(({ name }) => name));
  const shown = Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
  const parts = hidden.flatMap(({ name, type, multiValued }) =>
    type === 'complex' && !multiValued ? Object.values(values[name] as object) : [values[name]],
  );
  return parts.reduce<number>(
    (total, part) => total + Math.ceil(bytesOf(part) / hiddenStep) * hiddenStep,
    bytesOf(shown),
  );
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** The entries of the index for a user's values. Refuses `invalid` for text that is too long to be indexed. */
export function valueKeys({ attributes }: CustomSchema, values: CustomValues): ValueKey[] {
  return attributes.flatMap((attribute) => {
    const { name, uniqueness, indexed } = attribute;
    const isUnique = uniqueness === 'server';
    if ((!isUnique && !indexed) || !Object.hasOwn(values, name)) return [];
    const stored = values[name];
    const keys = (Array.isArray(stored) ? stored : [stored]).map((value) => keyOf(attribute, value));
    if (keys.some((key) => key.length > customLimits.keyCharacters)) {
      invalid(name, `must have at most ${customLimits.keyCharacters} characters: the attribute is indexed`);
    }
    return [...new Set(keys)].map((key) => ({ attribute: name, key, isUnique }));
  });
}

/** A value in the form for comparison. */
export function keyOf({ caseExact }: Pick<CustomAttribute, 'caseExact'>, value: unknown): string {
  const text = String(value);
  return caseExact ? text : foldCase(text);
}

function invalid(name: string, reason: string): never {
  refuse({ code: 'invalid', field: customName(name), reason });
}
