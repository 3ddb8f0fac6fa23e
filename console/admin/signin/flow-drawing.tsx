import { Stack, Text } from '@mantine/core';
import { locale, lower, t } from '../language/language.ts';
import { formatDuration } from '../ui/forms/duration.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { type FactorValues, methodNames, methods } from './factor-values.ts';
import styles from './flow-drawing.module.css';

interface Step {
  icon: IconName;
  name: string;
  detail?: string;
}

/** Sign-in steps under these settings, for a new device, a known device and a passkey. */
export function FlowDrawing({ values }: { values: FactorValues }) {
  const isRequired = values.passkeyPolicy === 'REQUIRED';
  const duration = formatDuration(values.deviceTrustSeconds);
  return (
    <Stack gap="1.25rem">
      <Flow name={isRequired ? t('First sign-in') : t('New device')} steps={newDevice(values)} />
      {values.deviceTrustSeconds > 0 && !isRequired && (
        <Flow name={t('Known device, used in the last {duration}', { duration })} steps={knownDevice(values)} />
      )}
      {values.passkeyPolicy !== 'OFF' && (
        <Flow name={t("Any device with the user's passkey")} steps={passkey(values)} />
      )}
    </Stack>
  );
}

const address = ({ signUp }: FactorValues): Step => ({
  icon: 'mail',
  name: t('Address'),
  detail: {
    APPROVAL: t('new ones wait for an admin'),
    OPEN: t('any'),
    DOMAINS: t('users, and certain domains'),
    PROVISIONED_ONLY: t('provisioned users only'),
  }[signUp],
});
const factor = (detail: string): Step => ({ icon: 'phone', name: t('Second factor'), detail });
const end: Step = { icon: 'check', name: t('Signed in') };

function newDevice(values: FactorValues): Step[] {
  const { mfaPolicy, testMode } = values;
  const isRequired = values.passkeyPolicy === 'REQUIRED';
  const hasChoice = isRequired || mfaPolicy === 'OPTIONAL';
  return [
    address(values),
    { icon: 'lock', name: t('Code'), detail: testMode ? t('also in the response') : t('by mail, 5 minutes') },
    ...(isRequired || mfaPolicy !== 'OFF'
      ? [factor(hasChoice ? t('for users with one') : t('enrolled first: {methods}', { methods: offered(values) }))]
      : []),
    ...(isRequired ? [{ icon: 'shield' as const, name: t('New passkey'), detail: t('created once') }] : []),
    end,
  ];
}

function knownDevice(values: FactorValues): Step[] {
  const { mfaPolicy, rememberMfaSeconds: seconds } = values;
  const asked = mfaPolicy === 'REQUIRED' ? t('every time') : t('for users with one');
  const detail =
    seconds > 0 ? t('not again for {duration}, if remembered', { duration: formatDuration(seconds) }) : asked;
  return [
    { icon: 'mail', name: t('Address') },
    { icon: 'key', name: t('Device key'), detail: t('nothing to type') },
    ...(mfaPolicy === 'OFF' ? [] : [factor(detail)]),
    end,
  ];
}

function passkey({ mfaPolicy, passkeyPolicy }: FactorValues): Step[] {
  const isVerified = mfaPolicy === 'REQUIRED' || passkeyPolicy === 'REQUIRED';
  const detail = isVerified ? t('with PIN or biometrics; no code') : t('no address, no code');
  return [{ icon: 'shield', name: t('Passkey'), detail }, end];
}

function offered({ offeredFactors }: FactorValues): string {
  const names = methods.filter((method) => offeredFactors.includes(method)).map((method) => lower(methodNames[method]));
  return new Intl.ListFormat(locale, { type: 'disjunction' }).format(names);
}

function Flow({ name, steps }: { name: string; steps: readonly Step[] }) {
  return (
    <div>
      <Text component="h3" fz="xs" fw={550} c="dimmed" mb="xs">
        {name}
      </Text>
      <ol className={styles.steps}>
        {steps.map(({ icon, name: step, detail }) => (
          <li key={step}>
            <Icon name={icon} size={18} />
            <div>
              <Text fw={600}>{step}</Text>
              <Text fz="xs" c="dimmed" lh={1.3}>
                {detail}
              </Text>
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}
