/**
 * Loaded into the server by start.mjs. The server has a process group of its own, so that Ctrl-C reaches it once and
 * not three times (from the terminal, from npm and from start.mjs); this ends it where start.mjs is killed outright.
 */
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const descriptor = Number(process.env.LATCHKEY_LIFELINE);
if (isMainThread && descriptor > 2) {
  delete process.env.LATCHKEY_LIFELINE;
  const line = new Socket({ fd: descriptor, readable: true, writable: false });
  line.on('error', () => undefined).on('close', () => process.kill(process.pid, 'SIGKILL'));
  line.resume().unref();
}
