/** `npm run mutants`: mutation tests of the domain (e2e/mutants). */
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { run } from './lib/run.mjs';
import { fail, projectNode, requireNode20, root } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);
const { code } = await run(projectNode(), [join(root, 'e2e/mutants/main.ts'), ...process.argv.slice(2)]);
process.exitCode = code;
