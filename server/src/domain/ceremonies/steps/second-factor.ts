import type { Channel } from '../../delivery/delivery.ts';
import { maskAddress, maskPhone } from '../../delivery/mask.ts';
import { secondsLater } from '../../kernel/clock.ts';
import { type Problem, problemOf } from '../../kernel/problem.ts';
import { digest, sameSecret } from '../../kernel/secret.ts';
import { type Enrolment, isMailboxAlone, type MfaMethod } from '../../mfa/enrolment.entity.ts';
import { looksLikeRecoveryCode } from '../../mfa/recovery-codes.ts';
import { codeTtlSeconds } from '../../otp/code-check.ts';
import type { CodePurpose } from '../../otp/otp.ts';
import { resendAfterSeconds } from '../../otp/sends.ts';
import { accountOf, type Evidence, provedIn, withPiece } from '../../policy/evidence.ts';
import { counts, isSufficient, meetsPolicy, nextRequirement, strengthOf } from '../../policy/requirements.ts';
import type { User } from '../../users/user.entity.ts';
import type { SigninCaller } from '../callers.ts';
import type { Counters } from '../counters.ts';
import type { Checked, Flow, RefusedStep, StepOutcome, StepRule } from '../flow.ts';
import { notify } from '../notices.ts';
import { endOpenWork } from '../open-work.ts';
import { addressOf, smsNumberOf } from '../recipients.ts';
import { hasPasskey, isPasskeyRequired, offeredMethods, policyOf, signInContext } from '../sign-in-context.ts';
import { finish, type Proved } from './finish.ts';
import { needPasskey } from './new-passkey.ts';
import { byGrant } from './recovery-grant.ts';

const rejected: Problem = { code: 'code-rejected', attemptsLeft: 0 };
const over: { refused: Problem } = { refused: { code: 'transaction-expired' } };

/** Starts the required factor: sends its code or, during enrolment of an authenticator app, returns the secret. */
export const initiateMfa: StepRule<'initiate-mfa'> = {
  async take(flow) {
    const { deps, ceremony, input } = flow;
    if (!ceremony.mfaSessionHash || !sameSecret(digest(input.sessionId ?? ''), ceremony.mfaSessionHash)) {
      return { refused: { code: 'invalid', field: 'session_id', reason: 'must be the one from MFA_REQUIRED' } };
    }
    if (!ceremony.enrolmentId) return { refused: { code: 'mfa-method-not-allowed', method: 'passkey' } };
    const next = await factorOf(flow);
    if ('refused' in next) return next;
    const { user, factor } = next;
    const wait = deps.mfa.lockedForSeconds(factor);
    if (wait > 0) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
    if (factor.method !== 'totp') return sendCode(flow, user, factor);
    const totp = deps.mfa.totpSetup(factor, flow.caller.project.name, addressOf(user) ?? user.userName);
    return { answer: { status: 'MFA_INITIATED', method: 'totp', ...(totp && { totp }) } };
  },
};

