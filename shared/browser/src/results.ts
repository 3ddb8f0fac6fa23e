/** A second factor. `totp` is an authenticator app (RFC 6238). */
export type MfaMethod = 'email' | 'sms' | 'totp';

/**
 * What the one-time code looks like where it is not six digits. `long`: ten characters of Crockford's base32, which
 * people may type in either case, with spaces or dashes.
 */
export type CodeFormat = 'long';

/** How a sign-in ends in an application's page: with an authorization code for its back end. */
export type CodeIssued = {
  /** Authorization code: single use, 60 seconds, for the application's back end. */
  code: string;
  /** Where the client demands PKCE and the page sent no challenge: the verifier that the back end exchanges `code` with. */
  codeVerifier?: string;
};

type Ended<End> = {
  status: 'SUCCESS';
  message: string;
  success: true;
  /** Once, after the first second factor was set up: codes that stand in for it when it is lost. Show them to the person. */
  recoveryCodes?: string[];
} & End;

/** What `initialize` resolves to. */
export type InitializeResult = { status: 'INITIALIZED'; message: string; success: true };

/** What `authenticate` resolves to. */
export type AuthenticateResult<End = CodeIssued> =
  /** The device is trusted: nothing more to ask. */
  | Ended<End>
  /** A new device: ask for the code from the mail, then `verifyEmailOtp`. */
  | {
      status: 'OTP_NEEDED';
      message: string;
      deviceToken: string;
      /** Where the code went, masked as typed. Says nothing about whether the address exists. */
      sentTo: string;
      /** Seconds until another code can be asked for, by calling `authenticate` again. */
      resendAfter: number;
      /** Absent: six digits. `long`: ten letters and digits. */
      codeFormat?: CodeFormat;
      /** The one-time code itself, in test mode only. */
      code?: string;
    }
  /** The device is known and a second factor is owed: `initiateMfa`, then `verifyMfa`. */
  | { status: 'MFA_REQUIRED'; message: string; sessionId: string; method: MfaMethod }
  /** The address is badly formed: ask again. */
  | { status: 'INVALID_EMAIL'; message: string };

/** What `verifyEmailOtp` resolves to. Next: `verifyDevice`. */
export type VerifyEmailOtpResult = { status: 'SUCCESS'; message: string };

/** What `verifyDevice` resolves to. */
export type VerifyDeviceResult<End = CodeIssued> =
  | Ended<End>
  /** Registered, but a second factor is owed: call `authenticate` again. */
  | { status: 'DEVICE_REGISTERED'; message: string }
  /** A second factor must be chosen: call `verifyDevice` again with one of `methods` as `mfaMethod`. */
  | { status: 'MFA_ENROLLMENT_NEEDED'; message: string; methods: MfaMethod[] }
  /** The chosen method needs more: call `verifyDevice` again with `phoneNumber`. */
  | { status: 'FINALIZE_REGISTRATION_NEEDED'; message: string; required: 'phone_number'[] };

/** What `initiateMfa` resolves to. Next: `verifyMfa`. */
export type InitiateMfaResult = {
  status: 'MFA_INITIATED';
  message: string;
  method: MfaMethod;
  /** Where the code went, masked. Absent for an authenticator app. */
  sentTo?: string;
  /** Seconds until another code can be asked for, by calling `initiateMfa` again. */
  resendAfter?: number;
  /** Absent: six digits. `long`: ten letters and digits. */
  codeFormat?: CodeFormat;
  /** At the first use of an authenticator app: what it needs, to be shown as a QR code and as text. */
  totp?: { secret: string; otpauthUri: string };
  /** The one-time code itself, in test mode only. */
  code?: string;
};

/** What `verifyMfa` resolves to. */
export type VerifyMfaResult<End = CodeIssued> = Ended<End>;

/** What `changePhoneNumber` resolves to. Next: `verifyPhoneNumber`. Until then the old number stays. */
export type ChangePhoneNumberResult = {
  status: 'PHONE_CODE_SENT';
  message: string;
  /** The new number, masked. */
  sentTo: string;
  /** Seconds until another code can be asked for, by calling `changePhoneNumber` again. */
  resendAfter: number;
  /** The one-time code itself, in test mode only. */
  code?: string;
};

/** What `verifyPhoneNumber` resolves to. */
export type VerifyPhoneNumberResult = { status: 'PHONE_CHANGED'; message: string };

/** What `forgetDevice` resolves to. */
export type ForgetDeviceResult = { status: 'FORGOTTEN'; message: string };
