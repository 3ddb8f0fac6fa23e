import type { MfaMethod } from '../projects/project.resource.ts';
import {
  type Evidence,
  federatedOf,
  freshAt,
  has,
  isRecovered,
  passkeyOf,
  provedPasskey,
  registeredIn,
  vouchedBy,
} from './evidence.ts';

/** `mailbox`: it adds nothing to a mail code, nor to a device that a mail code registered. */
export type FactorStrength = MfaMethod | 'mailbox';

/** The strength of a factor. @param hasPasskey whether the user has a passkey that counts */
export function strengthOf(
  { method, besidePasskey }: { method: MfaMethod; besidePasskey?: boolean },
  hasPasskey: boolean,
): FactorStrength {
  return besidePasskey && hasPasskey ? 'mailbox' : method;
}

/** The input of the decision in addition to the evidence: the project's current policy and the user's factors. */
export interface SignInContext {
  policy: 'off' | 'optional' | 'required';
  /** Whether email as a second factor meets `required`. */
  emailFactor: boolean;
  /** Methods of the verified factors; a locked one counts. */
  factors: readonly FactorStrength[];
  /**
   * Whether the user has a passkey: under `required` it is their second factor on a new device, too. False with a setup
   * link, which replaces a lost one.
   */
  hasPasskey: boolean;
  /** `remember_me` lets this device skip the factor. */
  skipsFactor: boolean;
  /** A device key alone is insufficient: step-up, `prompt=login`, `max_age`. */
  personRequired: boolean;
  /**
   * The sign-in is to add a passkey, to add an authenticator app at the account page, or to change the phone: it needs the
   * evidence of {@link mayAddPasskey}.
   */
  changesAccount: boolean;
  /** The sign-in must end with a passkey: by policy, by its client, or because an admin has one. */
  passkeyRequired: boolean;
  /** The request must fail without a passkey (essential `acr`). */
  needsPasskey: boolean;
  /** The organization whose connection must sign in; absent: none. */
  connectionOf?: string;
}

/**
 * The next requirement of a sign-in. An enrolled factor is required under every policy: no setting and no new device
 * skips it. `enrolment`: the user must set up a factor that meets the policy, after a mail code or an enrolled factor
 * in this sign-in. `passkey`: no factor counts, but the user has a passkey. `verification`: the passkey must be
 * used with PIN or biometrics. `mail-code`: also of a guest of the organization whose provider answered. `creation`: everything else is proved, and the user must create a passkey. `connection`: a connection of
 * the organization must sign in, whatever else is proved.
 */
export type Requirement =
  | 'nothing'
  | 'device'
  | 'factor'
  | 'passkey'
  | 'verification'
  | 'enrolment'
  | 'mail-code'
  | 'creation'
  | 'connection';

export function nextRequirement(evidence: readonly Evidence[], context: SignInContext): Requirement {
  if (lacksConnection(evidence, context)) return 'connection';
  const passkey = passkeyOf(evidence);
  if (provedPasskey(evidence)) return 'nothing';
  if (passkey) return meetsPolicy(context) && isOneFactorEnough(context) ? 'nothing' : 'verification';
  if (isUnproved(evidence)) return 'mail-code';
  if (!has(evidence, 'device-key') && !has(evidence, 'federated')) return 'device';
  const { hasPasskey, needsPasskey, passkeyRequired } = context;
  const isReplaced = has(evidence, 'recovery-code') || isRecovered(evidence);
  if (hasPasskey && (needsPasskey || (passkeyRequired && !isReplaced))) return 'passkey';
  // A new passkey meets the policy; a recovery code or a grant replaces a lost one.
  if (!passkeyRequired && !meetsPolicy(context)) {
    if (!hasPasskey) return 'enrolment';
    if (!isReplaced) return 'passkey';
  }
  const isMet =
    isReplaced ||
    evidence.some((piece) => piece.kind === 'factor' && counts(strengthOf(piece, hasPasskey), evidence, context));
  const isSkipped = context.skipsFactor && !context.personRequired;
  if (context.factors.length > 0 && !isMet && !isSkipped) {
    if (context.factors.some((method) => counts(method, evidence, context))) return 'factor';
    if (!passkeyRequired) return 'passkey';
  }
  if (context.personRequired && freshAt(evidence) === null) return 'mail-code';
  if (context.changesAccount && !mayAddPasskey(evidence, context)) return 'passkey';
  return passkeyRequired ? 'creation' : 'nothing';
}

