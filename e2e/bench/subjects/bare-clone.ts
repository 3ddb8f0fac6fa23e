import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/latchkey.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Milliseconds from `npm start` in a bare clone of HEAD to readiness: install, build, new database. npm's cache is
 * warm, because this checkout was installed through it.
 */
export async function bareCloneMilliseconds(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-clone-'));
  // The database runs under another account, which needs access.
  chmodSync(folder, 0o755);
  const port = String(await freePort());
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((place) => !place.includes('node_modules'));
  const env = {
    PATH: path.join(delimiter),
    HOME: process.env['HOME'] ?? '',
    PORT: port,
    BASE_URL: `http://localhost:${port}`,
    MANAGEMENT_PORT: String(await freePort()),
    DATA_DIR: join(folder, 'data'),
  };
  try {
    const clone = join(folder, 'latchkey');
    const [cloned] = (await once(spawn('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' }), 'exit')) as [
      number,
    ];
    if (cloned !== 0) throw new Error('git clone failed');
    const begin = performance.now();
    const server = spawn('npm', ['start'], { cwd: clone, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(server, 'exit');
    let output = '';
    const ready = new Promise<number>((resolve) => {
      for (const stream of [server.stdout, server.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          if (output.includes('Latchkey is ready.')) resolve(performance.now() - begin);
        });
      }
    });
    const took = await Promise.race([ready, ended]);
    if (typeof took !== 'number') throw new Error(`npm start exited:\n${output}`);
    process.kill(-(server.pid ?? 0), 'SIGTERM');
    await ended;
    return took;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
