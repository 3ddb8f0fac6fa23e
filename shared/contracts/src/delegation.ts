/**
 * Wire format of delegation: a back end's requests about its users' second factors, `POST {base_url}/v1/delegation`.
 *
 * The body is a JWS (EdDSA) in a JWE (ECDH-ES, A256GCM), both compact; the response is nested the same way and bound to
 * its request. `GET` on the same path, authenticated by API key, returns the value for `aud`.
 */
import { z } from 'zod';
import { mfaMethods } from './signin.ts';

export const delegationMediaType = 'application/jose';
/** Maximum request body in bytes. */
export const delegationMaxBytes = 64 * 1024;

/** Header `typ` of the signed and the encrypted layer, to prevent type confusion. */
export const delegationTypes = {
  request: 'delegation-req+jwt',
  requestEnvelope: 'delegation-req+jwe',
  response: 'delegation-res+jwt',
  responseEnvelope: 'delegation-res+jwe',
} as const;

/** The only supported algorithms. */
export const delegationAlgorithms = { signature: 'EdDSA', keyManagement: 'ECDH-ES', encryption: 'A256GCM' } as const;

/** Maximum lifetime of a message in seconds. */
export const delegationTtlSeconds = 60;

const userid = z.string().min(1).max(320);

/** Input of each operation. */
export const delegationOperations = {
  initiateMfaChange: z.object({
    /** The user's email address or ID. */
    userid,
    mfa_method: z.enum(mfaMethods),
    /** E.164; for `sms`. */
    phone_number: z.string().min(1).max(64).optional(),
  }),
  verifyMfaChange: z.object({ userid, session_id: z.string().min(1).max(128), otp: z.string().min(1).max(64) }),
  getUserCredentials: z.object({ userid }),
};
export type DelegationOperation = keyof typeof delegationOperations;

/** Payload signed by the back end. Times are Unix seconds. */
export const delegationRequest = z.object({
  /** client_id */
  iss: z.string(),
  /** `{issuer}/{project_id}` */
  aud: z.string(),
  iat: z.int(),
  /** At most {@link delegationTtlSeconds} after `iat`. */
  exp: z.int(),
  /** Single use. */
  jti: z.string().min(16).max(128),
  op: z.enum(Object.keys(delegationOperations) as [DelegationOperation, ...DelegationOperation[]]),
  /**
   * RFC 7638 thumbprint of the recipient's encryption key: prevents re-encryption of a signed request for another one.
   */
  enc_kid: z.string(),
  body: z.unknown(),
});
export type DelegationRequest = z.infer<typeof delegationRequest>;

/** Payload signed by the service. */
export interface DelegationResponse {
  /** `{issuer}/{project_id}` */
  iss: string;
  /** client_id */
  aud: string;
  /** Absent if the request's signature could not be verified. */
  req_jti?: string;
  /** base64url SHA-256 of the request as sent. */
  req_hash: string;
  iat: number;
  exp: number;
  /** HTTP status; 200 carries the operation's result, others a {@link DelegationFailure}. */
  status: number;
  body: object;
}

export interface InitiateMfaChangeAnswer {
  session_id: string;
  /** Seconds until `session_id` expires. */
  expires_in: number;
  /** Masked destination of the code. Absent for TOTP. */
  sent_to?: string;
  /** Secret for the authenticator app. */
  totp?: { secret: string; otpauth_uri: string };
  /** Test mode only: the one-time code. */
  otp?: string;
  message: string;
}
export interface VerifyMfaChangeAnswer {
  mfa_method: string;
  /** Shown once, if the user had none. */
  recovery_codes?: string[];
  message: string;
}
export interface UserCredentialsAnswer {
  /** `none` if the user has no second factor. */
  mfa_method: string;
}

/** Result of each operation, for status 200. */
export interface DelegationResults {
  initiateMfaChange: InitiateMfaChangeAnswer;
  verifyMfaChange: VerifyMfaChangeAnswer;
  getUserCredentials: UserCredentialsAnswer;
}

export const delegationErrorCodes = [
  'INVALID_CLIENT',
  'NOT_CONFIGURED',
  'UNSUPPORTED_MEDIA_TYPE',
  'REQUEST_TOO_LARGE',
  'REQUEST_REJECTED',
  'STALE',
  'REPLAYED',
  'INVALID_REQUEST',
  'USER_NOT_FOUND',
  'SESSION_EXPIRED',
  'CODE_REJECTED',
  'RATE_LIMITED',
  'MFA_METHOD_NOT_ALLOWED',
  'PHONE_INVALID',
  'PHONE_NOT_ALLOWED',
  'PHONE_LOCKED_BY_PROVISIONING',
  'TEMPORARILY_UNAVAILABLE',
  'SERVER_ERROR',
] as const;
export type DelegationErrorCode = (typeof delegationErrorCodes)[number];

/** Error response: encrypted once the request could be decrypted, plain JSON before. */
export interface DelegationFailure {
  error: {
    code: DelegationErrorCode;
    message: string;
    /** Seconds. */
    retry_after?: number;
    request_id: string;
  };
}
