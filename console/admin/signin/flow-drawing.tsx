import { Stack, Text } from '@mantine/core';
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
            name: 'Second factor',
            detail: values.mfaPolicy === 'OPTIONAL' ? 'for users with one' : `enrolled first: ${offered(values)}`,
          },
        ];
  const enrolled: Step[] = [{ icon: 'phone', name: 'Second factor', detail: 'for users with one' }];
  const isOwed = values.mfaPolicy === 'REQUIRED';
  const isRequired = values.passkeyPolicy === 'REQUIRED';
  const created: Step[] = isRequired ? [{ icon: 'shield', name: 'New passkey', detail: 'created once' }] : [];
  const remembered =
    values.rememberMfaSeconds > 0
      ? `not again for ${formatDuration(values.rememberMfaSeconds)}, if remembered`
      : undefined;
  const address: Step = {
    icon: 'mail',
    name: 'Address',
    detail: values.signUp === 'OPEN' ? 'any' : 'provisioned users only',
  };
  const end: Step = { icon: 'check', name: 'Signed in' };
  const known: Step[] = [
    address,
    { icon: 'key', name: 'Device key', detail: 'nothing to type' },
    ...factor.map((step) => ({
      ...step,
      detail: remembered ?? (isOwed ? 'every time' : (step.detail ?? '')),
    })),
    end,
  ];
  return (
    <Stack gap="1.25rem">
      <Flow
        name={isRequired ? 'First sign-in' : 'New device'}
        steps={[
          address,
          { icon: 'lock', name: 'Code', detail: values.testMode ? 'also in the response' : 'by mail, 5 minutes' },
          ...(isRequired ? enrolled : factor),
          ...created,
          end,
        ]}
      />
      {values.deviceTrustSeconds > 0 && !isRequired && (
        <Flow name={`Known device, used in the last ${formatDuration(values.deviceTrustSeconds)}`} steps={known} />
      )}
      {values.passkeyPolicy !== 'OFF' && (
        <Flow
          name="Any device with the user's passkey"
          steps={[
            {
              icon: 'shield',
              name: 'Passkey',
              detail: isOwed || isRequired ? 'with PIN or biometrics; no code' : 'no address, no code',
            },
            end,
          ]}
        />
      )}
    </Stack>
  );
}

function offered({ offeredFactors }: FactorValues): string {
  const names = methods
    .filter((method) => offeredFactors.includes(method))
    .map((method) => methodNames[method].toLowerCase());
  return names.join(' or ');
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
