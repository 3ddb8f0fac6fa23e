import { type DelegationOperation, type DelegationResults, delegationOperations } from '@latchkey/contracts';
import type { z } from 'zod';
import type { BackEnd } from '../domain/delegation/back-end.ts';
import type { FactorChanges } from '../domain/delegation/factor-changes.ts';
import { isStorableText } from '../domain/kernel/secret.ts';
import { DelegationRefusal } from './delegation-error.ts';

type Changes = Pick<FactorChanges, 'initiate' | 'verify' | 'current'>;
type Body<Op extends DelegationOperation> = z.infer<(typeof delegationOperations)[Op]>;

/** Runs the operation of a verified request, and returns the body of the response. */
export function perform(
  changes: Changes,
  backEnd: BackEnd,
  op: DelegationOperation,
  body: unknown,
): Promise<DelegationResults[DelegationOperation]> {
  switch (op) {
    case 'initiateMfaChange':
      return initiate(changes, backEnd, read(op, body));
    case 'verifyMfaChange':
      return verify(changes, backEnd, read(op, body));
    case 'getUserCredentials':
      return credentials(changes, backEnd, read(op, body));
  }
}

async function initiate(
  changes: Changes,
  backEnd: BackEnd,
  { mfa_method: method, phone_number: phone, userid }: Body<'initiateMfaChange'>,
): Promise<DelegationResults['initiateMfaChange']> {
  const begun = await changes.initiate(backEnd, { userid, method, phone });
  return {
    session_id: begun.sessionId,
    expires_in: begun.expiresInSeconds,
    ...(begun.sentTo !== undefined && { sent_to: begun.sentTo }),
    ...(begun.totp && { totp: { secret: begun.totp.secret, otpauth_uri: begun.totp.otpauthUri } }),
    ...(begun.code !== undefined && { otp: begun.code }),
    message: begun.totp ? 'Set up the app, and send a code that it shows.' : 'A code was sent to the new factor.',
  };
}

async function verify(
  changes: Changes,
  backEnd: BackEnd,
  { otp, session_id: sessionId, userid }: Body<'verifyMfaChange'>,
): Promise<DelegationResults['verifyMfaChange']> {
  const { method, recoveryCodes } = await changes.verify(backEnd, { userid, sessionId, code: otp });
  return {
    mfa_method: method,
    ...(recoveryCodes && { recovery_codes: recoveryCodes }),
    message: 'The second factor was changed.',
  };
}

async function credentials(
  changes: Changes,
  backEnd: BackEnd,
  { userid }: Body<'getUserCredentials'>,
): Promise<DelegationResults['getUserCredentials']> {
  return { mfa_method: (await changes.current(backEnd, userid)) ?? 'none' };
}

function read<Op extends DelegationOperation>(op: Op, body: unknown): Body<Op> {
  const parsed = delegationOperations[op].safeParse(body);
  const issue = parsed.error?.issues[0];
  if (issue) wrong(issue.path.join('.') || 'body', 'is missing or malformed');
  const data = parsed.data as Record<string, unknown>;
  for (const [name, value] of Object.entries(data)) {
    if (typeof value === 'string' && !isStorableText(value))
      wrong(name, 'must not contain NUL or an unpaired surrogate');
  }
  return data as Body<Op>;
}

function wrong(field: string, reason: string): never {
  throw new DelegationRefusal('INVALID_REQUEST', `${field} ${reason}`, `${field} ${reason}.`);
}
