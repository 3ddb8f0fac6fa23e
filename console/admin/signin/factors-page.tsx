import { Alert, Checkbox, Stack, Switch } from '@mantine/core';
import { useMemo } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { FactorStanding, type FactorStandingQuery } from '../generated/operations.ts';
import { switches } from '../generated/switches.ts';
import { locale, t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { useProjectForm } from '../projects/use-project-form.ts';
import { count } from '../ui/counted.ts';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { Radios } from '../ui/forms/radios.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import type { SettingsForm } from '../ui/forms/settings-form.ts';
import { labelsOf, SwitchList } from '../ui/forms/switches.tsx';
import { WholeNumber } from '../ui/forms/whole-number.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { CountryCodes, countryName } from './country-codes.tsx';
import { type FactorValues, factorValuesOf, methodNames, methods } from './factor-values.ts';
import { FlowDrawing } from './flow-drawing.tsx';
import { areModelsInvalid, modelConsequence, PasskeyModels, useModelUsage } from './passkey-models.tsx';
import { amongRecent, PasskeyPages, passkeyConsequence, passkeyPolicies, WhatCounts } from './passkey-policy.tsx';
import { SharedNetworks } from './shared-networks.tsx';
import { SignUpSection, signUps } from './sign-up.tsx';

const policies = {
  OFF: {
    name: t('Off'),
    hint: t('Device and mail code suffice. Users with a factor still use it.'),
  },
  OPTIONAL: { name: t('Optional'), hint: t('Applications can offer it. Users with a factor must use it.') },
  REQUIRED: { name: t('Required'), hint: t('Users without one enroll at next sign-in.') },
} as const;

const labels: Record<keyof FactorValues, string> = {
  signUp: t('Sign-up'),
  signUpDomains: t('Domains that may sign up'),
  blockedSignUpDomains: t('Blocked domains'),
  ...labelsOf(switches.Project.signUp),
  ...labelsOf(switches.Project.signUpRequests),
  signUpRequestDays: t('Requests expire after'),
  ...labelsOf(switches.Project.accountDeletion),
  accountDeletionDays: t('Accounts are deleted after'),
  passkeyPolicy: t('Passkeys'),
  passkeyAaguids: t('Allowed models'),
  passkeyRoots: t('Root certificates'),
  mfaPolicy: t('Second factor'),
  offeredFactors: t('Offered'),
  rememberMfaSeconds: t('Second factor remembered for'),
  deviceTrustSeconds: t('Device trusted for'),
  ...labelsOf(switches.Project.factors),
  deviceTrustDays: t('Device trust ends after'),
  smsCountries: t('SMS countries'),
  smsPerDay: t('SMS per day'),
  sharedNetworks: t('Shared networks'),
  testMode: t('Test mode'),
};

/** Sign-in policy and second factors. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const saved = useMemo(() => factorValuesOf(project), [project]);
  const form = useProjectForm(project, saved);
  const { values } = form;
  const usage = useQuery(FactorStanding, { projectId: project.id }).data?.factorStanding;
  const others = useModelUsage(project.id, saved, values);
  const isConsole = project.builtIn === 'CONSOLE';
  return (
    <Page title={t('Sign-in & MFA')} lead={t('Sign-up, passkeys, second factors and trusted devices')} narrow>
      {!mayChange && <ViewerNotice project={project} />}
      {isConsole && <Alert>{t('Admins of this instance sign in here: sign-up and test mode stay off.')}</Alert>}
      <Section title={t('Sign-in flow')}>
        <FlowDrawing values={values} />
      </Section>
      <SignUpSection form={form} isDisabled={!mayChange || isConsole} />
      <PasskeySection form={form} usage={usage} />
      <FactorSection form={form} usage={usage} />
      <DeviceSection form={form} />
      <Section
        title={t('Codes by mail')}
        lead={t('A network can request 30 an hour, plus one for each code entered there in the last 24 hours.')}
      >
        <SharedNetworks {...form.field('sharedNetworks')} />
      </Section>
      <MessageSection form={form} />
      <DeletionSection form={form} />
      <TestModeSection form={form} isFixed={isConsole} />
      <SaveBar
        form={form}
        labels={labels}
        describe={describe}
        consequence={
          [
            consequence(saved, values, usage),
            modelConsequence(saved, values, others),
            (hasCounts(saved, values) || others?.usersWithOthers) && amongRecent(usage),
          ]
            .filter(Boolean)
            .join(' ') || undefined
        }
        isInvalid={areModelsInvalid(values) || (values.signUp === 'DOMAINS' && values.signUpDomains.length === 0)}
      />
    </Page>
  );
}

type Usage = FactorStandingQuery['factorStanding'];

type Form = SettingsForm<FactorValues>;

function PasskeySection({ form, usage }: { form: Form; usage: Usage | undefined }) {
  return (
    <Section title={t('Passkeys')} lead={t('Users sign in with a fingerprint, face or PIN instead of a code.')}>
      <Radios label={t('Passkeys')} options={passkeyPolicies} {...form.field('passkeyPolicy')} />
      {form.values.passkeyPolicy !== 'OFF' && (
        <PasskeyModels aaguids={form.field('passkeyAaguids')} roots={form.field('passkeyRoots')} />
      )}
      <PasskeyPages names={usage?.pagesWithoutPasskeys} />
    </Section>
  );
}

function FactorSection({ form, usage }: { form: Form; usage: Usage | undefined }) {
  const { values } = form;
  return (
    <Section
      title={t('Second factor')}
      lead={t('Authenticator app, SMS or mail code. Users with one are always asked on new devices.')}
    >
      <WhatCounts values={values} />
      <Radios label={t('Second factor')} options={policies} {...form.field('mfaPolicy')} />
      {values.mfaPolicy !== 'OFF' && (
        <>
          <Offered usage={usage} {...form.field('offeredFactors')} />
          <SwitchList of={switches.Project.factors} form={form} />
          <Duration
            label={t('Remembered on a device for')}
            hint={t('If the user opts in. 0: required at every sign-in.')}
            {...form.field('rememberMfaSeconds')}
          />
        </>
      )}
    </Section>
  );
}

function DeviceSection({ form }: { form: Form }) {
  return (
    <Section title={t('Trusted devices')} lead={t('Registered devices sign in with their key, without a code.')}>
      <Duration
        label={t('Trust after last use')}
        hint={t('0: every sign-in asks for a code.')}
        {...form.field('deviceTrustSeconds')}
      />
      <WholeNumber
        label={t('Trust ends after')}
        hint={t('Counted from registration.')}
        unit={t('days')}
        bounds={[1, 3650]}
        {...form.field('deviceTrustDays')}
      />
    </Section>
  );
}

function MessageSection({ form }: { form: Form }) {
  return (
    <Section
      title={t('Text messages')}
      lead={t('Limits for codes by SMS. Premium and satellite numbers are always refused.')}
    >
      <CountryCodes {...form.field('smsCountries')} />
      <WholeNumber
        label={t('Daily limit')}
        hint={t('Further messages are refused until the next day.')}
        unit={t('messages')}
        bounds={[0, 1_000_000]}
        {...form.field('smsPerDay')}
      />
    </Section>
  );
}

function DeletionSection({ form }: { form: Form }) {
  return (
    <Section title={t('Account deletion')}>
      <SwitchList of={switches.Project.accountDeletion} form={form} />
      {form.values.accountDeletion && (
        <WholeNumber
          label={t('Accounts are deleted after')}
          hint={t('Until then, users and admins can cancel. 0: at once.')}
          unit={t('days')}
          bounds={[0, 90]}
          {...form.field('accountDeletionDays')}
        />
      )}
    </Section>
  );
}

function TestModeSection({ form, isFixed }: { form: Form; isFixed: boolean }) {
  const field = form.toggle('testMode');
  return (
    <Section title={t('Test mode')} lead={t('For automated tests: sign-in responses contain the one-time code.')}>
      <Switch label={t('Return one-time codes in sign-in responses')} {...field} disabled={field.disabled || isFixed} />
      {field.checked && (
        <Alert color="bad" role="alert" title={t('Anyone can sign in as any user')}>
          {t('Anyone who knows an address can sign in with it. Do not use with real users.')}
        </Alert>
      )}
    </Section>
  );
}

interface OfferedProps {
  usage: Usage | undefined;
  value: FactorValues['offeredFactors'];
  disabled: boolean;
  error: string | undefined;
  onChange(offered: FactorValues['offeredFactors']): void;
}

/** Factors offered for enrollment, with user counts. At least one must remain. */
function Offered({ usage, value, disabled, error, onChange }: OfferedProps) {
  const users = usage && { TOTP: usage.totp, SMS: usage.sms, EMAIL: usage.email };
  return (
    <Checkbox.Group
      label={t('Factors offered')}
      description={[t('Existing factors stay valid.'), amongRecent(usage)].filter(Boolean).join(' ')}
      error={error}
      value={value}
      onChange={(chosen) => onChange(methods.filter((method) => chosen.includes(method)))}
    >
      <Stack gap="sm">
        {methods.map((method) => {
          const isMute = method === 'SMS' && usage?.canSendSms === false;
          const hint = [hints[method], users && usedBy(users[method])].filter(Boolean).join(' ');
          return (
            <Checkbox
              key={method}
              value={method}
              label={methodNames[method]}
              description={isMute ? t('No SMS gateway is configured (SMS_URL).') : hint}
              disabled={disabled || (value.length === 1 && value[0] === method)}
            />
          );
        })}
      </Stack>
    </Checkbox.Group>
  );
}

const hints = {
  TOTP: t('Works offline, free, cannot be intercepted in transit.'),
  SMS: t('Widely available; numbers can be hijacked.'),
  EMAIL: t('Weakest: same mailbox as the first code.'),
} as const;

const usedBy = (count: number) => t('{count, plural, one {# user has one.} other {# users have one.}}', { count });

function describe(name: keyof FactorValues, from: FactorValues): string | string[] {
  if (name === 'signUp') return signUps[from.signUp].name;
  if (name === 'mfaPolicy') return policies[from.mfaPolicy].name;
  if (name === 'offeredFactors') return from.offeredFactors.map((method) => methodNames[method]);
  if (name === 'passkeyPolicy') return passkeyPolicies[from.passkeyPolicy].name;
  if (name === 'passkeyAaguids') return from.passkeyAaguids.length > 0 ? from.passkeyAaguids : [t('Every model')];
  if (name === 'passkeyRoots')
    return t('{count, plural, one {# certificate} other {# certificates}}', { count: from.passkeyRoots.length });
  if (name === 'smsCountries')
    return from.smsCountries.length > 0 ? from.smsCountries.map(countryName) : [t('Every country')];
  if (name === 'sharedNetworks' || name === 'signUpDomains' || name === 'blockedSignUpDomains')
    return from[name].length > 0 ? from[name] : [t('None')];
  if (name === 'smsPerDay') return count.format(from.smsPerDay);
  if (name === 'deviceTrustDays' || name === 'signUpRequestDays' || name === 'accountDeletionDays')
    return t('{count, plural, one {# day} other {# days}}', { count: from[name] });
  const value = from[name];
  if (typeof value === 'boolean') return value ? t('On') : t('Off');
  return value === 0 ? t('never') : formatDuration(value);
}

function consequence(saved: FactorValues, values: FactorValues, usage: Usage | undefined): string | undefined {
  const without = usage ? usage.activeUsers - usage.withFactor : undefined;
  const dropped = saved.offeredFactors.filter((method) => !values.offeredFactors.includes(method));
  const parts = [
    values.signUp === 'PROVISIONED_ONLY' &&
      saved.signUp !== 'PROVISIONED_ONLY' &&
      t('New accounts can no longer be created. Existing ones stay.'),
    passkeyConsequence(saved, values, usage),
    values.passkeyPolicy === 'OFF' &&
      saved.passkeyPolicy !== 'OFF' &&
      saved.mfaPolicy === 'REQUIRED' &&
      values.mfaPolicy === 'REQUIRED' &&
      t('Users with only a passkey enroll a second factor at next sign-in; their sessions end immediately.'),
    values.mfaPolicy === 'REQUIRED' &&
      saved.mfaPolicy !== 'REQUIRED' &&
      `${enrolling(without, usage?.activeUsers)} ${t('Sessions of users without one end immediately.')}`,
    values.mfaPolicy === 'REQUIRED' &&
      saved.mfaPolicy !== 'REQUIRED' &&
      values.passkeyPolicy !== 'OFF' &&
      t('A passkey with PIN or biometrics counts as one.'),
    values.mfaPolicy === 'OFF' &&
      saved.mfaPolicy !== 'OFF' &&
      `${t('Enrollment is no longer required.')} ${keeping(usage?.withFactor)}`,
    values.mfaPolicy !== 'OFF' &&
      dropped.length > 0 &&
      t('{methods} can no longer be enrolled; existing ones stay valid.', {
        methods: new Intl.ListFormat(locale, { type: 'conjunction' }).format(
          dropped.map((method) => methodNames[method]),
        ),
      }),
    values.rememberMfaSeconds > saved.rememberMfaSeconds &&
      t('If the user opts in, a second factor is remembered for {duration}.', {
        duration: formatDuration(values.rememberMfaSeconds),
      }),
    values.deviceTrustSeconds < saved.deviceTrustSeconds &&
      t('Devices unused for longer than that ask for a code again.'),
    values.deviceTrustDays < saved.deviceTrustDays && t('Devices registered before that ask for a code again.'),
    !values.emailFactor &&
      saved.emailFactor &&
      values.mfaPolicy === 'REQUIRED' &&
      t('Users with email alone enroll another factor at next sign-in; their sessions end immediately.'),
    values.testMode && !saved.testMode && t('One-time codes no longer protect this project.'),
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}

/** Whether {@link consequence} counts users. */
function hasCounts(saved: FactorValues, values: FactorValues): boolean {
  const requiresPasskeys = values.passkeyPolicy === 'REQUIRED' && saved.passkeyPolicy !== 'REQUIRED';
  return values.mfaPolicy !== saved.mfaPolicy || requiresPasskeys;
}

function enrolling(count: number | undefined, users: number | undefined): string {
  if (users === 0) return t('New users enroll at first sign-in.');
  if (count === undefined) return t('Users without a second factor enroll at next sign-in.');
  if (count === 0) return t('All users have a second factor; new users enroll at first sign-in.');
  return t(
    '{count, plural, one {# user enrolls a second factor at next sign-in.} other {# users enroll a second factor at next sign-in.}}',
    { count },
  );
}

function keeping(count: number | undefined): string {
  if (!count) return '';
  return t(
    '{count, plural, one {# user with a factor must still use it.} other {# users with a factor must still use it.}}',
    { count },
  );
}
