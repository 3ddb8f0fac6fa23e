import type { MfaMethod } from '../generated/operations.ts';
import { switches } from '../generated/switches.ts';
import { t } from '../language/language.ts';
import type { Project } from '../projects/project.tsx';
import { pick } from '../ui/forms/pick.ts';
import { namesOf } from '../ui/forms/switches.tsx';

const names = [
  ...([
    'signUp',
    'signUpDomains',
    'blockedSignUpDomains',
    'mfaPolicy',
    'offeredFactors',
    'passkeyPolicy',
    'passkeyAaguids',
    'passkeyRoots',
  ] as const),
  ...([
    'rememberMfaSeconds',
    'deviceTrustSeconds',
    'deviceTrustDays',
    'signUpRequestDays',
    'accountDeletionDays',
  ] as const),
  ...(['smsCountries', 'smsPerDay', 'sharedNetworks', 'testMode'] as const),
  ...namesOf(switches.Project.factors),
  ...namesOf(switches.Project.signUp),
  ...namesOf(switches.Project.signUpRequests),
  ...namesOf(switches.Project.accountDeletion),
] as const;

/** Form values of the factors page. */
export type FactorValues = Pick<Project, (typeof names)[number]>;

export function factorValuesOf(project: Project): FactorValues {
  const offeredFactors = methods.filter((method) => project.offeredFactors.includes(method));
  return { ...pick(project, ...names), offeredFactors };
}

/** In the order offered at sign-in. */
export const methods = ['TOTP', 'SMS', 'EMAIL'] as const satisfies readonly MfaMethod[];
export const methodNames: Record<MfaMethod, string> = {
  TOTP: t('Authenticator app'),
  SMS: t('Text message'),
  EMAIL: t('Code by mail'),
};
