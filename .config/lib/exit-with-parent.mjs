/**
 * Preloaded into the server by start.mjs. The server has its own process group, so that Ctrl-C does not reach it three
 * times (from terminal, npm and start.mjs); this stops it if start.mjs is killed.
 */
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const descriptor = Number(process.env.LATCHKEY_PARENT_PIPE);
if (isMainThread && descriptor > 2) {
  delete process.env.LATCHKEY_PARENT_PIPE;
  const line = new Socket({ fd: descriptor, readable: true, writable: false });
  line.on('error', () => undefined).on('close', () => process.kill(process.pid, 'SIGKILL'));
  line.resume().unref();
}
