import { Alert, Checkbox, Radio, Switch } from '@mantine/core';
import { useMemo } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { FactorStanding, type FactorStandingQuery, UpdateProject } from '../generated/operations.ts';
import { useProject } from '../projects/project.tsx';
import { useProjectForm } from '../projects/use-project-form.ts';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { useDraft } from '../ui/forms/draft.ts';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { WholeNumber } from '../ui/forms/whole-number.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { CountryCodes, countryName } from './country-codes.tsx';
import { type FactorValues, methodNames, methods } from './factor-values.ts';
import styles from './factors-page.module.css';
import { FlowDrawing } from './flow-drawing.tsx';

const signUps = {
  OPEN: { name: 'Open', hint: 'Whoever can read a mail at their address gets an account at their first sign-in.' },
  PROVISIONED_ONLY: {
    name: 'Provisioned only',
    hint: 'Only people whom a directory has brought can sign in. Others are not told so.',
  },
} as const;

const policies = {
  OFF: {
    name: 'Off',
    hint: 'The device and the code from the mail are enough. Whoever has a factor is still asked for it.',
  },
  OPTIONAL: { name: 'Optional', hint: 'Applications can offer it. Whoever has set one up is asked for it.' },
  REQUIRED: { name: 'Required', hint: 'Nobody signs in without one. Who has none sets one up at the next sign-in.' },
} as const;

const labels: Record<keyof FactorValues, string> = {
  signUp: 'Sign-up',
  mfaPolicy: 'Second factor',
  offeredFactors: 'Offered',
  rememberMfaSeconds: 'Second factor remembered for',
  deviceTrustSeconds: 'Device trusted for',
  emailFactor: 'Email as second factor',
  deviceTrustDays: 'Device trust ends after',
  smsCountries: 'SMS countries',
  smsPerDay: 'SMS per day',
  testMode: 'Test mode',
};

