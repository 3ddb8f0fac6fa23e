/** A second factor. `totp` is an authenticator app (RFC 6238). */
export type MfaMethod = 'email' | 'sms' | 'totp';

/**
 * Format of a one-time code other than six digits. `long`: ten characters of Crockford base32, case-insensitive, spaces
 * and dashes ignored.
 */
export type CodeFormat = 'long';

/** Result of a sign-in in an application's page: an authorization code for its back end. */
export type CodeIssued = {
  /** Authorization code: single use, valid for 60 seconds, for the application's back end. */
  code: string;
  /** PKCE verifier for exchanging `code`, if the SDK created the challenge. */
  codeVerifier?: string;
};

type Ended<End> = {
  status: 'SUCCESS';
  message: string;
  success: true;
  /** Once, after the first second factor was enrolled: one-time replacements for it. Show them to the user. */
  recoveryCodes?: string[];
} & End;

/** Result of `initialize`. */
export type InitializeResult = { status: 'INITIALIZED'; message: string; success: true };

/**
 * A passkey is required, and the user has none or has used a recovery code: `createPasskey({ userid })` ends the
 * sign-in.
 */
type PasskeyNeeded = { status: 'PASSKEY_ENROLLMENT_NEEDED'; message: string };

/** Result of `authenticate`. */
export type AuthenticateResult<End = CodeIssued> =
  /** The device is trusted; the sign-in is complete. */
  | Ended<End>
  /** New device: ask for the code from the mail, then call `verifyEmailOtp`. */
  | {
      status: 'OTP_NEEDED';
      message: string;
      deviceToken: string;
      /** Masked address, as typed. Does not reveal whether an account exists. */
      sentTo: string;
      /** Seconds until `authenticate` may send another code. */
      resendAfter: number;
      /** Absent: six digits. `long`: ten letters and digits. */
      codeFormat?: CodeFormat;
      /** The one-time code, in test mode only. */
      code?: string;
    }
  /**
   * Known device that needs a second factor: `initiateMfa`, then `verifyMfa`. With the method `passkey`:
   * `signInWithPasskey({ userid })`.
   */
  | { status: 'MFA_REQUIRED'; message: string; sessionId: string; method: MfaMethod | 'passkey' }
  | PasskeyNeeded
  /** The address is malformed: ask again. */
  | { status: 'INVALID_EMAIL'; message: string };

/** Result of `verifyEmailOtp`. Next: `verifyDevice`. */
export type VerifyEmailOtpResult = { status: 'SUCCESS'; message: string };

/** Result of `verifyDevice`. */
export type VerifyDeviceResult<End = CodeIssued> =
  | Ended<End>
  /** Registered, but a second factor is required: call `authenticate` again. */
  | { status: 'DEVICE_REGISTERED'; message: string }
  | PasskeyNeeded
  /** A second factor is required: call `verifyDevice` again with one of `methods` as `mfaMethod`. */
  | { status: 'MFA_ENROLLMENT_NEEDED'; message: string; methods: MfaMethod[] }
  /** The method needs more data: call `verifyDevice` again with `phoneNumber`. */
  | { status: 'FINALIZE_REGISTRATION_NEEDED'; message: string; required: 'phone_number'[] };

/** Result of `initiateMfa`. Next: `verifyMfa`. */
export type InitiateMfaResult = {
  status: 'MFA_INITIATED';
  message: string;
  method: MfaMethod;
  /** Masked destination of the code. Absent for an authenticator app. */
  sentTo?: string;
  /** Seconds until `initiateMfa` may send another code. */
  resendAfter?: number;
  /** Absent: six digits. `long`: ten letters and digits. */
  codeFormat?: CodeFormat;
  /** On enrollment of an authenticator app: show as QR code and as text. */
  totp?: { secret: string; otpauthUri: string };
  /** The one-time code, in test mode only. */
  code?: string;
};

/** Result of `verifyMfa`. */
export type VerifyMfaResult<End = CodeIssued> = Ended<End> | PasskeyNeeded;

/** Result of `changePhoneNumber`. Next: `verifyPhoneNumber`. The old number stays until then. */
export type ChangePhoneNumberResult = {
  status: 'PHONE_CODE_SENT';
  message: string;
  /** Masked new number. */
  sentTo: string;
  /** Seconds until `changePhoneNumber` may send another code. */
  resendAfter: number;
  /** The one-time code, in test mode only. */
  code?: string;
};

/** Result of `verifyPhoneNumber`. */
export type VerifyPhoneNumberResult = { status: 'PHONE_CHANGED'; message: string };

/** Result of `signInWithPasskey`. */
export type SignInWithPasskeyResult<End = CodeIssued> = Ended<End>;

/** Result of `createPasskey`. */
export type CreatePasskeyResult<End = CodeIssued> =
  /** After PASSKEY_ENROLLMENT_NEEDED: the sign-in is complete. */
  | Ended<End>
  | {
      status: 'PASSKEY_CREATED';
      message: string;
      /** Name of the passkey on the user's account page. */
      name: string;
    };

/** Result of `forgetDevice`. */
export type ForgetDeviceResult = { status: 'FORGOTTEN'; message: string };

/** Result of `signOut`. */
export type SignOutResult = { status: 'SIGNED_OUT'; message: string };
