/** `npm run sample`, `npm run sample:mcp`: runs a sample relying party or MCP server with its own Latchkey, from a bare clone. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { fail, projectNode, requireNode20, root, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);

const program = process.argv[2] === 'mcp' ? 'e2e/sample-mcp/main.ts' : 'e2e/sample/main.ts';
const sample = spawn(projectNode(), [join(root, program)], {
  cwd: root,
  env: toolEnvironment(),
  stdio: 'inherit',
  detached: true,
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => sample.kill('SIGTERM'));
sample.on('exit', (code) => process.exit(code ?? 1));
