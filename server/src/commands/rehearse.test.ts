import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../test/database.ts';
import { contextOf, shell, testMasterKey } from '../../test/shell.ts';
import { openDatabase } from '../adapters/postgres/database.ts';
import { rehearseMigrations } from '../adapters/postgres/rehearsal.ts';
import { OperatorError } from '../domain/kernel/problem.ts';
import { migrations } from '../migrations/index.ts';
import { runCommand } from './commands.ts';

let folder: string;
let file: string;
let copy: FreshDatabase;
const settings = ({ url }: FreshDatabase) => ({ DATABASE_URL: url, MASTER_KEY: testMasterKey, DATA_DIR: folder });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
  file = join(folder, 'a.jsonl.gz');
  copy = await emptyDatabase();
});

afterEach(async () => {
  await copy.drop();
  rmSync(folder, { recursive: true });
});

/** Folder of a cluster whose account cannot enter its data folder, if this process is root. */
const systemFolder = '/var/lib/latchkey';

/** Files of this test's data folders that are outside them. */
function outside(): string[] {
  if (!existsSync(systemFolder)) return [];
  return readdirSync(systemFolder).filter((name) => {
    const owner = join(systemFolder, name, 'belongs-to');
    return existsSync(owner) && readFileSync(owner, 'utf8').startsWith(folder);
  });
}

/** A database at an earlier migration. */
async function earlier(name: string): Promise<FreshDatabase> {
  const database = await emptyDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 1 });
  await orm.migrator.up({ to: name });
  await orm.close(true);
  return database;
}

it('runs the pending migrations on a copy, reports each, and does not change the database', async () => {
  const [baseline, ...pending] = migrations;
  const source = await earlier((baseline as { name: string }).name);
  expect(await shell(settings(source), 'backup', '--to', file)).toMatchObject({ code: 0 });
  const { err, out, code } = await shell(settings(source), 'rehearse', file, '--database', copy.url);
  expect(err).toContain('is complete');
  // 1 if the machine is so slow that a lock is held too long.
  expect([0, 1]).toContain(code);
  const lines = out.split('\n');
  for (const [index, { name }] of pending.entries())
    expect(lines[index]).toMatch(
      new RegExp(`^${name}: \\d+\\.\\d s, [+-]\\d+\\.\\d MB, (no lock seen|\\w+ locked for \\d+ ms)$`),
    );
  expect(lines[pending.length]).toMatch(/^\d+ migrations?: /);
  const client = new pg.Client({ connectionString: source.url });
  await client.connect();
  expect((await client.query('select name from migrations')).rowCount).toBe(1);
  await client.end();
  await source.drop();
});

it('reports that nothing is pending, and removes its embedded copy', async () => {
  const source = await freshDatabase();
  await shell(settings(source), 'backup', '--to', file);
  const { code, out } = await shell(settings(source), 'rehearse', file);
  expect([code, out]).toEqual([0, 'No migrations are pending: the backup has the schema of this release.']);
  expect(readdirSync(folder)).toEqual(['a.jsonl.gz']);
  expect(outside()).toEqual([]);
  await source.drop();
});

it('removes its embedded copy when it is interrupted', async () => {
  const source = await freshDatabase();
  await shell(settings(source), 'backup', '--to', file);
  const interruption = new AbortController();
  const lines: string[] = [];
  const code = await runCommand('rehearse', [file], {
    ...contextOf(settings(source)),
    interrupted: () => interruption.signal,
    log(line) {
      lines.push(line);
      if (/creating the database/i.test(line)) interruption.abort(new OperatorError('Interrupted.'));
    },
  });
  expect([code, lines.at(-1)]).toEqual([1, 'rehearse: Interrupted.']);
  expect(readdirSync(folder)).toEqual(['a.jsonl.gz']);
  expect(outside()).toEqual([]);
  await source.drop();
});

it('creates the folder of its embedded copy', async () => {
  const source = await freshDatabase();
  await shell(settings(source), 'backup', '--to', file);
  const DATA_DIR = join(folder, 'missing');
  expect(await shell({ ...settings(source), DATA_DIR }, 'rehearse', file)).toMatchObject({ code: 0 });
  expect(readdirSync(DATA_DIR)).toEqual([]);
  const refused = await shell({ ...settings(source), DATA_DIR: file }, 'rehearse', file);
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^rehearse: .* cannot hold the copy \(\w+\): .*$/),
  });
  await source.drop();
});

it('reports a lock that blocks writes', async () => {
  // The next migration does not touch users, so it does not wait for the lock.
  const [baseline, next] = migrations;
  const source = await earlier((baseline as { name: string }).name);
  const holder = new pg.Client({ connectionString: source.url });
  await holder.connect();
  await holder.query('begin; lock table users in share mode');
  const rehearsal = rehearseMigrations(source.url);
  expect((await rehearsal.next()).value).toMatchObject({
    name: next?.name,
    locks: expect.arrayContaining([expect.objectContaining({ table: 'users' })]),
  });
  await holder.end();
  await rehearsal.return(undefined);
  await source.drop();
});
