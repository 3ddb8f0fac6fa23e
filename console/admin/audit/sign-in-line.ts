import { t, template } from '../language/language.ts';
import { type AuditEvent, isFailed, partsOf, type SentencePart } from './event-text.ts';

/** One line for the events of a sign-in, or for a single event. */
export interface EventLine {
  parts: SentencePart[];
  /** The methods of the sign-in: "mail code", "new device". */
  notes: string[];
  /** The event of the line. */
  event: AuditEvent;
  isSignIn: boolean;
}

/** Requests of the application after the sign-in. */
const followUps: readonly string[] = ['consent.given', 'consent.refused', 'token.issued'];

/** @param events oldest first, at least one */
export function lineOf(events: readonly AuditEvent[]): EventLine {
  const signedIn = events.findLast(({ type }) => type === 'user.signed_in');
  const event = (signedIn ?? events.findLast(({ type }) => !followUps.includes(type)) ?? events.at(-1)) as AuditEvent;
  if (!signedIn) return { parts: partsOf(event), notes: addressesOf(events), event, isSignIn: false };
  return {
    parts: signedIn.client ? partsOf(signedIn, template('{subject} signed in to {client}')) : partsOf(signedIn),
    notes: [...notesOf(events, signedIn), ...addressesOf(events)],
    event,
    isSignIn: true,
  };
}

/** One sign-in can ask for the codes of many addresses: the line names one of them. */
function addressesOf(events: readonly AuditEvent[]): string[] {
  const asked = events.filter(({ type }) => type === 'otp.requested' || type === 'otp.suppressed');
  const { size } = new Set(asked.map(({ subject }) => subject?.id));
  return size > 1 ? [t('{size, number} addresses', { size })] : [];
}

function notesOf(events: readonly AuditEvent[], { detail }: AuditEvent): string[] {
  const has = (type: string) => events.some((event) => event.type === type);
  const methods = detail?.['amr'];
  const amr: readonly unknown[] = Array.isArray(methods) ? methods : [];
  // `otp` with `mfa` may mean only the second factor, if other events are filtered out or have no sign-in id.
  const isMailed = has('otp.verified') || (amr.includes('otp') && !amr.includes('mfa'));
  const isTrusted = !amr.includes('otp') && detail?.['deviceId'] !== undefined && !has('device.registered');
  const refusals = events
    .filter(isFailed)
    .reduce((sum, event) => sum + (typeof event.detail?.['count'] === 'number' ? event.detail['count'] : 1), 0);
  const notes: [boolean, string][] = [
    [isMailed, t('mail code')],
    [detail?.['passkeyId'] !== undefined, t('passkey')],
    [isTrusted, t('trusted device')],
    [amr.includes('mfa') && detail?.['passkeyId'] === undefined, t('second factor')],
    [has('mfa.recovery_code_used'), t('recovery code')],
    [has('recovery.used'), t('account recovery')],
    [has('device.registered'), t('new device')],
    [has('passkey.registered'), t('new passkey')],
    [has('user.created'), t('new user')],
    [refusals > 0, t('{refusals, plural, one {# refusal} other {# refusals}}', { refusals })],
  ];
  return notes.filter(([isTrue]) => isTrue).map(([, note]) => note);
}
