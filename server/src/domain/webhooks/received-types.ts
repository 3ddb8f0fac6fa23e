import { refuse } from '../kernel/problem.ts';
import { eventTypes } from '../nouns.ts';

const nouns = new Set(eventTypes.map((type) => type.split('.')[0]));
const known = new Set<string>([...eventTypes, ...[...nouns].map((noun) => `${noun}.*`)]);

/** Sorted, without duplicates. Refuses `invalid`. */
export function checkedTypes(types: readonly string[]): string[] {
  const unknown = types.findIndex((type) => !known.has(type));
  if (unknown >= 0) {
    refuse({ code: 'invalid', field: `types[${unknown}]`, reason: 'must be an event type, or a resource and ".*"' });
  }
  return [...new Set(types)].sort();
}
