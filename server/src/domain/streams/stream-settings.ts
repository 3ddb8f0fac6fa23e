import { isIP } from 'node:net';
import { checkLogoutUri } from '../clients/logout-uri.ts';
import { isPrivateHost } from '../kernel/network.ts';
import { refuse } from '../kernel/problem.ts';
import type { BatchFormat, StreamKind } from './log-stream.entity.ts';

/** Settings that an admin can change. */
export interface StreamSettings {
  target: string;
  description: string;
  /** Event types, or `noun.*`; empty: all. */
  types: readonly string[];
  format: BatchFormat;
  gzip: boolean;
  /** Name of the header with {@link secret}; null: none. */
  header: string | null;
  /** Value of the header; null: none. */
  secret: string | null;
}

/** Targets that streams of this instance may have. */
export interface Reach {
  /** Also private addresses, plain http and plain TCP. */
  allowPrivate: boolean;
  /** Whether the operator has set a folder for files. */
  hasFolder: boolean;
}

const maxSecret = 4096;
/** Set by the connection itself. */
const ownHeaders =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|cookie|proxy-.*|traceparent|tracestate)$/i;

/** Refuses `invalid`, field `kind` or `target`. */
export function checkedTarget(kind: StreamKind, target: string, isOfInstance: boolean, reach: Reach): string {
  const text = target.trim();
  if (kind === 'file') {
    if (!isOfInstance) refuse({ code: 'invalid', field: 'kind', reason: 'files are for streams of the instance' });
    if (!reach.hasFolder) refuse({ code: 'invalid', field: 'kind', reason: 'needs the setting LOG_STREAM_DIR' });
  }
  const reason = targetFault(kind, text, reach);
  if (reason !== null) refuse({ code: 'invalid', field: 'target', reason });
  return text;
}

function targetFault(kind: StreamKind, target: string, { allowPrivate }: Reach): string | null {
  if (kind === 'file') {
    const isName = /^[a-z0-9][a-z0-9_-]{0,63}\.jsonl$/.test(target);
    return isName ? null : 'must be a file name of a-z, 0-9, - and _ that ends in .jsonl, without a folder';
  }
  if (kind === 'http') return checkLogoutUri(target, allowPrivate);
  const receiver = syslogReceiver(target);
  if (receiver === null) return 'must be tls://host:port or tcp://host:port, with a port from 1 to 65535';
  if (!receiver.tls && !allowPrivate) return 'must be tls: tcp is not encrypted';
  return !allowPrivate && isPrivateHost(receiver.host) ? 'must have a public address' : null;
}

/** A collector of syslog messages. */
export interface SyslogReceiver {
  host: string;
  port: number;
  tls: boolean;
}

/** Parses `tls://host:port` or `tcp://host:port`; null if it is neither. */
export function syslogReceiver(target: string): SyslogReceiver | null {
  const parts = /^(tls|tcp):\/\/([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):(\d{1,5})$/i.exec(target);
  if (!parts) return null;
  const [, scheme = '', name = '', digits] = parts;
  const host = name.replace(/^\[|\]$/g, '');
  const port = Number(digits);
  if (port < 1 || port > 65_535 || (name.startsWith('[') && isIP(host) !== 6)) return null;
  return { host, port, tls: scheme.toLowerCase() === 'tls' };
}

/** The header with its secret. Refuses `invalid`, field `header` or `secret`. */
export function checkedHeader(
  kind: StreamKind,
  { header, secret }: Pick<StreamSettings, 'header' | 'secret'>,
): { header: string; secret: string } | null {
  if (header === null && secret === null) return null;
  if (kind !== 'http') refuse({ code: 'invalid', field: 'secret', reason: 'is for HTTP only' });
  const name = (header ?? 'Authorization').trim();
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(name) || ownHeaders.test(name)) {
    refuse({
      code: 'invalid',
      field: 'header',
      reason: 'must be the name of a header that the connection does not set',
    });
  }
  const value = (secret ?? '').trim();
  if (!/^[\x20-\x7e]+$/.test(value) || value.length > maxSecret) {
    refuse({
      code: 'invalid',
      field: 'secret',
      reason: 'must be 1 to 4,096 printable ASCII characters, e.g. Bearer and a token',
    });
  }
  return { header: name, secret: value };
}
