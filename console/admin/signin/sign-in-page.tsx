import { Radio, Switch } from '@mantine/core';
import { useMemo } from 'react';
import { useAccess } from '../access.tsx';
import { UpdateProject } from '../generated/operations.ts';
import { useProject } from '../projects/project.tsx';
import { useProjectForm } from '../projects/use-project-form.ts';
import { useDraft } from '../ui/draft.ts';
import { Duration, inWords } from '../ui/duration.tsx';
import { Notice } from '../ui/mark.tsx';
import { Page, Section } from '../ui/page.tsx';
import { SaveBar } from '../ui/save-bar.tsx';
import { ShowGraphql } from '../ui/show-graphql.tsx';
import { FlowDrawing } from './flow-drawing.tsx';
import styles from './sign-in-page.module.css';
import type { SignInValues } from './sign-in-values.ts';

const signUps = {
  OPEN: { name: 'Open', hint: 'Whoever can read a mail at their address gets an account at their first sign-in.' },
  PROVISIONED_ONLY: {
    name: 'Provisioned only',
    hint: 'Only people whom a directory has brought can sign in. Others are not told so.',
  },
} as const;

const policies = {
  OFF: { name: 'Off', hint: 'The device and the code from the mail are enough.' },
  OPTIONAL: { name: 'Optional', hint: 'Applications can offer it. Whoever has set one up is asked for it.' },
  REQUIRED: { name: 'Required', hint: 'Nobody signs in without one. Who has none sets one up at the next sign-in.' },
} as const;

const labels: Record<keyof SignInValues, string> = {
  signUp: 'Sign-up',
  mfaPolicy: 'Second factor',
  rememberMfaSeconds: 'Second factor remembered for',
  deviceTrustSeconds: 'Device trusted for',
  testMode: 'Test mode',
};

/** Who may sign in, and what is asked of them. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const saved = useMemo<SignInValues>(
    () => ({
      signUp: project.signUp,
      mfaPolicy: project.mfaPolicy,
      rememberMfaSeconds: project.rememberMfaSeconds,
      deviceTrustSeconds: project.deviceTrustSeconds,
      testMode: project.testMode,
    }),
    [project],
  );
  const { values, set, changed, edits, reset } = useDraft(saved);
  const { save, busy, failure, faultOf, clear } = useProjectForm(project);
  const isConsole = project.builtIn === 'CONSOLE';
  return (
    <Page title="Sign-in settings" lead="Who may have an account, and what a sign-in asks for." narrow>
      {!mayChange && <Notice tone="calm">You are a viewer of {project.name}: you can look, and change nothing.</Notice>}
      {isConsole && (
        <Notice>
          Admins of this instance sign in through this project: it stays closed to strangers, and has no test mode.
        </Notice>
      )}
      <Section title="What a sign-in looks like">
        <FlowDrawing values={values} />
      </Section>
      <Section title="Sign-up">
        <Radio.Group
          aria-label="Sign-up"
          value={values.signUp}
          onChange={(value) => set('signUp', value as SignInValues['signUp'])}
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
          onChange={(value) => set('mfaPolicy', value as SignInValues['mfaPolicy'])}
        >
          <div className={styles.radios}>
            {Object.entries(policies).map(([value, { name, hint }]) => (
              <Radio key={value} value={value} label={name} description={hint} disabled={!mayChange} />
            ))}
          </div>
        </Radio.Group>
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
      <Section
        title="Trusted devices"
        lead="A device that has proved the address once signs in without a code, with a key that never leaves it."
      >
        <Duration
          label="Trusted since its last use for"
          hint="0: every sign-in asks for a code."
          seconds={values.deviceTrustSeconds}
          disabled={!mayChange}
          error={faultOf('deviceTrustSeconds')}
          onChange={(seconds) => set('deviceTrustSeconds', seconds)}
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
          <Notice tone="bad" title="Anybody can sign in as anybody">
            As long as it is on, whoever knows an address can sign in with it. Never for real people.
          </Notice>
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
        changes={changed.map((name) => ({ label: labels[name], before: said(name, saved), after: said(name, values) }))}
        busy={busy}
        failure={failure}
        consequence={consequence(saved, values)}
        onSave={async () => {
          if (await save(edits)) reset();
        }}
        onDiscard={() => {
          reset();
          clear();
        }}
      />
    </Page>
  );
}

function said(name: keyof SignInValues, from: SignInValues): string {
  if (name === 'signUp') return signUps[from.signUp].name;
  if (name === 'mfaPolicy') return policies[from.mfaPolicy].name;
  if (name === 'testMode') return from.testMode ? 'On' : 'Off';
  return from[name] === 0 ? 'never' : inWords(from[name]);
}

function consequence(saved: SignInValues, values: SignInValues): string | undefined {
  const parts = [
    values.signUp === 'PROVISIONED_ONLY' &&
      saved.signUp === 'OPEN' &&
      'People without an account can no longer make one. Those who have one keep it.',
    values.mfaPolicy === 'REQUIRED' &&
      saved.mfaPolicy !== 'REQUIRED' &&
      'At their next sign-in, people without a second factor must set one up. Live sessions go on.',
    values.mfaPolicy === 'OFF' &&
      saved.mfaPolicy !== 'OFF' &&
      'Nobody is asked for a second factor any more, those who have one included.',
    values.deviceTrustSeconds < saved.deviceTrustSeconds && 'Devices unused for longer than that ask for a code again.',
    values.testMode && !saved.testMode && 'From now on, one-time codes protect nobody in this project.',
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}
