import { type Change, describeChange } from './changes.ts';
import { mailPiece } from './evidence.ts';
import { demand, type Model, toleranceMs } from './model.ts';
import type { AcceptedStep } from './signin-rules.ts';

/**
 * The answer that an admin must approve the sign-up: to the right code of a mailbox without an account, where the project
 * requires it. It ends the sign-in and leaves one request; nothing else is written.
 */
export function checkWaiting(model: Model, { step, fields, txn }: AcceptedStep, changes: readonly Change[]): void {
  const what = `${step} of ${txn.name}`;
  demand(step === 'verify-email-otp', `${what} asked for an approval`);
  const { mailbox, users } = mailPiece(model, txn, fields['userid'], fields['otp']);
  demand(users.length === 0, `${what} asked for an approval of a user who exists`);
  const projectId = txn.client.project.id;
  demand(model.project(projectId)['sign_up'] === 'approval', `${what} asked for an approval that is not required`);
  for (const change of changes) {
    const { table, new: row } = change;
    const isOwn =
      (table === 'ceremonies' &&
        row?.['id'] === txn.ceremony &&
        Date.parse(row?.['expires_at']) <= model.now + toleranceMs) ||
      (table === 'one_time_codes' && row?.['ceremony_id'] === txn.ceremony) ||
      table === 'authorization_requests' ||
      (table === 'sign_up_requests' && row?.['project_id'] === projectId && row?.['address_key'] === mailbox);
    demand(isOwn, `${what}, which waits for an approval, made an unexpected ${describeChange(change)}`);
  }
  const asked = changes.filter(({ table }) => table === 'sign_up_requests');
  const held = [...model.signUpRequests.values()].find(
    (one) => one['project_id'] === projectId && one['address_key'] === mailbox,
  );
  const isWaiting = held !== undefined && Date.parse(held['expires_at']) > model.now;
  demand(asked.length === (isWaiting ? 0 : 1), `${what} left ${asked.length} new requests of ${mailbox}`);
  for (const { new: row } of asked) demand(row?.['state'] === 'pending', `${what} decided its own request`);
}
