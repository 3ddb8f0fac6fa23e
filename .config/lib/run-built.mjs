/** Installs and builds missing parts, then runs a program of the workspace with the command's arguments. */
import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { run } from './run.mjs';
import { fail, projectNode, requireNode20, root } from './workspace.mjs';

/** @param program path within the repository */
export async function runBuilt(program) {
  requireNode20();
  await ensureInstalled();
  const broken = await ensureBuilt();
  if (broken) fail(`The ${broken} failed to build: fix the errors above, and try again.`);
  const { code } = await run(projectNode(), [join(root, program), ...process.argv.slice(2)]);
  process.exitCode = code;
}
