import { Badge } from '@mantine/core';
import type { LogStreamRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';

export type Stream = LogStreamRowFragment;

export const kindNames = { HTTP: 'HTTP', SYSLOG: t('Syslog'), FILE: t('File') } as const;

/** Names of the target, per kind. */
export const targetNames = { HTTP: t('URL'), SYSLOG: t('Collector'), FILE: t('File name') } as const;

export function StreamState({ stream: { paused, failures, lastDeliveredAt } }: { stream: Stream }) {
  if (paused) return <Badge>{t('Paused')}</Badge>;
  if (failures > 0) return <Badge color="note">{t('Failing')}</Badge>;
  return lastDeliveredAt ? <Badge color="good">{t('OK')}</Badge> : <Badge>{t('No events yet')}</Badge>;
}

/** The last error in words, with advice. */
export function faultOf(error: string): string {
  const status = /^status (\d+)$/.exec(error)?.[1];
  if (status === '401' || status === '403')
    return t('The receiver responded with {status}. Check the secret.', { status });
  if (status === '404' || status === '405')
    return t('The receiver responded with {status}. Check the target.', { status });
  if (status === '413') return t('The receiver responded with 413: the batch is too large. Smaller batches follow.');
  if (status?.startsWith('3'))
    return t('The receiver responded with {status}. Redirects are not followed: enter the target address.', { status });
  if (status) return t('The receiver responded with {status}. Only 200 to 299 count as delivered.', { status });
  return (
    faults[error] ??
    (/CERT|SIGNED|ALTNAME/.test(error)
      ? t('The certificate is not trusted ({error}).', { error })
      : t('Error: {error}.', { error }))
  );
}

const faults: Record<string, string> = {
  'no answer in time': t('No response within 10 seconds.'),
  'the address is not public': t('The host has no public address.'),
  'the connection was cut': t('The receiver closed the connection before it had read the batch.'),
  'LOG_STREAM_DIR is not set': t('The setting LOG_STREAM_DIR is missing.'),
  ECONNREFUSED: t('The receiver refused the connection. Check host and port.'),
  ECONNRESET: t('The receiver reset the connection.'),
  ENOTFOUND: t('The host name does not exist.'),
  ENOENT: t('The folder of LOG_STREAM_DIR does not exist.'),
  EACCES: t('Latchkey may not write to the file.'),
  ENOSPC: t('The disk is full.'),
  ELOOP: t('The file is a symbolic link.'),
};
