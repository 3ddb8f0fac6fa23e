import { Modal } from '@mantine/core';
import { t } from '../language/language.ts';
import { Secrets, untilSaved } from '../ui/secrets/secret.tsx';

/** A new signing secret, shown once. */
export function SecretDialog({ secret, onDone }: { secret: string | undefined; onDone(): void }) {
  return (
    <Modal opened={secret !== undefined} onClose={onDone} title={t('Signing secret')} size="lg" {...untilSaved}>
      {secret && (
        <Secrets
          fileName="webhook.secret.txt"
          stored="encrypted"
          secrets={[
            {
              label: t('Signing secret'),
              value: secret,
              hint: t('The receiver verifies signatures with it. Any Standard Webhooks library takes it as it is.'),
            },
          ]}
          onDone={onDone}
        />
      )}
    </Modal>
  );
}
