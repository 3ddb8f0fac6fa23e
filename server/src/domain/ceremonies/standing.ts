import type { Device } from '../credentials/device.entity.ts';
import type { Enrolment, MfaMethod } from '../mfa/enrolment.entity.ts';
import { mfaMethods } from '../mfa/enrolment.entity.ts';
import type { Standing } from './evidence.ts';
import type { Flow } from './flow.ts';

/** The current policy and factors. */
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

/** Whether a device key alone is insufficient: step-up, `prompt=login`, `max_age`, or a setup link. */
export function isPersonRequired({ caller: { request }, ceremony }: Pick<Flow, 'caller' | 'ceremony'>): boolean {
  return ceremony.stepUp != null || request?.personRequired === true || request?.setupLinkId != null;
}

/** Methods that can be enrolled: those the project offers, SMS only if it can be sent. */
export async function offeredMethods({ em, deps, caller: { project } }: Flow): Promise<MfaMethod[]> {
  const canSendSms = deps.delivery.isAvailable('sms') || (await deps.testMode.holds(em, project));
  return mfaMethods.filter((method) => {
    if (!project.offeredFactors.includes(method)) return false;
    if (method === 'sms') return canSendSms;
    return method !== 'email' || project.mfaPolicy !== 'required' || project.emailFactor;
  });
}
