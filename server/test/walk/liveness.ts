import type { Sent } from './accept.ts';
import { plainCode } from './evidence.ts';
import { fold, type Model, type Transaction, toleranceMs } from './model.ts';

/** Wrong attempts per requester up to which the right code must still work. */
const fewTries = 3;

/** Wrong codes of a requester, counted by network and by device key as budgets do. */
export function noteFailure(model: Model, txn: Transaction, ip: string): void {
  for (const requester of [ip, txn.jkt, txn.txn]) {
    model.failures.set(requester, (model.failures.get(requester) ?? 0) + 1);
  }
}

/**
 * Whether this step must succeed regardless of other requesters (decisions 8): the right code, entered where it was
 * requested, by a requester with few wrong attempts. Evaluated before the step.
 */
export function mustBeAccepted(model: Model, { step, fields, txn }: Sent, ip: string, now: number): boolean {
  if (step !== 'verify-email-otp' || txn.entry !== 'sdk' || txn.client.isDisabled || model.isTainted) return false;
  if (now - txn.begunAt > 10 * 60_000 - toleranceMs || txn.named !== fold(fields['userid'])) return false;
  if ([ip, txn.jkt, txn.txn].some((requester) => (model.failures.get(requester) ?? 0) >= fewTries)) return false;
  const own = model.deliveries.filter(({ owner, purpose }) => owner === txn.txn && purpose === 'sign-in');
  const newest = own.at(-1);
  if (newest === undefined || newest.isUsed || newest.code !== plainCode(fields['otp'])) return false;
  const isLast = newest.madeStep === txn.askedStep && txn.pieces.length === 0;
  if (!isLast || now - newest.madeAt > 5 * 60_000 - toleranceMs) return false;
  const named = model.named(txn.client.project.id, txn.named);
  if (newest.users.length === 0)
    return named.length === 0 && model.project(txn.client.project.id)['sign_up'] === 'open';
  return named.every(
    ({ id, active }) =>
      active &&
      newest.users.includes(id) &&
      model.isAlive(id, newest.madeStep) &&
      (model.interrupted.get(id) ?? -1) < newest.madeStep,
  );
}
