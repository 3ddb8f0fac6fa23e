/** `npm run bench`: installs the peers (once), builds, and runs the benchmarks of e2e/bench. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBrowser } from './browser.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { run, withHeartbeat } from './lib/run.mjs';
import { checkOptions } from './lib/usage.mjs';
import {
  fail,
  memory,
  print,
  projectNode,
  requireNode20,
  root,
  systemEnvironment,
  toolEnvironment,
} from './lib/workspace.mjs';

requireNode20();
checkOptions('e2e/bench/main.ts');
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);

const words = process.argv.slice(2);
if (!words.includes('--no-peers') && !words.includes('--quick')) await ensurePeers();
const names = words.filter((word) => !word.startsWith('--'));
const needsBrowser = names.length === 0 ? !words.includes('--quick') : names.includes('console-load');
const { code } = await run(projectNode(), [join(root, 'e2e/bench/main.ts'), ...words], {
  env: toolEnvironment(needsBrowser ? { LATCHKEY_BROWSER: await findBrowser() } : {}),
});
process.exitCode = code;

/** Kept out of the workspace: only the benchmarks need them. */
async function ensurePeers() {
  const folder = join(root, 'e2e/bench');
  const stamp = join(memory, 'bench-installed');
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  const isThere = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isThere && existsSync(join(folder, 'node_modules'))) return;
  print('Installing the peers …');
  const work = run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, env: systemEnvironment() });
  const installed = await withHeartbeat('still installing', work, print);
  if (installed.code !== 0) fail(`Installing the peers failed (npm ci exited with ${installed.code}).`);
  mkdirSync(memory, { recursive: true });
  writeFileSync(stamp, wanted);
}
