/** `npm run chaos`: builds, and runs the failure experiments of e2e/chaos. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('e2e/chaos/main.ts');
