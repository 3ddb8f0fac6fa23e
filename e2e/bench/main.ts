/**
 * `npm run bench`: benchmarks Latchkey, as started by `npm start`, and its peers, alternating per round. Prints one table
 * per workload, as in RESULTS.md. `BENCH_NODE=/path/to/node` runs Latchkey and its peers under another Node.
 *
 *     npm run bench                            all
 *     npm run bench -- oidc scim …             only these
 *     npm run bench -- --only=NAME             only workloads whose name contains this
 *     npm run bench -- --rounds=5              rounds per workload (default 3)
 *     npm run bench -- --peers=NAME,NAME       only these peers
 *     npm run bench -- --no-peers              Latchkey alone; installs nothing
 *     npm run bench -- --population=1000       user counts for SCIM and organizations (default 10000,100000; 1000000)
 *     npm run bench -- --quick                 a few seconds that only test the benchmarks
 *     npm run bench -- --out=FILE              also writes the tables to a file
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
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

/** In order of execution. Those with a file are imported on demand. */
const benches: Record<string, Bench | { file: string; name: string }> = {
  oidc,
  'sign-in': signIn,
  scim,
  growth,
  start,
  enumeration: { file: 'enumeration.ts', name: 'enumeration' },
  'directory-sync': { file: 'directory-sync.ts', name: 'directorySync' },
  'large-directory': { file: 'large-directory.ts', name: 'largeDirectory' },
  'group-lists': { file: 'group-lists.ts', name: 'groupLists' },
  'console-lists': { file: 'console-lists.ts', name: 'consoleLists' },
  organizations: { file: 'organizations.ts', name: 'organizations' },
  'console-load': { file: 'console-load.ts', name: 'consoleLoad' },
};

const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`Unknown benchmark: ${unknown.join(', ')}. Available: ${Object.keys(benches).join(', ')}`);
  process.exit(1);
}

const options = optionsOf(flags);
if (options.out) writeFileSync(options.out, '');
const print: Print = (line) => {
  console.log(line);
  if (options.out) appendFileSync(options.out, `${line}\n`);
};
// Servers start with this path; the load generator keeps its Node.
if (process.env['BENCH_NODE']) process.execPath = process.env['BENCH_NODE'];
const began = performance.now();
print(`${new Date().toISOString().slice(0, 16)} UTC, ${versions()}, PostgreSQL 18 with fsync on,`);
print(
  `${cpus().length} × ${cpus()[0]?.model}, ${(totalmem() / 2 ** 30).toFixed(0)} GB, Linux; ${options.plan.concurrency} connections, ` +
    `${options.plan.rounds} rounds of ${options.plan.secondsPerRound} s. Load before the first round: ${load()}.`,
);
if ((loadavg()[0] ?? 0) > 0.5) print('**The machine is under other load: compare CPU per operation, not rates.**');

for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 ? !wanted.includes(name) : options.quick && typeof bench !== 'function') continue;
  if (typeof bench !== 'function' && !existsSync(join(import.meta.dirname, bench.file))) continue;
  print(`\n## ${name}\n`);
  try {
    await (typeof bench === 'function' ? bench : await imported(bench))(print, options);
  } catch (error) {
    // Continue with the others.
    console.error(error);
    print(`✗ ${name} failed: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
print(`\n${((performance.now() - began) / 60_000).toFixed(0)} minutes in total; load at the end: ${load()}.`);

/** Versions of the server's Node and OpenSSL. */
function versions(): string {
  const expression = '`Node ${process.version}, OpenSSL ${process.versions.openssl}`';
  return execFileSync(process.execPath, ['-p', expression], { encoding: 'utf8' }).trim();
}

function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

async function imported({ file, name }: { file: string; name: string }): Promise<Bench> {
  const module = (await import(`./${file}`)) as Record<string, Bench>;
  const bench = module[name];
  if (!bench) throw new Error(`${file} exports no ${name}`);
  return bench;
}
