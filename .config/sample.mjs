/** `npm run sample`: from a bare clone to a sample relying party beside a Latchkey of its own. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { fail, projectNode, requireNode20, root, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} does not build: mend what is said above, and start again.`);

const sample = spawn(projectNode(), [join(root, 'e2e/sample/main.ts')], {
  cwd: root,
  env: toolEnvironment(),
  stdio: 'inherit',
  detached: true,
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => sample.kill('SIGTERM'));
sample.on('exit', (code) => process.exit(code ?? 1));
