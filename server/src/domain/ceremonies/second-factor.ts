import type { Channel } from '../delivery/delivery.ts';
import { secondsLater } from '../kernel/clock.ts';
import { type Problem, problemOf } from '../kernel/problem.ts';
import { digest, sameSecret } from '../kernel/secret.ts';
import type { Enrolment } from '../mfa/enrolment.entity.ts';
import { amr } from '../mfa/policy.ts';
import { looksLikeRecoveryCode } from '../mfa/recovery-codes.ts';
import { codeTtlSeconds } from '../otp/judge.ts';
import { type CodePurpose, resendAfterSeconds } from '../otp/otp.ts';
import type { User } from '../users/user.entity.ts';
import { finish } from './finish.ts';
import type { Flow, Outcome } from './flow.ts';
import { maskAddress, maskPhone } from './mask.ts';
import { notify } from './notices.ts';
import { addressOf, smsNumberOf } from './recipients.ts';

/** Wrong codes of an authenticator app, or recovery codes, that one sign-in may hold. */
const triesPerSignIn = 5;
const rejected: Problem = { code: 'code-rejected', attemptsLeft: 0 };
const over: { refused: Problem } = { refused: { code: 'transaction-expired' } };

/** Starts the factor that is owed: sends its code, or, while it is being set up, shows what the app needs. */
export async function initiateMfa(flow: Flow): Promise<Outcome<'initiate-mfa'>> {
  const { deps, ceremony, input } = flow;
  if (!ceremony.mfaSessionHash || !sameSecret(digest(input.sessionId ?? ''), ceremony.mfaSessionHash)) {
    return { refused: { code: 'invalid', field: 'session_id', reason: 'is not the one that authenticate gave' } };
  }
  const owed = await factorOf(flow);
  if (!owed) return over;
  const { user, factor } = owed;
  const wait = deps.mfa.lockedForSeconds(factor);
  if (wait > 0) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
  if (factor.method !== 'totp') return sendCode(flow, user, factor);
  const totp = deps.mfa.totpSetup(factor, flow.caller.project.name, addressOf(user) ?? user.userName);
  return { status: 'MFA_INITIATED', method: 'totp', ...(totp && { totp }) };
}

async function sendCode(flow: Flow, user: User, factor: Enrolment): Promise<Outcome<'initiate-mfa'>> {
  const { em, deps, caller, ceremony } = flow;
  const { project, actor } = caller;
  const channel: Channel = factor.method === 'sms' ? 'sms' : 'mail';
  const to = channel === 'sms' ? smsNumberOf(project, user, factor) : addressOf(user);
  if (to === null) return { refused: { code: 'mfa-method-not-allowed', method: factor.method } };
  if (!deps.delivery.isAvailable(channel) && !(await deps.testMode.holds(em, project))) {
    return { refused: { code: 'unavailable', reason: `no ${channel} can be sent`, retryAfterSeconds: 60 } };
  }
  const scope = { projectId: project.id, purpose: purposeOf(factor) };
  const wait = await deps.otp.spendSend(em, { ...scope, address: user.id, ip: actor.ip });
  if (wait !== null) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
  const proved = factor.verifiedAt != null || user.phone === to;
  const refused = channel === 'sms' ? await deps.smsGuard.spend(em, { project, number: to, proved }) : null;
  if (refused) return { refused };
  const code = await deps.otp.issue(em, {
    ...scope,
    ceremonyId: ceremony.id,
    account: user.id,
    jkt: ceremony.jkt ?? null,
  });
  await deps.delivery.enqueue(em, {
    projectId: project.id,
    channel,
    to,
    locale: caller.locale,
    content: { template: 'factor-code', app: caller.client.name, code, minutes: codeTtlSeconds / 60 },
    context: { account: user.id, mailbox: to },
    expiresAt: secondsLater(deps.clock.now(), codeTtlSeconds),
  });
  return {
    status: 'MFA_INITIATED',
    method: factor.method,
    sentTo: channel === 'sms' ? maskPhone(to) : maskAddress(to),
    resendAfterSeconds,
    ...((await deps.testMode.holds(em, project)) && { code }),
  };
}

