import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstStart, shell } from '../test/shell.ts';

it('a database with data gets no new master key if its own is missing, and MASTER_KEY is used', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lk-'));
  const file = join(dataDir, 'master.key');
  await firstStart(dataDir);
  await shell({ DATA_DIR: dataDir }, 'admin:link');
  const key = readFileSync(file, 'utf8').trim();
  rmSync(file);
  const { code, err } = await shell({ DATA_DIR: dataDir }, 'keys:rotate');
  expect([code, err]).toEqual([1, expect.stringContaining(`${file} is missing, and the database is sealed with it`)]);
  expect(existsSync(file)).toBe(false);
  expect(await shell({ DATA_DIR: dataDir, MASTER_KEY: key }, 'keys:rotate')).toMatchObject({ code: 0 });
  rmSync(dataDir, { recursive: true });
});

it('the first start can be repeated if it ended before the master key was created', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lk-'));
  await firstStart(dataDir);
  rmSync(join(dataDir, 'master.key'));
  expect(await shell({ DATA_DIR: dataDir }, 'admin:link')).toMatchObject({ code: 0 });
  expect(existsSync(join(dataDir, 'master.key'))).toBe(true);
  rmSync(dataDir, { recursive: true });
});
