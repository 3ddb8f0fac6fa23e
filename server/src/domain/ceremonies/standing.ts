import type { Device } from '../devices/device.entity.ts';
import type { Enrolment, MfaMethod } from '../mfa/enrolment.entity.ts';
import { mfaMethods } from '../mfa/enrolment.entity.ts';
import type { Standing } from './evidence.ts';
import type { Flow } from './flow.ts';

/** What decides beside the evidence, as it is now. */
export function standingOf(
  { deps, caller: { project }, ceremony, caller }: Pick<Flow, 'deps' | 'caller' | 'ceremony'>,
  factors: readonly Enrolment[],
  device: Device,
): Standing {
  return {
    policy: project.mfaPolicy,
    emailFactor: project.emailFactor,
    factors: factors.map(({ method }) => method),
    skipsFactor: deps.devices.skipsFactor(device, project),
    personRequired: isPersonRequired({ caller, ceremony }),
  };
}

/** Whether a device key alone is not enough: a step-up, `prompt=login` or `max_age`, or a set-up link that makes an owner. */
export function isPersonRequired({ caller: { request }, ceremony }: Pick<Flow, 'caller' | 'ceremony'>): boolean {
  return ceremony.stepUp != null || request?.personRequired === true || request?.setupLinkId != null;
}

/** Methods that can be set up: what the project offers today, SMS only where one can be sent. */
export async function offeredMethods({ em, deps, caller: { project } }: Flow): Promise<MfaMethod[]> {
  const canSendSms = deps.delivery.isAvailable('sms') || (await deps.testMode.holds(em, project));
  return mfaMethods.filter((method) => {
    if (!project.offeredFactors.includes(method)) return false;
    if (method === 'sms') return canSendSms;
    return method !== 'email' || project.mfaPolicy !== 'required' || project.emailFactor;
  });
}
