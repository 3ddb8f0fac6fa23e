/** Builds the package with tsc into an empty folder, so that stale files are not packed. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
rmSync(join(here, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [join(dirname(manifest), 'bin/tsc'), '-b'], { cwd: here, stdio: 'inherit' });
