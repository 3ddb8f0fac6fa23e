import { type ChildProcess, execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** An empty folder with the packed tarball, its dependencies and the frameworks of its README. */
export interface Installed {
  folder: string;
  /** Node versions to test: the workspace's, and the system's if different. */
  nodes: string[];
  /** Writes a file. */
  write(name: string, text: string): void;
  /** Runs a program in that folder and returns its output. */
  node(text: string, options?: { env?: Record<string, string>; commonjs?: boolean; node?: string }): Promise<string>;
  /** Runs the TypeScript compiler and returns its output. */
  tsc(args: string[]): Promise<string>;
  remove(): void;
}

/** Unpacks the built package as an installation would. */
export async function install(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-installed-'));
  const packed = join(root, 'shared/dist');
  const [tarball = ''] = readdirSync(packed).filter((file) => file.startsWith('latchkey-node-'));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@latchkey'), { recursive: true });
  await run('tar', ['xzf', join(packed, tarball), '-C', folder]);
  cpSync(join(folder, 'package'), join(modules, '@latchkey/node'), { recursive: true });
  for (const name of ['jose', 'express', 'fastify', 'hono', '@hono', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  return {
    folder,
    nodes: [process.execPath, ...machineNode('/usr/bin/node')],
    write: (name, text) => writeFileSync(join(folder, name), text),
    node: async (text, options = {}) => {
      const type = options.commonjs ? 'commonjs' : 'module';
      const { stderr, stdout } = await run(options.node ?? process.execPath, [`--input-type=${type}`, '-e', text], {
        cwd: folder,
        env: { PATH: process.env['PATH'], ...options.env },
      });
      if (stderr !== '') throw new Error(stderr);
      return stdout;
    },
    tsc: (args) =>
      run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...args], { cwd: folder }).then(
        ({ stdout }) => stdout,
        (error: { stdout: string }) => error.stdout,
      ),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** The system's Node, if supported by this package. */
function machineNode(path: string): string[] {
  const version = /^v(\d+)/.exec(spawnSync(path, ['--version']).stdout?.toString() ?? '')?.[1];
  return Number(version) >= 20 ? [path] : [];
}

/** Snippets of a README by the name in the comment above each. */
export function snippetsOf(readme: string): Map<string, string> {
  const found = [...readme.matchAll(/<!-- test: ([\w-]+) -->\n```js\n([\s\S]*?)```/g)];
  return new Map(found.map(([, name = '', text = '']) => [name, text]));
}

/** A port that no server uses. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Stops a process. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}
