import { Alert, Button, Checkbox, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { CopyField } from '../code/copy.tsx';
import { saveFile } from '../files/save-file.ts';
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
  /** How Latchkey keeps the secret ones. */
  stored?: 'as a hash' | 'encrypted';
  onDone(): void;
}

/** New keys, to copy or download; secret ones are shown once. */
export function Secrets({ secrets, fileName, stored = 'as a hash', onDone }: SecretsProps) {
  const [saved, setSaved] = useState(false);
  const secret = secrets.filter(({ isPublic }) => !isPublic).map(({ label }) => label);
  const text = secrets.map(({ label, value }) => `# ${label}\n${value}\n`).join('\n');
  return (
    <Stack>
      {secret.length > 0 && (
        <Alert icon={<Icon name="lock" size={18} />} py="xs">
          Shown only once{secret.length < secrets.length && `: ${secret.join(', ').toLowerCase()}`}. Latchkey stores{' '}
          {secret.length > 1 ? 'them' : 'it'} {stored}.
        </Alert>
      )}
      {secrets.map(({ isPublic: _, ...field }) => (
        <CopyField key={field.label} {...field} />
      ))}
      <Group>
        <Button
          variant="default"
          onClick={() => saveFile(fileName, text)}
          leftSection={<Icon name="download" size={16} />}
        >
          Download as file
        </Button>
      </Group>
      <Group justify="space-between" pt="md" style={{ borderTop: '1px solid var(--line)' }}>
        <Checkbox
          label="I've saved these keys"
          checked={saved}
          onChange={(event) => setSaved(event.currentTarget.checked)}
        />
        <Button disabled={!saved} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

/** Props of a dialog that only "Done" closes. */
export const untilSaved = { withCloseButton: false, closeOnClickOutside: false, closeOnEscape: false } as const;

/** A sentence about the last use of a secret. */
export function LastUse({ at }: { at: string | null | undefined }) {
  if (!at) return 'It has never been used.';
  return (
    <>
      It was last used <Time at={at} />.
    </>
  );
}
