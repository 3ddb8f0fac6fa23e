import type { PasskeyRequestOptions, SigninResponses, SigninStep } from '@latchkey/contracts';
import type { Application, DeviceKey, DeviceStore } from '../device-key.ts';
import { LatchkeyError } from '../error.ts';
import type { AuthenticateOptions } from '../inputs.ts';
import type { Connection } from '../transport.ts';

/** Environment of a sign-in. */
export type Setting = {
  connection: Connection;
  store: DeviceStore;
  /** The page's origin, as sent in `Origin`. */
  origin: string;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Known in advance on the hosted page; otherwise returned by the first challenge. */
  application?: Application | undefined;
};

/** A transaction after its challenge; a sign-in with only a passkey needs no other fields. */
export type Begun = {
  txn: string;
  nonce: string;
  application: Application;
  /** Milliseconds from the challenge until `txn` expires. */
  lifetime: number;
  /** PKCE challenge, from the page or created here. */
  codeChallenge?: string | undefined;
  /** Verifier of a challenge created here. */
  codeVerifier?: string | undefined;
  /** Milliseconds by which the service's clock is ahead of the page's, added to the timestamps of proofs. */
  ahead: number;
  /** For one sign-in by passkey, if requested. */
  passkeyOptions?: PasskeyRequestOptions | undefined;
};
/** One pending sign-in of an address, from its challenge to its end, in memory only. */
export type Transaction = Begun & {
  userid: string;
  key: DeviceKey;
  options: AuthenticateOptions;
  /**
   * Registered in this sign-in. Stored as trusted only at its end: a restart before that, for example after a mistyped
   * phone number, verifies the address again.
   */
  newDevice: boolean;
  /** Set by DEVICE_REGISTERED: the next `authenticate` continues this transaction. */
  awaitsAuthenticate: boolean;
};
export type ProofKind = 'registration' | 'use' | undefined;

export type Step = Exclude<SigninStep, 'challenge'>;

/** Steps of the service and their possible statuses. */
export const answers: { [S in Step]: readonly SigninResponses[S]['status'][] } = {
  authenticate: ['SUCCESS', 'OTP_NEEDED', 'MFA_REQUIRED', 'PASSKEY_ENROLLMENT_NEEDED', 'INVALID_EMAIL'],
  'passkey-options': ['PASSKEY_OPTIONS'],
  'verify-passkey': ['SUCCESS'],
  'register-passkey': ['SUCCESS', 'PASSKEY_REGISTERED'],
  'verify-email-otp': ['SUCCESS'],
  'verify-device': [
    'SUCCESS',
    'DEVICE_REGISTERED',
    'PASSKEY_ENROLLMENT_NEEDED',
    'MFA_ENROLLMENT_NEEDED',
    'FINALIZE_REGISTRATION_NEEDED',
  ],
  'initiate-mfa': ['MFA_INITIATED'],
  'verify-mfa': ['SUCCESS', 'PASSKEY_ENROLLMENT_NEEDED'],
  'change-phone-number': ['PHONE_CODE_SENT'],
  'verify-phone-number': ['PHONE_CHANGED'],
};

/** Errors that a new transaction resolves. */
export const restartCodes = ['DEVICE_REVOKED', 'PKCE_REQUIRED'];

export const isOneOf = (error: unknown, codes: string[]): boolean =>
  error instanceof LatchkeyError && codes.includes(error.code);

export const encode = (fields: Record<string, unknown>): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify(fields));

/** Converts snake_case members to camelCase. */
export function camelCased(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_(.)/g, (_, c: string) => c.toUpperCase()),
      camelCased(member),
    ]),
  );
}
