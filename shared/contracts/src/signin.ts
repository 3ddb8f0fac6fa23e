/**
 * Wire format of sign-in: JSON over `POST {base_url}/v1/signin/<step>`.
 *
 * The browser SDK calls it from a relying party's origin with `X-Api-Key: lk_pk_…`, the hosted page from the issuer's
 * origin with `Signin-Flow: <flow>` and the flow cookie. These schemas parse requests: unknown fields are ignored,
 * invalid ones are rejected. Field names are snake_case.
 */
import { z } from 'zod';

/**
 * Steps in the order of a first sign-in; the last three only after it: in a step-up, or when the hosted page offers a
 * passkey. The name is also the proof's `act`.
 */
export const signinSteps = [
  'challenge',
  'passkey-options',
  'verify-passkey',
  'authenticate',
  'verify-email-otp',
  'verify-device',
  'initiate-mfa',
  'verify-mfa',
  'change-phone-number',
  'verify-phone-number',
  'register-passkey',
] as const;
export type SigninStep = (typeof signinSteps)[number];

export const mfaMethods = ['email', 'sms', 'totp'] as const;
export type MfaMethod = (typeof mfaMethods)[number];

/**
 * Format of a one-time code other than six digits: ten characters of Crockford base32 as `XXXXX-XXXXX`,
 * case-insensitive; O is read as 0, I and L as 1, spaces and dashes are ignored.
 */
export type CodeFormat = 'long';

/** Request header with the device proof, a compact JWS (protocol `v1`). */
export const deviceProofHeader = 'Device-Proof';
/** Request header with the hosted page's flow. */
export const signinFlowHeader = 'Signin-Flow';
/** Header `typ` of a device proof. */
export const deviceProofType = 'device-proof+jwt';

const base64url256 = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 43 characters of base64url');
/** The address as typed. The flow checks its syntax (INVALID_EMAIL); this schema limits its size. */
const userid = z.string().max(320);
/** A one-time code as typed, with spaces and dashes: six digits, the long format, or a recovery code. */
const otp = z.string().max(64);
const txn = z.string().max(128);

export const challengeRequest = z.object({
  /** RFC 7636 S256 challenge of the page's own verifier; absent if the back end exchanges with its secret key. */
  code_challenge: base64url256.optional(),
  code_challenge_method: z.literal('S256').optional(),
  /** Used as `code_challenge`, with S256, only if the client requires PKCE. */
  code_challenge_if_required: base64url256.optional(),
  /** RFC 7638 SHA-256 thumbprint of the device key; required to register a device. */
  jkt: base64url256.optional(),
  /** True: the response has the options for a sign-in by passkey, which saves `passkey-options`. */
  passkey: z.boolean().optional(),
});
/** Actions that a step-up sign-in authorizes. */
export const stepUps = ['change_phone_number', 'create_passkey'] as const;
export type StepUp = (typeof stepUps)[number];
export const authenticateRequest = z.object({
  txn,
  userid,
  remember_device: z.boolean().optional(),
  /** Requires a fresh proof even on a trusted device; the transaction continues after SUCCESS. */
  step_up: z.enum(stepUps).optional(),
});
export const verifyEmailOtpRequest = z.object({ txn, userid, otp });
export const verifyDeviceRequest = z.object({
  txn,
  userid,
  mfa_method: z.enum(mfaMethods).optional(),
  /** E.164. */
  phone_number: z.string().max(64).optional(),
});
export const initiateMfaRequest = z.object({ txn, userid, session_id: z.string().max(128) });
export const verifyMfaRequest = z.object({ txn, userid, otp, remember_me: z.boolean().optional() });
export const changePhoneNumberRequest = z.object({
  txn,
  userid,
  /** E.164. */
  phone_number: z.string().max(64),
});
export const verifyPhoneNumberRequest = z.object({ txn, userid, otp });
export const passkeyOptionsRequest = z.object({
  txn,
  /**
   * Default: `sign_in`. The others are allowed only where `register-passkey` is; `conditional_registration`: by
   * conditional creation, without a dialog.
   */
  purpose: z.enum(['sign_in', 'registration', 'conditional_registration']).optional(),
});
/** Input of `verify-passkey` and `register-passkey`. `credential`: `PublicKeyCredential.toJSON()` (WebAuthn Level 3 section 5.1). */
export const passkeyResponseRequest = z.object({ txn, credential: z.record(z.string(), z.unknown()) });

