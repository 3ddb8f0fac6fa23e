/**
 * The wire of delegation: a back end's requests about its users' second factors, `POST {base_url}/v1/delegation`.
 *
 * The body is a JWS (EdDSA) inside a JWE (ECDH-ES, A256GCM), both compact; the answer is nested the same way and bound
 * to its request. `GET` on the same path tells a back end, by its API key, what it has to put into `aud`.
 */
import { z } from 'zod';
import { mfaMethods } from './signin.ts';

export const delegationMediaType = 'application/jose';
/** The most that a request's body may have, in bytes. */
export const delegationMaxBytes = 64 * 1024;

/** Header `typ` of the signed and of the encrypted layer, so that none is taken for another. */
export const delegationTypes = {
  request: 'delegation-req+jwt',
  requestEnvelope: 'delegation-req+jwe',
  response: 'delegation-res+jwt',
  responseEnvelope: 'delegation-res+jwe',
} as const;

/** The only algorithms there are here. */
export const delegationAlgorithms = { signature: 'EdDSA', keyManagement: 'ECDH-ES', encryption: 'A256GCM' } as const;

/** The longest life of a message, in seconds. */
export const delegationTtlSeconds = 60;

const userid = z.string().min(1).max(320);

/** What each operation is asked with. */
export const delegationOperations = {
  initiateMfaChange: z.object({
    /** The user's e-mail or id. */
    userid,
    mfa_method: z.enum(mfaMethods),
    /** E.164; for `sms`. */
    phone_number: z.string().min(1).max(64).optional(),
  }),
  verifyMfaChange: z.object({ userid, session_id: z.string().min(1).max(128), otp: z.string().min(1).max(64) }),
  getUserCredentials: z.object({ userid }),
};
export type DelegationOperation = keyof typeof delegationOperations;

/** The payload that a back end signs. Times are Unix seconds. */
export const delegationRequest = z.object({
  /** client_id */
  iss: z.string(),
  /** `{issuer}/{project_id}` */
  aud: z.string(),
  iat: z.int(),
  /** At most {@link delegationTtlSeconds} after `iat`. */
  exp: z.int(),
  /** Good once. */
  jti: z.string().min(16).max(128),
  op: z.enum(Object.keys(delegationOperations) as [DelegationOperation, ...DelegationOperation[]]),
  /** RFC 7638 thumbprint of the key that it is encrypted to: a signed request cannot be sealed anew for another. */
  enc_kid: z.string(),
  body: z.unknown(),
});
export type DelegationRequest = z.infer<typeof delegationRequest>;

/** The payload that the service signs. */
export interface DelegationResponse {
  /** `{issuer}/{project_id}` */
  iss: string;
  /** client_id */
  aud: string;
  /** Absent where the request's signature could not be verified. */
  req_jti?: string;
  /** base64url SHA-256 of the request as it was sent. */
  req_hash: string;
  iat: number;
  exp: number;
  /** As in HTTP; 200 is the operation's result, everything else a {@link DelegationFailure}. */
  status: number;
  body: object;
}

export interface InitiateMfaChangeAnswer {
  session_id: string;
  /** Seconds until `session_id` expires. */
  expires_in: number;
  /** Where the code went, masked. Absent for TOTP. */
  sent_to?: string;
  /** What the authenticator app needs. */
  totp?: { secret: string; otpauth_uri: string };
  /** Test mode only: the one-time code. */
  otp?: string;
  message: string;
}
export interface VerifyMfaChangeAnswer {
  mfa_method: string;
  /** Shown once, where the user had none before. */
  recovery_codes?: string[];
  message: string;
}
export interface UserCredentialsAnswer {
  /** `none` where the user has no second factor. */
  mfa_method: string;
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

/** A refusal: encrypted like any answer once the request has been decrypted, in the clear (JSON) before. */
export interface DelegationFailure {
  error: {
    code: DelegationErrorCode;
    message: string;
    /** Seconds. */
    retry_after?: number;
    request_id: string;
  };
}
