import { type Problem, problemOf } from '../kernel/problem.ts';
import { type MfaMethod, mfaMethods } from '../mfa/enrolment.entity.ts';
import { afterRegistration, amr } from '../mfa/policy.ts';
import { isE164 } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import { finish } from './finish.ts';
import type { Flow, Outcome } from './flow.ts';
import { notify } from './notices.ts';

/** Registers the page's key for the user whose address was proved, and begins the second factor that they chose. */
export async function verifyDevice(flow: Flow): Promise<Outcome<'verify-device'>> {
  const { em, deps, caller, ceremony, input } = flow;
  // Under a lock: two windows of one browser register the same key one after the other.
  const user = await deps.users.locked(em, caller.project.id, ceremony.user?.id ?? '');
  if (!user?.active) return { refused: { code: 'transaction-expired' } };
  const hasFactor = (await deps.mfa.factors(em, user.id)).length > 0;
  const method = input.mfaMethod;
  if (ceremony.state !== 'otp_verified') {
    // Whoever set the first one up on this device had proved the address, and may do so with another one as well.
    if (hasFactor || !(await isSettingUp(flow, user))) {
      return { refused: { code: 'out-of-order', step: 'verify-device', state: ceremony.state } };
    }
    if (method === undefined) return { status: 'MFA_ENROLLMENT_NEEDED', methods: await offered(flow) };
  }
  const owed = afterRegistration({ policy: caller.project.mfaPolicy, hasFactor }, method !== undefined);
  if (owed === 'choose') return { status: 'MFA_ENROLLMENT_NEEDED', methods: await offered(flow) };
  if (owed !== 'enrol' || method === undefined) {
    const device = await register(flow, user);
    if (owed === 'finish') return finish(flow, { user, device, amr: amr.enrolment });
    return { status: 'DEVICE_REGISTERED' };
  }
  const destination = await destinationOf(flow, user, method);
  if ('refused' in destination) return destination;
  if ('missing' in destination) return { status: 'FINALIZE_REGISTRATION_NEEDED', required: ['phone_number'] };
  const device = await register(flow, user);
  await deps.mfa.begin(em, { userId: user.id, deviceId: device.id, method, phone: destination.phone });
  return { status: 'DEVICE_REGISTERED' };
}

/** Whether the factor that this sign-in owes waits for its first code, on this very device. */
async function isSettingUp({ em, deps, ceremony }: Flow, user: User): Promise<boolean> {
  const pending = ceremony.device && (await deps.mfa.pending(em, user.id, ceremony.device.id));
  return pending != null && pending.id === ceremony.enrolmentId;
}

/** What can be chosen here: what the project offers, SMS only where one can be sent. */
async function offered({ em, deps, caller: { project } }: Flow): Promise<MfaMethod[]> {
  const canSendSms = deps.delivery.isAvailable('sms') || (await deps.testMode.holds(em, project));
  return mfaMethods.filter((method) => project.offeredFactors.includes(method) && (method !== 'sms' || canSendSms));
}

type Destination = { phone: string | null } | { missing: 'phone_number' } | { refused: Problem };

/** Where codes of the new factor are to go. The directory's phone is not changed by the back door (service.md 3.1). */
async function destinationOf(flow: Flow, user: User, method: MfaMethod): Promise<Destination> {
  const { project } = flow.caller;
  if (!(await offered(flow)).includes(method)) return { refused: { code: 'mfa-method-not-allowed', method } };
  if (method !== 'sms') return { phone: null };
  const phone = flow.input.phoneNumber?.replace(/[\s()./-]/g, '') ?? user.phone ?? null;
  if (phone === null) return { missing: 'phone_number' };
  if (!isE164(phone)) return { refused: { code: 'phone-invalid' } };
  const refused = await problemOf(flow.deps.users.checkPhoneLock(flow.em, user, phone));
  const problem = refused ?? flow.deps.smsGuard.check({ project, number: phone, proved: phone === user.phone });
  return problem ? { refused: problem } : { phone };
}

async function register(flow: Flow, user: User) {
  const { em, deps, caller, ceremony, publicJwk } = flow;
  if (!publicJwk || !ceremony.jkt) throw new Error('a device is registered without a proof');
  const { device, isNew } = await deps.devices.register(em, {
    project: caller.project,
    clientId: caller.client.id,
    userId: user.id,
    jkt: ceremony.jkt,
    publicJwk,
    remembered: ceremony.rememberDevice,
    actor: caller.actor,
  });
  await em.flush();
  em.assign(ceremony, { device: device.id });
  // Who has just signed up needs no warning of themselves.
  const signedUpHere = user.createdAt >= ceremony.createdAt && user.provenance === 'local';
  if (isNew && !signedUpHere) await notify(flow, user, { template: 'new-device', device: device.name });
  return device;
}
