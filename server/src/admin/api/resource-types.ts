import { registerEnumType } from 'type-graphql';
import type { EnumOf, Field, Fields, SettingsOf, ValueOf } from '../../domain/kernel/resource.ts';
import type { Inputs } from './access.ts';
import { boolean, type FieldOf, int, json, list, nullable, oneOf, text } from './fields.ts';

/** Views and inputs of the admin API, from the declarations of resources. */
type View<F extends Fields> = {
  [Name in keyof F as F[Name] extends { view: false } ? never : Name]: FieldOf<ValueOf<F[Name]>>;
};
type ApiName<F, Name> = F extends { api: infer Api extends string } ? Api : Name;
type Change<F extends Fields> = {
  [Name in keyof F as F[Name] extends { inputs: false } ? never : ApiName<F[Name], Name>]: FieldOf<ValueOf<
    F[Name]
  > | null>;
};
type Creation<F extends Fields> = {
  [Name in keyof F as F[Name] extends { inputs: false | 'change' } ? never : ApiName<F[Name], Name>]: FieldOf<
    F[Name] extends { default: unknown } ? ValueOf<F[Name]> | null : ValueOf<F[Name]>
  >;
};

/** The fields of the view. */
export function viewOf<F extends Fields>(fields: F): View<F> {
  const shown = Object.entries(fields).filter(([, { view }]) => view !== false);
  return Object.fromEntries(
    shown.map(([name, field]) => {
      const type = typeOf(field, field.says);
      return [name, field.default === null ? nullable(type) : type];
    }),
  ) as never;
}

/** The fields of the input that creates one. */
export function creationOf<F extends Fields>(fields: F): Creation<F> {
  const given = Object.entries(fields).filter(([, { inputs }]) => inputs === undefined);
  return Object.fromEntries(
    given.map(([name, field]) => {
      const type = typeOf(field, inputTextOf(field));
      return [field.api ?? name, 'default' in field ? nullable(type) : type];
    }),
  ) as never;
}

/** The fields of the input that changes one; all are optional. */
export function changeOf<F extends Fields>(fields: F): Change<F> {
  const given = Object.entries(fields).filter(([, { inputs }]) => inputs !== false);
  return Object.fromEntries(
    given.map(([name, field]) => [field.api ?? name, nullable(typeOf(field, inputTextOf(field)))]),
  ) as never;
}

/** The settings of an input; null is absent, unless it clears the setting. */
export function settingsIn<F extends Fields>(fields: F, input: object): Partial<SettingsOf<F>> {
  const values = input as Inputs;
  const given = Object.entries(fields).flatMap(([name, field]) => {
    const value = values[field.api ?? name];
    return isGiven(field, value) ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}

/** Whether the inputs change a sensitive setting. */
export function changesSensitive(fields: Fields, inputs: Inputs): boolean {
  return Object.entries(fields).some(([name, field]) => {
    const value = inputs[field.api ?? name];
    const { sensitive } = field;
    return isGiven(field, value) && (typeof sensitive === 'function' ? sensitive(value) : sensitive);
  });
}

const isGiven = ({ clearable }: Field, value: unknown): boolean =>
  value !== undefined && (value !== null || clearable === true);

function inputTextOf({ kind, says, input, default: preset }: Field): string | undefined {
  if (input !== undefined) return input;
  return kind === 'flag' && says !== undefined && preset !== null ? `${says} Default: ${preset}.` : says;
}

function typeOf(field: Field, says: string | undefined): FieldOf<unknown> {
  switch (field.kind) {
    case 'flag':
      return boolean(says);
    case 'number':
      return int(says);
    case 'json':
      return json(says);
    case 'text':
      return text(says);
    case 'texts':
      return list(text(says));
    case 'choice':
      return field.enum ? oneOf(enumOf(field.enum), says) : text(says);
    case 'choices':
      return list(field.enum ? oneOf(enumOf(field.enum), says) : text(says));
  }
}

const enums = new Map<string, Record<string, string>>();

/** A GraphQL enum of the domain's values: `private_key_jwt` is `PRIVATE_KEY_JWT` on the wire. */
export function enumOf<T extends string>({ name, says, values }: EnumOf<T>): Record<string, T> {
  const known = enums.get(name);
  if (known) return known as Record<string, T>;
  const entries = Object.fromEntries(
    values.map((value) => [
      value
        .replace(/([a-z]{2})([A-Z])/g, '$1_$2')
        .replaceAll('-', '_')
        .toUpperCase(),
      value,
    ]),
  );
  registerEnumType(entries, { name, description: says });
  enums.set(name, entries);
  return entries;
}
