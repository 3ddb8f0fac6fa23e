import { Badge } from '@mantine/core';
import type { LogStreamRowFragment } from '../generated/operations.ts';

export type Stream = LogStreamRowFragment;

export const kindNames = { HTTP: 'HTTP', SYSLOG: 'Syslog', FILE: 'File' } as const;

export function StreamState({ stream: { paused, failures, lastDeliveredAt } }: { stream: Stream }) {
  if (paused) return <Badge>Paused</Badge>;
  if (failures > 0) return <Badge color="note">Failing</Badge>;
  return lastDeliveredAt ? <Badge color="good">OK</Badge> : <Badge>No events yet</Badge>;
}

/** The last error in words, with advice. */
export function faultOf(error: string): string {
  const status = /^status (\d+)$/.exec(error)?.[1];
  if (status === '401' || status === '403') return `The receiver answered ${status}. Check the secret.`;
  if (status === '404' || status === '405') return `The receiver answered ${status}. Check the target.`;
  if (status === '413') return 'The receiver answered 413: the batch is too large. Smaller batches follow.';
  if (status?.startsWith('3'))
    return `The receiver answered ${status}. Redirects are not followed: enter the target address.`;
  if (status) return `The receiver answered ${status}. Only 200 to 299 count as delivered.`;
  return (
    faults[error] ??
    (/CERT|SIGNED|ALTNAME/.test(error) ? `The certificate is not trusted (${error}).` : `Error: ${error}.`)
  );
}

const faults: Record<string, string> = {
  'no answer in time': 'No answer within 10 seconds.',
  'the address is not public': 'The host has no public address.',
  'the connection was cut': 'The receiver closed the connection before it had read the batch.',
  'LOG_STREAM_DIR is not set': 'The setting LOG_STREAM_DIR is missing.',
  ECONNREFUSED: 'The receiver refused the connection. Check host and port.',
  ECONNRESET: 'The receiver cut the connection.',
  ENOTFOUND: 'The host name does not exist.',
  ENOENT: 'The folder of LOG_STREAM_DIR does not exist.',
  EACCES: 'Latchkey may not write to the file.',
  ENOSPC: 'The disk is full.',
  ELOOP: 'The file is a symbolic link.',
};
