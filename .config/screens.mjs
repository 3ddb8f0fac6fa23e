/** `npm run screens`: from a bare clone to pictures of every page; what it takes and gives stands in e2e/screens/main.ts. */
import { join } from 'node:path';
import { findBrowser } from './browser.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { run } from './lib/run.mjs';
import { fail, projectNode, requireNode20, root, toolEnvironment } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt();
if (broken) fail(`The ${broken} does not build: mend what is said above, and start again.`);
const browser = await findBrowser();
const { code } = await run(projectNode(), [join(root, 'e2e/screens/main.ts'), ...process.argv.slice(2)], {
  env: toolEnvironment({ LATCHKEY_BROWSER: browser }),
});
process.exitCode = code;