/** Whether an organization requires its connection, and none of its connections has answered in this sign-in. */
export function lacksConnection(
  evidence: readonly Evidence[],
  { connectionOf }: Pick<SignInContext, 'connectionOf'>,
): boolean {
  return connectionOf !== undefined && federatedOf(evidence)?.organization !== connectionOf;
}

/**
 * Whether a guest has only the answer of an organization's provider: no code, and no device that was trusted before. Nothing of the account
 * may be changed.
 */
export function isUnproved(evidence: readonly Evidence[]): boolean {
  if (!federatedOf(evidence) || vouchedBy(evidence)) return false;
  const registered = registeredIn(evidence);
  return !evidence.some(
    (piece) => piece.kind === 'mail-code' || (piece.kind === 'device-key' && !registered.includes(piece.device)),
  );
}

function isOneFactorEnough({ policy, factors, personRequired }: SignInContext): boolean {
  return policy !== 'required' && factors.length === 0 && !personRequired;
}

/**
 * Whether the evidence allows adding a passkey, which signs in alone: a passkey, a second factor or a grant; the mail
 * code only for a user who has neither, or whose only second factor is the mailbox. For a user with a passkey, an email
 * factor is the mailbox, on any device.
 */
export function mayAddPasskey(
  evidence: readonly Evidence[],
  context: Pick<SignInContext, 'factors' | 'hasPasskey'>,
): boolean {
  // A fresh upstream sign-in counts like a mail code.
  const isMailed = has(evidence, 'mail-code') || vouchedBy(evidence)?.isFresh === true;
  const hasOther = evidence.some((piece) => {
    const strength = piece.kind === 'factor' ? strengthOf(piece, context.hasPasskey) : 'mailbox';
    return strength !== 'mailbox' && (strength !== 'email' || !(isMailed || context.hasPasskey));
  });
  if (passkeyOf(evidence)?.verified || hasOther || has(evidence, 'recovery-code') || isRecovered(evidence)) return true;
  return isMailed && !context.hasPasskey && context.factors.every((method) => method === 'email');
}

/**
 * Whether a factor of this method counts in this sign-in: it meets the policy. Where a passkey counts or the account is
 * changed, the mailbox does not count twice; where both, not at all.
 */
export function counts(method: FactorStrength, evidence: readonly Evidence[], context: SignInContext): boolean {
  if (method === 'mailbox') return false;
  const { changesAccount, factors, hasPasskey } = context;
  const isOnce = hasPasskey || (changesAccount && factors.some((other) => other !== 'email'));
  const isMailbox = (isOnce && has(evidence, 'mail-code')) || (hasPasskey && changesAccount);
  return isSufficient(method, context) && !(isMailbox && method === 'email');
}

/** Whether the user's factors meet the project's policy. */
export function meetsPolicy({
  policy,
  emailFactor,
  factors,
}: Pick<SignInContext, 'policy' | 'emailFactor' | 'factors'>): boolean {
  return policy !== 'required' || factors.some((method) => isSufficient(method, { policy, emailFactor }));
}

/** Whether a factor of this method meets the project's policy. */
export function isSufficient(
  method: FactorStrength,
  { policy, emailFactor }: Pick<SignInContext, 'policy' | 'emailFactor'>,
): boolean {
  return policy !== 'required' || (method !== 'mailbox' && (emailFactor || method !== 'email'));
}
