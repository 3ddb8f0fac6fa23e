import { checkLogoutUri } from '../clients/logout-uri.ts';
import { isLine } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';

const maxDescription = 100;
/** Bytes of a signing secret (Standard Webhooks). */
const [minSecret, maxSecret] = [24, 64];

/** Refuses `invalid`, naming the field. */
export function checkedUrl(url: string, allowPrivate: boolean): string {
  const reason = checkLogoutUri(url, allowPrivate);
  if (reason) refuse({ code: 'invalid', field: 'url', reason });
  return url;
}

/** A signing secret from the caller, trimmed. Refuses `invalid`. */
export function checkedSecret(secret: string): string {
  const text = secret.trim();
  const key = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(key, 'base64');
  if (bytes.toString('base64') !== key || bytes.length < minSecret || bytes.length > maxSecret) {
    const reason = `must be whsec_ and ${minSecret} to ${maxSecret} bytes in base64`;
    refuse({ code: 'invalid', field: 'secret', reason });
  }
  return text;
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
