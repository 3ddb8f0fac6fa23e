/**
 * Schemas of requests and responses by step and operation, for the OpenAPI document. The compiler compares each response
 * with its type.
 */
import { z } from 'zod';
import {
  type DelegationFailure,
  type DelegationOperation,
  type DelegationResponse,
  type DelegationResults,
  delegationErrorCodes,
} from './delegation.ts';
import {
  authenticateRequest,
  challengeRequest,
  changePhoneNumberRequest,
  initiateMfaRequest,
  mfaMethods,
  passkeyOptionsRequest,
  passkeyResponseRequest,
  type SigninFailure,
  type SigninResponses,
  type SigninStep,
  signinErrorCodes,
  verifyDeviceRequest,
  verifyEmailOtpRequest,
  verifyMfaRequest,
  verifyPhoneNumberRequest,
} from './signin.ts';

/** A type whose optional members can also be `undefined`, as zod infers them. */
type Loose<T> = T extends readonly (infer Element)[]
  ? Loose<Element>[]
  : T extends object
    ? { [Name in keyof T]: undefined extends T[Name] ? Loose<T[Name]> | undefined : Loose<T[Name]> }
    : T;

/** Compiles only if the schema allows exactly the values of the type. */
const describing =
  <T>() =>
  <S extends z.ZodType<Loose<T>>>(schema: S & (Loose<T> extends z.output<S> ? unknown : never)): S =>
    schema;

export const signinRequestSchemas = {
  challenge: challengeRequest,
  'passkey-options': passkeyOptionsRequest,
  'verify-passkey': passkeyResponseRequest,
  authenticate: authenticateRequest,
  'verify-email-otp': verifyEmailOtpRequest,
  'verify-device': verifyDeviceRequest,
  'initiate-mfa': initiateMfaRequest,
  'verify-mfa': verifyMfaRequest,
  'change-phone-number': changePhoneNumberRequest,
  'verify-phone-number': verifyPhoneNumberRequest,
  'register-passkey': passkeyResponseRequest,
} satisfies Record<SigninStep, z.ZodType>;

const message = z.string().describe('For developers; not for users.');
const nonce = z.string().describe('For the next device proof. Valid for 120 seconds, once.');
const code = z.string().describe('Test mode only: the one-time code.').optional();
const codeFormat = z
  .literal('long')
  .describe('Ten characters of Crockford base32 as XXXXX-XXXXX. Absent: six digits.')
  .optional();
const method = z.enum(mfaMethods);
const seconds = z.int();
const totp = z
  .object({ secret: z.string(), otpauth_uri: z.string() })
  .describe('Secret for the authenticator app.')
  .optional();
const timeout = z.number().describe('Milliseconds.');
const userVerification = z.enum(['required', 'preferred']);
const descriptors = z.array(
  z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()).optional() }),
);
const requestOptions = z
  .object({
    challenge: z.string(),
    rpId: z.string(),
    timeout,
    userVerification,
    allowCredentials: descriptors.optional(),
  })
  .describe('PublicKeyCredentialRequestOptionsJSON (WebAuthn Level 3 section 5.5.1).');
const creationOptions = z
  .object({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number() })),
    timeout,
    excludeCredentials: descriptors,
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification,
    }),
    attestation: z.enum(['none', 'direct']),
  })
  .describe('PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3 section 5.4.1).');

const recoveryCodes = z.array(z.string()).describe('Returned once: show them before continuing.').optional();
const success = { status: z.literal('SUCCESS'), message, recovery_codes: recoveryCodes, nonce };
const finished = [
  z.object({ ...success, code: z.string().describe('Authorization code for the back end.') }),
  z.object({
    ...success,
    redirect_to: z.string().describe('On the hosted page, instead of a code.'),
    passkey_offer: z.literal(true).optional(),
  }),
] as const;
const passkeyNeeded = z.object({ status: z.literal('PASSKEY_ENROLLMENT_NEEDED'), message, nonce });

