/**
 * `npm run bench [-- name… --rounds=5 --no-peers --quick]`: Latchkey as `npm start` would run it, and its peers beside
 * it, one work after the other, round by round in turn. Prints one table a work; what it found stands in RESULTS.md.
 */
import { existsSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { growth } from './growth.ts';
import type { Print } from './harness/table.ts';
import { oidc } from './oidc.ts';
import { type Options, optionsOf } from './options.ts';
import { scim } from './scim.ts';
import { signIn } from './sign-in.ts';
import { start } from './start.ts';

type Bench = (print: Print, options: Options) => Promise<unknown>;

/** In the order in which they run. Those with a file of their own are there once that file is. */
const benches: Record<string, Bench | { file: string; name: string }> = {
  oidc,
  'sign-in': signIn,
  scim,
  growth,
  start,
  enumeration: { file: 'enumeration.ts', name: 'enumeration' },
  'console-lists': { file: 'console-lists.ts', name: 'consoleLists' },
};

const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}`);
  process.exit(1);
}

const print: Print = (line) => console.log(line);
const options = optionsOf(flags);
print(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${(totalmem() / 2 ** 30).toFixed(0)} GB, Linux`,
);
print(`${new Date().toISOString().slice(0, 16)} UTC, load ${loadavg()[0]?.toFixed(1)} before the first round`);
if ((loadavg()[0] ?? 0) > 0.5) print('The machine has other work: read CPU for each operation, not rates.');

for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 ? !wanted.includes(name) : options.quick && typeof bench !== 'function') continue;
  if (typeof bench !== 'function' && !existsSync(join(import.meta.dirname, bench.file))) continue;
  print(`\n## ${name}\n`);
  await (typeof bench === 'function' ? bench : await imported(bench))(print, options);
}

async function imported({ file, name }: { file: string; name: string }): Promise<Bench> {
  const module = (await import(`./${file}`)) as Record<string, Bench>;
  const bench = module[name];
  if (!bench) throw new Error(`${file} exports no ${name}`);
  return bench;
}
