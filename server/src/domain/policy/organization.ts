import { secondsLater } from '../kernel/clock.ts';
import { hasExpired, type SessionLimits, type SessionTimes, type SignInPolicy } from './session.ts';

/** The rules of an organization, which only tighten those of its project. Null: the project's. */
export interface OrganizationPolicy {
  mfaPolicy: 'required' | null;
  idleTimeoutSeconds: number | null;
  maxSessionSeconds: number | null;
}

/** All rules of sign-ins and sessions. */
export type Policy = SignInPolicy & SessionLimits;

/** The stricter of each setting. @param organization null: none, the project's settings apply */
export function strictest(project: Policy, organization: OrganizationPolicy | null): Policy {
  if (!organization) return project;
  const { builtIn, emailFactor, passkeyPolicy, passkeys } = project;
  const shorter = (name: keyof SessionLimits) => Math.min(project[name], organization[name] ?? Infinity);
  return {
    ...{ builtIn, emailFactor, passkeyPolicy, passkeys },
    mfaPolicy: organization.mfaPolicy ?? project.mfaPolicy,
    idleTimeoutSeconds: shorter('idleTimeoutSeconds'),
    maxSessionSeconds: shorter('maxSessionSeconds'),
  };
}

/**
 * Whether a live session has ended for an organization. Its longest time counts from the last sign-in: a new one in the same
 * browser keeps the session.
 */
export function hasExpiredIn(
  organization: OrganizationPolicy | null,
  session: SessionTimes & { authTime: Date },
  project: Policy,
  now: Date,
): boolean {
  return hasExpired({ ...session, createdAt: session.authTime }, strictest(project, organization), now);
}

/** When the tokens of a sign-in end in an organization, at the latest; null: with its session. */
export function latestEndIn(
  { maxSessionSeconds }: Pick<OrganizationPolicy, 'maxSessionSeconds'>,
  authTime: Date,
): Date | null {
  return maxSessionSeconds === null ? null : secondsLater(authTime, maxSessionSeconds);
}