async function sendCode(flow: Flow, user: User, factor: Enrolment): Promise<StepOutcome<'initiate-mfa'>> {
  const { em, deps, caller, ceremony } = flow;
  const { project, client, actor } = caller;
  const channel: Channel = factor.method === 'sms' ? 'sms' : 'mail';
  const to = destinationOf(flow, user, factor);
  if (to === null) return { refused: { code: 'mfa-method-not-allowed', method: factor.method } };
  const showsCodes = await deps.testMode.holds(em, project);
  if (!deps.delivery.isAvailable(channel) && !showsCodes) {
    return { refused: { code: 'unavailable', reason: `${channel} is not available`, retryAfterSeconds: 60 } };
  }
  const place = { projectId: project.id, ceremonyId: ceremony.id, purpose: purposeOf(factor) };
  const send = await deps.sends.spend(em, { ...place, address: user.id, ip: actor.ip });
  if ('refused' in send) return send;
  if (channel === 'sms') {
    const sms = { project, number: to, proved: factor.verifiedAt != null || user.phone === to };
    const refused = await deps.smsGuard.spend(em, sms);
    if (refused) return { refused, counts: [{ sms }] };
  }
  const code = await deps.otp.issue(em, {
    ...place,
    clientId: client.id,
    userId: user.id,
    address: factor.id,
    sentTo: to,
    jkt: ceremony.jkt ?? null,
  });
  await deps.delivery.enqueue(em, {
    projectId: project.id,
    channel,
    to,
    locale: caller.locale,
    content: { template: 'factor-code', app: client.name, code, minutes: codeTtlSeconds / 60 },
    context: { account: user.id, mailbox: to },
    expiresAt: secondsLater(deps.clock.now(), codeTtlSeconds),
  });
  return {
    answer: {
      status: 'MFA_INITIATED',
      method: factor.method,
      sentTo: channel === 'sms' ? maskPhone(to) : maskAddress(to),
      resendAfterSeconds,
      ...(showsCodes && { code }),
    },
  };
}

/** The last step: verifies the factor's code, or a recovery code instead. */
export const verifyMfa: StepRule<'verify-mfa'> = {
  async count(counters, flow) {
    if (!flow.ceremony.enrolmentId) return countRecovery(counters, flow);
    const factor = await counters.factor();
    const user = accountOf(flow.ceremony.evidence);
    if (!factor || factor.user.id !== user) return over;
    if (isByRecovery(flow, factor)) return countRecovery(counters, flow);
    if (flow.ceremony.state === 'mfa_owed') {
      return { refused: { code: 'out-of-order', step: 'verify-mfa', state: flow.ceremony.state } };
    }
    return factor.method === 'totp' ? countTotp(counters, factor) : countCode(counters, factor, user);
  },

  async take(flow) {
    const { em, deps, caller, ceremony, device } = flow;
    const granted = await byGrant(flow);
    if (granted) return granted;
    if (!ceremony.enrolmentId) return recover(flow);
    const next = await factorOf(flow);
    if ('refused' in next) return next;
    if (!device) return over;
    const { user, factor } = next;
    if (isByRecovery(flow, factor)) return recover(flow, factor);
    if (!(await acceptCode(flow, user, factor))) return rejection(user, factor.method, false);
    const skipFactorSeconds = flow.input.rememberMe ? caller.project.rememberMfaSeconds : 0;
    const recoveryCodes = factor.verifiedAt ? null : await enrol(flow, user, factor);
    ceremony.mfaMethod = factor.method;
    const at = deps.clock.now().toISOString();
    const { id: enrolment, method, besidePasskey } = factor;
    const proved: Evidence = {
      ...{ kind: 'factor', account: user.id, enrolment, method, at },
      ...(besidePasskey && { besidePasskey }),
    };
    await em.flush();
    return conclude(flow, { user, credential: device, proved, skipFactorSeconds, recoveryCodes });
  },
};

/** Accepts a recovery code in place of the factor, or of a passkey if there is no factor. */
async function recover(flow: Flow, factor?: Enrolment): Promise<StepOutcome<'verify-mfa'>> {
  const { em, deps, caller, ceremony, device, input } = flow;
  const user = await deps.users.locked(em, caller.project.id, accountOf(ceremony.evidence) ?? '');
  if (!user?.active || !device) return over;
  if (!(await deps.mfa.recoveryCodes.use(em, user, input.otp ?? ''))) {
    return rejection(user, factor?.method ?? 'passkey', true);
  }
  // Unlocks a factor that wrong codes had locked.
  if (factor) deps.mfa.accepted(factor);
  await recordRecoveryCodeUse(flow, user);
  ceremony.mfaMethod = factor?.method ?? null;
  const proved: Evidence = { kind: 'recovery-code', account: user.id, at: deps.clock.now().toISOString() };
  await em.flush();
  return conclude(flow, { user, credential: device, proved });
}

