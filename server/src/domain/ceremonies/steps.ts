import type { SigninStep } from '@latchkey/contracts';
import type { MfaMethod } from '../mfa/enrolment.entity.ts';
import type { TotpSetup } from '../mfa/mfa.ts';
import type { CeremonyState } from './ceremony.entity.ts';

/** How a sign-in ends: the SDK gets a code, the hosted page the way back and the secret of its session cookie. */
export type Success = {
  status: 'SUCCESS';
  /** Shown once: after a first second factor, or after a set-up link was claimed. */
  recoveryCodes?: string[];
} & ({ code: string } | { sessionSecret: string; projectId: string });

/** What each step may answer (service.md 3.3). */
export interface Answers {
  authenticate:
    | Success
    | {
        status: 'OTP_NEEDED';
        deviceToken: string;
        /** Masked as typed. */
        sentTo: string;
        resendAfterSeconds: number;
        /** Ten characters of base32 in place of six digits. */
        codeFormat?: 'long';
        /** Test mode only. */
        code?: string;
      }
    | { status: 'MFA_REQUIRED'; sessionId: string; method: MfaMethod }
    | { status: 'INVALID_EMAIL' };
  'verify-email-otp': { status: 'SUCCESS' };
  'verify-device':
    | Success
    | { status: 'DEVICE_REGISTERED' }
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
  'verify-mfa': Success;
  'change-phone-number': {
    status: 'PHONE_CODE_SENT';
    sentTo: string;
    resendAfterSeconds: number;
    /** Test mode only. */
    code?: string;
  };
  'verify-phone-number': { status: 'PHONE_CHANGED' };
}

export type CeremonyStep = Exclude<SigninStep, 'challenge'>;

/** `optional`: only with it, a device is known. `registration` carries the public key, `use` a registered key's name. */
export type ProofDemand = 'none' | 'optional' | 'registration' | 'use';

/**
 * The whole sign-in, after `challenge` has begun it: in which states a step may be taken, what proof it demands, and
 * where each of its answers leads. A refusal leads nowhere: the state stays. Nothing else moves a ceremony, but that what
 * would be finished is `stepped_up` where the sign-in was begun as a step-up.
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
    leadsTo: { OTP_NEEDED: 'otp_sent', MFA_REQUIRED: 'mfa_owed', SUCCESS: 'finished', INVALID_EMAIL: 'stays' },
  },
  'verify-email-otp': {
    from: ['otp_sent'],
    proof: 'none',
    leadsTo: { SUCCESS: 'otp_verified' },
  },
  'verify-device': {
    // Also while a factor is being set up: another one can be chosen in its place.
    from: ['otp_verified', 'mfa_owed', 'mfa_initiated'],
    proof: 'registration',
    leadsTo: {
      SUCCESS: 'finished',
      DEVICE_REGISTERED: 'registered',
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
    // A recovery code needs nothing sent first: it is good also while the factor cannot be asked for.
    from: ['mfa_owed', 'mfa_initiated'],
    proof: 'use',
    leadsTo: { SUCCESS: 'finished' },
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
};
