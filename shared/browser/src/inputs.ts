import type { MfaMethod } from './results.ts';

/** Options of every operation. */
type Abortable = {
  /** Aborts the request; the operation throws `ABORTED`. */
  signal?: AbortSignal | undefined;
};
type PkceChallenge = {
  /** PKCE challenge (RFC 7636) of the page's own verifier. Default: the SDK creates one if the client requires PKCE. */
  code_challenge?: string | undefined;
  /** `S256`. */
  code_challenge_method?: string | undefined;
};
export type AuthenticateOptions = Abortable &
  PkceChallenge & {
    /** False on a shared device: the device key is deleted when the sign-in ends. Default true. */
    rememberDevice?: boolean | undefined;
    /**
     * Requires a fresh proof even on a trusted device; `changePhoneNumber` or `createPasskey` is then allowed for five
     * minutes after SUCCESS.
     */
    stepUp?: 'change_phone_number' | 'create_passkey' | undefined;
  };
export type SignInWithPasskeyOptions = Abortable &
  PkceChallenge & {
    /** Continues this user's sign-in, after MFA_REQUIRED with the method `passkey`. Default: any passkey signs in. */
    userid?: string | undefined;
    /**
     * `conditional`: offers passkeys in the suggestions of a field with `autocomplete="username webauthn"`, until the
     * user chooses one. Default: opens the browser's dialog.
     */
    mediation?: 'conditional' | undefined;
  };
export type SignOutOptions = Abortable & {
  /** Deletes the device keys of all users of this API key from this browser, too. */
  forgetDevice?: boolean | undefined;
};
export type CreatePasskeyInput = Abortable & { userid: string };
export type VerifyEmailOtpInput = Abortable & { userid: string; otp: string };
export type VerifyDeviceInput = Abortable & {
  userid: string;
  /** Second factor to enroll; omitted: none, if the project allows that. */
  mfaMethod?: MfaMethod | undefined;
  /** E.164; for `sms` if no number is on record. */
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
