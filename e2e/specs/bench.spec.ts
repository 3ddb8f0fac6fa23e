import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const main = fileURLToPath(new URL('../bench/main.ts', import.meta.url));

test.describe('npm run bench', () => {
  test('runs against Latchkey, without peers and in seconds', async () => {
    test.slow();
    const bench = spawn(process.execPath, [main, '--quick']);
    let output = '';
    for (const stream of [bench.stdout, bench.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const [code] = (await once(bench, 'close')) as [number];
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toContain('| session → code → exchange → userinfo');
    expect(output).not.toContain('NaN');
  });
});
