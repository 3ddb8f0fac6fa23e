import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root } from './workspace.mjs';

/**
 * Prints the usage of a program and exits with 0 if an argument is `--help`; exits with 2 for an option that the usage
 * does not name. The usage is the first comment of the program. Call it before anything is installed or built.
 *
 * @param program path within the repository
 */
export function checkOptions(program, words = process.argv.slice(2)) {
  const [, comment] = /\/\*\*(.*?)\*\//s.exec(readFileSync(join(root, program), 'utf8'));
  const usage = comment.replace(/^ \* ?/gm, '').trim();
  if (words.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  const known = usage.match(/--[a-z-]*[a-z]/g) ?? [];
  const unknown = words.find((word) => word.startsWith('-') && !known.includes(word.split('=')[0]));
  if (unknown !== undefined) fail(`Unknown option: ${unknown}. --help lists the options.`, 2);
}
