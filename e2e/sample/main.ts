/**
 * `npm run sample`: a relying party with its own Latchkey, on http://localhost:4000. Starts the server on the embedded
 * database, registers a client in the demo project, and stores it in the data folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sampleApp } from './app.ts';
import { type AdminCall, adminCall, demoProject, registerSample, type Settings } from './relying-party.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const port = process.env['SAMPLE_PORT'] ?? '4000';
const latchkeyPort = process.env['PORT'] ?? '3000';
const managementPort = process.env['MANAGEMENT_PORT'] ?? '9000';
const dataDir = process.env['DATA_DIR'] ?? join(root, 'data');
const origin = `http://localhost:${port}`;
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
    // The sample listens on loopback.
    DANGER_ALLOW_PRIVATE_TARGETS: 'true',
    LATCHKEY_PARENT_PIPE: '3',
  },
  stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  detached: true,
});
latchkey.on('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => latchkey.kill('SIGTERM'));

await ready(latchkey);
const settings = await remembered(adminCall(baseUrl, adminToken));
const sample = createServer(sampleApp(settings, origin)).listen(Number(port), 'localhost');
await once(sample, 'listening');
console.log(`\nThe sample relying party is at ${origin}. Codes are in the dev mailbox: open the setup link above.`);

async function ready(child: ChildProcess): Promise<void> {
  const health = `http://127.0.0.1:${managementPort}/health/ready`;
  while (child.exitCode === null && !(await fetch(health).catch(() => undefined))?.ok) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The client of an earlier run, if it still exists; else a new one. */
async function remembered(admin: AdminCall): Promise<Settings> {
  const path = join(dataDir, 'sample.json');
  if (existsSync(path)) {
    const known = JSON.parse(readFileSync(path, 'utf8')) as { origin: string; settings: Settings };
    const shown = await admin('query ($id: ID!) { client(id: $id) { id } }', { id: known.settings.clientId }).catch(
      () => null,
    );
    // Clients of earlier releases of the sample have no session secret, and a different logout address.
    const isCurrent = known.origin === origin && known.settings.baseUrl === baseUrl && known.settings.sessionSecret;
    if (shown && isCurrent) return known.settings;
  }
  const made = await registerSample(admin, { baseUrl, origin, projectId: await demoProject(admin) });
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(path, JSON.stringify({ origin, settings: made }), { mode: 0o600 });
  return made;
}
