import { t } from '../language/language.ts';
import { NewSecret } from '../ui/secrets/secret.tsx';

/** A new signing secret, shown once. */
export function SecretDialog({ secret, onDone }: { secret: string | undefined; onDone(): void }) {
  return (
    <NewSecret
      title={t('Signing secret')}
      fileName="webhook.secret.txt"
      stored="encrypted"
      label={t('Signing secret')}
      value={secret}
      hint={t('The receiver verifies signatures with it. Any Standard Webhooks library accepts it unchanged.')}
      onDone={onDone}
    />
  );
}
