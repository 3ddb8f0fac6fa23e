import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const lib = fileURLToPath(new URL('lib', import.meta.url));
/** Long: the machine may be busy. */
const minutes = 10 * 60_000;
const soon = { timeout: minutes, interval: 20 };

let folder: string;
let address: string;
let dev: ChildProcess;
let output = '';

/** Replaces the file, as editors and git do. */
function write(path: string, text: string): void {
  writeFileSync(join(folder, 'written'), text);
  renameSync(join(folder, 'written'), join(folder, path));
}

/** A server that responds with `answer`, an expression. */
const serverOf = (answer: string, imports = '') => `${imports}
import { createServer } from 'node:http';
const answer: string = ${answer};
const server = createServer((_req, res) => res.end(String(answer))).listen(Number(process.env['PORT']), '127.0.0.1');
process.on('SIGTERM', () => server.close(() => process.exit()));
`;

/** Requests during a restart wait, so that none fails. */
async function answered(text: string): Promise<void> {
  for (;;) {
    const response = await fetch(address);
    expect(response.status).toBe(200);
    if ((await response.text()) === text) return;
  }
}

async function printed(text: RegExp): Promise<void> {
  await vi.waitFor(() => expect(output).toMatch(text), soon);
  output = '';
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-dev-'));
  mkdirSync(join(folder, 'server/src'), { recursive: true });
  symlinkSync(join(lib, '../../node_modules'), join(folder, 'node_modules'));
  const compilerOptions = { rootDir: 'src', outDir: 'dist', types: ['node'] };
  const base = join(lib, '../tsconfig.base.json');
  write('package.json', '{"type":"module"}');
  write('server/package.json', '{"type":"module","dependencies":{}}');
  write('server/tsconfig.json', JSON.stringify({ extends: base, compilerOptions, include: ['src'] }));
  write('server/src/main.ts', serverOf(`'first'`));
  const [port, serverPort] = [await freePort(), await freePort()];
  write(
    'dev.mjs',
    `import { openProxy } from '${lib}/dev-proxy.mjs';
    import { runServer } from '${lib}/dev-server.mjs';
    await openProxy({ port: ${port}, serverPort: ${serverPort} });
    const stop = runServer({
      root: '${folder}', restartOn: ['server/src'], checkOn: [], projects: ['server'],
      port: ${serverPort}, flags: [], settings: () => ({ PORT: '${serverPort}' }), niceness: 0,
    });
    process.on('SIGTERM', () => stop().then(() => process.exit()));`,
  );
  address = `http://127.0.0.1:${port}`;
  dev = spawn(process.execPath, [join(folder, 'dev.mjs')], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [dev.stdout, dev.stderr]) stream?.on('data', (chunk) => (output += chunk));
  await printed(/No type errors/);
}, minutes);

afterAll(async () => {
  const ended = new Promise((resolve) => dev.once('exit', resolve));
  dev.kill();
  await ended;
  rmSync(folder, { recursive: true });
  rmSync(join(lib, '../../node_modules/.cache/latchkey/dev', folder), { recursive: true });
});

describe('npm run dev', { timeout: minutes }, () => {
  it('runs the server, and the new code after an edit', async () => {
    await answered('first');
    write('server/src/main.ts', serverOf(`'edited'`));
    await answered('edited');
  });

  it('runs code with a type error, and prints the error', async () => {
    write('server/src/main.ts', serverOf('7'));
    await answered('7');
    await printed(/error TS2322: Type 'number' is not assignable to type 'string'[^]*Type errors/);
    write('server/src/main.ts', serverOf(`'typed'`));
    await answered('typed');
    await printed(/No type errors/);
  });

  it('keeps the server after a syntax error, and prints the error', async () => {
    write('server/src/main.ts', serverOf(`'broken`));
    await printed(/Unterminated string[^]*Syntax error/);
    await answered('typed');
    write('server/src/main.ts', serverOf(`'repaired'`));
    await answered('repaired');
  });

  it('reports that the server has exited, and restarts it after the next edit', async () => {
    write('server/src/main.ts', `throw new Error('planted');`);
    await printed(/The server has ended/);
    write('server/src/main.ts', serverOf(`'restarted'`));
    await answered('restarted');
  });

  it('loads new files, and edits made during a restart', async () => {
    mkdirSync(join(folder, 'server/src/new'));
    write('server/src/new/answer.ts', `export const text = 'new file';`);
    write('server/src/main.ts', serverOf('text', `import { text } from './new/answer.ts';`));
    await answered('new file');
    write('server/src/new/answer.ts', `export const text = 'one edit';`);
    await printed(/Restarted/);
    write('server/src/new/answer.ts', `export const text = 'another edit';`);
    write('server/src/main.ts', serverOf('`${text}!`', `import { text } from './new/answer.ts';`));
    await answered('another edit!');
    rmSync(join(folder, 'server/src/new/answer.ts'));
    write('server/src/main.ts', serverOf(`'no file'`));
    await answered('no file');
  });
});
