import { p } from '@mikro-orm/core';
import { refuse } from './problem.ts';

/** Context of a check, in addition to the value. */
export interface Checking {
  now: Date;
  /** Whether this server calls private addresses. */
  allowPrivateTargets: boolean;
}

/** The declaration of a setting. Its column, checks, admin API and documents are derived from it (decisions/0357). */
interface Declared<Value> {
  /** For new resources; null: none, and the column is nullable. Absent: each creation must give it. */
  default?: Value | null;
  /** Default of the column, for rows that the previous release writes, if it is another; null: none. */
  columnDefault?: Value | null;
  /** Whether a change needs a fresh sign-in: no, yes, or depending on the value. */
  sensitive: boolean | ((value: unknown) => boolean);
  /** Whether null clears it; else null means absent in the admin API. */
  clearable?: boolean;
  /** Description in the admin API. */
  says?: string;
  /** Description in inputs, if it is another. */
  input?: string;
  /** Name in the admin API, if it is another. */
  api?: string;
  /** False: not in the view, or in the view by a resolver. */
  view?: false;
  /** False: not an input of the admin API. `change`: not of creations. */
  inputs?: false | 'change';
  /** False: it has no column of its own; the code of its noun stores it. */
  stored?: false;
  /** False: not in documents. */
  exported?: false;
  /** The switch of the console. Absent: a page of the console has its own. */
  control?: Control;
}

/** A switch in a section of a page of the console. */
type Control = { section: string; label: Translated; help: Translated };

/** A text in the languages of the console. */
type Translated = Readonly<Record<'en' | 'de' | 'es' | 'fr' | 'ja', string>>;

/** The GraphQL enum of a choice; the values are its members. */
export interface EnumOf<T extends string> {
  name: string;
  says: string;
  values: readonly T[];
}

export type Kind = 'flag' | 'text' | 'number' | 'choice' | 'texts' | 'choices' | 'json';

/** A setting of a resource. `Value` has null if the default is null. */
export interface Field<Value = unknown> extends Declared<Value> {
  kind: Kind;
  check(value: Value, field: string, checking: Checking): Value;
  /** The property of the entity. */
  column: unknown;
  /** Smallest and largest number. */
  bounds?: readonly [number, number];
  /** Absent in a choice: text in the admin API. */
  enum?: EnumOf<string>;
  /** Only a type. */
  value?: Value;
}

export type Fields = Readonly<Record<string, Field>>;
type ValueIn<T, Value> = T extends { default: null } ? Value | null : Value;
export type ValueOf<F> = F extends { value?: infer Value } ? Exclude<Value, undefined> : never;
/** The settings of a resource. */
export type SettingsOf<F extends Fields> = { -readonly [Name in keyof F]: ValueOf<F[Name]> };
type StoredName<F extends Fields> = { [Name in keyof F]: F[Name] extends { stored: false } ? never : Name }[keyof F];
/** The settings with a column of the same name. */
export type StoredOf<F extends Fields> = Pick<SettingsOf<F>, StoredName<F>>;

// Not an interface: its name would be in the types of entities.
type Column<Value, Options> = { '~type'?: { value: Value }; '~options': Options };
type ColumnOf<F> = F extends { default: null }
  ? Column<NonNullable<ValueOf<F>>, { nullable: true }>
  : Column<
      ValueOf<F>,
      F extends { columnDefault: null } ? Unset : F extends { default: unknown } ? { default: boolean } : Unset
    >;
type Unset = Record<never, never>;

interface Builder {
  nullable(): Builder;
  default(value: string | number | boolean | string[]): Builder;
}

/** Refuses `invalid`, or returns the value as stored. */
type Check<Value> = (value: Value, field: string, checking: Checking) => Value;

function field<T extends Declared<Value>, Value>(kind: Kind, column: unknown, check: Check<Value>, declared: T) {
  const { default: preset, columnDefault = preset } = declared;
  const given = (preset === null ? (column as Builder).nullable() : column) as Builder;
  const built = columnDefault == null ? given : given.default(columnDefault as string | number | boolean | string[]);
  return { ...declared, kind, column: built, check } as T & Field<ValueIn<T, Value>>;
}

/** Refuses values of another type before the `check`, which trusts it. */
function guarded<Value>(is: (value: unknown) => boolean, reason: string, check: Check<Value>): Check<Value> {
  return (value, name, checking) => {
    if (!is(value)) refuse({ code: 'invalid', field: name, reason });
    return check(value, name, checking);
  };
}

/** True or false. */
export function flag<const T extends Declared<boolean> & { default: boolean | null }>(declared: T) {
  const reason = declared.clearable ? 'must be true, false or null' : 'must be true or false';
  const check: Check<boolean> = (value, name) =>
    typeof value === 'boolean' ? value : refuse({ code: 'invalid', field: name, reason });
  return field<T, boolean>('flag', p.boolean(), check, declared);
}

