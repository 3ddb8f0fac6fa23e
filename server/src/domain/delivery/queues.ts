import type { Message } from './message.entity.ts';
import { codeTemplates } from './wording.ts';

/**
 * The queues of messages: codes do not wait for notices, nor mails for SMS. Data of their jobs is
 * `{ projectId, messageId }`.
 */
export const messageQueues = ['delivery.codes', 'delivery.notices', 'delivery.sms'] as const;
export type MessageQueue = (typeof messageQueues)[number];

/** The one queue of the previous release. The next release drops it. */
export const previousQueue = 'delivery.send';

/** Templates that a user waits for. */
export const codes: readonly string[] = [...codeTemplates, 'test-message'];

export function isCode({ template }: Pick<Message, 'template'>): boolean {
  return codes.includes(template);
}

export function queueOf(message: Pick<Message, 'channel' | 'template'>): MessageQueue {
  if (message.channel === 'sms') return 'delivery.sms';
  return isCode(message) ? 'delivery.codes' : 'delivery.notices';
}

/** Seconds until the next attempt: doubled each time. A code expires within minutes. */
export function pauseSeconds(message: Pick<Message, 'channel' | 'template' | 'attempts'>): number {
  const longest = queueOf(message) === 'delivery.notices' ? 900 : 30;
  return Math.min(longest, 2 ** Math.max(0, message.attempts - 1));
}
