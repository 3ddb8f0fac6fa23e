import { existsSync, statfsSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { dirname } from 'node:path';
import { connect as connectTls } from 'node:tls';

const timeoutMs = 5_000;

/** Connects, with TLS where the address says so, and sends nothing. Returns milliseconds; throws with the reason. */
export function reachAddress(address: string): Promise<number> {
  const { protocol, hostname, port } = new URL(address);
  const isSecure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const to = { host, port: Number(port) || (isSecure ? 443 : 80), ...(isIP(host) ? {} : { servername: host }) };
  const began = performance.now();
  return new Promise((done, fail) => {
    const socket = isSecure ? connectTls(to) : connect(to);
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      socket.destroy();
      done(performance.now() - began);
    });
    socket.once('error', fail);
  });
}

/** The JSON at an address of our own; throws with the reason. */
export async function fetchJson(address: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
  return { status: response.status, body: await response.json().catch(() => null) };
}

/** Bytes free and in all on the disk of a folder, or of the nearest folder above it that exists. */
export function diskSpace(folder: string): { free: number; total: number } {
  let at = folder;
  while (!existsSync(at)) at = dirname(at);
  const { bavail, blocks, bsize } = statfsSync(at);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** How long it takes, in milliseconds: the median of some rounds. */
export async function medianMs(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    await work();
    taken.push(performance.now() - began);
  }
  return taken.sort((a, b) => a - b)[rounds >> 1] as number;
}

/** Why something could not be reached, in few words. */
export function reasonOf(error: unknown): string {
  const { code, cause, message } = error as { code?: unknown; cause?: unknown; message?: string };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? reasonOf(cause) : (message ?? 'failed');
}
