/** `npm run mutants`: mutation tests of the domain (e2e/mutants). */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('e2e/mutants/main.ts');
