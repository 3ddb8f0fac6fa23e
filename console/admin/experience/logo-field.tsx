import { Box, Button, FileButton, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { failureOf } from '../failure.ts';
import { t } from '../language/language.ts';
import { ownHeaders } from '../request.ts';
import { signInAgain } from '../sign-in-again.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icon.tsx';
import styles from './logo-field.module.css';

const accepted = 'image/png,image/jpeg,image/webp';
const maxBytes = 256 * 1024;

interface LogoFieldProps {
  projectId: string;
  label: string;
  hint: string;
  ground: 'light' | 'dark';
  /** Empty: none. */
  value: string;
  onChange(logoId: string): void;
  disabled: boolean;
}

/** Upload of one logo, previewed on its theme's background. */
export function LogoField({ projectId, label, hint, ground, value: logoId, onChange, disabled }: LogoFieldProps) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const verb = logoId ? t('Replace') : t('Upload');
  const upload = async (file: File | null) => {
    if (!file) return;
    setFault(undefined);
    setBusy(true);
    const outcome = await send(projectId, file);
    setBusy(false);
    if ('id' in outcome) onChange(outcome.id);
    else setFault(outcome.fault);
  };
  return (
    <Group gap="0.75rem 1rem" align="flex-start" role="group" aria-label={label}>
      <div className={styles.picture} data-ground={ground}>
        {logoId ? (
          <img src={`/experience/logos/${logoId}`} alt={t('{label} preview', { label })} />
        ) : (
          <Text fz="xs">{t('No logo')}</Text>
        )}
      </div>
      <Box flex="1 1 12rem">
        <Text fw={550}>{label}</Text>
        <Text fz="xs" c="dimmed">
          {hint}
        </Text>
        {fault && (
          <Text fz="xs" c="var(--bad)" role="alert">
            {fault}
          </Text>
        )}
        {!disabled && (
          <Group gap={4} mt="xs">
            <FileButton accept={accepted} onChange={(file) => void upload(file)}>
              {(props) => (
                <SecondaryButton {...props} size="compact-sm" loading={busy} aria-label={`${verb}: ${label}`}>
                  {verb}
                </SecondaryButton>
              )}
            </FileButton>
            {logoId && (
              <Button
                variant="subtle"
                color="gray"
                size="compact-sm"
                leftSection={<Icon name="trash" size={14} />}
                aria-label={t('Remove: {label}', { label })}
                onClick={() => onChange('')}
              >
                {t('Remove')}
              </Button>
            )}
          </Group>
        )}
      </Box>
    </Group>
  );
}

type Outcome = { id: string } | { fault: string };

async function send(projectId: string, file: File): Promise<Outcome> {
  if (file.size > maxBytes)
    return { fault: t('This file has {size} KB; the limit is 256 KB.', { size: Math.ceil(file.size / 1024) }) };
  try {
    for (;;) {
      const response = await fetch(`/admin/projects/${projectId}/logos`, {
        method: 'POST',
        headers: { ...ownHeaders, 'Content-Type': 'application/octet-stream' },
        body: file,
      });
      if (response.status === 401 && (await signInAgain('expired'))) continue;
      const body = (await response.json()) as { id?: string; errors?: { message: string }[] };
      if (body.id !== undefined) return { id: body.id };
      const message = body.errors?.[0]?.message;
      return {
        fault:
          message === undefined ? t('Upload failed.') : failureOf({ message, extensions: { field: 'logo' } }).message,
      };
    }
  } catch {
    return { fault: t('The server did not respond. Nothing was changed; try again.') };
  }
}