/** The last step: the factor's code, or one of the recovery codes in its place. */
export async function verifyMfa(flow: Flow): Promise<Outcome<'verify-mfa'>> {
  const { em, deps, caller, ceremony, input, device } = flow;
  const owed = await factorOf(flow);
  if (!owed || !device) return over;
  const { user, factor } = owed;
  const typed = input.otp ?? '';
  const byRecovery = factor.verifiedAt != null && looksLikeRecoveryCode(typed);
  if (!byRecovery && ceremony.state === 'mfa_owed') {
    return { refused: { code: 'out-of-order', step: 'verify-mfa', state: ceremony.state } };
  }
  const refused = byRecovery ? await tryRecovery(flow, user, factor, typed) : await tryCode(flow, user, factor, typed);
  if (refused) {
    if (refused.code === 'code-rejected') tell(flow, user, 'mfa.rejected', { method: factor.method, byRecovery });
    return { refused };
  }
  const skip = input.rememberMe ? caller.project.rememberMfaSeconds : 0;
  const recoveryCodes = factor.verifiedAt ? null : await enrol(flow, user, factor);
  if (byRecovery) {
    const left = await deps.mfa.recoveryCodes.left(em, user.id);
    tell(flow, user, 'mfa.recovery_code_used', { left });
    await notify(flow, user, { template: 'recovery-code-used', left });
  }
  ceremony.mfaMethod = factor.method;
  const methods = byRecovery ? amr.totp : amr[factor.method];
  return finish(flow, { user, device, amr: methods, skipFactorSeconds: skip, recoveryCodes });
}

async function tryCode(flow: Flow, user: User, factor: Enrolment, code: string): Promise<Problem | null> {
  const { em, deps, caller, ceremony } = flow;
  if (deps.mfa.isOff(factor)) return { code: 'mfa-method-not-allowed', method: factor.method };
  if (factor.method === 'totp') {
    if (!countTry(flow)) return over.refused;
    const outcome = await deps.mfa.tryTotp(em, factor, code);
    if (outcome.accepted) return null;
    if (outcome.retryAfterSeconds === undefined) return rejected;
    return { code: 'too-many', retryAfterSeconds: outcome.retryAfterSeconds };
  }
  const outcome = await deps.otp.try(em, {
    projectId: caller.project.id,
    ceremonyId: ceremony.id,
    purpose: purposeOf(factor),
    jkt: ceremony.jkt ?? null,
    code,
    address: user.id,
  });
  if (outcome.accepted) {
    deps.mfa.accepted(factor);
    return null;
  }
  if ('fault' in outcome) return rejected;
  return { code: 'too-many', retryAfterSeconds: outcome.retryAfterSeconds };
}

async function tryRecovery(flow: Flow, user: User, factor: Enrolment, typed: string): Promise<Problem | null> {
  if (!countTry(flow)) return over.refused;
  if (!(await flow.deps.mfa.recoveryCodes.use(flow.em, user.id, typed))) return rejected;
  // Whoever holds it is the user: what strangers' wrong codes had locked is open again.
  flow.deps.mfa.accepted(factor);
  return null;
}

/** False where this sign-in has had its tries: it is over then. */
function countTry({ ceremony, deps }: Flow): boolean {
  if (ceremony.mfaAttempts >= triesPerSignIn) {
    ceremony.finishedAt = deps.clock.now();
    return false;
  }
  ceremony.mfaAttempts += 1;
  return true;
}

/** The first right code of a new factor: it protects from now on, and its user hears of it. */
async function enrol(flow: Flow, user: User, factor: Enrolment): Promise<string[] | null> {
  const { em, deps, caller } = flow;
  const codes = await deps.mfa.verify(em, factor, user, caller.actor);
  if (factor.method === 'sms' && factor.phone && !user.phone) {
    // Another user may have this number on record; the factor is good all the same.
    await problemOf(deps.users.changePhone(em, user, factor.phone, caller.actor));
  }
  await notify(flow, user, { template: 'factor-changed', change: 'added', method: factor.method });
  return codes;
}

/**
 * The user and the factor that this sign-in owes, both under a lock; null where either is gone, or where a factor that
 * is only being set up would take the place of one that was verified elsewhere meanwhile.
 */
async function factorOf(flow: Flow): Promise<{ user: User; factor: Enrolment } | null> {
  const { em, deps, caller, ceremony } = flow;
  const user = await deps.users.locked(em, caller.project.id, ceremony.user?.id ?? '');
  const factor = ceremony.enrolmentId ? await deps.mfa.locked(em, ceremony.enrolmentId) : null;
  if (!user?.active || !factor || factor.user.id !== user.id) return null;
  if (!factor.verifiedAt && (await deps.mfa.factors(em, user.id)).length > 0) return null;
  return { user, factor };
}

function purposeOf(factor: Enrolment): CodePurpose {
  return factor.method === 'sms' ? 'mfa-sms' : 'mfa-email';
}

function tell({ em, deps, caller }: Flow, user: User, type: string, detail: Record<string, unknown>): void {
  deps.audit.record(em, {
    type,
    result: type === 'mfa.rejected' ? 'failure' : 'success',
    actor: caller.actor,
    projectId: caller.project.id,
    clientId: caller.client.id,
    subject: { kind: 'user', id: user.id, name: user.userName },
    detail,
  });
}
