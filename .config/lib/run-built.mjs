/** Checks the command's options, installs and builds missing parts, then runs a program of the workspace with them. */
import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { run } from './run.mjs';
import { checkOptions } from './usage.mjs';
import { fail, projectNode, requireNode20, root } from './workspace.mjs';

/** @param program path within the repository */
export async function runBuilt(program) {
  requireNode20();
  checkOptions(program);
  await ensureInstalled();
  const broken = await ensureBuilt();
  if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);
  const { code } = await run(projectNode(), [join(root, program), ...process.argv.slice(2)]);
  process.exitCode = code;
}
