import { Alert, Group, Text, ThemeIcon } from '@mantine/core';
import { useState } from 'react';
import type { Failure } from '../../failure.ts';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { SecondaryButton } from '../buttons.tsx';
import { Icon } from '../icon.tsx';
import { Section } from '../layout/page.tsx';
import { RetryWait } from './retry-wait.tsx';

/** Replaces content that failed to load: the error and a retry button. */
export function LoadError({ failure, subject, retry }: { failure: Failure; subject: string; retry?: () => void }) {
  const isMissing = failure.code === 'not-found';
  return (
    <Section>
      <Group role="alert" align="flex-start" wrap="nowrap">
        <ThemeIcon size="3rem" radius="lg" variant="light" color="bad">
          <Icon name={isMissing ? 'search' : 'warning'} size={24} />
        </ThemeIcon>
        <div>
          <h2>
            {upper(isMissing ? t('{subject} not found', { subject }) : t('{subject} failed to load', { subject }))}
          </h2>
          <Text c="dimmed">
            {isMissing ? t('It was deleted, the address is wrong, or you lack access.') : failure.message}{' '}
            <RetryWait at={failure.retryAt} />
          </Text>
          {!isMissing && <Text c="dimmed">{t('Nothing was changed.')}</Text>}
          {failure.requestId && (
            <Text c="dimmed" fz="xs" mt="xs">
              {rich('Request <code>{requestId}</code>', { requestId: failure.requestId })}
            </Text>
          )}
          {retry && !isMissing && (
            <SecondaryButton onClick={retry} mt="sm">
              {t('Try again')}
            </SecondaryButton>
          )}
        </div>
      </Group>
    </Section>
  );
}

interface FormErrorProps {
  failure: Failure | undefined;
  except?: readonly string[] | undefined;
  /** After the current values were loaded. */
  onLoad?(): void;
}

/**
 * Error below a form. After a conflict, or if it is not known whether it was saved, it offers the current values.
 *
 * @param except fields that show their own errors
 */
export function FormError({ failure, except = [], onLoad }: FormErrorProps) {
  if (!failure || (failure.field !== undefined && except.includes(failure.field))) return null;
  return (
    <Alert color="bad" role="alert" py="xs">
      {failure.message} <RetryWait at={failure.retryAt} />
      {failure.load && <LoadCurrent load={failure.load} onLoad={onLoad} />}
      {failure.requestId && failure.code === 'INTERNAL_SERVER_ERROR' && (
        <Text fz="xs">{rich('Request <code>{requestId}</code>', { requestId: failure.requestId })}</Text>
      )}
    </Alert>
  );
}

function LoadCurrent({ load, onLoad }: { load: () => Promise<void>; onLoad: (() => void) | undefined }) {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    await load();
    onLoad?.();
  };
  return (
    <SecondaryButton size="compact-sm" loading={busy} onClick={() => void run()}>
      {t('Load current values')}
    </SecondaryButton>
  );
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
