import type { MfaPolicy } from '../projects/project.entity.ts';

/** What is known of a user when it is asked which factor is owed. */
export interface Standing {
  /** The project's. */
  policy: MfaPolicy;
  /** Whether the user has a second factor that was verified once; one that is locked counts. */
  hasFactor: boolean;
}

/**
 * After the address was proved and a new device wants in (verify-device):
 * `finish` ends the sign-in, `meet-factor` registers the device and leaves the factor to the next authenticate,
 * `enrol` begins the chosen factor, `choose` asks for one.
 *
 * An enrolled factor is met whatever the policy says: a new device never skips it, and it cannot add another one.
 */
export function afterRegistration(
  standing: Standing,
  choseMethod: boolean,
): 'finish' | 'meet-factor' | 'enrol' | 'choose' {
  if (standing.hasFactor) return 'meet-factor';
  if (standing.policy === 'off') return 'finish';
  if (choseMethod) return 'enrol';
  return standing.policy === 'required' ? 'choose' : 'finish';
}

/**
 * After a trusted device has proved itself (authenticate): `finish`, `meet-factor`, or `prove-address`, which leads a
 * user who owes a factor and has none to where one can be chosen.
 *
 * @param isStepUp whether the person has to prove themselves afresh: a device does that without them
 */
export function afterDevice(
  standing: Standing,
  device: {
    /** A factor was begun on this device and waits for its first code. */
    hasPending: boolean;
    /** `remember_me` holds. */
    skipsFactor: boolean;
  },
  isStepUp: boolean,
): 'finish' | 'meet-factor' | 'prove-address' {
  if (standing.hasFactor) return device.skipsFactor && !isStepUp ? 'finish' : 'meet-factor';
  if (standing.policy === 'off') return isStepUp ? 'prove-address' : 'finish';
  if (device.hasPending) return 'meet-factor';
  return standing.policy === 'required' || isStepUp ? 'prove-address' : 'finish';
}

/** Authentication methods (RFC 8176) of each way in; decisions §8. */
export const amr = {
  device: ['swk'],
  enrolment: ['swk', 'otp'],
  email: ['swk', 'otp', 'mfa'],
  totp: ['swk', 'otp', 'mfa'],
  sms: ['swk', 'sms', 'mfa'],
} as const satisfies Record<string, readonly string[]>;
