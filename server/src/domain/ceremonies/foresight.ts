import { type MfaMethod, worthOf } from '../mfa/enrolment.entity.ts';
import { counts, type Evidence, owed, type Standing, withPiece } from './evidence.ts';

/** A person at an application, before a sign-in. */
export interface SignInFacts {
  standing: Standing;
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
export type ForeseenStep =
  | { kind: 'mail-code' | 'device-key' | 'passkey' | 'creation' | 'no-factor' }
  | { kind: 'factor'; method: MfaMethod }
  | { kind: 'enrolment'; methods: readonly MfaMethod[] };

const at = '';
const account = '';
const mailCode: Evidence = { kind: 'mail-code', account, at, address: '', ceremony: '' };
const deviceKey: Evidence = { kind: 'device-key', account, at, device: '' };

/**
 * The steps of a sign-in, in order, as `authenticate`, `verify-device` and `verify-mfa` decide them: each is assumed
 * to succeed, and {@link owed} returns the next. Pure.
 */
export function foresee(situation: SignInFacts): ForeseenStep[] {
  const { standing, isTrusted, hasGrant } = situation;
  if (isTrusted) {
    const owing = owed([deviceKey], standing);
    // As in `byDevice`: these need a mail code first.
    const isMailed =
      owing === 'mail-code' || owing === 'enrolment' || (hasGrant && (owing === 'passkey' || owing === 'factor'));
    if (!isMailed) return [{ kind: 'device-key' }, ...rest([deviceKey], situation)];
  }
  // A mail code ends the trust of the key; it is registered again.
  const renewed = { ...situation, standing: { ...standing, skipsFactor: false } };
  return [{ kind: 'mail-code' }, ...rest([mailCode, deviceKey], renewed)];
}

/** The steps after this evidence. */
function rest(evidence: readonly Evidence[], situation: SignInFacts): ForeseenStep[] {
  const { standing, factors, offered } = situation;
  const owing = owed(evidence, standing);
  if (owing === 'nothing') return [];
  if (owing === 'creation') return [{ kind: 'creation' }];
  if (owing === 'factor') {
    const factor = factors.find((one) => counts(worthOf(one, standing.hasPasskey), evidence, standing));
    if (!factor) throw new Error('the required factor does not exist');
    return [{ kind: 'factor', method: factor.method }, ...rest(withPiece(evidence, pieceOf(factor)), situation)];
  }
  if (owing === 'enrolment') {
    const [method] = offered;
    if (method === undefined) return [{ kind: 'no-factor' }];
    const enrolled = { ...situation, factors: [{ method }], standing: { ...standing, factors: [method] } };
    return [{ kind: 'enrolment', methods: offered }, ...rest(withPiece(evidence, pieceOf({ method })), enrolled)];
  }
  if (owing === 'passkey' || owing === 'verification') return [{ kind: 'passkey' }];
  throw new Error(`unexpected requirement: ${owing}`);
}

function pieceOf({ method, besidePasskey }: SignInFacts['factors'][number]): Evidence {
  return { kind: 'factor', account, at, enrolment: '', method, ...(besidePasskey && { besidePasskey }) };
}
