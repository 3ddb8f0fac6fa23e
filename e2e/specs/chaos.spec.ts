import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const runner = fileURLToPath(new URL('../chaos/main.ts', import.meta.url));

async function passes(name: string, scale: number): Promise<void> {
  const { code, output } = await new Promise<{ code: number | string; output: string }>((done) => {
    execFile(process.execPath, [runner, `--scale=${scale}`, name], (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });
  expect(output).toContain(`| ${name} |`);
  expect(code, output).toBe(0);
}

test('terminated connections under load cause no wrong response', () => passes('connections-ended', 0.2));

test('processes that share a socket restart without a failed request', () => passes('socket-restart', 0.05));
