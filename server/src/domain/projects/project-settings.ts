import { cleanMailName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import { isCountry } from './countries.ts';
import { checkedAaguids, checkedRoots } from './passkey-models.ts';
import {
  type MfaMethod,
  type MfaPolicy,
  mfaMethods,
  mfaPolicies,
  type PasskeyPolicy,
  passkeyPolicies,
  type SignUpMode,
  signUpModes,
} from './project.entity.ts';
import { checkNumber, checkSeconds } from './session-policy.ts';

/** The settings of a project, without its session policy. */
export interface ProjectSettings {
  name: string;
  scimEnabled: boolean;
  scimAuthoritative: boolean;
  testMode: boolean;
  signUp: SignUpMode;
  mfaPolicy: MfaPolicy;
  /** Second factors that users can set up; existing enrolments of others stay valid. */
  offeredFactors: MfaMethod[];
  passkeyPolicy: PasskeyPolicy;
  /** Models of passkeys (AAGUIDs) that users may create; empty: all, or all of the roots. */
  passkeyAaguids: string[];
  /** CA certificates in PEM that prove a model; empty: none is proved. */
  passkeyRoots: string[];
  /** How long a device may skip the second factor after `remember_me`; 0: never. */
  rememberMfaSeconds: number;
  /** How long a remembered device is trusted since its last use. */
  deviceTrustSeconds: number;
  /** Whether email as a second factor meets `required`. */
  emailFactor: boolean;
  /** Absolute lifetime of a device's trust, in days since its registration. */
  deviceTrustDays: number;
  /** ISO 3166-1 alpha-2 codes of the countries that SMS may be sent to; empty: every country. */
  smsCountries: string[];
  /** SMS that the project may send in a day. */
  smsPerDay: number;
}

const year = 365 * 24 * 3600;

/** Settings as stored, with the column that the previous release reads instead of `passkeyPolicy`. */
export type StoredSettings = Partial<ProjectSettings> & { passkeys?: boolean };

/** Copies known settings only, so that no other input reaches the row. Refuses `invalid`. */
export function checkedProject(input: Partial<ProjectSettings>, now: Date): StoredSettings {
  const settings: StoredSettings = {};
  const { rememberMfaSeconds, deviceTrustSeconds, deviceTrustDays, smsPerDay } = input;
  if (input.name !== undefined) settings.name = cleanMailName(input.name);
  if (input.signUp !== undefined) settings.signUp = oneOf('signUp', input.signUp, signUpModes);
  if (input.mfaPolicy !== undefined) settings.mfaPolicy = oneOf('mfaPolicy', input.mfaPolicy, mfaPolicies);
  if (input.offeredFactors !== undefined) settings.offeredFactors = checkedFactors(input.offeredFactors);
  if (input.passkeyPolicy !== undefined) {
    settings.passkeyPolicy = oneOf('passkeyPolicy', input.passkeyPolicy, passkeyPolicies);
    settings.passkeys = input.passkeyPolicy !== 'off';
  }
  if (input.passkeyAaguids !== undefined) settings.passkeyAaguids = checkedAaguids(input.passkeyAaguids);
  if (input.passkeyRoots !== undefined) settings.passkeyRoots = checkedRoots(input.passkeyRoots, now);
  if (input.smsCountries !== undefined) settings.smsCountries = checkedCountries(input.smsCountries);
  for (const name of ['scimEnabled', 'scimAuthoritative', 'testMode', 'emailFactor'] as const) {
    const value = input[name];
    if (value === undefined) continue;
    if (typeof value !== 'boolean') refuse({ code: 'invalid', field: name, reason: 'must be true or false' });
    settings[name] = value;
  }
  if (rememberMfaSeconds !== undefined) checkSeconds('rememberMfaSeconds', rememberMfaSeconds, [0, year]);
  if (deviceTrustSeconds !== undefined) checkSeconds('deviceTrustSeconds', deviceTrustSeconds, [0, year]);
  if (deviceTrustDays !== undefined) checkNumber('deviceTrustDays', deviceTrustDays, [1, 3650], 'days');
  if (smsPerDay !== undefined) checkNumber('smsPerDay', smsPerDay, [0, 1_000_000], 'messages');
  const numbers = { rememberMfaSeconds, deviceTrustSeconds, deviceTrustDays, smsPerDay };
  return Object.assign(
    settings,
    Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)),
  );
}

function oneOf<T extends string>(field: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value)) refuse({ code: 'invalid', field, reason: `must be one of ${allowed.join(', ')}` });
  return value;
}

function checkedFactors(factors: readonly MfaMethod[]): MfaMethod[] {
  const field = 'offeredFactors';
  if (!Array.isArray(factors) || factors.length === 0)
    refuse({ code: 'invalid', field, reason: 'must contain at least one' });
  if (factors.some((one) => !mfaMethods.includes(one))) {
    refuse({ code: 'invalid', field, reason: `must contain only ${mfaMethods.join(', ')}` });
  }
  return mfaMethods.filter((one) => factors.includes(one));
}

function checkedCountries(codes: readonly string[]): string[] {
  const unique = Array.isArray(codes) ? [...new Set(codes.map((code) => String(code).trim().toUpperCase()))] : [''];
  if (!unique.every(isCountry)) {
    refuse({ code: 'invalid', field: 'smsCountries', reason: 'must contain ISO 3166-1 alpha-2 country codes' });
  }
  return unique.sort();
}