/** Ends the sign-in, or asks for the passkey that it still needs. */
async function conclude(flow: Flow, ending: Proved): Promise<StepOutcome<'verify-mfa'>> {
  const { em, deps, ceremony } = flow;
  const { proved, user, credential } = ending;
  const context = await signInContext(flow, await deps.mfa.factors(em, user), credential);
  const next = nextRequirement(withPiece(ceremony.evidence, proved), context);
  if (next === 'creation') return { ...needPasskey(flow), proved };
  // Only a passkey is accepted, for example by an essential acr: the code stays unused.
  if (next !== 'nothing') return { refused: { code: 'mfa-method-not-allowed', method: 'passkey' } };
  return { answer: await finish(flow, ending), proved };
}

type Counted = ReturnType<NonNullable<typeof verifyMfa.count>>;

async function countTotp(counters: Counters, factor: Enrolment): Counted {
  if (counters.isOff(factor)) return isOff(factor);
  if (!(await counters.signIn())) return over;
  const wait = counters.lockedForSeconds(factor);
  if (wait > 0) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
  await counters.totp(factor);
  return { counted: null };
}

async function countCode(counters: Counters, factor: Enrolment, userId: string): Counted {
  if (counters.isOff(factor)) return isOff(factor);
  const wait = await counters.codeOf(purposeOf(factor), userId);
  if (wait !== null) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
  return { counted: await counters.code(purposeOf(factor)) };
}

async function countRecovery(counters: Counters, { input }: Checked): Counted {
  if (!looksLikeRecoveryCode(input.otp ?? '')) return { refused: rejected };
  return (await counters.signIn()) ? { counted: null } : over;
}

/** Too many wrong codes have disabled the factor: only a recovery code is accepted. */
function isOff({ method }: Enrolment): { refused: Problem } {
  return { refused: { code: 'mfa-method-not-allowed', method } };
}

function isByRecovery({ input }: Pick<Checked, 'input'>, factor: Enrolment): boolean {
  return factor.verifiedAt != null && looksLikeRecoveryCode(input.otp ?? '');
}

async function acceptCode(flow: Flow, user: User, factor: Enrolment): Promise<boolean> {
  const { em, deps, caller, ceremony, input, counted } = flow;
  const code = input.otp ?? '';
  if (factor.method === 'totp') return deps.mfa.acceptTotp(em, factor, code);
  const redeemed = await deps.otp.redeem(em, counted, { jkt: ceremony.jkt ?? null, clientId: caller.client.id, code });
  if (!redeemed.accepted || redeemed.userId !== user.id || !redeemed.isFor(factor.id)) return false;
  if (!redeemed.wentTo(destinationOf(flow, user, factor) ?? '')) return false;
  await deps.sends.redeemed(em, { projectId: caller.project.id, account: user.id, ip: caller.actor.ip });
  deps.mfa.accepted(factor);
  return true;
}

function rejection(user: User, method: MfaMethod | 'passkey', byRecovery: boolean): RefusedStep {
  const subject = { kind: 'user', id: user.id, name: user.userName };
  return { refused: rejected, event: { type: 'mfa.rejected', subject, detail: { method, byRecovery } } };
}

async function recordRecoveryCodeUse(flow: Flow, user: User): Promise<void> {
  const { em, deps, caller } = flow;
  const left = await deps.mfa.recoveryCodes.left(em, user);
  deps.audit.record(em, {
    type: 'mfa.recovery_code_used',
    actor: caller.actor,
    projectId: caller.project.id,
    clientId: caller.client.id,
    subject: { kind: 'user', id: user.id, name: user.userName },
    detail: { left },
  });
  await notify(flow, user, { template: 'recovery-code-used', left });
}

