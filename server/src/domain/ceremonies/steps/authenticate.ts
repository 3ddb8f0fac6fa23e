import { LockMode } from '@mikro-orm/core';
import type { Device } from '../../credentials/device.entity.ts';
import { maskAddress } from '../../delivery/mask.ts';
import { isPast, processSkewSeconds, secondsLater } from '../../kernel/clock.ts';
import { newSecret } from '../../kernel/random.ts';
import { digest, isStorableText } from '../../kernel/secret.ts';
import { type Enrolment } from '../../mfa/enrolment.entity.ts';
import { codeTtlSeconds } from '../../otp/code-check.ts';
import { resendAfterSeconds } from '../../otp/sends.ts';
import { accountOf, type Evidence, has, provedIn, withPiece } from '../../policy/evidence.ts';
import { counts, nextRequirement, strengthOf } from '../../policy/requirements.ts';
import { isNull } from '../../projects/tenant.ts';
import { addressKey, isAddress, trimmed } from '../../users/login.ts';
import type { User } from '../../users/user.entity.ts';
import { type Decided, decidedOn, subjectOf } from '../account.ts';
import { inSignIn } from '../callers.ts';
import { Ceremony, txnTtlSeconds } from '../ceremony.entity.ts';
import type { Flow, StepOutcome, StepRule } from '../flow.ts';
import { isPasskeyRequired, isPersonRequired, mayUsePasskeys, signInContext } from '../sign-in-context.ts';
import { finish } from './finish.ts';
import { needPasskey } from './new-passkey.ts';
import type { Answers } from './steps.ts';
import { byTrustedDevice } from './trusted-device.ts';

/**
 * Starts or restarts a sign-in for one address. A trusted device continues; every other request, for a known address or
 * not, gets OTP_NEEDED after the same work.
 */
export const authenticate: StepRule<'authenticate'> = {
  endAtOnce: byTrustedDevice,

  async take(flow) {
    const { ceremony, input, device } = flow;
    const address = trimmed(input.userid ?? '');
    if (input.stepUp && flow.caller.request) {
      return { refused: { code: 'invalid', field: 'step_up', reason: 'is not allowed on the hosted page' } };
    }
    if (!isStorableText(address) || !isAddress(address)) return { answer: { status: 'INVALID_EMAIL' } };
    if (isPasskeyRequired(flow.caller) && !mayUsePasskeys(flow)) return { refused: { code: 'passkey-required' } };
    const key = addressKey(address);
    const isOther = ceremony.address !== key || (device && accountOf(ceremony.evidence) !== device.user.id);
    Object.assign(ceremony, {
      address: key,
      evidence: isOther ? [] : ceremony.evidence,
      // A browser that a provider signed in is not trusted: its account there may end.
      rememberDevice: (input.rememberDevice ?? true) && (isOther || !has(ceremony.evidence, 'federated')),
      stepUp: input.stepUp ?? null,
      mfaMethod: null,
      mfaSessionHash: null,
      enrolmentId: null,
    });
    return (device && (await byDevice(flow, device))) ?? sendCode(flow, address);
  },
};

/** The outcome of a sign-in by device key; null if a mail code is needed first. */
async function byDevice(flow: Flow, device: Device): Promise<StepOutcome<'authenticate'> | null> {
  const { em, deps, caller, ceremony } = flow;
  const user = device.user.getEntity();
  await continueEarlier(flow, device);
  const isOfThisSignIn = ceremony.evidence.some((piece) => piece.kind === 'device-key' && piece.device === device.id);
  if (!isOfThisSignIn && !deps.devices.isTrusted(device, caller.project)) return null;
  const at = deps.clock.now().toISOString();
  const proved: Evidence = { kind: 'device-key', account: user.id, device: device.id, at };
  const factors = await deps.mfa.factors(em, user);
  const pending = await deps.mfa.pending(em, user, provedIn(ceremony.evidence));
  const context = await signInContext(flow, factors, device);
  const evidence = withPiece(ceremony.evidence, proved);
  const next = nextRequirement(evidence, context);
  if (next === 'nothing' && !pending) {
    return { answer: await finish(flow, { user, credential: device, proved, isStored: true, context }), proved };
  }
  if ((next === 'passkey' || next === 'factor') && (await awaitsMailCode(flow, evidence, user))) return null;
  if (next === 'creation') return { ...needPasskey(flow), proved };
  if (next === 'passkey') return { answer: requirePasskey(flow, factors), proved };
  const factor =
    next === 'factor' ? factors.find((one) => counts(strengthOf(one, context.hasPasskey), evidence, context)) : pending;
  if (!factor) return null;
  const sessionId = newSecret(deps.random);
  Object.assign(ceremony, { mfaSessionHash: digest(sessionId), enrolmentId: factor.id, mfaMethod: factor.method });
  return { answer: { status: 'MFA_REQUIRED', sessionId, method: factor.method }, proved };
}

/** A usable recovery grant counts together with a mail code only: the trusted device does not replace it. */
async function awaitsMailCode({ em, deps }: Flow, evidence: readonly Evidence[], user: User): Promise<boolean> {
  return !has(evidence, 'mail-code') && deps.mfa.recoveryGrants.isUsable(em, user);
}

