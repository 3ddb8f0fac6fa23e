import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import type { CheckInput } from './checks.ts';
import { installed } from './install.ts';

const run = promisify(execFile);

/** A runtime of JavaScript, from the npm registry. */
export interface Runtime {
  name: string;
  /** Runs the checks and returns those that passed. */
  check(input: CheckInput): Promise<string>;
}

const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
const platform = `${process.platform}-${arch}`;

export const runtimes: readonly Runtime[] = [
  ...['20', '22', '24'].map((line): Runtime => {
    const name = `node-${platform}`;
    return {
      name: `Node ${line}`,
      check: async (input) => {
        const folder = await installed(`node-${line}`, { [name]: `^${line}.0.0` });
        return program(folder, join(folder, 'node_modules', name, 'bin/node'), [], input);
      },
    };
  }),
  {
    name: 'Deno',
    check: async (input) => {
      const libc = process.platform === 'linux' ? '-glibc' : '';
      const folder = await installed('deno', { [`@deno/${platform}${libc}`]: '2.9.6' });
      const deno = join(folder, `node_modules/@deno/${platform}${libc}/deno`);
      return program(folder, deno, ['run', '--allow-net', '--allow-env', '--no-lock'], input);
    },
  },
  {
    name: 'Bun',
    check: async (input) => {
      const cpu = arch === 'arm64' ? 'aarch64' : 'x64';
      const name = `@oven/bun-${process.platform}-${cpu}`;
      const folder = await installed('bun', { [name]: '1.4.5' });
      return program(folder, join(folder, 'node_modules', name, 'bin/bun'), ['run'], input);
    },
  },
  { name: 'workerd', check: inWorkerd },
  { name: 'Next.js edge', check: inEdge },
];

/** The checks as one script without imports, with the global `checks`. */
async function bundle(): Promise<string> {
  const entry = join(import.meta.dirname, 'checks.ts');
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, minify: false, target: 'es2022', lib: { entry, formats: ['iife'], name: 'checks' } },
  });
  const [output] = [built].flat();
  const [chunk] = output && 'output' in output ? output.output : [];
  if (chunk?.type !== 'chunk') throw new Error('the checks were not bundled');
  return chunk.code;
}

/** Runs the checks as a program. */
async function program(folder: string, binary: string, args: string[], input: CheckInput): Promise<string> {
  const call = `console.log(await checks.check(${JSON.stringify(input)}));`;
  writeFileSync(join(folder, 'main.mjs'), `${await bundle()}\n${call}\n`);
  const version = await run(binary, ['--version'], { timeout: 60_000 });
  const { stdout } = await run(binary, [...args, 'main.mjs'], { cwd: folder, timeout: 120_000 });
  return `${stdout.trim()} (${version.stdout.trim().split('\n')[0]})`;
}

interface Miniflare {
  new (
    options: object,
  ): {
    dispatchFetch(url: string, init: object): Promise<{ ok: boolean; text(): Promise<string> }>;
    dispose(): Promise<void>;
  };
}

async function inWorkerd(input: CheckInput): Promise<string> {
  const folder = await installed('workerd', { miniflare: '4.20260730.0' });
  const { Miniflare } = createRequire(join(folder, 'package.json'))('miniflare') as { Miniflare: Miniflare };
  const handler = `export default { fetch: async (request) => {
    try { return new Response(await checks.check(await request.json())); }
    catch (error) { return new Response(String(error.stack ?? error), { status: 500 }); }
  } };`;
  const script = `${await bundle()}\n${handler}`;
  const flare = new Miniflare({ modules: true, script, compatibilityDate: '2026-01-01' });
  try {
    const response = await flare.dispatchFetch('http://worker/', { method: 'POST', body: JSON.stringify(input) });
    if (!response.ok) throw new Error(await response.text());
    return await response.text();
  } finally {
    await flare.dispose();
  }
}

interface EdgeVM {
  new (): { evaluate(code: string): unknown };
}

/** The sandbox in which Next.js runs code for its edge runtime. */
async function inEdge(input: CheckInput): Promise<string> {
  const folder = await installed('edge', { '@edge-runtime/vm': '5.0.0' });
  const { EdgeVM } = createRequire(join(folder, 'package.json'))('@edge-runtime/vm') as { EdgeVM: EdgeVM };
  const code = `${await bundle()};checks.check(${JSON.stringify(input)})`;
  return (await new EdgeVM().evaluate(code)) as string;
}