/** Completes enrolment after the first correct code and notifies the user. Returns recovery codes, if new. */
async function enrol(flow: Flow, user: User, factor: Enrolment): Promise<string[] | null> {
  const { em, deps, caller, ceremony } = flow;
  // The passkey may have been added since the enrolment began.
  const hasPasskey = await deps.passkeys.isHeldBy(em, { projectId: caller.project.id, userId: user.id });
  factor.besidePasskey ||= hasPasskey;
  const before = await deps.mfa.factors(em, user);
  const codes = await deps.mfa.verify(em, factor, user, caller.actor, hasPasskey);
  let endsWork = before.length > 0 && isMailboxAlone(before);
  if (factor.method === 'sms' && factor.phone && !user.phone && (await mayStore(flow, user, factor.phone))) {
    // Refuses `taken` if another user gets the number concurrently.
    await deps.users.changePhone(em, user, factor.phone, caller.actor);
    endsWork = true;
  }
  if (endsWork) await endOpenWork(em, deps.clock.now(), user, { keepCeremonyId: ceremony.id });
  await notify(flow, user, { template: 'factor-changed', change: 'added', method: factor.method });
  return codes;
}

/** Whether the number can be the user's phone. If another user has it or the directory owns it, the factor is valid anyway. */
async function mayStore({ em, deps }: Flow, user: User, phone: string): Promise<boolean> {
  if (await deps.users.isPhoneTaken(em, user, phone)) return false;
  return (await problemOf(deps.users.checkPhoneLock(em, user, phone))) === null;
}

/**
 * The user and the required factor, both locked. An unverified factor counts only with the mail code of the sign-in
 * that started it, while its method is offered, while no passkey and no other factor meets the policy, and while no passkey
 * is required.
 */
async function factorOf(flow: Flow): Promise<{ user: User; factor: Enrolment } | { refused: Problem }> {
  const { em, deps, caller, ceremony } = flow;
  const user = await deps.users.locked(em, caller.project.id, accountOf(ceremony.evidence) ?? '');
  const { enrolmentId, project } = ceremony;
  const factor = enrolmentId ? await deps.mfa.locked(em, { project, id: enrolmentId }) : null;
  if (!user?.active || !factor || factor.user.id !== user.id) return over;
  const { mfaPolicy: policy, emailFactor } = policyOf(caller);
  const notAllowed = { refused: { code: 'mfa-method-not-allowed', method: factor.method } } as const;
  // The policy may have become stricter since the sign-in started.
  if (factor.verifiedAt && !isSufficient(factor.method, { policy, emailFactor })) return notAllowed;
  if (factor.verifiedAt) return (await counted(flow, user, factor)) ? { user, factor } : notAllowed;
  if (!provedIn(ceremony.evidence).includes(factor.ceremonyId ?? '')) return over;
  const factors = (await deps.mfa.factors(em, user)).map(({ method }) => method);
  if (factors.length > 0 && meetsPolicy({ policy, emailFactor, factors })) return over;
  if (isPasskeyRequired(caller) || (await hasPasskey(flow, user.id))) return over;
  return (await offeredMethods(flow)).includes(factor.method) ? { user, factor } : notAllowed;
}

/** Whether the factor counts now, or a recovery code takes its place. */
async function counted(flow: Flow, user: User, factor: Enrolment): Promise<boolean> {
  const { em, deps, ceremony, device } = flow;
  if (!device || isByRecovery(flow, factor)) return true;
  const context = await signInContext(flow, await deps.mfa.factors(em, user), device);
  return (
    nextRequirement(ceremony.evidence, context) !== 'passkey' &&
    counts(strengthOf(factor, context.hasPasskey), ceremony.evidence, context)
  );
}

/** Destination of the factor's codes; for SMS the directory's number if it owns the phone, else the enrolled one. */
export function destinationOf(
  { caller }: { caller: Pick<SigninCaller, 'project'> },
  user: User,
  factor: Enrolment,
): string | null {
  return factor.method === 'email' ? addressOf(user) : smsNumberOf(caller.project, user, factor);
}

export function purposeOf(factor: Enrolment): CodePurpose {
  return factor.method === 'sms' ? 'mfa-sms' : 'mfa-email';
}
