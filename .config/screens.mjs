/**
 * `npm run screens`: takes screenshots of every page, from a bare clone; see e2e/screens/main.ts for options and
 * output.
 */
import { join } from 'node:path';
import { findBrowser } from './browser.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { run } from './lib/run.mjs';
import { fail, projectNode, requireNode20, root, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);
const browser = await findBrowser();
const { code } = await run(projectNode(), [join(root, 'e2e/screens/main.ts'), ...process.argv.slice(2)], {
  env: toolEnvironment({ LATCHKEY_BROWSER: browser }),
});
process.exitCode = code;
