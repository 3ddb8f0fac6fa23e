import type { MfaMethod } from '../generated/operations.ts';
import { t } from '../language/language.ts';

/** Form values of the factors page. */
export interface FactorValues {
  signUp: 'OPEN' | 'PROVISIONED_ONLY';
  mfaPolicy: 'OFF' | 'OPTIONAL' | 'REQUIRED';
  offeredFactors: MfaMethod[];
  passkeyPolicy: 'OFF' | 'ALLOWED' | 'PREFERRED' | 'REQUIRED';
  passkeyAaguids: string[];
  passkeyRoots: string[];
  rememberMfaSeconds: number;
  deviceTrustSeconds: number;
  emailFactor: boolean;
  deviceTrustDays: number;
  smsCountries: string[];
  smsPerDay: number;
  testMode: boolean;
}

/** In the order offered at sign-in. */
export const methods = ['TOTP', 'SMS', 'EMAIL'] as const satisfies readonly MfaMethod[];
export const methodNames: Record<MfaMethod, string> = {
  TOTP: t('Authenticator app'),
  SMS: t('Text message'),
  EMAIL: t('Code by mail'),
};
