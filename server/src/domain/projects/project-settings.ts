import { cleanMailName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import { isCountry } from './countries.ts';
import { checkedNetworks } from './networks.ts';
import { checkedAaguids, checkedRoots } from './passkey-models.ts';
import {
  type MfaMethod,
  mfaMethods,
  mfaPolicies,
  type Project,
  passkeyPolicies,
  signUpModes,
} from './project.entity.ts';
import { checkedBy, flag, flagOrNull, numberOf, oneOf, seconds } from './setting-checks.ts';

const year = 365 * 24 * 3600;

/** In the order of their checks. */
const checks = {
  name: (name: string) => cleanMailName(name),
  signUp: oneOf(signUpModes),
  mfaPolicy: oneOf(mfaPolicies),
  offeredFactors: checkedFactors,
  passkeyPolicy: oneOf(passkeyPolicies),
  passkeyAaguids: checkedAaguids,
  smsCountries: checkedCountries,
  sharedNetworks: (networks: readonly string[]) =>
    checkedNetworks(networks, { field: 'sharedNetworks', widest: [16, 32] }),
  scimEnabled: flag,
  scimAuthoritative: flag,
  testMode: flag,
  emailFactor: flag,
  notifyOnDeactivation: flagOrNull,
  rememberMfaSeconds: seconds([0, year]),
  deviceTrustSeconds: seconds([0, year]),
  deviceTrustDays: numberOf('days', [1, 3650]),
  smsPerDay: numberOf('messages', [0, 1_000_000]),
};

/** The settings of a project, without its session policy. */
export type ProjectSettings = Pick<Project, keyof typeof checks | 'passkeyRoots'>;

/** Settings as stored, with the column that the previous release reads instead of `passkeyPolicy`. */
export type StoredSettings = Partial<ProjectSettings> & { passkeys?: boolean };

/** Refuses `invalid`. */
export function checkedProject(input: Partial<ProjectSettings>, now: Date): StoredSettings {
  const passkeyRoots = (roots: readonly string[]) => checkedRoots(roots, now);
  const settings = checkedBy<ProjectSettings>({ ...checks, passkeyRoots }, input);
  const { passkeyPolicy } = settings;
  return { ...settings, ...(passkeyPolicy === undefined ? {} : { passkeys: passkeyPolicy !== 'off' }) };
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