/** Sign-in policy and second factors. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const saved = useMemo<FactorValues>(
    () => ({
      signUp: project.signUp,
      mfaPolicy: project.mfaPolicy,
      offeredFactors: methods.filter((method) => project.offeredFactors.includes(method)),
      rememberMfaSeconds: project.rememberMfaSeconds,
      deviceTrustSeconds: project.deviceTrustSeconds,
      emailFactor: project.emailFactor,
      deviceTrustDays: project.deviceTrustDays,
      smsCountries: project.smsCountries,
      smsPerDay: project.smsPerDay,
      testMode: project.testMode,
    }),
    [project],
  );
  const { values, set, changed, edits, settle, reset } = useDraft(saved);
  const { save, busy, failure, faultOf, clear } = useProjectForm(project);
  const standing = useQuery(FactorStanding, { projectId: project.id }).data?.factorStanding;
  const isConsole = project.builtIn === 'CONSOLE';
  return (
    <Page title="Factors" lead="Who may have an account, what a sign-in asks for, and when it does not." narrow>
      {!mayChange && (
        <Alert color="neutral">You are a viewer of {project.name}: you can look, and change nothing.</Alert>
      )}
      {isConsole && (
        <Alert>
          Admins of this instance sign in through this project: it stays closed to strangers, and has no test mode.
        </Alert>
      )}
      <Section title="What a sign-in looks like">
        <FlowDrawing values={values} />
      </Section>
      <Section title="Sign-up">
        <Radio.Group
          aria-label="Sign-up"
          value={values.signUp}
          onChange={(value) => set('signUp', value as FactorValues['signUp'])}
        >
          <div className={styles.radios}>
            {Object.entries(signUps).map(([value, { name, hint }]) => (
              <Radio key={value} value={value} label={name} description={hint} disabled={!mayChange || isConsole} />
            ))}
          </div>
        </Radio.Group>
      </Section>
      <Section
        title="Second factor"
        lead="An authenticator app, a text message or a code by mail. A new device never skips it."
      >
        <Radio.Group
          aria-label="Second factor"
          value={values.mfaPolicy}
          onChange={(value) => set('mfaPolicy', value as FactorValues['mfaPolicy'])}
        >
          <div className={styles.radios}>
            {Object.entries(policies).map(([value, { name, hint }]) => (
              <Radio key={value} value={value} label={name} description={hint} disabled={!mayChange} />
            ))}
          </div>
        </Radio.Group>
        {values.mfaPolicy !== 'OFF' && (
          <Offered
            values={values}
            standing={standing}
            disabled={!mayChange}
            error={faultOf('offeredFactors')}
            onChange={(offeredFactors) => set('offeredFactors', offeredFactors)}
          />
        )}
        {values.mfaPolicy !== 'OFF' && (
          <Switch
            label="Email counts as a second factor"
            description="Off: a code by mail does not meet Required."
            checked={values.emailFactor}
            disabled={!mayChange}
            error={faultOf('emailFactor')}
            onChange={(event) => set('emailFactor', event.currentTarget.checked)}
          />
        )}
        {values.mfaPolicy !== 'OFF' && (
          <Duration
            label="Remembered on a device for"
            hint="Where the person asks for it. 0: it is asked for at every sign-in."
            seconds={values.rememberMfaSeconds}
            disabled={!mayChange}
            error={faultOf('rememberMfaSeconds')}
            onChange={(seconds) => set('rememberMfaSeconds', seconds)}
          />
        )}
      </Section>
      <Section title="Trusted devices" lead="A registered device signs in with its key, without a code.">
        <Duration
          label="Trusted since its last use for"
          hint="0: every sign-in asks for a code."
          seconds={values.deviceTrustSeconds}
          disabled={!mayChange}
          error={faultOf('deviceTrustSeconds')}
          onChange={(seconds) => set('deviceTrustSeconds', seconds)}
        />
        <WholeNumber
          label="Trust ends after"
          hint="Since registration, however often the device is used."
          unit="days"
          value={values.deviceTrustDays}
          bounds={[1, 3650]}
          disabled={!mayChange}
          error={faultOf('deviceTrustDays')}
          onChange={(days) => set('deviceTrustDays', days)}
        />
      </Section>
      <Section title="Text messages" lead="Limits for codes by SMS. Premium and satellite numbers are always refused.">
        <CountryCodes
          codes={values.smsCountries}
          disabled={!mayChange}
          error={faultOf('smsCountries')}
          onChange={(codes) => set('smsCountries', codes)}
        />
        <WholeNumber
          label="Daily limit"
          hint="Further messages are refused until the next day."
          unit="messages"
          value={values.smsPerDay}
          bounds={[0, 1_000_000]}
          disabled={!mayChange}
          error={faultOf('smsPerDay')}
          onChange={(count) => set('smsPerDay', count)}
        />
      </Section>
      <Section
        title="Test mode"
        lead="For automated tests: the one-time code is also in the answer, so that no mail has to be read."
      >
        <Switch
          label="One-time codes are in the answers of sign-in"
          checked={values.testMode}
          disabled={!mayChange || isConsole}
          error={faultOf('testMode')}
          onChange={(event) => set('testMode', event.currentTarget.checked)}
        />
        {values.testMode && (
          <Alert color="bad" role="alert" title="Anybody can sign in as anybody">
            As long as it is on, whoever knows an address can sign in with it. Never for real people.
          </Alert>
        )}
      </Section>
      {changed.length > 0 && (
        <div>
          <ShowGraphql
            operation={UpdateProject}
            variables={{ input: { id: project.id, expectedVersion: project.version, ...edits } }}
          />
        </div>
      )}
      <SaveBar
        changes={changed.map((name) => ({
          label: labels[name],
          before: describe(name, saved),
          after: describe(name, values),
        }))}
        busy={busy}
        failure={failure}
        consequence={consequence(saved, values, standing)}
        onSave={async () => {
          if (await save(edits)) settle(edits);
        }}
        onDiscard={() => {
          reset();
          clear();
        }}
      />
    </Page>
  );
}

type Standing = FactorStandingQuery['factorStanding'];

/** Factors offered for enrollment, with user counts. At least one must remain. */
function Offered({
  values,
  standing,
  disabled,
  error,
  onChange,
}: {
  values: FactorValues;
  standing: Standing | undefined;
  disabled: boolean;
  error: string | undefined;
  onChange(offered: FactorValues['offeredFactors']): void;
}) {
  const { offeredFactors } = values;
  const users = standing && { TOTP: standing.totp, SMS: standing.sms, EMAIL: standing.email };
  return (
    <Checkbox.Group
      label="Offered when one is set up"
      description="Whoever has another one keeps it."
      error={error}
      value={[...offeredFactors]}
      onChange={(chosen) => onChange(methods.filter((method) => chosen.includes(method)))}
    >
      <div className={styles.radios}>
        {methods.map((method) => {
          const isMute = method === 'SMS' && standing?.canSendSms === false;
          const hint = [hints[method], users && usedBy(users[method])].filter(Boolean).join(' ');
          return (
            <Checkbox
              key={method}
              value={method}
              label={methodNames[method]}
              description={isMute ? 'No SMS gateway is set here (SMS_URL): nobody is offered this.' : hint}
              disabled={disabled || (offeredFactors.length === 1 && offeredFactors[0] === method)}
            />
          );
        })}
      </div>
    </Checkbox.Group>
  );
}

