/**
 * `npm run release`: releases a version, as in `npm run release -- 1.2.3`. Checks the working tree, the generated files,
 * the changelog and the version, gives the server, the console and the packages that version, moves the changes in
 * `CHANGELOG.md` below it, commits and tags it, and prints how to publish it. It pushes nothing (decisions/0368).
 */
import { recordPackages } from './lib/packages.mjs';
import { release } from './lib/release.mjs';
import { run } from './lib/run.mjs';
import { checkOptions } from './lib/usage.mjs';
import { fail, projectNode, requireNode20, root } from './lib/workspace.mjs';

requireNode20();
checkOptions('.config/release.mjs');
const [version = ''] = process.argv.slice(2);
const generate = async (...args) => (await run(projectNode(), ['.config/gen.mjs', ...args])).code === 0;
try {
  const lines = await release({
    root,
    version,
    date: new Date().toISOString().slice(0, 10),
    isFresh: () => generate('--check'),
    async build() {
      await recordPackages(version);
      if (!(await generate())) throw new Error('The generated files failed to build: see the errors above.');
    },
  });
  console.log(lines.join('\n'));
} catch (error) {
  fail(error.message);
}
