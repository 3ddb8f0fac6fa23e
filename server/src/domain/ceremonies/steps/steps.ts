import type { PasskeyCreationOptions, PasskeyRequestOptions, SigninStep } from '@latchkey/contracts';
import type { MfaMethod } from '../../mfa/enrolment.entity.ts';
import type { TotpSetup } from '../../mfa/mfa.ts';
import type { CeremonyState } from '../ceremony.entity.ts';

/** The result of a sign-in: a code for the SDK; the return URL and the session cookie's secret for the hosted page. */
export type Success = {
  status: 'SUCCESS';
  /** Returned once: with the first second factor, or when a setup link is claimed. */
  recoveryCodes?: string[];
  /** Hosted page: a passkey may be added now. */
  offersPasskey?: boolean;
} & ({ code: string } | { sessionSecret: string; projectId: string });

/** The sign-in ends with a new passkey: `passkey-options` and `register-passkey` follow. */
type PasskeyNeeded = { status: 'PASSKEY_ENROLLMENT_NEEDED' };

/** The responses of each step (service.md 3.3). */
export interface Answers {
  authenticate:
    | Success
    | {
        status: 'OTP_NEEDED';
        deviceToken: string;
        /** The typed address, masked. */
        sentTo: string;
        resendAfterSeconds: number;
        /** Ten base32 characters instead of six digits. */
        codeFormat?: 'long';
        /** Test mode only. */
        code?: string;
      }
    | { status: 'MFA_REQUIRED'; sessionId: string; method: MfaMethod | 'passkey' }
    | PasskeyNeeded
    | { status: 'INVALID_EMAIL' };
  'verify-email-otp': { status: 'SUCCESS' };
  'verify-device':
    | Success
    | { status: 'DEVICE_REGISTERED' }
    | PasskeyNeeded
    | { status: 'MFA_ENROLLMENT_NEEDED'; methods: MfaMethod[] }
    | { status: 'FINALIZE_REGISTRATION_NEEDED'; required: 'phone_number'[] };
  'initiate-mfa': {
    status: 'MFA_INITIATED';
    method: MfaMethod;
    sentTo?: string;
    resendAfterSeconds?: number;
    totp?: TotpSetup;
    code?: string;
  };
  'verify-mfa': Success | PasskeyNeeded;
  'change-phone-number': {
    status: 'PHONE_CODE_SENT';
    sentTo: string;
    resendAfterSeconds: number;
    /** Test mode only. */
    code?: string;
  };
  'verify-phone-number': { status: 'PHONE_CHANGED' };
  'passkey-options': { status: 'PASSKEY_OPTIONS'; options: PasskeyRequestOptions | PasskeyCreationOptions };
  'verify-passkey': Success;
  'register-passkey':
    | Success
    | {
        status: 'PASSKEY_REGISTERED';
        name: string;
        rpId: string;
        userHandle: string;
        credentialIds: string[];
      };
}

export type CeremonyStep = Exclude<SigninStep, 'challenge'>;

/**
 * `optional`: without it no device is recognized. `registration` carries the public key, `use` a registered key's id.
 * `passkey`: no device proof, the body carries a passkey's response to the challenge.
 */
export type ProofDemand = 'none' | 'optional' | 'registration' | 'use' | 'passkey';

/**
 * The state machine of a sign-in after `challenge`: the states in which a step is allowed, the proof it requires, and
 * the next state for each response. A refusal keeps the state. Nothing else changes a ceremony's state, except that a
 * step-up ends in `stepped_up` instead of `finished`.
 */
export const steps: {
  [S in CeremonyStep]: {
    from: readonly CeremonyState[];
    proof: ProofDemand;
    leadsTo: { [A in Answers[S]['status']]: CeremonyState | 'stays' };
  };
} = {
  authenticate: {
    from: ['challenged', 'otp_sent', 'registered'],
    proof: 'optional',
    leadsTo: {
      OTP_NEEDED: 'otp_sent',
      MFA_REQUIRED: 'mfa_owed',
      PASSKEY_ENROLLMENT_NEEDED: 'passkey_owed',
      SUCCESS: 'finished',
      INVALID_EMAIL: 'stays',
    },
  },
  'verify-email-otp': {
    from: ['otp_sent'],
    proof: 'none',
    leadsTo: { SUCCESS: 'otp_verified' },
  },
  'verify-device': {
    // Also during enrolment of a factor: another one can replace it.
    from: ['otp_verified', 'mfa_owed', 'mfa_initiated'],
    proof: 'registration',
    leadsTo: {
      SUCCESS: 'finished',
      DEVICE_REGISTERED: 'registered',
      PASSKEY_ENROLLMENT_NEEDED: 'passkey_owed',
      MFA_ENROLLMENT_NEEDED: 'stays',
      FINALIZE_REGISTRATION_NEEDED: 'stays',
    },
  },
  'initiate-mfa': {
    from: ['mfa_owed', 'mfa_initiated'],
    proof: 'use',
    leadsTo: { MFA_INITIATED: 'mfa_initiated' },
  },
  'verify-mfa': {
    // A recovery code needs no code sent first, so it works while the factor is unavailable.
    from: ['mfa_owed', 'mfa_initiated'],
    proof: 'use',
    leadsTo: { SUCCESS: 'finished', PASSKEY_ENROLLMENT_NEEDED: 'passkey_owed' },
  },
  'change-phone-number': {
    from: ['stepped_up', 'phone_code_sent'],
    proof: 'use',
    leadsTo: { PHONE_CODE_SENT: 'phone_code_sent' },
  },
  'verify-phone-number': {
    from: ['phone_code_sent'],
    proof: 'use',
    leadsTo: { PHONE_CHANGED: 'finished' },
  },
  // A passkey needs no device key: the browser proves its own, to this origin.
  'passkey-options': {
    from: ['challenged', 'otp_sent', 'registered', 'mfa_owed', 'mfa_initiated', 'passkey_owed', 'stepped_up'],
    proof: 'none',
    leadsTo: { PASSKEY_OPTIONS: 'stays' },
  },
  'verify-passkey': {
    from: ['challenged', 'otp_sent', 'registered', 'mfa_owed', 'mfa_initiated', 'passkey_owed'],
    proof: 'passkey',
    leadsTo: { SUCCESS: 'finished' },
  },
  'register-passkey': {
    from: ['stepped_up', 'passkey_owed'],
    proof: 'passkey',
    leadsTo: { PASSKEY_REGISTERED: 'finished', SUCCESS: 'finished' },
  },
};

/** Steps that name no address: a passkey names its user; the sign-in names the user who adds a passkey. */
export const stepsWithoutAddress: readonly CeremonyStep[] = ['passkey-options', 'verify-passkey', 'register-passkey'];
