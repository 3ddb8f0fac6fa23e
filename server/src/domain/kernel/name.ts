import { refuse } from './problem.ts';
import { isStorableText } from './secret.ts';

const maxLength = 100;

/** A display name: trimmed, one line of 1…100 characters. Refuses `invalid`. */
export function cleanName(value: string, field = 'name'): string {
  if (typeof value !== 'string') refuse({ code: 'invalid', field, reason: 'must be text' });
  const name = value.normalize('NFC').trim();
  if (name === '') refuse({ code: 'invalid', field, reason: 'must not be blank' });
  if ([...name].length > maxLength) {
    refuse({ code: 'invalid', field, reason: `must have at most ${maxLength} characters` });
  }
  if (!isLine(name)) refuse({ code: 'invalid', field, reason: 'must not contain control characters' });
  return name;
}

/** A name for mails and their subjects. Refuses `invalid`, also for any {@link mailTextFault}. */
export function cleanMailName(value: string, field = 'name'): string {
  const name = cleanName(value, field);
  const reason = mailTextFault(name);
  if (reason !== null) refuse({ code: 'invalid', field, reason });
  return name;
}

/** True for one line without control and bidirectional formatting characters. */
export function isLine(text: string): boolean {
  return isStorableText(text) && !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text);
}

/** The reason why an admin's text must not appear in our mails; null if it may. */
export function mailTextFault(text: string): string | null {
  const isCode = /\d{6}/.test(text);
  return linkFault(text) ?? (isCode ? 'must not contain six digits, which could be mistaken for the code' : null);
}

/** The reason why an admin's text must not appear in mails without a code; null if it may. */
export function linkFault(text: string): string | null {
  if (!/https?:|www\./i.test(text)) return null;
  return 'must not contain a URL: users should not learn to click links in such mails';
}
