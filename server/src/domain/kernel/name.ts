import { refuse } from './problem.ts';
import { isStorableText } from './secret.ts';

const maxLength = 100;

/** A name that people gave to something: trimmed, 1…100 characters in one line. Refuses `invalid`. */
export function cleanName(value: string, field = 'name'): string {
  const name = value.normalize('NFC').trim();
  if (name === '') refuse({ code: 'invalid', field, reason: 'must not be blank' });
  if ([...name].length > maxLength) {
    refuse({ code: 'invalid', field, reason: `must have at most ${maxLength} characters` });
  }
  if (!isStorableText(name) || /[\p{Cc}\u2028\u2029]/u.test(name)) {
    refuse({ code: 'invalid', field, reason: 'must not hold control characters' });
  }
  return name;
}
