import type { MfaMethod } from './results.ts';

/** What every operation accepts beside its own fields. */
export type Abortable = {
  /** Aborts the request; the operation then throws `ABORTED`. */
  signal?: AbortSignal | undefined;
};
export type AuthenticateOptions = Abortable & {
  /** False on a shared device: the key of this browser is removed when the sign-in ends. Default true. */
  rememberDevice?: boolean | undefined;
  /** PKCE challenge (RFC 7636) of the page's own verifier. Without one the SDK makes it where the client demands PKCE. */
  code_challenge?: string | undefined;
  /** `S256`. */
  code_challenge_method?: string | undefined;
  /**
   * Demands a fresh proof of the person, also on a trusted device: after its SUCCESS, `changePhoneNumber` may be called for
   * five minutes.
   */
  stepUp?: 'change_phone_number' | undefined;
};
export type VerifyEmailOtpInput = Abortable & { userid: string; otp: string };
export type VerifyDeviceInput = Abortable & {
  userid: string;
  /** The second factor to enrol; omitted means none, where the project allows that. */
  mfaMethod?: MfaMethod | undefined;
  /** E.164, for `sms` where no number is on record. */
  phoneNumber?: string | undefined;
};
export type InitiateMfaInput = Abortable & { userid: string; sessionId: string };
export type VerifyMfaInput = Abortable & {
  userid: string;
  otp: string;
  /** Whether this device may skip the second factor for as long as the project allows. */
  remember_me?: boolean | undefined;
};
export type ChangePhoneNumberInput = Abortable & {
  userid: string;
  /** The new number, E.164. */
  phoneNumber: string;
};
export type VerifyPhoneNumberInput = Abortable & { userid: string; otp: string };