/**
 * The factor is a passkey: `passkey-options` and `verify-passkey` follow, or `verify-mfa` with a recovery code, which
 * needs one of the factors.
 */
function requirePasskey({ ceremony, deps }: Flow, [factor]: readonly Enrolment[]): Answers['authenticate'] {
  const sessionId = newSecret(deps.random);
  Object.assign(ceremony, { mfaSessionHash: digest(sessionId), enrolmentId: factor?.id ?? null });
  return { status: 'MFA_REQUIRED', sessionId, method: 'passkey' };
}

/**
 * After DEVICE_REGISTERED a page may call authenticate under a new `txn`. The sign-in continues there, once, with its
 * evidence: its key was created for and registered in it, so only the same page can sign. With an older key, a step-up
 * or a required fresh sign-in it starts over: evidence of another sign-in does not count.
 */
async function continueEarlier(flow: Flow, device: Device): Promise<void> {
  const { em, deps, caller, ceremony } = flow;
  if (ceremony.evidence.length > 0 || isPersonRequired(flow) || !mayBeOfOpenSignIn(device, deps.clock.now())) return;
  const earlier = await em.findOne(
    Ceremony,
    {
      project: caller.project.id,
      id: { $ne: ceremony.id },
      accountId: device.user.id,
      client: { id: caller.client.id },
      ...(caller.request ? { request: { id: caller.request.id } } : { [isNull('request_id')]: [] }),
      origin: ceremony.origin,
      jkt: device.jkt,
      state: 'registered',
      finishedAt: null,
      stepUp: null,
      expiresAt: { $gt: deps.clock.now() },
    },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'desc' } },
  );
  const isOfKey = (piece: Evidence) =>
    piece.kind === 'device-key' && piece.device === device.id && piece.isNew === true;
  if (!earlier?.evidence.some(isOfKey)) return;
  earlier.finishedAt = deps.clock.now();
  ceremony.evidence = earlier.evidence;
  if (has(earlier.evidence, 'federated')) ceremony.rememberDevice = false;
  flow.caller = inSignIn(caller, provedIn(earlier.evidence)[0] ?? earlier.id);
}

/** Whether the sign-in that registered the device can still be open. */
function mayBeOfOpenSignIn({ createdAt, registeredAt }: Device, now: Date): boolean {
  return !isPast(secondsLater(registeredAt ?? createdAt, txnTtlSeconds + processSkewSeconds), now);
}

async function sendCode(flow: Flow, address: string): Promise<StepOutcome<'authenticate'>> {
  const { em, deps, caller, ceremony, device } = flow;
  const { project, client, actor } = caller;
  const showsCodes = await deps.testMode.holds(em, project);
  if (!deps.delivery.isAvailable('mail') && !showsCodes) {
    return { refused: { code: 'unavailable', reason: 'no mail server is set', retryAfterSeconds: 60 } };
  }
  const key = addressKey(address);
  const decided = await decidedOn(em, caller, key);
  const { account: userId } = decided;
  const provenKey = device && device.user.id === userId ? device.jkt : null;
  const requester = { projectId: project.id, address: key, ip: actor.ip };
  const send = await deps.sends.spend(em, { ...requester, purpose: 'sign-in', ceremonyId: ceremony.id, provenKey });
  if ('refused' in send) return send;
  const granted = await deps.guessing.grant(em, { ...requester, userId, hasProvenKey: provenKey !== null });
  const isSuppressed = send.isFlood && !granted.isKnown;
  const code = await deps.otp.issue(em, {
    projectId: project.id,
    clientId: client.id,
    ceremonyId: ceremony.id,
    purpose: 'sign-in',
    userId,
    address: key,
    sentTo: decided.mailbox,
    jkt: ceremony.jkt ?? null,
    format: granted.format,
    requesterKnown: granted.isKnown,
  });
  if (!isSuppressed) await mailCode(flow, key, code, decided);
  deps.audit.record(em, {
    type: isSuppressed ? 'otp.suppressed' : 'otp.requested',
    result: isSuppressed ? 'failure' : 'success',
    actor,
    projectId: project.id,
    clientId: client.id,
    subject: subjectOf(userId, address),
    ...(isSuppressed && { detail: { reason: 'too many requests for this address' } }),
  });
  return {
    answer: {
      status: 'OTP_NEEDED',
      deviceToken: digest(`device:${ceremony.id}`),
      sentTo: maskAddress(address),
      resendAfterSeconds,
      ...(granted.format === 'long' && { codeFormat: granted.format }),
      ...(showsCodes && { code }),
    },
  };
}

/** @param address normalized, not as typed: the code proves only the normalized one */
async function mailCode({ em, deps, caller }: Flow, address: string, code: string, decided: Decided): Promise<void> {
  const { project, client, actor, request } = caller;
  await deps.delivery.enqueue(em, {
    projectId: project.id,
    channel: 'mail',
    to: address,
    locale: caller.locale,
    content: { template: 'sign-in-code', app: client.name, code, minutes: codeTtlSeconds / 60 },
    context: {
      ...decided,
      signInId: actor.signInId,
      ...(request?.setupLinkId && { setupLinkId: request.setupLinkId }),
    },
    expiresAt: secondsLater(deps.clock.now(), codeTtlSeconds),
  });
}
