/** `npm run interop`: builds, and signs in with relying parties from outside npm; see e2e/interop. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('e2e/interop/main.ts');
