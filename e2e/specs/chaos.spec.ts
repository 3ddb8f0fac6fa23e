import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const runner = fileURLToPath(new URL('../chaos/main.ts', import.meta.url));

test('terminated connections under load cause no wrong response', async () => {
  const { code, output } = await new Promise<{ code: number | string; output: string }>((done) => {
    execFile(process.execPath, [runner, '--scale=0.2', 'connections-ended'], (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });
  expect(output).toContain('| connections-ended |');
  expect(code, output).toBe(0);
});
