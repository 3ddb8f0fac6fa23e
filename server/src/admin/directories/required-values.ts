import type { CustomAttribute, ScalarType } from '../../domain/users/custom/custom-schema.entity.ts';
import { customUrn } from '../../domain/users/custom/definition.ts';

/** A valid value of each type. Values may have to be unique, so each except the boolean contains the number. */
const samples: Record<ScalarType, (number: number) => unknown> = {
  string: (number) => `self-test-${number}`,
  reference: (number) => `https://latchkey.invalid/self-test-${number}`,
  boolean: () => true,
  integer: (number) => number,
  decimal: (number) => number + 0.5,
  // Until the year 2001.
  dateTime: (number) => new Date(number % 1e12).toISOString(),
};

/**
 * The custom attributes that a directory must send, as a part of a SCIM user; empty if there are none.
 *
 * @param number 48 random bits
 */
export function requiredValues(attributes: readonly CustomAttribute[], number: number): object {
  const required = attributes.filter((attribute) => attribute.required);
  const values = required.map(({ name, type, multiValued, subAttributes }) => {
    const parts = () => subAttributes.map((part) => [part.name, samples[part.type](number)]);
    const value = type === 'complex' ? Object.fromEntries(parts()) : samples[type](number);
    return [name, multiValued ? [value] : value];
  });
  return values.length === 0 ? {} : { [customUrn]: Object.fromEntries(values) };
}
