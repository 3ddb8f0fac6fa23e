import { existsSync, statfsSync } from 'node:fs';
import { connect, isIP, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { connect as connectTls } from 'node:tls';
import pg from 'pg';
import { serverLimits } from '../postgres/database.ts';

/** Connects, with TLS for https, and sends nothing. Returns milliseconds; throws with the reason. */
export function reachAddress(address: string, withinMs: number): Promise<number> {
  const { protocol, hostname, port } = new URL(address);
  const isSecure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const to = { host, port: Number(port) || (isSecure ? 443 : 80), ...(isIP(host) ? {} : { servername: host }) };
  const began = performance.now();
  return new Promise((done, fail) => {
    const socket = isSecure ? connectTls(to) : connect(to);
    const late = setTimeout(() => socket.destroy(new Error(timeoutReason(withinMs))), withinMs);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      socket.destroy();
      done(performance.now() - began);
    });
    socket.once('error', fail);
    socket.once('close', () => clearTimeout(late));
  });
}

/** Connects to PostgreSQL with the settings of a server and runs one query; throws with the reason. */
export async function reachPostgres(url: string, withinMs: number): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'latchkey-doctor',
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
    ...serverLimits,
  });
  client.on('error', () => undefined);
  const late = setTimeout(() => streamOf(client).destroy(new Error(timeoutReason(withinMs))), withinMs);
  try {
    await client.connect();
    await client.query('select 1');
  } catch (error) {
    throw (error as Error).message === 'timeout expired' ? new Error(timeoutReason(withinMs)) : error;
  } finally {
    clearTimeout(late);
    streamOf(client).destroy();
  }
}

/** Part of pg that its types omit. */
const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Fetches JSON from our own server; throws with the reason. */
export async function fetchJson(address: string, withinMs: number): Promise<{ status: number; body: unknown }> {
  const signal = AbortSignal.timeout(withinMs);
  try {
    const response = await fetch(address, { signal, redirect: 'manual' });
    const text = await response.text();
    return { status: response.status, body: jsonOf(text) };
  } catch (error) {
    throw signal.aborted ? new Error(timeoutReason(withinMs)) : error;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const timeoutReason = (withinMs: number): string => `no response within ${withinMs / 1000} s`;

/** Free and total bytes on the disk of a folder, or of its nearest existing parent. */
export function diskSpace(folder: string): { free: number; total: number } {
  let at = folder;
  while (!existsSync(at)) at = dirname(at);
  const { bavail, blocks, bsize } = statfsSync(at);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Median duration in milliseconds. */
export async function medianMs(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    await work();
    taken.push(performance.now() - began);
  }
  return taken.sort((a, b) => a - b)[rounds >> 1] as number;
}

/** A short reason for a failed connection. */
export function reasonOf(error: unknown): string {
  // PostgreSQL's message is more readable than its code.
  if (error instanceof pg.DatabaseError) return error.message;
  const { code, cause, message } = error as { code?: unknown; cause?: unknown; message?: string };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? reasonOf(cause) : (message ?? 'failed');
}
