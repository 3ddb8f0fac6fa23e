import { type Problem, Refusal } from '../kernel/problem.ts';
import type { CodeFault } from '../otp/judge.ts';
import type { Redemption } from '../otp/otp.ts';
import type { User } from '../users/user.entity.ts';
import { decidedFor, subjectOf } from './account.ts';
import type { Flow, RefusedStep, StepRule } from './flow.ts';

/** Wrong, expired, used, replaced, foreign: one refusal, in the same words. */
const rejected: Problem = { code: 'code-rejected', attemptsLeft: 0 };

type Fault = CodeFault | 'no-user' | 'inactive';

/** Proves the mailbox. The code's own row says whose sign-in it is, and nothing else does. */
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
    if (typeof user === 'string') return reject(flow, user);
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
 * The user that the code was made for, if the address is still theirs and the code went where their mail goes today. For an
 * address without an account, then and now: a new user, where sign-up is open.
 */
async function personOf(
  { em, deps, caller }: Flow,
  address: string,
  code: Extract<Redemption, { accepted: true }>,
): Promise<User | Fault> {
  const { project, request, actor } = caller;
  const user = code.userId === null ? null : await deps.users.locked(em, project.id, code.userId);
  const today = await decidedFor(em, project.id, address);
  if (today.account !== code.userId) return 'account-changed';
  if (user) {
    if (!code.wentTo(user.email ?? '')) return 'account-changed';
    return user.active ? user : 'inactive';
  }
  if (!(await deps.recipients.maySignUp(em, project.id, request?.setupLinkId ?? undefined))) return 'no-user';
  try {
    return await deps.users.signUp(em, project.id, address, actor);
  } catch (error) {
    // A directory, or another window, was faster.
    if (error instanceof Refusal && error.problem.code === 'taken') return 'account-changed';
    throw error;
  }
}

/** Only a wrong code that could have been right counts against the budgets. */
async function reject({ em, deps, caller, ceremony, counted }: Flow, fault: Fault): Promise<RefusedStep> {
  const address = ceremony.address ?? '';
  const { account } = await decidedFor(em, caller.project.id, address);
  const requester = { projectId: caller.project.id, userId: counted?.userId ?? null, address, ip: caller.actor.ip };
  return {
    refused: rejected,
    counts: counted && fault === 'wrong' ? deps.guessing.budgetsOf(counted, requester) : [],
    event: { type: 'otp.rejected', subject: subjectOf(account, address), detail: { fault } },
  };
}
