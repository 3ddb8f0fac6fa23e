import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { maskAddress } from '../delivery/mask.ts';
import type { Message } from '../delivery/message.entity.ts';
import type { MessageContext } from '../delivery/recipient.ts';
import { system } from '../kernel/actor.ts';
import { subjectOf } from './account.ts';

/**
 * Records `otp.sent`, `otp.failed` or `otp.suppressed` once the message of a sign-in code has been handled. The request itself
 * recorded `otp.requested`, the same for every address.
 */
export function recordCodeEvent(
  audit: Audit,
  em: EntityManager,
  message: Message,
  { account, signInId }: MessageContext,
): void {
  if (message.template !== 'sign-in-code') return;
  const { state, note } = message;
  if (state === 'pending') return;
  // Masked: the event may outlive the user.
  const hint = maskAddress(message.recipient);
  audit.record(em, {
    type: state === 'sent' ? 'otp.sent' : state === 'failed' ? 'otp.failed' : 'otp.suppressed',
    actor: signInId ? { ...system, signInId } : system,
    projectId: message.project.id,
    subject: subjectOf(account, hint),
    ...(state !== 'sent' && { result: 'failure', detail: { reason: note } }),
  });
}
