import type { Device } from '../devices/device.entity.ts';
import { secondsLater } from '../kernel/clock.ts';
import { newSecret } from '../kernel/random.ts';
import { digest, isStorableText } from '../kernel/secret.ts';
import { afterDevice, amr } from '../mfa/policy.ts';
import { codeTtlSeconds } from '../otp/judge.ts';
import { resendAfterSeconds } from '../otp/otp.ts';
import { addressKey, isAddress } from '../users/login.ts';
import { decidedFor, subjectOf } from './account.ts';
import { finish } from './finish.ts';
import type { Flow, Outcome } from './flow.ts';
import { maskAddress } from './mask.ts';

/**
 * Begins, or begins anew, for one address. A trusted device goes on from here; everybody else, known or not, gets
 * OTP_NEEDED after the same work.
 */
export async function authenticate(flow: Flow): Promise<Outcome<'authenticate'>> {
  const { em, ceremony, input, device } = flow;
  const address = input.userid.trim();
  if (input.stepUp && flow.caller.request) {
    return { refused: { code: 'invalid', field: 'step_up', reason: 'is not for the hosted page' } };
  }
  if (!isStorableText(address) || !isAddress(address)) return { status: 'INVALID_EMAIL' };
  em.assign(ceremony, {
    address: addressKey(address),
    user: null,
    device: null,
    rememberDevice: input.rememberDevice ?? true,
    stepUp: input.stepUp ?? null,
    mfaMethod: null,
    mfaSessionHash: null,
    enrolmentId: null,
    mfaAttempts: 0,
  });
  return (device && (await byDevice(flow, device))) ?? sendCode(flow, address);
}

/** What a trusted device may do; null where its user must choose a factor first, and prove the address for that. */
async function byDevice(flow: Flow, device: Device): Promise<Outcome<'authenticate'> | null> {
  const { em, deps, caller, ceremony } = flow;
  const user = device.user.getEntity();
  const hasAny = await deps.mfa.hasAny(em, user.id);
  const factors = hasAny ? await deps.mfa.factors(em, user.id) : [];
  const pending = !hasAny || factors.length > 0 ? null : await deps.mfa.pending(em, user.id, device.id);
  const owed = afterDevice(
    { policy: caller.project.mfaPolicy, hasFactor: factors.length > 0 },
    { hasPending: pending !== null, skipsFactor: deps.devices.skipsFactor(device, caller.project) },
    ceremony.stepUp != null,
  );
  if (owed === 'prove-address') return null;
  em.assign(ceremony, { user: user.id, device: device.id });
  if (owed === 'finish') return finish(flow, { user, device, isStored: true, amr: amr.device });
  const factor = factors[0] ?? pending;
  if (!factor) throw new Error('a factor is owed that is not there');
  const sessionId = newSecret(deps.random);
  em.assign(ceremony, { mfaSessionHash: digest(sessionId), enrolmentId: factor.id, mfaMethod: factor.method });
  return { status: 'MFA_REQUIRED', sessionId, method: factor.method };
}

async function sendCode(flow: Flow, address: string): Promise<Outcome<'authenticate'>> {
  const { em, deps, caller, ceremony } = flow;
  const { project, client, actor, request } = caller;
  if (!deps.delivery.isAvailable('mail') && !(await deps.testMode.holds(em, project))) {
    return { refused: { code: 'unavailable', reason: 'no mail server is set', retryAfterSeconds: 60 } };
  }
  const key = addressKey(address);
  const scope = { projectId: project.id, purpose: 'sign-in' } as const;
  const wait = await deps.otp.spendSend(em, { ...scope, address: key, ip: actor.ip });
  if (wait !== null) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
  const decided = await decidedFor(em, project.id, key);
  const code = await deps.otp.issue(em, {
    ...scope,
    ceremonyId: ceremony.id,
    account: decided.account ?? key,
    jkt: ceremony.jkt ?? null,
  });
  await deps.delivery.enqueue(em, {
    projectId: project.id,
    channel: 'mail',
    // What will be on record, not what was typed: of two that compare as one, only the former would be proved.
    to: key,
    locale: caller.locale,
    content: { template: 'sign-in-code', app: client.name, code, minutes: codeTtlSeconds / 60 },
    context: { ...decided, ...(request?.setupLinkId && { setupLinkId: request.setupLinkId }) },
    expiresAt: secondsLater(deps.clock.now(), codeTtlSeconds),
  });
  deps.audit.record(em, {
    type: 'otp.requested',
    actor,
    projectId: project.id,
    clientId: client.id,
    subject: subjectOf(decided.account, address),
  });
  return {
    status: 'OTP_NEEDED',
    deviceToken: digest(`device:${ceremony.id}`),
    sentTo: maskAddress(address),
    resendAfterSeconds,
    ...((await deps.testMode.holds(em, project)) && { code }),
  };
}
