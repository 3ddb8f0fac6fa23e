import { Badge, Box, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { ScimRequests, ScimTokens, TestDirectory, type TestDirectoryMutation } from '../generated/operations.ts';
import { serverText, t } from '../language/language.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import rows from '../ui/lists/rows.module.css';
import type { DirectoryOwner } from './owner.ts';

type Step = TestDirectoryMutation['testDirectory'][number];

/** Tests Latchkey's SCIM endpoint without a directory. */
export function SelfTest({ owner, isOn }: { owner: DirectoryOwner; isOn: boolean }) {
  const [steps, setSteps] = useState<readonly Step[]>();
  const [test, busy, failure] = useMutation(TestDirectory, [ScimTokens, ScimRequests]);
  const run = async () => {
    const outcome = await test(owner);
    setSteps(outcome.data?.testDirectory);
  };
  const failed = steps?.filter(({ passed }) => !passed).length ?? 0;
  return (
    <Section
      flush
      title={t('Self-test')}
      lead={t('Sends real SCIM requests with a temporary token and user.')}
      actions={
        <SecondaryButton onClick={run} loading={busy} disabled={!isOn}>
          {steps ? t('Run again') : t('Run the self-test')}
        </SecondaryButton>
      }
    >
      <div role="status">
        {steps && (
          <Text px="lg" pb="1.25rem">
            <Badge color={failed === 0 ? 'good' : 'bad'}>
              {failed === 0
                ? t('All {total} passed', { total: steps.length })
                : t('{failed} of {total} failed', { failed, total: steps.length })}
            </Badge>{' '}
            {failed === 0
              ? t("Latchkey works. Check the directory's settings or the network in between.")
              : t('Latchkey has a problem: contact the operator of this server.')}
          </Text>
        )}
      </div>
      {failure && (
        <Box px="lg" pb="1.25rem">
          <FormError failure={failure} />
        </Box>
      )}
      {steps && (
        <ol className={rows.rows}>
          {steps.map((step) => (
            <StepRow key={step.name} step={step} />
          ))}
        </ol>
      )}
    </Section>
  );
}

function StepRow({ step: { name, proves, passed, request, fault, durationMs } }: { step: Step }) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="baseline">
      <Badge color={passed ? 'good' : 'bad'}>{passed ? t('Passed') : t('Failed')}</Badge>
      <Box flex={1}>
        <p>
          <strong>{serverText(name)}.</strong> {fault ?? serverText(proves)}
        </p>
        <Text component="code" c="dimmed">
          {request}
        </Text>
      </Box>
      <Text span c="dimmed">
        {t('{time} ms', { time: durationMs })}
      </Text>
    </Group>
  );
}
