import { Backoff } from '../relay/backoff.ts';
import type { Lane } from '../relay/round-robin.ts';
import type { Message } from './message.entity.ts';
import { codeTemplates } from './wording.ts';

/**
 * The lanes of messages, by the index that a row stores: codes do not wait for notices, nor those for invitations, nor mails for
 * SMS. One project leaves a connection of the mail server (`adapters/mail/smtp.ts`) to others.
 */
export const messageLanes: readonly Lane[] = [
  { name: 'codes', atOnce: 6, ofProject: 3, ofReceiver: 6 },
  { name: 'notices', atOnce: 4, ofProject: 2, ofReceiver: 4 },
  { name: 'bulk', atOnce: 3, ofProject: 2, ofReceiver: 3 },
  { name: 'sms', atOnce: 10, ofProject: 5, ofReceiver: 10 },
];

/** Templates that a user waits for. */
export const codes: readonly string[] = [...codeTemplates, 'test-message'];
/** Templates that can be sent to many people at once, or to admins. */
const bulk: readonly string[] = [
  'invitation',
  'organization-invitation',
  'sign-up-requests',
  'admin-invitation',
  'scim-token-expiring',
  'certificate-expiring',
  'webhook-disabled',
];

type Kind = Pick<Message, 'channel' | 'template'>;

export function isCode({ template }: Pick<Message, 'template'>): boolean {
  return codes.includes(template);
}

export function laneOf({ channel, template }: Kind): number {
  if (channel === 'sms') return 3;
  if (codes.includes(template)) return 0;
  return bulk.includes(template) ? 2 : 1;
}

const curve = { firstSeconds: 1, factor: 2 } as const;
/** Waits between the attempts of any message. */
export const longestRetries = new Backoff({ ...curve, longestSeconds: 900 });
/** A code expires within minutes. */
const urgentRetries = new Backoff({ ...curve, longestSeconds: 30 });

/** Waits between the attempts of a message. */
export function retriesOf(message: Kind): Backoff {
  return isCode(message) || message.channel === 'sms' ? urgentRetries : longestRetries;
}
