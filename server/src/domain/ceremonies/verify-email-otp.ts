import { type Problem, Refusal } from '../kernel/problem.ts';
import type { User } from '../users/user.entity.ts';
import { accountOf, subjectOf } from './account.ts';
import type { Flow, Outcome } from './flow.ts';

/** Wrong, expired, spent, replaced, foreign: one refusal, in the same words. */
const rejected: Problem = { code: 'code-rejected', attemptsLeft: 0 };

/** Proves the address. From here on, and not before, the sign-in has a user. */
export async function verifyEmailOtp(flow: Flow): Promise<Outcome<'verify-email-otp'>> {
  const { em, deps, caller, ceremony, input } = flow;
  const outcome = await deps.otp.try(em, {
    projectId: caller.project.id,
    ceremonyId: ceremony.id,
    purpose: 'sign-in',
    jkt: ceremony.jkt ?? null,
    code: input.otp ?? '',
    address: ceremony.address ?? '',
  });
  if (!outcome.accepted && 'retryAfterSeconds' in outcome) {
    return { refused: { code: 'too-many', retryAfterSeconds: outcome.retryAfterSeconds } };
  }
  if (!outcome.accepted) return reject(flow, outcome.fault);
  const user = await theUser(flow);
  if (!user) return reject(flow, 'nobody');
  if (!user.active) return reject(flow, 'inactive');
  em.assign(ceremony, { user: user.id });
  deps.audit.record(em, {
    type: 'otp.verified',
    actor: caller.actor,
    projectId: caller.project.id,
    clientId: caller.client.id,
    subject: { kind: 'user', id: user.id, name: user.userName },
    detail: { afterSeconds: outcome.afterSeconds },
  });
  return { status: 'SUCCESS' };
}

/** Whose address it is, or, where strangers may become users, a new user. */
async function theUser(flow: Flow): Promise<User | null> {
  const { em, deps, caller, ceremony } = flow;
  const { project, request, actor } = caller;
  const address = ceremony.address ?? '';
  const known = await deps.users.findByAddress(em, project.id, address);
  if (known) return known;
  if (!(await deps.recipients.maySignUp(em, project.id, request?.setupLinkId ?? undefined))) return null;
  try {
    return await deps.users.signUp(em, project.id, address, actor);
  } catch (error) {
    // A directory, or another window, was faster.
    if (error instanceof Refusal && error.problem.code === 'taken') {
      return deps.users.findByAddress(em, project.id, address);
    }
    throw error;
  }
}

async function reject(flow: Flow, fault: string): Promise<{ refused: Problem }> {
  const { em, deps, caller, ceremony } = flow;
  const address = ceremony.address ?? '';
  deps.audit.record(em, {
    type: 'otp.rejected',
    result: 'failure',
    actor: caller.actor,
    projectId: caller.project.id,
    clientId: caller.client.id,
    subject: subjectOf(await accountOf(em, caller.project.id, address), address),
    detail: { fault },
  });
  return { refused: rejected };
}
