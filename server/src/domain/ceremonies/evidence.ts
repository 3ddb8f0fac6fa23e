import { refuse } from '../kernel/problem.ts';
import type { MfaMethod } from '../mfa/enrolment.entity.ts';
import type { Evidence } from './ceremony.entity.ts';

export type { Evidence };
export type EvidenceKind = Evidence['kind'];

/**
 * The account that signs in; null without evidence. Throws if the pieces name different accounts: no step may combine
 * such evidence.
 */
export function accountOf(evidence: readonly Evidence[]): string | null {
  const [first, ...others] = evidence;
  if (!first) return null;
  if (others.some(({ account }) => account !== first.account)) throw new Error('the evidence names two accounts');
  return first.account;
}

/** Appends a piece. Refuses `transaction-expired` if it names another account. */
export function withPiece(evidence: readonly Evidence[], piece: Evidence): Evidence[] {
  if (evidence.some(({ account }) => account !== piece.account)) refuse({ code: 'transaction-expired' });
  return [...evidence, piece];
}

export function has(evidence: readonly Evidence[], kind: EvidenceKind): boolean {
  return evidence.some((piece) => piece.kind === kind);
}

/**
 * Time of the last proof by the person; null: a device key only, which needs no interaction (decisions §11, freshness).
 */
export function freshAt(evidence: readonly Evidence[]): Date | null {
  const last = evidence.findLast(({ kind }) => kind !== 'device-key');
  return last ? new Date(last.at) : null;
}

/** The sign-ins in which the user proved the mailbox: a factor started in one of them can be verified. */
export function provedIn(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap((piece) => (piece.kind === 'mail-code' ? [piece.ceremony] : []));
}

/**
 * Authentication methods (RFC 8176; decisions §8). An e-mail factor adds nothing to a mail code of the same sign-in:
 * one mailbox is not two factors.
 */
export function amrOf(evidence: readonly Evidence[]): string[] {
  const factor = evidence.find((piece) => piece.kind === 'factor');
  const isMailed = has(evidence, 'mail-code');
  if (has(evidence, 'recovery-code') || factor?.method === 'totp') return ['swk', 'otp', 'mfa'];
  if (factor?.method === 'sms') return ['swk', 'sms', 'mfa'];
  if (factor?.method === 'email' && !isMailed) return ['swk', 'otp', 'mfa'];
  return factor || isMailed ? ['swk', 'otp'] : ['swk'];
}

/** The input of the decision beside the evidence: the project's current policy and the user's factors. */
export interface Standing {
  policy: 'off' | 'optional' | 'required';
  /** Whether e-mail as a second factor meets `required`. */
  emailFactor: boolean;
  /** Methods of the verified factors; a locked one counts. */
  factors: readonly MfaMethod[];
  /** `remember_me` lets this device skip the factor. */
  skipsFactor: boolean;
  /** A device key alone is insufficient: step-up, `prompt=login`, `max_age`. */
  personRequired: boolean;
}

/**
 * The next requirement of a sign-in. An enrolled factor is required under every policy: no setting and no new device
 * skips it. `enrolment`: the user must set up a factor that meets the policy, after a mail code or an enrolled factor
 * in this sign-in.
 */
export type Owed = 'nothing' | 'device' | 'factor' | 'enrolment' | 'mail-code';

export function owed(evidence: readonly Evidence[], standing: Standing): Owed {
  if (!has(evidence, 'device-key')) return 'device';
  if (!meetsPolicy(standing)) return 'enrolment';
  const isMet =
    has(evidence, 'recovery-code') ||
    evidence.some((piece) => piece.kind === 'factor' && isSufficient(piece.method, standing));
  const isSkipped = standing.skipsFactor && !standing.personRequired;
  if (standing.factors.length > 0 && !isMet && !isSkipped) return 'factor';
  if (standing.personRequired && freshAt(evidence) === null) return 'mail-code';
  return 'nothing';
}

/** Whether the user's factors meet the project's policy. */
export function meetsPolicy({
  policy,
  emailFactor,
  factors,
}: Pick<Standing, 'policy' | 'emailFactor' | 'factors'>): boolean {
  return policy !== 'required' || factors.some((method) => isSufficient(method, { policy, emailFactor }));
}

/** Whether a factor of this method meets the project's policy. */
export function isSufficient(
  method: MfaMethod,
  { policy, emailFactor }: Pick<Standing, 'policy' | 'emailFactor'>,
): boolean {
  return policy !== 'required' || emailFactor || method !== 'email';
}