export function text<const T extends Declared<string> & { check: Check<string> }>(declared: T) {
  const check = guarded<string>((value) => typeof value === 'string', 'must be text', declared.check);
  return field<T, string>('text', p.text(), check, declared);
}

/** A whole number of `unit` within `bounds`. */
export function number<const T extends Declared<number> & { unit: string; bounds: readonly [number, number] }>(
  declared: T,
) {
  const check: Check<number> = (value, name) => {
    checkNumber(name, value, declared.bounds, declared.unit);
    return value;
  };
  return field<T, number>('number', p.integer(), check, declared);
}

export function choice<V extends string, const T extends Declared<V>>(of: EnumOf<V>, declared: T) {
  const reason = `must be one of ${of.values.join(', ')}`;
  const check: Check<V> = (value, name) =>
    of.values.includes(value) ? value : refuse({ code: 'invalid', field: name, reason });
  return { ...field<T, V>('choice', p.enum(of.values), check, declared), enum: of };
}

export function texts<const T extends Declared<string[]> & { check: Check<string[]> }>(declared: T) {
  const isList = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
  const check = guarded<string[]>(isList, 'must be a list of texts', declared.check);
  return field<T, string[]>('texts', textArray(), check, declared);
}

/** Several of a list, in its order, each once, unless a `check` says more. Without a name, the list is text in the admin API. */
export function choices<V extends string, const T extends Declared<V[]> & { check?: Check<V[]> }>(
  of: EnumOf<V> | Pick<EnumOf<V>, 'values'>,
  declared: T,
) {
  const { values } = of;
  const check: Check<V[]> = (wanted, name) => {
    if (Array.isArray(wanted) && wanted.every((one) => values.includes(one))) {
      return values.filter((one) => wanted.includes(one));
    }
    return refuse({ code: 'invalid', field: name, reason: `must contain only ${values.join(', ')}` });
  };
  const made = field<T, V[]>('choices', textArray(), declared.check ?? check, declared);
  return 'name' in of ? { ...made, enum: of } : made;
}

/** Any JSON; the code of its noun checks and stores it. */
export function json<const T extends Declared<unknown> & { stored: false }>(declared: T) {
  return field<T, unknown>('json', p.json(), (value) => value, declared);
}

/** JSON of the type that `check` makes of any value. */
export function jsonOf<Value, const T extends Declared<Value>>(
  check: (value: unknown, field: string) => Value,
  declared: T,
) {
  return field<T, Value>('json', p.json(), check, declared);
}

const textArray = () => p.array().columnType('text[]');

/** Refuses `invalid` unless `value` is a whole number of `unit` within `bounds`. */
export function checkNumber(field: string, value: number, [min, max]: readonly [number, number], unit: string): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    refuse({ code: 'invalid', field, reason: `must be a whole number of ${unit} from ${min} to ${max}` });
  }
}

const entriesOf = (fields: Fields) => Object.entries(fields);
const storedFields = (fields: Fields) => entriesOf(fields).filter(([, { stored }]) => stored !== false);

/** The properties of the entity. */
export function columnsOf<F extends Fields>(fields: F): { [Name in StoredName<F>]: ColumnOf<F[Name]> } {
  return Object.fromEntries(storedFields(fields).map(([name, { column }]) => [name, column])) as never;
}

/** The names of the columns, by setting. */
export function columnNamesOf(fields: Fields): Record<string, string> {
  const named = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(storedFields(fields).map(([name]) => [name, named(name)]));
}

/** The names of the settings that documents contain, in their order. */
export function exportedNamesOf(fields: Fields): readonly string[] {
  return entriesOf(fields).flatMap(([name, { exported }]) => (exported === false ? [] : [name]));
}

/** All stored settings of a new resource: `given`, else the defaults. */
export function withDefaultsOf<F extends Fields>(fields: F, given: { [N in StoredName<F>]?: unknown }): StoredOf<F> {
  const values = given as Record<string, unknown>;
  return Object.fromEntries(
    storedFields(fields).map(([name, { default: preset }]) => [name, values[name] ?? preset]),
  ) as never;
}

/** The stored settings of a resource. */
export function storedIn<F extends Fields>(fields: F, resource: StoredOf<F>): StoredOf<F> {
  const values = resource as Record<string, unknown>;
  return Object.fromEntries(storedFields(fields).map(([name]) => [name, values[name] ?? null])) as never;
}

/**
 * The given settings in their stored form. Copies declared ones only, so that no other input reaches the row. Refuses
 * `invalid`, naming the field; the types of the values are not known.
 */
export function checkedBy<F extends Fields>(
  fields: F,
  input: Partial<StoredOf<F>>,
  checking: Checking,
): Partial<StoredOf<F>> {
  const given = storedFields(fields).flatMap(([name, field]) => {
    const value = (input as Record<string, unknown>)[name];
    if (value === undefined) return [];
    const isCleared = value === null && field.clearable === true;
    return [[name, isCleared ? null : field.check(value, field.api ?? name, checking)]];
  });
  return Object.fromEntries(given);
}
