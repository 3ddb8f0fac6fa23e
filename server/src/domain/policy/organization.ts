import { secondsLater } from '../kernel/clock.ts';
import { hasExpired, type SessionLimits, type SessionProof, type SessionTimes, type SignInPolicy } from './session.ts';

/** The rules of an organization, which only tighten those of its project. Null: the project's. */
export interface OrganizationPolicy {
  mfaPolicy: 'required' | null;
  idleTimeoutSeconds: number | null;
  maxSessionSeconds: number | null;
  /** The organization itself, if one of its connections must sign its members in; null: any method of the project. */
  connectionOf: string | null;
}

/** All rules of sign-ins and sessions. */
export type Policy = SignInPolicy & SessionLimits;

/** A session, and when connections of organizations signed in in it. */
type ConnectedSession = Pick<SessionProof, 'connected'> & { authTime: Date };

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
    ...(organization.connectionOf !== null && { connectionOf: organization.connectionOf }),
  };
}

/** The last sign-in of a session that counts for an organization: where it requires its connection, the last one by that. */
function signedInAt(
  { connectionOf }: Pick<OrganizationPolicy, 'connectionOf'>,
  { authTime, connected }: ConnectedSession,
): Date {
  const at = connectionOf === null ? undefined : connected?.[connectionOf];
  return at === undefined ? authTime : new Date(at);
}

/**
 * Whether a live session has ended for an organization. Its longest time counts from the last sign-in: a new one in the same
 * browser keeps the session.
 */
export function hasExpiredIn(
  organization: OrganizationPolicy | null,
  session: SessionTimes & ConnectedSession,
  project: Policy,
  now: Date,
): boolean {
  const createdAt = organization ? signedInAt(organization, session) : session.authTime;
  return hasExpired({ ...session, createdAt }, strictest(project, organization), now);
}

/** When the tokens of a sign-in end in an organization, at the latest; null: with its session. */
export function latestEndIn(organization: OrganizationPolicy, session: ConnectedSession): Date | null {
  const { maxSessionSeconds } = organization;
  return maxSessionSeconds === null ? null : secondsLater(signedInAt(organization, session), maxSessionSeconds);
}
