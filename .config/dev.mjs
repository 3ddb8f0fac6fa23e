/** `npm run dev`: runs the server, rebuilds and restarts it on changes, and rebuilds the console's pages. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { fail, projectNode, requireNode20, root, tool, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);

const run = (program, args, cwd = root) =>
  spawn(program, args, { cwd, env: toolEnvironment(), stdio: ['ignore', 'inherit', 'inherit'] });
const children = [
  run(tool('tsc'), ['-b', '--watch', '--preserveWatchOutput']),
  run(tool('vite'), ['build', '--watch', '--logLevel', 'warn'], join(root, 'console')),
  run(projectNode(), [
    '--watch',
    '--watch-preserve-output',
    '--enable-source-maps',
    'server/dist/main.js',
    ...process.argv.slice(2),
  ]),
];

// Ctrl-C reaches all children; if one ends, end the others.
let ending = false;
const end = () => {
  if (ending) return;
  ending = true;
  for (const child of children) child.kill('SIGTERM');
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
for (const child of children) child.on('exit', end);
