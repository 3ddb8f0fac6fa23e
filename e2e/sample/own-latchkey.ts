import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type AdminCall, adminCall } from './relying-party.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The samples listen here. */
export const port = process.env['SAMPLE_PORT'] ?? '4000';
export const origin = `http://localhost:${port}`;
export const dataDir = process.env['DATA_DIR'] ?? join(root, 'data');

/** Starts the server of this checkout on the embedded database, waits until it is ready, and ends with it. */
export async function ownLatchkey(): Promise<{ baseUrl: string; admin: AdminCall }> {
  const latchkeyPort = process.env['PORT'] ?? '3000';
  const managementPort = process.env['MANAGEMENT_PORT'] ?? '9000';
  const baseUrl = process.env['BASE_URL'] ?? `http://localhost:${latchkeyPort}`;
  const adminToken = randomBytes(32).toString('base64url');

  // When this process ends, the pipe closes and the server stops.
  const exitWithParent = ['--import', pathToFileURL(join(root, '.config/lib/exit-with-parent.mjs')).href];
  const server = ['--enable-source-maps', ...exitWithParent, join(root, 'server/dist/main.js')];
  const latchkey = spawn(process.execPath, server, {
    cwd: root,
    env: {
      ...process.env,
      BASE_URL: baseUrl,
      PORT: latchkeyPort,
      MANAGEMENT_PORT: managementPort,
      DATA_DIR: dataDir,
      BOOTSTRAP_ADMIN_TOKEN: adminToken,
      // The samples listen on loopback.
      DANGER_ALLOW_PRIVATE_TARGETS: 'true',
      LATCHKEY_PARENT_PIPE: '3',
    },
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    detached: true,
  });
  latchkey.on('exit', (code) => process.exit(code ?? 1));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => latchkey.kill('SIGTERM'));
  await ready(latchkey, managementPort);
  return { baseUrl, admin: adminCall(baseUrl, adminToken) };
}

async function ready(child: ChildProcess, managementPort: string): Promise<void> {
  const health = `http://127.0.0.1:${managementPort}/health/ready`;
  while (child.exitCode === null && !(await fetch(health).catch(() => undefined))?.ok) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
