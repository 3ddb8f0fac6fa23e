import { refuse } from '../kernel/problem.ts';
import type { MfaMethod } from '../projects/project.resource.ts';

/**
 * One proof of a sign-in, and the account that it proves. Appended by the step that verified it; immutable. Times are
 * ISO 8601.
 */
export type Evidence = { account: string; at: string } /** `ceremony`: the sign-in that sent the code. */ & (
  | { kind: 'mail-code'; address: string; ceremony: string }
  /** `isNew`: this sign-in registered the key; false: again. Absent: it was trusted before. */
  | { kind: 'device-key'; device: string; isNew?: boolean }
  /** `besidePasskey`: of the enrolment. */
  | { kind: 'factor'; enrolment: string; method: MfaMethod; besidePasskey?: boolean }
  | { kind: 'recovery-code' }
  /** An admin's permission to sign in by the mail code alone ({@link RecoveryGrant}). */
  | { kind: 'recovery-grant'; grant: string }
  /** `verified`: by PIN or biometrics. `synced`: the key can be copied to other devices of the user. */
  | { kind: 'passkey'; credential: string; verified: boolean; synced: boolean }
  /** Created in this sign-in, which required it, with PIN or biometrics. */
  | { kind: 'new-passkey'; credential: string }
  /** A session with a fresh proof, which lets its own browser add a passkey (decisions/0344). `amr`: of the session. */
  | { kind: 'session'; session: string; amr: string[] }
  /**
   * An answer of an upstream provider (decisions/0388). `ceremony`: the sign-in that received it. `authTime`: when the person
   * authenticated there, if the provider states it. `isFresh`: that was after it was asked to authenticate them again.
   */
  | {
      kind: 'federated';
      connection: string;
      /** The organization of the connection; absent: none. */
      organization?: string;
      /** The account is not at home in that organization: the answer does not prove it (decisions/0407). */
      isGuest?: true;
      /** Of the settings that verified the answer. */
      version: number;
      subject: string;
      ceremony: string;
      amr: string[];
      acr: string | null;
      authTime: string | null;
      /** When the session there ends: ours ends then, too. Absent: the provider does not say. */
      sessionUntil?: string;
      isFresh: boolean;
    }
);

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
 * Time of the last proof by the person; null: none (decisions §11, freshness). A device key needs no interaction, a
 * passkey without PIN or biometrics only a touch by anyone, and a provider may have answered from its own session.
 */
export function freshAt(evidence: readonly Evidence[]): Date | null {
  const last = evidence.findLast(isByPerson);
  return last ? provedAt(last) : null;
}

function isByPerson(piece: Evidence): boolean {
  if (piece.kind === 'passkey') return piece.verified;
  return piece.kind === 'federated' ? !piece.isGuest && piece.isFresh : piece.kind !== 'device-key';
}

/** When a piece was proved: with a provider, when the person authenticated there. */
export function provedAt(piece: Evidence): Date {
  const at = new Date(piece.at);
  const authTime = piece.kind === 'federated' && piece.authTime !== null ? new Date(piece.authTime) : at;
  return authTime < at ? authTime : at;
}

/** The answer of an upstream provider; whether it proves the account, {@link vouchedBy} says. */
export function federatedOf(evidence: readonly Evidence[]) {
  return evidence.find((piece) => piece.kind === 'federated');
}

/**
 * The answer that proves the account: of a provider of the project, or of the organization that is the account's home. Any other
 * organization must not sign in a person who belongs to the project or to others: its answer only meets its own requirement.
 */
export function vouchedBy(evidence: readonly Evidence[]) {
  const answer = federatedOf(evidence);
  return answer?.isGuest ? undefined : answer;
}

/** When a session of this sign-in ends at the latest, by the provider; null: the provider does not say. */
export function endOf(evidence: readonly Evidence[]): Date | null {
  const until = federatedOf(evidence)?.sessionUntil;
  return until === undefined ? null : new Date(until);
}

/** The devices that this sign-in registered. They are trusted once it ends with everything that it requires. */
export function registeredIn(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap((piece) => (piece.kind === 'device-key' && piece.isNew !== undefined ? [piece.device] : []));
}

/** The passkey that was used. */
export function passkeyOf(evidence: readonly Evidence[]) {
  return evidence.find((piece) => piece.kind === 'passkey');
}

/**
 * Whether an admin's grant replaces the lost passkey or second factor: only together with a mail code of the same
 * sign-in. It is not a factor: it adds nothing to `amr`.
 */
export function isRecovered(evidence: readonly Evidence[]): boolean {
  return has(evidence, 'recovery-grant') && has(evidence, 'mail-code');
}

/** The grant that was used. */
export function grantOf(evidence: readonly Evidence[]) {
  return evidence.find((piece) => piece.kind === 'recovery-grant');
}

/** The passkey that was used or created with PIN or biometrics. */
export function provedPasskey(evidence: readonly Evidence[]): string | undefined {
  for (const piece of evidence) {
    if (piece.kind === 'new-passkey' || (piece.kind === 'passkey' && piece.verified)) return piece.credential;
  }
  return undefined;
}

/** The sign-ins in which the user proved the mailbox or signed in upstream: a factor started in one of them can be verified. */
export function provedIn(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap((piece) =>
    piece.kind === 'mail-code' || piece.kind === 'federated' ? [piece.ceremony] : [],
  );
}

/**
 * Authentication methods (RFC 8176; decisions §8). An email factor adds nothing to a mail code of the same sign-in: one
 * mailbox is not two factors. Nor does it for a user with a passkey, on any device: reading the mailbox is enough to
 * register a device (decisions/0153). A passkey with PIN or biometrics is two factors in one. A passkey that was
 * created adds nothing: the browser may have been led to any page, as with the code that allowed the creation. A provider's
 * answer adds `fed` and the methods that it names, never `mfa`; an email factor adds no second one to it.
 *
 * @param holdsPasskey whether a passkey has verified the user, also while the project's passkeys are off
 */
export function amrOf(evidence: readonly Evidence[], holdsPasskey = false): string[] {
  const passkey = passkeyOf(evidence);
  if (passkey) return [passkey.synced ? 'swk' : 'hwk', 'user', 'pop', ...(passkey.verified ? ['mfa'] : [])];
  const upstream = federatedOf(evidence);
  const factor = evidence.find((piece) => piece.kind === 'factor');
  const vouched = vouchedBy(evidence);
  if (vouched && !factor && !has(evidence, 'recovery-code') && !has(evidence, 'mail-code')) {
    return [...new Set(['fed', ...vouched.amr])];
  }
  const own = ownAmrOf(evidence, holdsPasskey);
  return upstream ? ['fed', ...own] : own;
}

function ownAmrOf(evidence: readonly Evidence[], holdsPasskey: boolean): string[] {
  const factor = evidence.find((piece) => piece.kind === 'factor');
  const isMailed = has(evidence, 'mail-code') || vouchedBy(evidence) !== undefined;
  if (has(evidence, 'recovery-code') || factor?.method === 'totp') return ['swk', 'otp', 'mfa'];
  if (factor?.method === 'sms') return ['swk', 'sms', 'mfa'];
  if (factor?.method === 'email' && !isMailed && !holdsPasskey) return ['swk', 'otp', 'mfa'];
  return factor || isMailed ? ['swk', 'otp'] : ['swk'];
}
