/** `npm run build`: rebuilds everything, including unchanged parts. */
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { fail, requireNode20 } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const broken = await ensureBuilt({ all: true });
if (broken) fail(`The ${broken} failed to build.`);
