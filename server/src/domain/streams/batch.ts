import { gzipSync } from 'node:zlib';
import type { AuditEvent } from '../audit/audit-event.entity.ts';
import type { Vault } from '../keys/vault.ts';
import { payloadOf } from '../webhooks/payload.ts';
import type { LogStream } from './log-stream.entity.ts';
import type { Numbered } from './stream-log.ts';
import { type SyslogReceiver, syslogReceiver } from './stream-settings.ts';
import { framed, syslogMessage } from './syslog.ts';

export const secretPurpose = 'log-stream-secret';
/** The event of a test: its stream receives it regardless of its filter. */
export const testType = 'log-stream.tested';
const maxBytes = 1024 * 1024;

/** Events as an adapter sends them. */
export type Batch =
  | { kind: 'http'; url: string; contentType: string; headers: Record<string, string>; body: Buffer }
  | { kind: 'syslog'; receiver: SyslogReceiver; body: Buffer }
  | { kind: 'file'; name: string; body: Buffer };

/** An accepted batch, or the reason in words. */
export type BatchOutcome = { accepted: true } | { error: string };

/** Sends one batch; never throws. Takes at most 10 seconds. */
export type SendBatch = (batch: Batch) => Promise<BatchOutcome>;

/** Whether a stream receives an event. */
function wants({ id, types }: Pick<LogStream, 'id' | 'types'>, event: AuditEvent): boolean {
  if (types.length === 0 || types.includes(event.type) || types.includes(`${event.type.split('.')[0]}.*`)) return true;
  return event.type === testType && event.subjectId === id;
}

/** The next part of the log for a stream. */
export interface Portion {
  /** Null: its filter skips all events. */
  batch: Batch | null;
  /** The position that it reaches. */
  position: number;
  /** Whether the log had more events than fit. */
  isCut: boolean;
}

/** The events that match the filter of a stream, up to 1 MB, and at least one. @param host the instance's, for syslog */
export function portionOf(stream: LogStream, numbered: readonly Numbered[], vault: Vault, host: string): Portion {
  const lines: string[] = [];
  let [bytes, position] = [0, stream.position];
  for (const one of numbered) {
    if (one.event && wants(stream, one.event)) {
      const json = payloadOf(one.event);
      const line = stream.kind === 'syslog' ? syslogMessage(one.event, json, host) : json;
      bytes += Buffer.byteLength(line) + 1;
      if (lines.length > 0 && bytes > maxBytes) return { batch: batchOf(stream, lines, vault), position, isCut: true };
      lines.push(line);
    }
    position = one.position;
  }
  return { batch: lines.length === 0 ? null : batchOf(stream, lines, vault), position, isCut: false };
}

function batchOf(stream: LogStream, lines: readonly string[], vault: Vault): Batch {
  const { kind, target, format, gzip, header, sealedSecret, id } = stream;
  const jsonLines = () => `${lines.join('\n')}\n`;
  if (kind === 'file') return { kind, name: target, body: Buffer.from(jsonLines()) };
  if (kind === 'syslog') return { kind, receiver: syslogReceiver(target) as SyslogReceiver, body: framed(lines) };
  const text = Buffer.from(format === 'json-array' ? `[${lines.join(',')}]` : jsonLines());
  const secret =
    header == null || sealedSecret == null ? {} : { [header]: vault.open(secretPurpose, id, sealedSecret).toString() };
  return {
    kind,
    url: target,
    contentType: format === 'json-array' ? 'application/json' : 'application/x-ndjson',
    headers: { ...secret, ...(gzip ? { 'Content-Encoding': 'gzip' } : {}) },
    body: gzip ? gzipSync(text) : text,
  };
}
