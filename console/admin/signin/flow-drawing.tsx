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
  const factor: Step[] =
    values.mfaPolicy === 'OFF'
      ? []
      : [
          {
            icon: 'phone',
            name: t('Second factor'),
            detail:
              values.mfaPolicy === 'OPTIONAL'
                ? t('for users with one')
                : t('enrolled first: {methods}', { methods: offered(values) }),
          },
        ];
  const enrolled: Step[] = [{ icon: 'phone', name: t('Second factor'), detail: t('for users with one') }];
  const isMfaRequired = values.mfaPolicy === 'REQUIRED';
  const isRequired = values.passkeyPolicy === 'REQUIRED';
  const created: Step[] = isRequired ? [{ icon: 'shield', name: t('New passkey'), detail: t('created once') }] : [];
  const remembered =
    values.rememberMfaSeconds > 0
      ? t('not again for {duration}, if remembered', { duration: formatDuration(values.rememberMfaSeconds) })
      : undefined;
  const address: Step = {
    icon: 'mail',
    name: t('Address'),
    detail: values.signUp === 'OPEN' ? t('any') : t('provisioned users only'),
  };
  const end: Step = { icon: 'check', name: t('Signed in') };
  const known: Step[] = [
    address,
    { icon: 'key', name: t('Device key'), detail: t('nothing to type') },
    ...factor.map((step) => ({
      ...step,
      detail: remembered ?? (isMfaRequired ? t('every time') : (step.detail ?? '')),
    })),
    end,
  ];
  return (
    <Stack gap="1.25rem">
      <Flow
        name={isRequired ? t('First sign-in') : t('New device')}
        steps={[
          address,
          {
            icon: 'lock',
            name: t('Code'),
            detail: values.testMode ? t('also in the response') : t('by mail, 5 minutes'),
          },
          ...(isRequired ? enrolled : factor),
          ...created,
          end,
        ]}
      />
      {values.deviceTrustSeconds > 0 && !isRequired && (
        <Flow
          name={t('Known device, used in the last {duration}', {
            duration: formatDuration(values.deviceTrustSeconds),
          })}
          steps={known}
        />
      )}
      {values.passkeyPolicy !== 'OFF' && (
        <Flow
          name={t("Any device with the user's passkey")}
          steps={[
            {
              icon: 'shield',
              name: t('Passkey'),
              detail: isMfaRequired || isRequired ? t('with PIN or biometrics; no code') : t('no address, no code'),
            },
            end,
          ]}
        />
      )}
    </Stack>
  );
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
