import type { EventFilter } from '../../domain/audit/events.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';

const maxTypes = 100;

/** Validates a filter. Refuses `invalid` for malformed ids and for more than 100 types. */
export function eventFilter(filter: EventFilter): EventFilter {
  for (const name of ['userId', 'clientId', 'requestId', 'signInId', 'organizationId'] as const) {
    const value = filter[name];
    if (value !== undefined && !isUuid(value)) {
      refuse({ code: 'invalid', field: `filter.${name}`, reason: 'must be a UUID' });
    }
  }
  if ((filter.types?.length ?? 0) > maxTypes) {
    refuse({ code: 'invalid', field: 'filter.types', reason: `must be at most ${maxTypes}` });
  }
  return filter;
}
