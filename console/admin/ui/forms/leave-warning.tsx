import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useBlocker } from 'react-router';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';
import { useUnloadWarning } from './unload-warning.ts';

/** While `warns`, asks before another page opens, and lets the browser ask before this one closes. One per page. */
export function LeaveWarning({ warns, text }: { warns: boolean; text: ReactNode }) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => warns && currentLocation.pathname !== nextLocation.pathname,
  );
  useUnloadWarning(warns);
  return (
    <Modal
      opened={blocker.state === 'blocked'}
      onClose={() => blocker.reset?.()}
      title={t('Leave without saving?')}
      size="sm"
    >
      <Stack gap="lg">
        <p>{text}</p>
        <Group justify="flex-end" gap="xs">
          <SecondaryButton onClick={() => blocker.reset?.()} data-autofocus>
            {t('Stay')}
          </SecondaryButton>
          <Button color="red" onClick={() => blocker.proceed?.()}>
            {t('Leave')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
