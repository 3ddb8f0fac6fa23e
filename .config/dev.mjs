/**
 * `npm run dev`: the server, compiled and restarted on each change, and the console with hot module replacement, at one
 * address. The embedded database stays up, and the setup link is made once.
 * Flags for Node pass through: `npm run dev -- --inspect`.
 */
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { openDoor } from './lib/dev-door.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { fail, memoryOptions, projectNode, requireNode20, root, say, tool, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);

const port = Number(process.env.PORT ?? 8080);
const serverPort = port + 1;
const closers = [];

if (!process.env.DATABASE_URL) {
  const { startEmbeddedPostgres } = await import(join(root, 'server/dist/adapters/embedded/postgres.js'));
  const database = await startEmbeddedPostgres({
    dataDir: process.env.DATA_DIR ?? join(root, 'data'),
    onProgress: say,
  });
  closers.push(() => database.stop());
}
closers.push(await openDoor({ port, serverPort }));
start(tool('tsc'), ['-b', '--watch', '--preserveWatchOutput']);

let server;
let isFirst = true;
let changedAt;
await restart();

onChange(['server/dist', 'shared/contracts/dist'], /\.js$/, async () => {
  changedAt = performance.now();
  await restart();
});
// The hosted pages are templates that the server fills.
onChange(['console/signin', 'console/demo', 'shared/browser/src'], /^[^.].*[^~]$/, async () => {
  const builder = spawn(tool('vite'), ['build', '--logLevel', 'warn'], settings(join(root, 'console')));
  await new Promise((resolve) => builder.once('exit', resolve));
});

async function restart() {
  if (server !== undefined) await ended(server);
  server = spawn(
    projectNode(),
    [
      '--enable-source-maps',
      ...memoryOptions,
      ...process.argv.slice(2).filter((flag) => flag.startsWith('-')),
      join(root, 'server/dist/main.js'),
    ],
    settings(root, {
      PORT: String(serverPort),
      HOST: '127.0.0.1',
      BASE_URL: process.env.BASE_URL ?? `http://localhost:${port}`,
      ...(!isFirst && { SETUP_LINK_AT_START: 'false' }),
    }),
  );
  isFirst = false;
  const started = server;
  if (changedAt !== undefined) void reportReady(started, changedAt);
}

async function reportReady(started, since) {
  while (started.exitCode === null && started.signalCode === null) {
    const isThere = await fetch(`http://127.0.0.1:${serverPort}/health/ready`).then(
      () => true,
      () => false,
    );
    if (isThere) return say(`· Restarted in ${((performance.now() - since) / 1000).toFixed(1)} s`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Calls `act` after changes, one call at a time; changes during a call cause one more. */
function onChange(folders, names, act) {
  let isRunning = false;
  let isDue = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    while (isDue) {
      isDue = false;
      await act();
    }
    isRunning = false;
  };
  for (const folder of folders) {
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (!names.test(name ?? '')) return;
      isDue = true;
      // Compilers and editors write several files, or one in several steps.
      setTimeout(run, 50);
    });
  }
}

function settings(cwd, extra = {}) {
  return { cwd, env: toolEnvironment(extra), stdio: ['ignore', 'inherit', 'inherit'] };
}

function start(program, args) {
  const child = spawn(program, args, settings(root));
  closers.push(() => ended(child));
}

async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
}

// Ctrl-C reaches the children as well.
let ending = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, async () => {
    if (ending) return;
    ending = true;
    await ended(server);
    for (const close of closers.reverse()) await close();
    process.exit(0);
  });
}