export type ChallengeRequest = z.infer<typeof challengeRequest>;
export type AuthenticateRequest = z.infer<typeof authenticateRequest>;
export type VerifyEmailOtpRequest = z.infer<typeof verifyEmailOtpRequest>;
export type VerifyDeviceRequest = z.infer<typeof verifyDeviceRequest>;
export type InitiateMfaRequest = z.infer<typeof initiateMfaRequest>;
export type VerifyMfaRequest = z.infer<typeof verifyMfaRequest>;
export type ChangePhoneNumberRequest = z.infer<typeof changePhoneNumberRequest>;
export type VerifyPhoneNumberRequest = z.infer<typeof verifyPhoneNumberRequest>;
export type PasskeyOptionsRequest = z.infer<typeof passkeyOptionsRequest>;
export type PasskeyResponseRequest = z.infer<typeof passkeyResponseRequest>;

/** Every response carries the nonce for the next proof (valid for 120 seconds). */
type Answer<T> = T & { nonce: string };
/**
 * End of a sign-in: a code for the SDK, a URL for the hosted page. `recovery_codes` are returned once, after the first
 * second factor was verified or a setup link was claimed: show them before continuing.
 */
export type Success = { status: 'SUCCESS'; message: string; recovery_codes?: string[] } & (
  | { code: string }
  /** `passkey_offer`: `register-passkey` is allowed for five minutes. */
  | { redirect_to: string; passkey_offer?: true }
);

/**
 * A passkey is required and the user has none, or has used a recovery code: `passkey-options` with the purpose
 * `registration` and `register-passkey` end the sign-in. A passkey that was never used to verify its user can be used
 * instead: `verify-passkey`.
 */
export type PasskeyEnrollmentNeeded = { status: 'PASSKEY_ENROLLMENT_NEEDED'; message: string };

export type ChallengeResponse = {
  txn: string;
  nonce: string;
  /** Seconds until `txn` expires. */
  expires_in: number;
  project_id: string;
  client_id: string;
  issuer: string;
  /** The service's time in Unix seconds, because proofs carry a timestamp and the page's clock may be wrong. */
  time: number;
  /** Present if the code of this sign-in is bound to a code challenge of the request. */
  code_challenge_method?: 'S256';
  /** Requested by `passkey`; absent if this page cannot use passkeys. */
  passkey_options?: PasskeyRequestOptions;
};
export type AuthenticateResponse = Answer<
  | Success
  | {
      status: 'OTP_NEEDED';
      device_token: string;
      /** Masked, as typed, e.g. `a…@example.com`; does not reveal whether an account exists. */
      sent_to: string;
      /** Seconds until another code may be requested. */
      resend_after: number;
      /** Absent: six digits. */
      code_format?: CodeFormat;
      /** Test mode only: the one-time code. */
      code?: string;
      message: string;
    }
  /**
   * `passkey`: continue with `passkey-options` and `verify-passkey` instead of `initiate-mfa`, or with `verify-mfa` and a
   * recovery code.
   */
  | { status: 'MFA_REQUIRED'; session_id: string; method: MfaMethod | 'passkey'; message: string }
  | PasskeyEnrollmentNeeded
  | { status: 'INVALID_EMAIL'; message: string }
>;
export type VerifyEmailOtpResponse = Answer<{ status: 'SUCCESS'; message: string }>;
export type VerifyDeviceResponse = Answer<
  | Success
  | { status: 'DEVICE_REGISTERED'; message: string }
  | PasskeyEnrollmentNeeded
  | { status: 'MFA_ENROLLMENT_NEEDED'; methods: MfaMethod[]; message: string }
  | { status: 'FINALIZE_REGISTRATION_NEEDED'; required: 'phone_number'[]; message: string }
>;
export type InitiateMfaResponse = Answer<{
  status: 'MFA_INITIATED';
  method: MfaMethod;
  /** Masked destination of the code. Absent for TOTP. */
  sent_to?: string;
  resend_after?: number;
  /** Absent: six digits. */
  code_format?: CodeFormat;
  /** On enrollment of TOTP: secret for the authenticator app. */
  totp?: { secret: string; otpauth_uri: string };
  /** Test mode only: the one-time code. */
  code?: string;
  message: string;
}>;
export type VerifyMfaResponse = Answer<Success | PasskeyEnrollmentNeeded>;
export type ChangePhoneNumberResponse = Answer<{
  status: 'PHONE_CODE_SENT';
  /** Masked. */
  sent_to: string;
  resend_after: number;
  /** Test mode only: the one-time code. */
  code?: string;
  message: string;
}>;
export type VerifyPhoneNumberResponse = Answer<{ status: 'PHONE_CHANGED'; message: string }>;

