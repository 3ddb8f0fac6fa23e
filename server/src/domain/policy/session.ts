import { earliest, isPast, secondsLater } from '../kernel/clock.ts';
import { type Project, passkeyPolicyOf } from '../projects/project.entity.ts';
import type { MfaMethod } from '../projects/project.resource.ts';
import { meetsPolicy } from './requirements.ts';

/** Lifetimes of sessions, in seconds (service.md 2.6). */
export type SessionLimits = Pick<Project, 'idleTimeoutSeconds' | 'maxSessionSeconds'>;

/** The times of a session: its limits at its sign-in or last use, and the times of these. */
export interface SessionTimes {
  createdAt: Date;
  lastSeenAt: Date;
  idleExpiresAt: Date;
  expiresAt: Date;
}

/** The times that a use changes. */
export type SessionUse = Pick<SessionTimes, 'lastSeenAt' | 'idleExpiresAt'>;

/** The times of a session that begins now. */
export function begun(limits: SessionLimits, now: Date): SessionTimes {
  return { createdAt: now, expiresAt: secondsLater(now, limits.maxSessionSeconds), ...used(limits, now) };
}

/** The times of a session that is used now: its idle limit slides. */
export function used({ idleTimeoutSeconds }: Pick<SessionLimits, 'idleTimeoutSeconds'>, now: Date): SessionUse {
  return { lastSeenAt: now, idleExpiresAt: secondsLater(now, idleTimeoutSeconds) };
}

/** Seconds between two records of use of a session. Of short idle limits, a thirtieth: each ends that much too early at most. */
const useSeconds = 60;
const usesPerIdleLimit = 30;

/** {@link used} by a session in use; null if its last use was recorded recently, with the limit of now (decisions/0358). */
export function recordedUse(
  { lastSeenAt, idleExpiresAt }: Pick<SessionTimes, 'lastSeenAt' | 'idleExpiresAt'>,
  limits: Pick<SessionLimits, 'idleTimeoutSeconds'>,
  now: Date,
): SessionUse | null {
  const { idleTimeoutSeconds } = limits;
  const elapsed = now.getTime() - lastSeenAt.getTime();
  const isRecent = elapsed >= 0 && elapsed < 1000 * Math.min(useSeconds, idleTimeoutSeconds / usesPerIdleLimit);
  const isOfNow = idleExpiresAt.getTime() === secondsLater(lastSeenAt, idleTimeoutSeconds).getTime();
  return isRecent && isOfNow ? null : used(limits, now);
}

/** A session ends as soon as one of its times, plus these seconds, is past. */
type Ends<Time extends keyof SessionTimes> = readonly (readonly [time: Time, plusSeconds: number])[];

/** The ends that no use extends. */
function absoluteEnds({
  maxSessionSeconds,
}: Pick<SessionLimits, 'maxSessionSeconds'>): Ends<'createdAt' | 'expiresAt'> {
  return [
    ['createdAt', maxSessionSeconds],
    ['expiresAt', 0],
  ];
}

/**
 * All ends of a session. The current limits apply to existing sessions: a shorter one takes effect immediately, a longer one
 * from the next use.
 */
export function endsOf(limits: SessionLimits): Ends<keyof SessionTimes> {
  return [...absoluteEnds(limits), ['lastSeenAt', limits.idleTimeoutSeconds], ['idleExpiresAt', 0]];
}

/** The end of a session that is used all the time. */
export function latestEnd(
  session: Pick<SessionTimes, 'createdAt' | 'expiresAt'>,
  limits: Pick<SessionLimits, 'maxSessionSeconds'>,
): Date {
  return earliest(...absoluteEnds(limits).map(([time, plusSeconds]) => secondsLater(session[time], plusSeconds)));
}

/** Whether the session has ended by its limits, also by those for idle ones. */
export function hasExpired(session: SessionTimes, limits: SessionLimits, now: Date): boolean {
  return endsOf(limits).some(([time, plusSeconds]) => isPast(secondsLater(session[time], plusSeconds), now));
}

/** How a session was proved. */
export interface SessionProof {
  /** The passkey that verified its user; null: none, or the sign-in was by the previous release, which has only `amr`. */
  passkeyId?: string | null | undefined;
  amr: readonly string[];
  /** When connections of organizations signed in in it (ISO 8601), by the id of the organization; null: none did. */
  connected?: Readonly<Record<string, string>> | null | undefined;
}

/** Methods (RFC 8176) that show that a passkey verified the user. */
const passkeyMethods: readonly string[] = ['pop', 'mfa'];

/** Whether a passkey verified the session's user. */
export function isByPasskey({ passkeyId, amr }: SessionProof): boolean {
  return passkeyId != null || passkeyMethods.every((method) => amr.includes(method));
}

/** The credentials of a user that policies ask for. */
export interface UserFacts {
  /** Methods of the verified factors, without suspended ones. */
  factors: readonly MfaMethod[];
  /** Whether a passkey has verified the user, also while the project's passkeys are off. */
  holdsPasskey: boolean;
}

/** The demands of a project on every sign-in. */
export type SignInPolicy = Pick<Project, 'mfaPolicy' | 'emailFactor' | 'passkeys' | 'passkeyPolicy' | 'builtIn'> & {
  /** The organization whose connection must have signed in; absent: none. */
  connectionOf?: string;
};

/** The same, and whether an organization may demand more. */
export type ProjectPolicy = SignInPolicy & Partial<Pick<Project, 'organizationsEnabled'>>;

/** Whether the policy depends on {@link UserFacts}: without rules, they need not be read. */
export function asksForFacts(policy: ProjectPolicy): boolean {
  if (policy.organizationsEnabled) return true;
  return policy.mfaPolicy === 'required' || passkeyPolicyOf(policy) === 'required' || policy.builtIn === 'console';
}

/**
 * Whether a passkey must prove the sign-in: by the project's policy, or because an admin has one (decisions/0107).
 *
 * @param holdsPasskey whether the user has one that counts
 */
export function requiresPasskey(policy: SignInPolicy, holdsPasskey: boolean): boolean {
  return passkeyPolicyOf(policy) === 'required' || (policy.builtIn === 'console' && holdsPasskey);
}

/** Whether a user has what the policy of second factors demands: a passkey, or a factor that it accepts. */
export function meetsFactorPolicy(
  user: UserFacts,
  { mfaPolicy, emailFactor, passkeys }: Pick<SignInPolicy, 'mfaPolicy' | 'emailFactor' | 'passkeys'>,
): boolean {
  return (passkeys && user.holdsPasskey) || meetsPolicy({ policy: mfaPolicy, emailFactor, factors: user.factors });
}

/** Whether a connection of the organization that requires one has signed in in the session. */
export function isConnected(
  { connected }: SessionProof,
  { connectionOf }: Pick<SignInPolicy, 'connectionOf'>,
): boolean {
  return connectionOf === undefined || connected?.[connectionOf] !== undefined;
}

/**
 * Whether a session meets the policy of its project and organization: that of second factors, a passkey proved it if one is required, and a
 * connection of the organization if that is.
 */
export function meetsSignInPolicy(session: SessionProof, user: UserFacts, policy: SignInPolicy): boolean {
  const needsPasskey = requiresPasskey(policy, policy.passkeys && user.holdsPasskey);
  return meetsFactorPolicy(user, policy) && (isByPasskey(session) || !needsPasskey) && isConnected(session, policy);
}

/** Whether a session meets what its client demands in addition. */
export function meetsClientPolicy(session: SessionProof, client: { passkeyRequired: boolean }): boolean {
  return isByPasskey(session) || !client.passkeyRequired;
}
