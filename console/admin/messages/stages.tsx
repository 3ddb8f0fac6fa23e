import { Group, Stack, Text, ThemeIcon } from '@mantine/core';
import type { TestSenderMutation } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { stageNames } from './labels.ts';

type Stage = TestSenderMutation['testSender']['stages'][number];

const labels: Record<string, string> = {
  passed: t('passed'),
  failed: t('failed'),
  skipped: t('nothing to do'),
  'not-reached': t('not reached'),
};

const signs: Record<string, { icon: IconName; color: string }> = {
  passed: { icon: 'check', color: 'var(--good)' },
  failed: { icon: 'close', color: 'var(--bad)' },
};

/** Stages of a delivery test, each with its result and, on failure, advice. */
export function Stages({ stages }: { stages: readonly Stage[] }) {
  return (
    <Stack component="ol" gap="sm">
      {stages.map(({ name, state, milliseconds, detail, advice }) => (
        <Group key={name} component="li" gap="xs" wrap="nowrap" align="flex-start" c="var(--text)">
          <ThemeIcon size="1.5rem" radius="xl" variant="outline" color={signs[state]?.color ?? 'var(--soft)'}>
            <Icon name={signs[state]?.icon ?? 'more'} size={16} />
          </ThemeIcon>
          <div>
            <Text fw={600} {...(state === 'not-reached' ? { c: 'dimmed' } : {})}>
              {stageNames[name] ?? name}{' '}
              <Text span fz="xs" fw={400} c="dimmed">
                {labels[state] ?? state}
                {milliseconds !== null && milliseconds > 0 && ` ${t('in {time} ms', { time: milliseconds })}`}
              </Text>
            </Text>
            {detail && (
              <Text fz="xs" c="dimmed" ff="monospace">
                {detail}
              </Text>
            )}
            {advice}
          </div>
        </Group>
      ))}
    </Stack>
  );
}