export type PasskeyOptionsResponse = Answer<{
  status: 'PASSKEY_OPTIONS';
  /**
   * For `PublicKeyCredential.parseRequestOptionsFromJSON`, or `parseCreationOptionsFromJSON` for a registration. The
   * challenge can be used once, while `txn` is valid.
   */
  options: PasskeyRequestOptions | PasskeyCreationOptions;
  message: string;
}>;
export type VerifyPasskeyResponse = Answer<Success>;
export type RegisterPasskeyResponse = Answer<
  /** After PASSKEY_ENROLLMENT_NEEDED. */
  | Success
  | {
      status: 'PASSKEY_REGISTERED';
      /** Shown on the user's account page. */
      name: string;
      /** For the Signal API (WebAuthn Level 3 section 5.1.10): all passkeys of the user. */
      rp_id: string;
      user_handle: string;
      credential_ids: string[];
      message: string;
    }
>;

type PasskeyDescriptor = { type: 'public-key'; id: string; transports?: string[] };
/** `PublicKeyCredentialRequestOptionsJSON` (WebAuthn Level 3 section 5.5.1). */
export type PasskeyRequestOptions = {
  challenge: string;
  rpId: string;
  /** Milliseconds. */
  timeout: number;
  userVerification: 'required' | 'preferred';
  /** Absent: any passkey of the user's choice. */
  allowCredentials?: PasskeyDescriptor[];
};
/** `PublicKeyCredentialCreationOptionsJSON` (WebAuthn Level 3 section 5.4.1). */
export type PasskeyCreationOptions = {
  challenge: string;
  rp: { id: string; name: string };
  user: { id: string; name: string; displayName: string };
  pubKeyCredParams: { type: 'public-key'; alg: number }[];
  /** Milliseconds. */
  timeout: number;
  excludeCredentials: PasskeyDescriptor[];
  authenticatorSelection: {
    residentKey: 'required';
    requireResidentKey: true;
    userVerification: 'required' | 'preferred';
  };
  /** `direct`: the project allows only some models of authenticators, and a browser may ask the user to show the model. */
  attestation: 'none' | 'direct';
};

/**
 * `POST /v1/signin/resume`, hosted page only, without fields: the pending sign-in of the flow, for a page that was
 * reloaded. The `txn` is new, and the former one ends. Times are Unix seconds.
 */
export type ResumeResponse =
  | { status: 'NOTHING_PENDING' }
  | {
      status: 'PENDING';
      txn: string;
      nonce: string;
      /** Seconds until `txn` expires. */
      expires_in: number;
      time: number;
      /** The normalized address. */
      userid: string;
      /** Thumbprint of the device key that the sign-in was started with; '' if the proof is a session, absent if it is an answer of a provider. */
      jkt?: string;
      remember_device: boolean;
      prompt: ResumedPrompt;
    };
/** The prompt that the page had reached: `methods` can be enrolled, if the factor is being enrolled. */
export type ResumedPrompt =
  | ({ status: 'OTP_NEEDED'; code_format?: CodeFormat } & SentCode)
  | { status: 'OTP_VERIFIED' | 'DEVICE_REGISTERED' | 'PASSKEY_ENROLLMENT_NEEDED' }
  /** The user asked for a passkey, and may add it without another sign-in. */
  | { status: 'PASSKEY_OFFERED'; redirect_to: string }
  | { status: 'MFA_REQUIRED'; session_id: string; method: MfaMethod | 'passkey'; methods?: MfaMethod[] }
  | ({
      status: 'MFA_INITIATED';
      session_id: string;
      method: MfaMethod;
      methods?: MfaMethod[];
      totp?: { secret: string; otpauth_uri: string };
    } & Partial<SentCode>);
type SentCode = { sent_to: string; sent_at: number; resend_after: number };

