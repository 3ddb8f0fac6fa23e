import { Button, Group, getDefaultZIndex, Modal, Stack } from '@mantine/core';
import { t } from '../language/language.ts';
import { openSignIn, usePrompt } from '../sign-in-again.ts';
import { SecondaryButton } from '../ui/buttons.tsx';

/** Prompts for sign-in without leaving the page; unsaved input stays and the pending request is retried. */
export function SignInAgain() {
  const prompt = usePrompt();
  const isExpired = prompt?.reason === 'expired';
  return (
    <Modal
      opened={prompt !== undefined}
      onClose={() => prompt?.answer(false)}
      title={isExpired ? t('You have been signed out') : t('Confirm your identity')}
      // Above the dialog whose change needs the sign-in.
      zIndex={getDefaultZIndex('overlay')}
    >
      <Stack gap="lg">
        <p>
          {isExpired
            ? t('Your session has ended. Sign in again in a popup; this page stays open.')
            : t(
                'This change needs a code, passkey or second factor from the last 15 minutes. A sign-in by the key of this browser alone does not count. Sign in again in a popup; your input is kept.',
              )}
        </p>
        <Group gap="xs" justify="flex-end">
          <SecondaryButton onClick={() => prompt?.answer(false)}>{t('Not now')}</SecondaryButton>
          <Button onClick={() => openSignIn(prompt?.reason ?? 'expired')} data-autofocus>
            {t('Sign in again')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