const answers = {
  challenge: describing<SigninResponses['challenge']>()(
    z.object({
      txn: z.string(),
      nonce,
      expires_in: seconds.describe('Seconds until txn expires.'),
      project_id: z.string(),
      client_id: z.string(),
      issuer: z.string(),
      time: seconds.describe("The service's time in Unix seconds."),
      code_challenge_method: z.literal('S256').optional(),
      passkey_options: requestOptions.optional(),
    }),
  ),
  'passkey-options': describing<SigninResponses['passkey-options']>()(
    z.object({
      status: z.literal('PASSKEY_OPTIONS'),
      options: z.union([requestOptions, creationOptions]),
      message,
      nonce,
    }),
  ),
  'verify-passkey': describing<SigninResponses['verify-passkey']>()(z.union(finished)),
  authenticate: describing<SigninResponses['authenticate']>()(
    z.union([
      ...finished,
      z.object({
        status: z.literal('OTP_NEEDED'),
        device_token: z.string(),
        sent_to: z.string().describe('Masked, as typed; does not reveal whether an account exists.'),
        resend_after: seconds.describe('Seconds until another code may be requested.'),
        code_format: codeFormat,
        code,
        message,
        nonce,
      }),
      z.object({
        status: z.literal('MFA_REQUIRED'),
        session_id: z.string(),
        method: z.enum([...mfaMethods, 'passkey']),
        message,
        nonce,
      }),
      passkeyNeeded,
      z.object({ status: z.literal('INVALID_EMAIL'), message, nonce }),
    ]),
  ),
  'verify-email-otp': describing<SigninResponses['verify-email-otp']>()(
    z.object({ status: z.literal('SUCCESS'), message, nonce }),
  ),
  'verify-device': describing<SigninResponses['verify-device']>()(
    z.union([
      ...finished,
      z.object({ status: z.literal('DEVICE_REGISTERED'), message, nonce }),
      passkeyNeeded,
      z.object({ status: z.literal('MFA_ENROLLMENT_NEEDED'), methods: z.array(method), message, nonce }),
      z.object({
        status: z.literal('FINALIZE_REGISTRATION_NEEDED'),
        required: z.array(z.literal('phone_number')),
        message,
        nonce,
      }),
    ]),
  ),
  'initiate-mfa': describing<SigninResponses['initiate-mfa']>()(
    z.object({
      status: z.literal('MFA_INITIATED'),
      method,
      sent_to: z.string().describe('Masked destination of the code. Absent for TOTP.').optional(),
      resend_after: seconds.optional(),
      code_format: codeFormat,
      totp,
      code,
      message,
      nonce,
    }),
  ),
  'verify-mfa': describing<SigninResponses['verify-mfa']>()(z.union([...finished, passkeyNeeded])),
  'change-phone-number': describing<SigninResponses['change-phone-number']>()(
    z.object({
      status: z.literal('PHONE_CODE_SENT'),
      sent_to: z.string(),
      resend_after: seconds,
      code,
      message,
      nonce,
    }),
  ),
  'verify-phone-number': describing<SigninResponses['verify-phone-number']>()(
    z.object({ status: z.literal('PHONE_CHANGED'), message, nonce }),
  ),
  'register-passkey': describing<SigninResponses['register-passkey']>()(
    z.union([
      ...finished,
      z.object({
        status: z.literal('PASSKEY_REGISTERED'),
        name: z.string().describe("Shown on the user's account page."),
        rp_id: z.string(),
        user_handle: z.string(),
        credential_ids: z.array(z.string()),
        message,
        nonce,
      }),
    ]),
  ),
};
export const signinResponseSchemas: Record<SigninStep, z.ZodType> = answers;

const failure = {
  message,
  retry_after: seconds.describe('Seconds to wait before a retry.').optional(),
  reason: z
    .enum(['network', 'address'])
    .describe(
      'With `RATE_LIMITED`: the network has requested too many codes, and another network can continue; or too many were requested for this address.',
    )
    .optional(),
  request_id: z.string().describe('Id of the request in the service log.'),
};
export const signinFailureSchema: z.ZodType = describing<SigninFailure>()(
  z.object({
    status: z.literal('ERROR'),
    error: z.object({
      code: z.enum(signinErrorCodes),
      category: z.enum(['retryable', 'user_action', 'fatal']),
      ...failure,
    }),
    nonce: nonce.describe('Present if the transaction continues.').optional(),
  }),
);

const results = {
  initiateMfaChange: describing<DelegationResults['initiateMfaChange']>()(
    z.object({
      session_id: z.string(),
      expires_in: seconds.describe('Seconds until session_id expires.'),
      sent_to: z.string().describe('Masked destination of the code. Absent for TOTP.').optional(),
      totp,
      otp: code,
      message,
    }),
  ),
  verifyMfaChange: describing<DelegationResults['verifyMfaChange']>()(
    z.object({ mfa_method: z.string(), recovery_codes: recoveryCodes, message }),
  ),
  getUserCredentials: describing<DelegationResults['getUserCredentials']>()(
    z.object({ mfa_method: z.string().describe('none, if the user has no second factor.') }),
  ),
};
export const delegationResultSchemas: Record<DelegationOperation, z.ZodType> = results;

export const delegationFailureSchema: z.ZodType = describing<DelegationFailure>()(
  z.object({ error: z.object({ code: z.enum(delegationErrorCodes), ...failure }) }),
);

export const delegationResponseSchema: z.ZodType = z.object({
  iss: z.string().describe('{issuer}/{project_id}'),
  aud: z.string().describe('client_id'),
  req_jti: z.string().describe("Absent if the request's signature could not be verified.").optional(),
  req_hash: z.string().describe('base64url SHA-256 of the request as sent.'),
  iat: seconds,
  exp: seconds,
  status: z.int().describe('HTTP status; 200 carries the result of the operation, others a DelegationFailure.'),
  body: z.union([...Object.values(results), delegationFailureSchema]),
} satisfies Record<keyof DelegationResponse, z.ZodType>);
