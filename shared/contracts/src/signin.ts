/**
 * The wire of sign-in: JSON over `POST {base_url}/v1/signin/<step>`.
 *
 * The browser SDK speaks it from a relying party's origin with `X-Api-Key: lk_pk_…`; the hosted page speaks it from
 * the issuer's own origin with `Signin-Flow: <flow>` and the flow cookie. Requests are parsed by the schemas here, so
 * that an unknown field is ignored and a wrong one is a clear refusal. Field names are snake_case on the wire.
 */
import { z } from 'zod';

/** Steps in the order a first sign-in takes them; the last two only where it was begun as a step-up. The name is also the proof's `act`. */
export const signinSteps = [
  'challenge',
  'authenticate',
  'verify-email-otp',
  'verify-device',
  'initiate-mfa',
  'verify-mfa',
  'change-phone-number',
  'verify-phone-number',
] as const;
export type SigninStep = (typeof signinSteps)[number];

export const mfaMethods = ['email', 'sms', 'totp'] as const;
export type MfaMethod = (typeof mfaMethods)[number];

/**
 * What a one-time code looks like where it is not six digits: ten characters of Crockford's base32, in either case,
 * written `XXXXX-XXXXX`; O is read as 0, I and L as 1, spaces and dashes are ignored.
 */
export type CodeFormat = 'long';

/** Request header that carries the device proof, a compact JWS (protocol `v1`). */
export const deviceProofHeader = 'Device-Proof';
/** Request header by which the hosted page names its flow. */
export const signinFlowHeader = 'Signin-Flow';
/** Header `typ` of a device proof. */
export const deviceProofType = 'device-proof+jwt';

const base64url256 = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 43 characters of base64url');
/** What a person typed as their address. Its syntax is judged by the flow (INVALID_EMAIL), only its size here. */
const userid = z.string().max(320);
/** A one-time code as it was typed, spaces and dashes included: six digits, the long format, or a recovery code. */
const otp = z.string().max(64);
const txn = z.string().max(128);

export const challengeRequest = z.object({
  /** RFC 7636 S256 challenge of the page's own verifier; absent when the back end exchanges with its secret key. */
  code_challenge: base64url256.optional(),
  code_challenge_method: z.literal('S256').optional(),
  /** RFC 7638 SHA-256 thumbprint of the device key; without it no device can be registered. */
  jkt: base64url256.optional(),
});
/** What a sign-in can be the fresh proof for, beside letting somebody in. */
export const stepUps = ['change_phone_number'] as const;
export type StepUp = (typeof stepUps)[number];
export const authenticateRequest = z.object({
  txn,
  userid,
  remember_device: z.boolean().optional(),
  /** Asks for a fresh proof of the person, whatever this device is trusted with, and lets the sign-in go on after it. */
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

export type ChallengeRequest = z.infer<typeof challengeRequest>;
export type AuthenticateRequest = z.infer<typeof authenticateRequest>;
export type VerifyEmailOtpRequest = z.infer<typeof verifyEmailOtpRequest>;
export type VerifyDeviceRequest = z.infer<typeof verifyDeviceRequest>;
export type InitiateMfaRequest = z.infer<typeof initiateMfaRequest>;
export type VerifyMfaRequest = z.infer<typeof verifyMfaRequest>;
export type ChangePhoneNumberRequest = z.infer<typeof changePhoneNumberRequest>;
export type VerifyPhoneNumberRequest = z.infer<typeof verifyPhoneNumberRequest>;

/** Every answer carries the nonce for the next proof (120 s). */
type Answer<T> = T & { nonce: string };
/**
 * How a sign-in ends: the SDK gets a code, the hosted page the address to go to. `recovery_codes` come once, when the
 * user's first second factor has been verified or a set-up link was claimed: the page shows them before it goes on.
 */
export type Success = { status: 'SUCCESS'; message: string; recovery_codes?: string[] } & (
  | { code: string }
  | { redirect_to: string }
);

export type ChallengeResponse = {
  txn: string;
  nonce: string;
  /** Seconds until `txn` expires. */
  expires_in: number;
  project_id: string;
  client_id: string;
  issuer: string;
  /** What the service's clock says, Unix seconds: the page's may be wrong, and proofs carry a time. */
  time: number;
};
export type AuthenticateResponse = Answer<
  | Success
  | {
      status: 'OTP_NEEDED';
      device_token: string;
      /** Masked as typed, e.g. `a…@example.com`; says nothing about whether the address exists. */
      sent_to: string;
      /** Seconds after which another code can be asked for. */
      resend_after: number;
      /** Absent: six digits. */
      code_format?: CodeFormat;
      /** Test mode only: the one-time code. */
      code?: string;
      message: string;
    }
  | { status: 'MFA_REQUIRED'; session_id: string; method: MfaMethod; message: string }
  | { status: 'INVALID_EMAIL'; message: string }
>;
export type VerifyEmailOtpResponse = Answer<{ status: 'SUCCESS'; message: string }>;
export type VerifyDeviceResponse = Answer<
  | Success
  | { status: 'DEVICE_REGISTERED'; message: string }
  | { status: 'MFA_ENROLLMENT_NEEDED'; methods: MfaMethod[]; message: string }
  | { status: 'FINALIZE_REGISTRATION_NEEDED'; required: 'phone_number'[]; message: string }
>;
export type InitiateMfaResponse = Answer<{
  status: 'MFA_INITIATED';
  method: MfaMethod;
  /** Where the code went, masked. Absent for TOTP. */
  sent_to?: string;
  resend_after?: number;
  /** Absent: six digits. */
  code_format?: CodeFormat;
  /** At the first use of TOTP: what the authenticator app needs. */
  totp?: { secret: string; otpauth_uri: string };
  /** Test mode only: the one-time code. */
  code?: string;
  message: string;
}>;
export type VerifyMfaResponse = Answer<Success>;
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

/** What a failure asks of the caller: try the same again, ask the person, or give up. */
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
  'PKCE_REQUIRED',
  'CODE_REJECTED',
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

/** Every refusal, with a fitting HTTP status. `nonce` is there where the transaction goes on. */
export type SigninFailure = {
  status: 'ERROR';
  error: {
    code: SigninErrorCode;
    category: SigninErrorCategory;
    message: string;
    /** Seconds. */
    retry_after?: number;
    request_id: string;
  };
  nonce?: string;
};

/** The payload of a device proof (cryptoVersion `v1`). */
export const deviceProofPayload = z.object({
  /** The step's name. */
  act: z.enum(signinSteps),
  /** `{issuer}/{project_id}` */
  aud: z.string(),
  /** client_id */
  cid: z.string(),
  /** The page's origin, as the browser sends it in `Origin`. */
  org: z.string(),
  txn: z.string(),
  nonce: z.string(),
  /** The transaction's code_challenge, absent where it has none. */
  cc: z.string().optional(),
  /** base64url SHA-256 of the raw request body. */
  bh: base64url256,
  /** Unix seconds. */
  iat: z.number(),
  jti: z.string().min(16).max(128),
});
export type DeviceProofPayload = z.infer<typeof deviceProofPayload>;
