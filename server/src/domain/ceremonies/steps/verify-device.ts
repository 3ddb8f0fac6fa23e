import { calculateJwkThumbprint } from 'jose';
import { type Problem, problemOf } from '../../kernel/problem.ts';
import type { Enrolment, MfaMethod } from '../../mfa/enrolment.entity.ts';
import { accountOf, type Evidence, provedIn, withPiece } from '../../policy/evidence.ts';
import { isUnproved, meetsPolicy, nextRequirement } from '../../policy/requirements.ts';
import { isE164 } from '../../users/login.ts';
import type { User } from '../../users/user.entity.ts';
import { phoneOf } from '../../users/user-writing.ts';
import type { Flow, StepOutcome, StepRule } from '../flow.ts';
import { notify } from '../notices.ts';
import {
  hasPasskey,
  isPasskeyRequired,
  offeredMethods,
  policyOf,
  signInContext,
  siteOfPage,
} from '../sign-in-context.ts';
import { finish } from './finish.ts';
import { needPasskey } from './new-passkey.ts';

/** Registers the page's key for the user whose mail code or provider's answer was verified, and starts the chosen second factor. */
export const verifyDevice: StepRule<'verify-device'> = {
  async take(flow) {
    const { em, deps, caller, ceremony, input } = flow;
    // Locked: two windows of one browser may register the same key concurrently.
    const user = await deps.users.locked(em, caller.project.id, accountOf(ceremony.evidence) ?? '');
    if (!user?.active) return { refused: { code: 'transaction-expired' } };
    const factors = await deps.mfa.factors(em, user);
    if (ceremony.state !== 'otp_verified') {
      // A new choice replaces only the unverified factor of this sign-in.
      const pending = await deps.mfa.pending(em, user, [ceremony.id]);
      if (!pending || pending.id !== ceremony.enrolmentId) {
        return { refused: { code: 'out-of-order', step: 'verify-device', state: ceremony.state } };
      }
      if (input.mfaMethod === undefined) return choose(flow);
    }
    // A mail code or answer of an earlier sign-in allows finishing the factor started there, not adding a key or a factor.
    if (!provedIn(ceremony.evidence).includes(ceremony.id)) return { refused: { code: 'transaction-expired' } };
    return register(flow, user, factors);
  },
};

async function register(flow: Flow, user: User, factors: readonly Enrolment[]): Promise<StepOutcome<'verify-device'>> {
  const { em, deps, caller, ceremony, input } = flow;
  const { project } = caller;
  // A user's passkey is the second factor: the mailbox alone must not add another.
  const holdsPasskey = await hasPasskey(flow, user.id);
  const asksPasskey = holdsPasskey || isPasskeyRequired(caller);
  const besidePasskey = await ownsPasskey(flow, user);
  const mayEnrol = meets(flow, factors)
    ? factors.length === 0 && policyOf(caller).mfaPolicy !== 'off' && !asksPasskey && !besidePasskey
    : !asksPasskey;
  // The code comes first: a factor that the provider of another organization could add would stay.
  const isLate = isUnproved(ceremony.evidence);
  const method = mayEnrol && !isLate ? input.mfaMethod : undefined;
  if (method === undefined && !meets(flow, factors) && !asksPasskey && !isLate) return choose(flow);
  const destination = method ? await destinationOf(flow, user, method) : null;
  if (destination && 'refused' in destination) return destination;
  if (destination && 'missing' in destination) {
    return { answer: { status: 'FINALIZE_REGISTRATION_NEEDED', required: ['phone_number'] } };
  }
  const { device, isNew } = await registerKey(flow, user);
  const at = deps.clock.now().toISOString();
  const proved: Evidence = { kind: 'device-key', account: user.id, device: device.id, isNew, at };
  const next = nextRequirement(withPiece(ceremony.evidence, proved), await signInContext(flow, factors, device));
  if (method) {
    // An optional factor, which may never be verified.
    if (next === 'nothing') deps.devices.trust(device, project);
    const phone = destination?.phone ?? null;
    await deps.mfa.begin(em, { user, ceremonyId: ceremony.id, deviceId: device.id, method, phone, besidePasskey });
    return { answer: { status: 'DEVICE_REGISTERED' }, proved };
  }
  if (next === 'nothing') return { answer: await finish(flow, { user, credential: device, proved }), proved };
  if (next === 'creation') return { ...needPasskey(flow), proved };
  return { answer: { status: 'DEVICE_REGISTERED' }, proved };
}

/**
 * Also while the project's passkeys are off: a factor that the mailbox alone adds would stay when they are on again. A
 * required one can be added, and is marked.
 */
function ownsPasskey({ em, deps, caller }: Flow, user: User): Promise<boolean> {
  return deps.passkeys.isHeldBy(em, { projectId: caller.project.id, userId: user.id });
}

function meets({ caller }: Flow, factors: readonly Enrolment[]): boolean {
  const { mfaPolicy: policy, emailFactor } = policyOf(caller);
  return meetsPolicy({ policy, emailFactor, factors: factors.map(({ method }) => method) });
}

async function choose(flow: Flow): Promise<StepOutcome<'verify-device'>> {
  return { answer: { status: 'MFA_ENROLLMENT_NEEDED', methods: await offeredMethods(flow) } };
}

type Destination = { phone: string | null } | { missing: 'phone_number' } | { refused: Problem };

/** Destination of the new factor's codes. A phone owned by the directory cannot be replaced (service.md 3.1). */
async function destinationOf(flow: Flow, user: User, method: MfaMethod): Promise<Destination> {
  const { project } = flow.caller;
  if (!(await offeredMethods(flow)).includes(method)) return { refused: { code: 'mfa-method-not-allowed', method } };
  if (method !== 'sms') return { phone: null };
  const phone = flow.input.phoneNumber?.replace(/[\s()./-]/g, '') ?? phoneOf(user);
  if (phone === null) return { missing: 'phone_number' };
  if (!isE164(phone)) return { refused: { code: 'phone-invalid' } };
  const refused = await problemOf(flow.deps.users.checkPhoneLock(flow.em, user, phone));
  const problem = refused ?? flow.deps.smsGuard.check({ project, number: phone, proved: phone === user.phone });
  return problem ? { refused: problem } : { phone };
}

async function registerKey(flow: Flow, user: User) {
  const { em, deps, caller, ceremony, publicJwk } = flow;
  if (!publicJwk) throw new Error('device registration without a proof');
  ceremony.jkt ??= await calculateJwkThumbprint(publicJwk);
  const { device, isNew } = await deps.devices.register(em, {
    project: caller.project,
    clientId: caller.client.id,
    userId: user.id,
    jkt: ceremony.jkt,
    publicJwk,
    hosted: caller.request !== null,
    domain: siteOfPage(flow).domain,
    remembered: ceremony.rememberDevice,
    actor: caller.actor,
  });
  await em.flush();
  // No warning for a user who has just signed up.
  const signedUpHere = user.createdAt >= ceremony.createdAt && user.provenance === 'local';
  if (isNew && !signedUpHere) await notify(flow, user, { template: 'new-device', device: device.name });
  return { device, isNew };
}
