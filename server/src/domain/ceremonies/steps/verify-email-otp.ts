import { type Problem, Refusal } from '../../kernel/problem.ts';
import type { CodeFault } from '../../otp/code-check.ts';
import type { Redemption } from '../../otp/otp.ts';
import { lockAddress } from '../../users/identity/guests.ts';
import type { User } from '../../users/user.entity.ts';
import { decidedOn, subjectOf } from '../account.ts';
import type { EndedSignIn, Flow, RefusedStep, StepRule } from '../flow.ts';

/** One refusal for wrong, expired, used, replaced and foreign codes. */
const rejected: Problem = { code: 'code-rejected', attemptsLeft: 0 };

export type MailCodeFault = CodeFault | 'no-user' | 'domain' | 'inactive';

/** Verifies the mailbox. Only the code's own row determines the account. */
export const verifyEmailOtp: StepRule<'verify-email-otp'> = {
  async count(counters) {
    return { counted: await counters.code('sign-in') };
  },

  async take(flow) {
    const { em, deps, caller, ceremony, input, counted } = flow;
    const tried = { jkt: ceremony.jkt ?? null, clientId: caller.client.id, code: input.otp ?? '' };
    const redeemed = await deps.otp.redeem(em, counted, tried);
    if (!redeemed.accepted) return reject(flow, redeemed.fault);
    const address = ceremony.address ?? '';
    if (!redeemed.isFor(address)) return reject(flow, 'account-changed');
    const user = await personOf(flow, address, redeemed);
    if (user === 'approval') return askForApproval(flow, address);
    if (typeof user === 'string') return reject(flow, user);
    await deps.sends.redeemed(em, { projectId: caller.project.id, account: user.id, ip: caller.actor.ip });
    deps.audit.record(em, {
      type: 'otp.verified',
      actor: caller.actor,
      projectId: caller.project.id,
      clientId: caller.client.id,
      subject: { kind: 'user', id: user.id, name: user.userName },
      detail: { afterSeconds: redeemed.afterSeconds },
    });
    const at = deps.clock.now().toISOString();
    return {
      answer: { status: 'SUCCESS' },
      proved: { kind: 'mail-code', account: user.id, address: user.email ?? user.userName, ceremony: ceremony.id, at },
    };
  },
};

/**
 * The user of the code, if they still have the address and the code went to their current mailbox. For an address that
 * had and has no account: a new user, if it may sign up, or `approval` if an admin must let it.
 */
async function personOf(
  { em, deps, caller }: Flow,
  address: string,
  code: Extract<Redemption, { accepted: true }>,
): Promise<User | MailCodeFault | 'approval'> {
  const { project, request, actor } = caller;
  const user = code.userId === null ? null : await deps.users.locked(em, project.id, code.userId);
  const today = await decidedOn(em, caller, address);
  if (today.account !== code.userId) return 'account-changed';
  if (user) {
    if (!code.wentTo(user.email ?? '')) return 'account-changed';
    return user.active ? user : 'inactive';
  }
  const verdict = await deps.recipients.signUpOf(em, project.id, address, request?.setupLinkId ?? undefined);
  if (verdict === 'closed') return 'no-user';
  if (verdict !== 'open') return verdict;
  if (project.organizationsEnabled) await lockAddress(em, project.id, address);
  try {
    return await deps.users.signUp(em, project.id, address, actor);
  } catch (error) {
    // The user was created concurrently, by a directory or another window.
    if (error instanceof Refusal && error.problem.code === 'taken') return 'account-changed';
    throw error;
  }
}

/** The code is used up. Ends the sign-in: the person begins again once an admin has decided. */
async function askForApproval({ em, deps, caller }: Flow, address: string): Promise<EndedSignIn> {
  const { actor, client, locale, project } = caller;
  const { id: projectId, signUpRequestDays: days } = project;
  await deps.signUpRequests.ask(em, { projectId, days, clientId: client.id, address, locale, actor });
  return { ended: { code: 'approval-required' } };
}

/** Counts against the budgets only if the right digits would have been accepted. */
async function reject({ em, deps, caller, ceremony, counted }: Flow, fault: MailCodeFault): Promise<RefusedStep> {
  const address = ceremony.address ?? '';
  const { account } = await decidedOn(em, caller, address);
  const ofCode = { projectId: caller.project.id, userId: counted?.userId ?? null, address };
  return {
    refused: rejected,
    counts: counted && fault === 'wrong' ? deps.guessing.budgetsOf(counted, ofCode) : [],
    event: { type: 'otp.rejected', subject: subjectOf(account, address), detail: { fault } },
  };
}
