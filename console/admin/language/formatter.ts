import { IntlMessageFormat } from 'intl-messageformat';
import type { Values } from './english.ts';

/** Fills in ICU messages of a language. Fetched with its catalog. */
export function formatter(language: string): (text: string, values: Values) => string {
  const parsed = new Map<string, IntlMessageFormat>();
  return (text, values) => {
    let message = parsed.get(text);
    if (!message) {
      // rich.tsx has already split off the tags.
      message = new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
      parsed.set(text, message);
    }
    return String(message.format(values));
  };
}
