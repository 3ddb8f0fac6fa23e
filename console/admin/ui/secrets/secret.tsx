import { Alert, Button, Checkbox, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import { lower, t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { SecondaryButton } from '../buttons.tsx';
import { CopyField } from '../code/copy.tsx';
import { saveFile } from '../files/save-file.ts';
import { LeaveWarning } from '../forms/leave-warning.tsx';
import { Icon } from '../icon.tsx';
import { Time } from '../time.tsx';

interface Secret {
  label: string;
  value: string;
  hint?: string;
  /** Shown again later. */
  isPublic?: boolean;
}

interface SecretsProps {
  secrets: readonly Secret[];
  /** Name of the downloaded file. */
  fileName: string;
  /** The form in which Latchkey stores the secret values. */
  stored?: 'as a hash' | 'encrypted';
  onDone(): void;
}

/** New keys, to copy or download; secret ones are shown once, and saved before it closes. Leaving without a copy asks first. */
export function Secrets({ secrets, fileName, stored = 'as a hash', onDone }: SecretsProps) {
  const secret = secrets.filter(({ isPublic }) => !isPublic).map(({ label }) => label);
  const [saved, setSaved] = useState(secret.length === 0);
  const [copied, setCopied] = useState<readonly string[]>([]);
  const names = t('Shown only once: {names}.', { names: secret.map(lower).join(', ') });
  const count = { count: secret.length };
  const text = secrets.map(({ label, value }) => `# ${label}\n${value}\n`).join('\n');
  return (
    <Stack>
      {secret.length > 0 && (
        <Alert icon={<Icon name="lock" size={18} />} py="xs">
          {secret.length < secrets.length ? names : t('Shown only once.')}{' '}
          {stored === 'encrypted'
            ? t('{count, plural, one {Latchkey stores it encrypted.} other {Latchkey stores them encrypted.}}', count)
            : t('{count, plural, one {Latchkey stores it as a hash.} other {Latchkey stores them as a hash.}}', count)}
        </Alert>
      )}
      {secrets.map(({ isPublic: _, ...field }) => (
        <CopyField key={field.label} {...field} onCopy={() => setCopied((before) => [...before, field.label])} />
      ))}
      <Group>
        <SecondaryButton
          onClick={() => {
            saveFile(fileName, text);
            setCopied(secret);
          }}
          leftSection={<Icon name="download" size={16} />}
        >
          {t('Download as file')}
        </SecondaryButton>
      </Group>
      <Group justify="space-between" pt="md" style={{ borderTop: '1px solid var(--line)' }}>
        {secret.length > 0 && (
          <Checkbox
            label={t("I've saved these keys")}
            checked={saved}
            onChange={(event) => setSaved(event.currentTarget.checked)}
          />
        )}
        <Button ml="auto" disabled={!saved} onClick={onDone}>
          {t('Done')}
        </Button>
      </Group>
      <LeaveWarning warns={!saved && !secret.every((label) => copied.includes(label))} text={names} />
    </Stack>
  );
}

interface NewSecretProps extends Omit<SecretsProps, 'secrets'>, Omit<Secret, 'value'> {
  title: string;
  /** The dialog is open while there is one. */
  value: string | undefined;
}

/** A dialog with one new key. */
export function NewSecret({ title, fileName, stored = 'as a hash', onDone, value, ...secret }: NewSecretProps) {
  return (
    <Modal opened={value !== undefined} onClose={onDone} title={title} size="lg" {...untilSaved}>
      {value !== undefined && <Secrets {...{ fileName, stored, onDone }} secrets={[{ ...secret, value }]} />}
    </Modal>
  );
}

/** Props of a dialog that only "Done" closes. */
export const untilSaved = { withCloseButton: false, closeOnClickOutside: false, closeOnEscape: false } as const;

/** A sentence about the last use of a secret. */
export function LastUse({ at }: { at: string | null | undefined }) {
  if (!at) return t('It has never been used.');
  return rich('It was last used <time></time>.', { time: () => <Time at={at} /> });
}
