import { eventTypes } from '../audit/event-types.ts';
import { checkLogoutUri } from '../clients/logout-uri.ts';
import { isLine } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';

/** What an admin sets. */
export interface WebhookSettings {
  url: string;
  description: string;
  /** Event types, or `noun.*`; empty: all. */
  types: readonly string[];
}

const maxDescription = 100;
const nouns = new Set(eventTypes.map((type) => type.split('.')[0]));
const known = new Set<string>([...eventTypes, ...[...nouns].map((noun) => `${noun}.*`)]);

/** Refuses `invalid`, naming the field. */
export function checkedUrl(url: string, allowPrivate: boolean): string {
  const reason = checkLogoutUri(url, allowPrivate);
  if (reason) refuse({ code: 'invalid', field: 'url', reason });
  return url;
}

/** Sorted, without repetition. Refuses `invalid`. */
export function checkedTypes(types: readonly string[]): string[] {
  const unknown = types.findIndex((type) => !known.has(type));
  if (unknown >= 0) {
    refuse({ code: 'invalid', field: `types[${unknown}]`, reason: 'must be an event type, or a noun and ".*"' });
  }
  return [...new Set(types)].sort();
}

/** Refuses `invalid`. */
export function checkedDescription(text: string): string {
  const description = text.normalize('NFC').trim();
  if ([...description].length > maxDescription || (description !== '' && !isLine(description))) {
    refuse({
      code: 'invalid',
      field: 'description',
      reason: `must be one line of at most ${maxDescription} characters`,
    });
  }
  return description;
}
