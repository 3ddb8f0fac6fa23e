import { refuse } from '../kernel/problem.ts';
import { checkNumber } from '../kernel/resource.ts';
import { checkSeconds } from './session-policy.ts';

/** Returns a setting's value as stored. Refuses `invalid`, naming the field; the type of the value is not known. */
type Check<Value> = (value: Value, field: string) => Value;

/** The check of each setting. */
export type Checks<Settings> = { [Name in keyof Settings]-?: Check<Settings[Name]> };

/** Checks the given settings, in the order of `checks`. Copies known ones only, so that no other input reaches the row. */
export function checkedBy<Settings extends object>(
  checks: Checks<Settings>,
  input: Partial<Settings>,
): Partial<Settings> {
  const settings: Partial<Settings> = {};
  for (const name of Object.keys(checks) as (keyof Settings & string)[]) {
    const value = input[name];
    if (value !== undefined) settings[name] = checks[name](value as Settings[typeof name], name);
  }
  return settings;
}

export function oneOf<T extends string>(allowed: readonly T[]): Check<T> {
  return (value, field) => {
    if (!allowed.includes(value)) refuse({ code: 'invalid', field, reason: `must be one of ${allowed.join(', ')}` });
    return value;
  };
}

export function flag(value: boolean, field: string): boolean {
  if (typeof value !== 'boolean') refuse({ code: 'invalid', field, reason: 'must be true or false' });
  return value;
}

export function flagOrNull(value: boolean | null | undefined, field: string): boolean | null {
  if (value !== null && typeof value !== 'boolean') {
    refuse({ code: 'invalid', field, reason: 'must be true, false or null' });
  }
  return value;
}

export function seconds(bounds: readonly [number, number]): Check<number> {
  return (value, field) => {
    checkSeconds(field, value, bounds);
    return value;
  };
}

export function numberOf(unit: string, bounds: readonly [number, number]): Check<number> {
  return (value, field) => {
    checkNumber(field, value, bounds, unit);
    return value;
  };
}
