/** Commands whose connection, disk or files fail: one line that names the cause, and nothing half-written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { changed, rows } from '../../test/rows.ts';
import { contextOf, type Ran, shell, shellUntil, testMasterKey } from '../../test/shell.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { StartError } from '../instance.ts';
import { runCommand } from './commands.ts';

let app: TestApp;
let folder: string;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.projects.create({ name: 'Shop', slug: 'shop' }, { kind: 'system' });
});
afterAll(() => app.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const env = () => ({ DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: app.url });
const run = (...args: [string, ...string[]]): Promise<Ran> => shell(env(), ...args);

describe('a connection that PostgreSQL ends', () => {
  beforeEach(async () => {
    await changed(
      app.services.db,
      `create function ended() returns trigger language plpgsql security definer as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
    );
    await changed(
      app.services.db,
      'create trigger ended before insert on audit_log for each row execute function ended()',
    );
  });
  afterEach(() => changed(app.services.db, 'drop function ended cascade'));

  it.each<[string, ...string[]]>([
    ['keys:rotate'],
    ['admin:link'],
    ['export', '--all', '--without-secrets', '--to'],
    ['backup', '--to'],
  ])('is reported in one line with the reason and the next step: %s', async (name, ...args) => {
    const { code, err } = await run(name, ...args, ...(args.length > 0 ? [join(folder, 'a.jsonl.gz')] : []));
    const reason = 'terminating connection due to administrator command';
    expect(err).toBe(`${name}: Cannot use the database: ${reason}. Try again once it is available.`);
    expect(code).toBe(1);
  });
});

describe('a database that only reads', () => {
  it.each(['keys:rotate', 'admin:link'])('is named in one line with the setting that makes it so: %s', async (name) => {
    const database = new URL(app.databaseUrl).pathname.slice(1);
    await changed(app.services.db, `alter database "${database}" set default_transaction_read_only = on`);
    try {
      const { code, err } = await run(name);
      expect(err).toMatch(new RegExp(`^${name}: Cannot use the database: \\S+/${database} is read-only: turn off`));
      expect(code).toBe(1);
    } finally {
      await changed(app.services.db, `alter database "${database}" reset default_transaction_read_only`);
    }
  });
});

describe('a place that cannot be written', () => {
  it.each<[string, string, ...string[]]>([
    ['ENOTDIR', 'file/x.jsonl', 'export', '--all', '--without-secrets', '--to'],
    ['ENOTDIR', 'file/x.jsonl.gz', 'backup', '--to'],
    ['ENAMETOOLONG', `${'x'.repeat(300)}.gz`, 'backup', '--to'],
    ['EEXIST', 'file', 'pull'],
    ['ENOTDIR', 'file/x', 'pull'],
  ])('is reported in one line with its path and %s: %s', async (reason, path, name, ...args) => {
    writeFileSync(join(folder, 'file'), '');
    const { code, err } = await run(name as string, ...args, join(folder, path));
    expect([code, err]).toEqual([1, expect.stringContaining(`${name}: ${join(folder, path)}`)]);
    expect(err).toMatch(new RegExp(`^\\S+: \\S+ cannot be written \\(${reason}\\)\\.$`));
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('pull', () => {
  it.skipIf(process.platform !== 'linux')('keeps the earlier file if the disk is full', async () => {
    const file = join(folder, 'shop.yaml');
    writeFileSync(file, 'earlier');
    symlinkSync('/dev/full', `${file}.partial`);
    const { code, err } = await run('pull', folder);
    expect([code, err]).toEqual([1, expect.stringContaining('its disk is full: free some space')]);
    expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([['shop.yaml'], 'earlier']);
  });

  it('leaves no draft if a folder has the name of its file', async () => {
    mkdirSync(join(folder, 'shop.yaml'));
    expect((await run('pull', folder)).err).toBe(`pull: ${join(folder, 'shop.yaml')} cannot be written (EISDIR).`);
    expect(readdirSync(folder)).toEqual(['shop.yaml']);
  });
});

describe('a signal', () => {
  const interrupted = AbortSignal.abort(new StartError('Interrupted by SIGTERM.'));

  it.each<[string, ...string[]]>([
    ['import', 'export.jsonl', '--without-secrets'],
    ['plan', 'files'],
    ['apply', 'files'],
    ['pull', 'files'],
    ['master-key:rotate'],
  ])('stops %s, which changes nothing', async (name, path, ...more) => {
    const file = join(folder, 'export.jsonl');
    expect(await run('export', '--all', '--without-secrets', '--to', file)).toMatchObject({ code: 0 });
    expect(await run('pull', join(folder, 'files'))).toMatchObject({ code: 0 });
    const yaml = join(folder, 'files/shop.yaml');
    writeFileSync(yaml, readFileSync(yaml, 'utf8').replace('name: Shop', 'name: Changed'));
    const stateOf = async () => [
      await rows(app.services.db, 'select id, name from projects order by id'),
      await rows(app.services.db, 'select count(*) from audit_log'),
      readFileSync(yaml, 'utf8'),
    ];
    const before = await stateOf();
    const args = path === undefined ? more : [join(folder, path), ...more];
    const { code, err } = await shellUntil(interrupted, systemClock, env(), name, ...args);
    expect([code, err]).toEqual([1, `${name}: Interrupted by SIGTERM.`]);
    expect(await stateOf()).toEqual(before);
  });

  // Without a handler, Node ends the process, and the embedded database continues.
  it.each(['keys:rotate', 'admin:link', 'doctor', 'master-key:rotate'])('does not end %s at once', async (name) => {
    let isHandled = false;
    const handled = () => {
      isHandled = true;
      return interrupted;
    };
    await runCommand(name, [], { ...contextOf(env()), interrupted: handled });
    expect(isHandled).toBe(true);
  });
});

describe('a command', () => {
  it('fails if it ends without a result, for example while it waits for a lost response', async () => {
    // The folder is never listed, and no open handle keeps the process alive.
    const endless = `import fs from 'node:fs/promises'; import { syncBuiltinESMExports } from 'node:module';
      fs.readdir = () => new Promise(() => undefined); syncBuiltinESMExports();`;
    const main = fileURLToPath(new URL('../main.ts', import.meta.url));
    const flags = ['--experimental-transform-types', '--no-warnings'];
    const preload = ['--import', `data:text/javascript,${encodeURIComponent(endless)}`];
    const command = spawn(process.execPath, [...flags, ...preload, main, 'events:verify', folder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    expect(await once(command, 'exit')).toEqual([1, null]);
  });
});
