import { Refusal, refuse } from '../kernel/problem.ts';

/** Settings by the names of the domain, as JSON; a logo or secret is its digest in comparisons. */
export type Values = Record<string, unknown>;

export function textIn(values: Values, name: string): string | null {
  const value = values[name] ?? null;
  if (value !== null && typeof value !== 'string') refuse({ code: 'invalid', field: name, reason: 'must be text' });
  return value as string | null;
}

export function flagIn(values: Values, name: string, absent: boolean): boolean {
  const value = values[name] ?? absent;
  if (typeof value !== 'boolean') refuse({ code: 'invalid', field: name, reason: 'must be true or false' });
  return value as boolean;
}

export function listIn(values: Values, name: string): string[] {
  const list = values[name] ?? [];
  if (!Array.isArray(list) || list.some((one) => typeof one !== 'string')) {
    refuse({ code: 'invalid', field: name, reason: 'must be a list of texts' });
  }
  return list as string[];
}

export function objectIn(value: unknown, path: string): Values {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Values;
  return refuse({ code: 'invalid', field: path, reason: 'must be a mapping' });
}

export function knownOnly(values: Values, known: readonly string[], path: string): void {
  for (const name of Object.keys(values)) {
    if (known.includes(name)) continue;
    refuse({ code: 'invalid', field: path === '' ? name : `${path}.${name}`, reason: 'is not a setting' });
  }
}

/** Puts the path before the field of a refusal. */
export function at<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.problem.code !== 'invalid') throw error;
    const { field, reason } = error.problem;
    const whole = field === path || path === '' ? field : `${path}.${field}`;
    return refuse({ code: 'invalid', field: whole, reason });
  }
}
