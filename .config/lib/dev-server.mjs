import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { withoutTypes } from './dev-sources.mjs';
import { projectNode, say, tool, toolEnvironment } from './workspace.mjs';

const hooks = new URL('dev-sources.mjs', import.meta.url).href;
/** Editors write several files, or one in several steps. */
const SETTLE_MS = 50;

/**
 * Runs the server from its TypeScript sources, restarts it after each edit, and then checks types. After a syntax error
 * the old one keeps running.
 * @param {object} options
 * @param {string} options.root folder of the repository
 * @param {string[]} options.projects of TypeScript, to check
 * @param {import('vite').ViteDevServer['watcher']} options.watcher
 * @param {number} options.port of the server
 * @param {string[]} options.flags of Node
 * @param {() => NodeJS.ProcessEnv} options.settings environment of the next start
 * @returns {() => Promise<void>} stops it
 */
export function runServer({ root, projects, watcher, port, flags, settings }) {
  const edited = new Set();
  let server = start();
  let check = checkTypes();

  const restart = inTurn(async () => {
    const since = performance.now();
    try {
      for (const path of edited) if (existsSync(path)) withoutTypes(path);
    } catch (error) {
      return say(`${error.message}\n· Syntax error: the server still runs the code before the edit`);
    }
    edited.clear();
    await ended(server);
    server = start();
    void report(server, since);
  });

  watcher.add(['server/src', 'shared/contracts/src', 'shared/browser/src'].map((folder) => join(root, folder)));
  watcher.on('all', (_event, path) => {
    if (!/(?<!\.test)\.tsx?$/.test(path)) return;
    // An edit during a check could be missed by it.
    check.kill();
    if (!/^(?:server|shared.contracts).src/.test(relative(root, path))) check = checkTypes();
    else {
      edited.add(path);
      void restart();
    }
  });

  function start() {
    const args = ['--enable-source-maps', '--import', hooks, ...flags, join(root, 'server/src/main.ts')];
    return spawn(projectNode(), args, { cwd: root, env: toolEnvironment(settings()), stdio: ['ignore', 1, 2] });
  }

  async function report(started, since) {
    while (isRunning(started)) {
      const answers = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' }).catch(() => undefined);
      if (answers) break;
      await pause(25);
    }
    if (started !== server) return;
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    say(isRunning(server) ? `· Restarted in ${seconds} s` : '· The server has ended: the next edit starts it again');
    check.kill();
    check = checkTypes();
  }

  function checkTypes() {
    // Does not compete with the server.
    const child = spawn('nice', ['-n', '19', tool('tsc'), '-b', ...projects], {
      cwd: root,
      env: toolEnvironment(),
      stdio: ['ignore', 1, 2],
    });
    return child.once('exit', (code) => {
      if (code !== null) say(code === 0 ? '· No type errors' : '· Type errors: the server runs nevertheless');
    });
  }

  return async () => {
    check.kill();
    await ended(server);
  };
}

function isRunning({ exitCode, signalCode }) {
  return exitCode === null && signalCode === null;
}

async function ended(child) {
  if (!isRunning(child)) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}

/** Calls `act` soon, and not twice at a time; calls meanwhile cause one more. */
export function inTurn(act) {
  let isBusy = false;
  let isDue = false;
  return async () => {
    isDue = true;
    if (isBusy) return;
    isBusy = true;
    while (isDue) {
      await pause(SETTLE_MS);
      isDue = false;
      await act();
    }
    isBusy = false;
  };
}