const hints = {
  TOTP: 'Works without a network, costs nothing, cannot be intercepted on its way.',
  SMS: 'Everybody has it; a number can be taken over.',
  EMAIL: 'Goes to the same mailbox as the first code: the weakest of the three.',
} as const;

const usedBy = (count: number) => (count === 1 ? '1 person has one.' : `${count} people have one.`);

function describe(name: keyof FactorValues, from: FactorValues): string | string[] {
  if (name === 'signUp') return signUps[from.signUp].name;
  if (name === 'mfaPolicy') return policies[from.mfaPolicy].name;
  if (name === 'offeredFactors') return from.offeredFactors.map((method) => methodNames[method]);
  if (name === 'testMode' || name === 'emailFactor') return from[name] ? 'On' : 'Off';
  if (name === 'smsCountries')
    return from.smsCountries.length > 0 ? from.smsCountries.map(countryName) : 'Every country';
  if (name === 'smsPerDay') return from.smsPerDay.toLocaleString('en');
  if (name === 'deviceTrustDays') return `${from.deviceTrustDays} ${from.deviceTrustDays === 1 ? 'day' : 'days'}`;
  return from[name] === 0 ? 'never' : formatDuration(from[name]);
}

function consequence(saved: FactorValues, values: FactorValues, standing: Standing | undefined): string | undefined {
  const without = standing ? standing.activeUsers - standing.withFactor : undefined;
  const dropped = saved.offeredFactors.filter((method) => !values.offeredFactors.includes(method));
  const parts = [
    values.signUp === 'PROVISIONED_ONLY' &&
      saved.signUp === 'OPEN' &&
      'People without an account can no longer make one. Those who have one keep it.',
    values.mfaPolicy === 'REQUIRED' &&
      saved.mfaPolicy !== 'REQUIRED' &&
      `${enrolling(without, standing?.activeUsers)} Sessions of people without one stop at once.`,
    values.mfaPolicy === 'OFF' &&
      saved.mfaPolicy !== 'OFF' &&
      `Nobody is asked to set one up any more. ${keeping(standing?.withFactor)}`,
    values.mfaPolicy !== 'OFF' &&
      dropped.length > 0 &&
      `${dropped.map((method) => methodNames[method]).join(' and ')} can no longer be set up; whoever has one keeps it.`,
    values.rememberMfaSeconds > saved.rememberMfaSeconds &&
      `On devices that ask for it, a second factor is good for ${formatDuration(values.rememberMfaSeconds)}.`,
    values.deviceTrustSeconds < saved.deviceTrustSeconds && 'Devices unused for longer than that ask for a code again.',
    values.deviceTrustDays < saved.deviceTrustDays && 'Devices registered before that ask for a code again.',
    !values.emailFactor &&
      saved.emailFactor &&
      values.mfaPolicy === 'REQUIRED' &&
      'People whose only factor is email set up another at next sign-in; their sessions stop at once.',
    values.testMode && !saved.testMode && 'From now on, one-time codes protect nobody in this project.',
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}

function enrolling(count: number | undefined, users: number | undefined): string {
  if (users === 0) return 'New people set one up at their first sign-in.';
  if (count === undefined) return 'People without a second factor will be asked to set one up at their next sign-in.';
  if (count === 0) return 'Everybody who has an account has a second factor already; new people set one up at once.';
  return `${count} ${count === 1 ? 'person' : 'people'} will be asked to set one up at their next sign-in.`;
}

function keeping(count: number | undefined): string {
  if (!count) return '';
  return `${count} ${count === 1 ? 'person who has one is' : 'people who have one are'} still asked for it.`;
}
