import { Alert, Button, Text } from '@mantine/core';
import type { Failure } from '../../failure.ts';
import { Icon } from '../icon.tsx';
import styles from './errors.module.css';

/** Replaces content that failed to load: the error and a retry button. */
export function LoadError({ failure, subject, retry }: { failure: Failure; subject: string; retry?: () => void }) {
  const isMissing = failure.code === 'not-found';
  return (
    <div className={styles.failed} role="alert">
      <span className={styles.icon}>
        <Icon name={isMissing ? 'search' : 'warning'} size={24} />
      </span>
      <div>
        <h2>{isMissing ? `${upper(subject)} not found` : `${upper(subject)} failed to load`}</h2>
        <p>{isMissing ? 'It was deleted, the address is wrong, or you lack access.' : failure.message}</p>
        {!isMissing && <p>Nothing was changed.</p>}
        {failure.requestId && (
          <p className={styles.request}>
            Request <code>{failure.requestId}</code>
          </p>
        )}
        {retry && !isMissing && (
          <Button variant="default" onClick={retry} mt="sm">
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}

/** Error below a form that was not saved. */
export function FormError({ failure }: { failure: Failure | undefined }) {
  if (!failure) return null;
  return (
    <Alert color="bad" role="alert" py="xs">
      {failure.message}
      {failure.code === 'network' && ' Nothing was saved; your input is kept.'}
      {failure.requestId && failure.code === 'INTERNAL_SERVER_ERROR' && (
        <Text size="xs">
          Request <code>{failure.requestId}</code>
        </Text>
      )}
    </Alert>
  );
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
