/** `npm start`: runs the server, from a bare clone. `npm start -- <command>` passes the command to the server. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { compiled, fail, memoryOptions, projectNode, requireNode20, root, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled({ forServing: true });
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);

const server = spawn(
  projectNode(),
  [
    ...memoryOptions,
    '--import',
    new URL('lib/exit-with-parent.mjs', import.meta.url).href,
    join(root, 'server', 'dist', 'main.js'),
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    env: toolEnvironment({ LATCHKEY_PARENT_PIPE: '3', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? compiled }),
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  },
);

/** npm forwards the terminal's signal as well: signals within this time count as one. */
const ECHO_MS = 500;
let lastSignal = Number.NEGATIVE_INFINITY;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    const isEcho = performance.now() - lastSignal < ECHO_MS;
    lastSignal = performance.now();
    if (!isEcho) server.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  });
}
server.on('error', (error) => fail(`The server failed to start: ${error.message}`));
server.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
