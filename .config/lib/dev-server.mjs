import { spawn } from 'node:child_process';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inTurn, onEdit } from './dev-edits.mjs';
import { withoutTypes } from './dev-sources.mjs';
import { print, projectNode, tool, toolEnvironment } from './workspace.mjs';

const preloads = [new URL('dev-sources.mjs', import.meta.url), new URL('dev-spare.mjs', import.meta.url)];
const sources = /(?<!\.test)\.tsx?$/;

/**
 * Runs the server from its TypeScript sources, restarts it after each edit, and then checks types. After a syntax error
 * the old one keeps running.
 * @param {object} options
 * @param {string} options.root folder of the repository
 * @param {string[]} options.restartOn folders of the server's sources
 * @param {string[]} options.checkOn folders of other sources
 * @param {string[]} options.projects TypeScript projects to check
 * @param {number} options.port of the server
 * @param {string[]} options.flags for Node
 * @param {() => NodeJS.ProcessEnv} options.settings environment of the next start
 * @param {number} [options.niceness] of the type check; by default it does not compete with the server
 * @returns {() => Promise<void>} stops it
 */
export function runServer({ root, restartOn, checkOn, projects, port, flags, settings, niceness = 19 }) {
  const edited = new Set();
  let spare;
  let check;
  let isStopping = false;
  let server = start();
  void settled(server, () => undefined);

  const restart = inTurn(async () => {
    const since = performance.now();
    try {
      for (const path of edited) if (existsSync(path)) withoutTypes(path);
    } catch (error) {
      const [place] = error.message.split('Caused by');
      return print(`${place.trimEnd()}\n· Syntax error: the server still runs the code before the edit`);
    }
    edited.clear();
    await ended(server);
    if (isStopping) return;
    server = start();
    void settled(server, () => print(`· Restarted in ${((performance.now() - since) / 1000).toFixed(1)} s`));
  });

  const checkAgain = inTurn(() => {
    check?.kill();
    if (!isStopping) check = checkTypes();
  });

  for (const folder of restartOn) {
    onEdit(join(root, folder), sources, (path) => {
      check?.kill();
      edited.add(path);
      void restart();
    });
  }
  for (const folder of checkOn) onEdit(join(root, folder), sources, checkAgain);

  function start() {
    const next = spare !== undefined && isRunning(spare) ? spare : spawnServer();
    spare = undefined;
    // The process may have ended in the meantime.
    next.send('start', () => undefined);
    return next;
  }

  function spawnServer() {
    const args = [
      '--enable-source-maps',
      ...preloads.map((url) => `--import=${url}`),
      ...flags,
      join(root, 'server/src/main.ts'),
    ];
    return spawn(projectNode(), args, { cwd: root, env: toolEnvironment(settings()), stdio: ['ignore', 1, 2, 'ipc'] });
  }

  /** Prepares for the next edit once the server responds or has ended. */
  async function settled(started, onAnswer) {
    while (isRunning(started)) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' }).catch(() => undefined);
      if (answer) break;
      await pause(25);
    }
    if (started !== server || isStopping) return;
    if (isRunning(server)) onAnswer();
    else print('· The server has ended: the next edit starts it again');
    // A second process would take the debugger's port.
    if (!flags.some((flag) => flag.startsWith('--inspect'))) spare ??= spawnServer();
    void checkAgain();
  }

  /** `tsc -b` treats a source that is older than its last run as checked: an edit during that run would be missed. */
  function compareByContent() {
    for (const folder of new Set([...restartOn, ...checkOn].map(dirname))) {
      for (const path of readdirSync(join(root, folder), { recursive: true })) {
        if (path.endsWith('.tsbuildinfo')) utimesSync(join(root, folder, path), 0, 0);
      }
    }
  }

  function checkTypes() {
    compareByContent();
    const child = spawn('nice', ['-n', String(niceness), tool('tsc'), '-b', ...projects], {
      cwd: root,
      env: toolEnvironment(),
      stdio: ['ignore', 1, 2],
    });
    return child.once('exit', (code) => {
      if (code !== null) print(code === 0 ? '· No type errors' : '· Type errors, which do not prevent the restart');
    });
  }

  return async () => {
    isStopping = true;
    await Promise.all([check, spare, server].map(ended));
  };
}

function isRunning({ exitCode, signalCode }) {
  return exitCode === null && signalCode === null;
}

async function ended(child) {
  if (child === undefined || !isRunning(child)) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}
