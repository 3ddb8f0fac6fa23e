import type { Problem } from '../kernel/problem.ts';
import { isStorableText } from '../kernel/secret.ts';
import { accountOf } from '../policy/evidence.ts';
import { addressKey, isAddress } from '../users/login.ts';
import { decidedOn, subjectOf } from './account.ts';
import type { Flow, RefusedStep } from './flow.ts';
import type { CeremonyStep } from './steps/steps.ts';

/**
 * The audit event of a refusal that its step does not record; null for a stale nonce, which the page replaces. Costs the same
 * lookups for known and unknown addresses.
 */
export async function refusalEvent(
  { em, caller, ceremony, input }: Flow,
  step: CeremonyStep,
  refused: Problem,
): Promise<RefusedStep['event'] | null> {
  if (refused.code === 'nonce-rejected') return null;
  const typed = addressKey(input.userid ?? '');
  const address = ceremony.address ?? (isStorableText(typed) && isAddress(typed) ? typed : '');
  const { account } = await decidedOn(em, caller, address);
  const subject = accountOf(ceremony.evidence) ?? account;
  return {
    type: 'signin.refused',
    ...(address !== '' && { subject: subjectOf(subject, address) }),
    detail: { step, fault: refused.code },
  };
}
