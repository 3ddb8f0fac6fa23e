import { type MfaMethod } from '../mfa/enrolment.entity.ts';
import { type Evidence, withPiece } from '../policy/evidence.ts';
import { counts, nextRequirement, type SignInContext, strengthOf } from '../policy/requirements.ts';

/** A person at an application, before a sign-in. */
export interface SignInFacts {
  context: SignInContext;
  /** The verified factors, the last used first. */
  factors: readonly { method: MfaMethod; besidePasskey?: boolean }[];
  /** Methods that can be enrolled. */
  offered: readonly MfaMethod[];
  /** Whether the browser has a trusted device key. */
  isTrusted: boolean;
  /** Whether an admin's recovery grant can be used now. */
  hasGrant: boolean;
}

/** A step of a sign-in. `no-factor`: a second factor is required, and none can be enrolled. */
export type PredictedStep =
  | { kind: 'mail-code' | 'device-key' | 'passkey' | 'creation' | 'no-factor' }
  | { kind: 'factor'; method: MfaMethod }
  | { kind: 'enrolment'; methods: readonly MfaMethod[] };

const at = '';
const account = '';
const mailCode: Evidence = { kind: 'mail-code', account, at, address: '', ceremony: '' };
const deviceKey: Evidence = { kind: 'device-key', account, at, device: '' };

/**
 * The steps of a sign-in, in order, as `authenticate`, `verify-device` and `verify-mfa` decide them: each is assumed
 * to succeed, and {@link nextRequirement} returns the next. Pure.
 */
export function predictSteps(situation: SignInFacts): PredictedStep[] {
  const { context, isTrusted, hasGrant } = situation;
  if (isTrusted) {
    const next = nextRequirement([deviceKey], context);
    // As in `byDevice`: these need a mail code first.
    const isMailed =
      next === 'mail-code' || next === 'enrolment' || (hasGrant && (next === 'passkey' || next === 'factor'));
    if (!isMailed) return [{ kind: 'device-key' }, ...rest([deviceKey], situation)];
  }
  // A mail code ends the trust of the key; it is registered again.
  const renewed = { ...situation, context: { ...context, skipsFactor: false } };
  return [{ kind: 'mail-code' }, ...rest([mailCode, deviceKey], renewed)];
}

/** The steps after this evidence. */
function rest(evidence: readonly Evidence[], situation: SignInFacts): PredictedStep[] {
  const { context, factors, offered } = situation;
  const next = nextRequirement(evidence, context);
  if (next === 'nothing') return [];
  if (next === 'creation') return [{ kind: 'creation' }];
  if (next === 'factor') {
    const factor = factors.find((one) => counts(strengthOf(one, context.hasPasskey), evidence, context));
    if (!factor) throw new Error('the required factor does not exist');
    return [{ kind: 'factor', method: factor.method }, ...rest(withPiece(evidence, pieceOf(factor)), situation)];
  }
  if (next === 'enrolment') {
    const [method] = offered;
    if (method === undefined) return [{ kind: 'no-factor' }];
    const enrolled = { ...situation, factors: [{ method }], context: { ...context, factors: [method] } };
    return [{ kind: 'enrolment', methods: offered }, ...rest(withPiece(evidence, pieceOf({ method })), enrolled)];
  }
  if (next === 'passkey' || next === 'verification') return [{ kind: 'passkey' }];
  throw new Error(`unexpected requirement: ${next}`);
}

function pieceOf({ method, besidePasskey }: SignInFacts['factors'][number]): Evidence {
  return { kind: 'factor', account, at, enrolment: '', method, ...(besidePasskey && { besidePasskey }) };
}
