import { earliest, isPast, secondsLater } from '../kernel/clock.ts';
import type { Project } from '../projects/project.entity.ts';

/** A device, as far as its trust depends on it. */
export interface TrustState {
  createdAt: Date;
  /** Of the last registration; null: `createdAt`. */
  registeredAt?: Date | null | undefined;
  lastUsedAt: Date;
  /** False: never trusted beyond the sign-in that registers it. */
  remembered: boolean;
  trustedUntil?: Date | null | undefined;
  revokedAt?: Date | null | undefined;
  suspendedAt?: Date | null | undefined;
}
export type TrustPolicy = Pick<Project, 'deviceTrustDays' | 'deviceTrustSeconds'>;

const day = 24 * 3600;

/**
 * A device's trust expiry: the earliest of the stored expiry, the project's limit since its last use (remembered
 * devices) and the project's limit since its registration. Null: trust has ended, until a mail code at the earliest. A
 * shorter policy applies immediately, a longer one from the next use.
 */
export function trustEnd(device: TrustState, policy: TrustPolicy): Date | null {
  const { createdAt, lastUsedAt, registeredAt, remembered, revokedAt, suspendedAt, trustedUntil } = device;
  if (revokedAt || suspendedAt || !trustedUntil) return null;
  const ends = [trustedUntil, secondsLater(registeredAt ?? createdAt, policy.deviceTrustDays * day)];
  if (remembered) ends.push(secondsLater(lastUsedAt, policy.deviceTrustSeconds));
  return earliest(...ends);
}

export function isTrusted(device: TrustState, policy: TrustPolicy, now: Date): boolean {
  const end = trustEnd(device, policy);
  return end !== null && !isPast(end, now);
}

/** The stored trust expiry of a device used now; null: no longer trusted. */
export function trustAfterUse({ remembered }: Pick<TrustState, 'remembered'>, policy: TrustPolicy, now: Date) {
  return remembered ? secondsLater(now, policy.deviceTrustSeconds) : null;
}

/** Whether a device may skip the second factor now (`remember_me`). */
export function skipsFactor(
  { mfaRememberedAt }: { mfaRememberedAt?: Date | null },
  { rememberMfaSeconds }: Pick<Project, 'rememberMfaSeconds'>,
  now: Date,
): boolean {
  return mfaRememberedAt != null && !isPast(secondsLater(mfaRememberedAt, rememberMfaSeconds), now);
}
