import { refuse } from './problem.ts';
import { isStorableText } from './secret.ts';

const maxLength = 100;

/** A name that people gave to something: trimmed, 1…100 characters in one line. Refuses `invalid`. */
export function cleanName(value: string, field = 'name'): string {
  if (typeof value !== 'string') refuse({ code: 'invalid', field, reason: 'must be text' });
  const name = value.normalize('NFC').trim();
  if (name === '') refuse({ code: 'invalid', field, reason: 'must not be blank' });
  if ([...name].length > maxLength) {
    refuse({ code: 'invalid', field, reason: `must have at most ${maxLength} characters` });
  }
  if (!isLine(name)) refuse({ code: 'invalid', field, reason: 'must not hold control characters' });
  return name;
}

/** A name that stands in mails and their subjects. Refuses `invalid`, also for what {@link mailTextFault} names. */
export function cleanMailName(value: string, field = 'name'): string {
  const name = cleanName(value, field);
  const reason = mailTextFault(name);
  if (reason !== null) refuse({ code: 'invalid', field, reason });
  return name;
}

/** One line without control characters, and none that turns the direction of what follows. */
export function isLine(text: string): boolean {
  return isStorableText(text) && !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text);
}

/** What a text of an admin must not bring into mails of ours; null: nothing. */
export function mailTextFault(text: string): string | null {
  if (/https?:|www\./i.test(text)) return 'must not hold an address: people should not learn to click in such mails';
  if (/\d{6}/.test(text)) return 'must not hold six digits, which would be taken for the code';
  return null;
}