/** Response of each step; errors are {@link SigninFailure}. */
export interface SigninResponses {
  challenge: ChallengeResponse;
  'passkey-options': PasskeyOptionsResponse;
  'verify-passkey': VerifyPasskeyResponse;
  'register-passkey': RegisterPasskeyResponse;
  authenticate: AuthenticateResponse;
  'verify-email-otp': VerifyEmailOtpResponse;
  'verify-device': VerifyDeviceResponse;
  'initiate-mfa': InitiateMfaResponse;
  'verify-mfa': VerifyMfaResponse;
  'change-phone-number': ChangePhoneNumberResponse;
  'verify-phone-number': VerifyPhoneNumberResponse;
}

/** Handling of an error: retry, ask the user, or give up. */
export type SigninErrorCategory = 'retryable' | 'user_action' | 'fatal';
export const signinErrorCodes = [
  'INVALID_REQUEST',
  'INVALID_API_KEY',
  'ORIGIN_NOT_ALLOWED',
  'FLOW_EXPIRED',
  'TRANSACTION_EXPIRED',
  'OUT_OF_ORDER',
  'NONCE_REJECTED',
  'PROOF_REQUIRED',
  'PROOF_REJECTED',
  'DEVICE_REVOKED',
  /**
   * The account is deactivated. Returned only after a proof with one of its keys. Keep the key, which works again after
   * a reactivation.
   */
  'ACCOUNT_INACTIVE',
  /** The account has no access to the application. Returned only after the last proof of the sign-in. */
  'NO_ACCESS',
  /** A connection of the organization that owns the domain of the address must sign in: go to `url`. */
  'CONNECTION_REQUIRED',
  /** The address was verified, and an admin must approve the new account. A mail follows; then sign in again. */
  'APPROVAL_REQUIRED',
  'PKCE_REQUIRED',
  'HOSTED_PAGE_REQUIRED',
  'CODE_REJECTED',
  /** The passkey is not accepted here: wrong signature, deactivated user, another project. */
  'PASSKEY_REJECTED',
  /** No such passkey exists: `signalUnknownCredential` may remove it from the user's device. */
  'PASSKEY_UNKNOWN',
  /** The passkey must verify the user by PIN or biometrics. */
  'PASSKEY_VERIFICATION_REQUIRED',
  /** The project allows only some models of security keys: create the passkey with one of them. */
  'PASSKEY_MODEL_NOT_ALLOWED',
  /** The project does not use passkeys, or this page's origin cannot. */
  'PASSKEYS_NOT_ALLOWED',
  /** A passkey is required, which this page's origin cannot use: redirect to the hosted page. */
  'PASSKEY_REQUIRED',
  'RATE_LIMITED',
  'MFA_METHOD_NOT_ALLOWED',
  'PHONE_INVALID',
  'PHONE_NOT_ALLOWED',
  'PHONE_TAKEN',
  'PHONE_LOCKED_BY_PROVISIONING',
  'TEMPORARILY_UNAVAILABLE',
  'SERVER_ERROR',
] as const;
export type SigninErrorCode = (typeof signinErrorCodes)[number];

/** Error response, sent with a matching HTTP status. `nonce` is present if the transaction continues. */
export type SigninFailure = {
  status: 'ERROR';
  error: {
    code: SigninErrorCode;
    category: SigninErrorCategory;
    message: string;
    /** Seconds. */
    retry_after?: number;
    /** Of `CONNECTION_REQUIRED`; absent: the organization has no connection now. */
    url?: string;
    /**
     * Of `RATE_LIMITED`. `network`: it has requested too many codes; another network can continue. `address`: too many codes
     * were requested for this address.
     */
    reason?: 'network' | 'address';
    request_id: string;
  };
  nonce?: string;
};

/** Payload of a device proof (cryptoVersion `v1`). */
export const deviceProofPayload = z.object({
  /** Name of the step. */
  act: z.enum(signinSteps),
  /** `{issuer}/{project_id}` */
  aud: z.string(),
  /** client_id */
  cid: z.string(),
  /** The page's origin, as sent in `Origin`. */
  org: z.string(),
  txn: z.string(),
  nonce: z.string(),
  /** The transaction's code_challenge, if any. */
  cc: z.string().optional(),
  /** base64url SHA-256 of the raw request body. */
  bh: base64url256,
  /** Unix seconds. */
  iat: z.number(),
  jti: z.string().min(16).max(128),
});
export type DeviceProofPayload = z.infer<typeof deviceProofPayload>;
