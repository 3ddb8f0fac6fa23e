/**
 * `npm run dev`: the server, restarted on each edit, and the console with hot module replacement, at one address. The
 * embedded database keeps running, and the setup link is created once. Types are checked in the background.
 * Flags for Node pass through: `npm run dev -- --inspect`.
 */
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { inTurn, onEdit } from './lib/dev-edits.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { fail, memory, print, requireNode20, root } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt({ only: 'console' });
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);

// After the installation, because they import packages.
const { openProxy } = await import('./lib/dev-proxy.mjs');
const { runServer } = await import('./lib/dev-server.mjs');

const port = Number(process.env.PORT ?? 8080);
const serverPort = port + 1;
const closers = [];

if (!process.env.DATABASE_URL) {
  const { startEmbeddedPostgres } = await import('../server/src/adapters/embedded/postgres.ts');
  const database = await startEmbeddedPostgres({
    dataDir: process.env.DATA_DIR ?? join(root, 'data'),
    onProgress: print,
  });
  closers.push(() => database.stop());
}
closers.push(await openProxy({ port, serverPort }));

let starts = 0;
const stopServer = runServer({
  root,
  restartOn: ['server/src', 'shared/contracts/src'],
  checkOn: ['shared/browser/src', 'console/admin', 'console/signin', 'console/demo'],
  projects: ['server', 'console'],
  port: serverPort,
  flags: process.argv.slice(2).filter((flag) => flag.startsWith('-')),
  settings: () => ({
    PORT: String(serverPort),
    HOST: '127.0.0.1',
    BASE_URL: process.env.BASE_URL ?? `http://localhost:${port}`,
    NODE_COMPILE_CACHE: join(memory, 'dev-compiled'),
    ...(starts++ > 0 && { SETUP_LINK_AT_START: 'false' }),
  }),
});
closers.push(stopServer);

// The hosted pages are templates that the server fills.
const buildPages = inTurn(() => ensureBuilt({ only: 'console' }));
for (const folder of ['console/signin', 'console/demo', 'shared/browser/src']) {
  onEdit(join(root, folder), /[^~]$/, buildPages);
}

// Ctrl-C reaches the children as well.
let ending = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, async () => {
    if (ending) return;
    ending = true;
    for (const close of closers.reverse()) await close();
    process.exit(0);
  });
}
