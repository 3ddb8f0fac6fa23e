import { isIP, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { isPublicAddress } from '../../domain/kernel/network.ts';
import type { BatchOutcome } from '../../domain/streams/batch.ts';
import type { SyslogReceiver } from '../../domain/streams/stream-settings.ts';
import { lookupOf } from '../http/name-lookup.ts';
import { bySystemServers, notPublic, reasonOf } from '../http/outbound.ts';

/**
 * Sends frames over a new connection. Syslog has no acknowledgement: they count as accepted once the collector, after it
 * has read the end of the stream, has closed the connection without an error. Takes at most `timeoutMs`; never throws.
 */
export function sendSyslog(
  { host, port, tls }: SyslogReceiver,
  frames: Buffer,
  { allowPrivate, timeoutMs, ca }: { allowPrivate: boolean; timeoutMs: number; ca?: string },
): Promise<BatchOutcome> {
  return new Promise((done) => {
    // An IP address is never resolved.
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return done(notPublic);
    const lookup = allowPrivate ? undefined : lookupOf(bySystemServers, isPublicAddress, notPublic.error);
    const options = { host, port, lookup, signal: AbortSignal.timeout(timeoutMs) };
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = tls ? tlsConnect({ ...options, ...servername, ...(ca && { ca }) }) : tcpConnect(options);
    const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), timeoutMs);
    let hasEnded = false;
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      if (!allowPrivate && !isPublicAddress(socket.remoteAddress ?? '')) socket.destroy(new Error(notPublic.error));
      else socket.end(frames);
    });
    socket.resume();
    socket.on('end', () => (hasEnded = true));
    socket.on('error', (error) => done({ error: reasonOf(error) }));
    socket.on('close', () => {
      clearTimeout(timer);
      done(hasEnded && socket.writableFinished ? { accepted: true } : { error: 'the connection was cut' });
    });
  });
}
