import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { emptyDatabase, type FreshDatabase } from '../../test/database.ts';
import { firstStart, shell, shellUntil, testMasterKey } from '../../test/shell.ts';
import { openDatabase } from '../adapters/postgres/database.ts';
import { rowsOf, type Table, tablesOf } from '../adapters/postgres/table-copy.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { StartError } from '../instance.ts';
import { migrations } from '../migrations/index.ts';

const otherKey = Buffer.alloc(32, 9).toString('base64');

let app: TestApp;
let folder: string;
let file: string;
let target: FreshDatabase;
let env: Record<string, string>;
let elsewhere: Record<string, string>;

beforeEach(async () => {
  app = await buildTestApp();
  target = await emptyDatabase();
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
  file = join(folder, 'a.jsonl.gz');
  env = { DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey };
  elsewhere = { ...env, DATABASE_URL: target.url };
});

afterEach(async () => {
  await app.close();
  await target.drop();
  rmSync(folder, { recursive: true });
});

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Every process writes to these on its own. `audit_events` is a partition of the log. */
const unequal = ['migrations', 'backups', 'audit_log', 'audit_events'];

/** Every row of every other table, in a stable order. */
async function contents(url: string): Promise<Record<string, unknown[]>> {
  const tables = await query<{ name: string }>(
    url,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const found: Record<string, unknown[]> = {};
  for (const { name } of tables.filter((table) => !unequal.includes(table.name))) {
    found[name] = await query(url, `select row_to_json(t)::text as row from "${name}" t order by 1`);
  }
  return found;
}

/** Creates users, factors, sessions, groups and keys, to fill as many tables as a few calls can. */
async function fill(): Promise<void> {
  const { services, make } = app;
  const project = await make.project({ name: 'Ünïcode "quoted" \\ and \n so on'.replace('\n', '') });
  const { client } = await make.client(project);
  const user = await make.user(project, { attributes: { title: 'a\nb\u2028 "c" \\d 😀', deep: [{ n: 1.5 }, null] } });
  await make.session(project, user);
  await services.db.transaction(async (em) => {
    const begun = await services.mfa.begin(em, { user: user, deviceId: null, method: 'totp', phone: null });
    await services.mfa.verify(em, begun, user, { kind: 'system' });
  });
  await services.directories.issueScimToken({ projectId: project.id, name: 'Directory' }, { kind: 'system' });
  await services.clients.issueApiKey(client, 'secret', { kind: 'system' });
}

function alter(change: (lines: string[]) => string[]): void {
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  writeFileSync(file, gzipSync(change(lines).join('\n')));
}

async function isUntouched(): Promise<boolean> {
  const sql = `select count(*)::int as count from pg_tables where schemaname = 'public'`;
  return (await query<{ count: number }>(target.url, sql))[0]?.count === 0;
}

/** The recipients of the mails that `run` and its jobs send. */
async function sentBy(instance: TestApp, run: () => Promise<void>): Promise<string[]> {
  instance.mailbox.length = 0;
  await run();
  await instance.runJobs();
  return instance.mailbox.map(({ to }) => to);
}

describe('messages that were pending in a backup', () => {
  it('are sent by the server that starts on the restored database; expired ones are marked as expired', async () => {
    const project = await app.make.project();
    const write = (to: string, template: 'sign-in-code' | 'new-device', seconds: number) =>
      app.services.db.transaction((em) =>
        app.services.delivery.enqueue(em, {
          ...{ projectId: project.id, channel: 'mail', to, locale: 'en' },
          content:
            template === 'sign-in-code'
              ? { template, app: 'App', code: '012345', minutes: 5 }
              : { template, app: 'App', device: 'Firefox', at: '2026-01-01T00:00:00Z' },
          context: { account: null, mailbox: to },
          expiresAt: new Date(app.clock.now().getTime() + seconds * 1000),
        }),
      );
    await write('code@example.com', 'sign-in-code', 300);
    await write('notice@example.com', 'new-device', 24 * 3600);
    await shell(env, 'backup', '--to', file);
    expect((await shell(elsewhere, 'restore', file)).code).toBe(0);
    app.clock.turn(600);
    const restored = await buildSibling({ ...app, databaseUrl: target.url }, app.url, { rowSecurity: false });
    const { delivery } = restored.services;
    expect(await sentBy(restored, async () => undefined)).toEqual(['notice@example.com']);
    await delivery.sweep();
    const states = await query(target.url, 'select recipient, state, expired from messages order by recipient');
    expect(states).toEqual([
      { recipient: 'code@example.com', state: 'failed', expired: true },
      { recipient: 'notice@example.com', state: 'sent', expired: false },
    ]);
    await restored.close();
  });
});

describe('a backup', () => {
  it('restores every row in another database, with working signing keys', async () => {
    await fill();
    const before = await contents(app.databaseUrl);
    const { code, out } = await shell(env, 'backup', '--to', file);
    expect([code, out]).toEqual([0, file]);
    const restored = await shell(elsewhere, 'restore', file);
    expect(restored.err).toContain('is complete');
    expect(restored.code).toBe(0);
    expect(await contents(target.url)).toEqual(before);
    expect(await shell(elsewhere, 'keys:rotate')).toMatchObject({ code: 0 });
    // The counts that triggers maintain match.
    const counted = `select (select count(*)::int from users) as users, (select sum(users)::int from user_counts) as counted`;
    const [row] = await query<{ users: number; counted: number }>(target.url, counted);
    expect(row?.users).toBe(row?.counted);
  });

  it('is readable by its owner only, contains no master key, and is recorded', async () => {
    await fill();
    await shell(env, 'backup', '--to', file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const raw = gunzipSync(readFileSync(file));
    const key = Buffer.from(testMasterKey, 'base64');
    for (const form of [key, testMasterKey, key.toString('hex'), key.toString('base64url')]) {
      expect(raw.includes(form)).toBe(false);
    }
    const newest = await app.services.backups.newest();
    expect(newest).toMatchObject({ file: 'a.jsonl.gz', bytes: statSync(file).size });
  });

  it('is a consistent snapshot: users created during the backup are complete or absent', async () => {
    const project = await app.make.project();
    await app.make.user(project);
    let writing = true;
    const writer = (async () => {
      while (writing) await app.make.user(project);
    })();
    await shell(env, 'backup', '--to', file);
    writing = false;
    await writer;
    expect(await shell(elsewhere, 'restore', file)).toMatchObject({ code: 0 });
    const sql = `select (select count(*)::int from users) as users, (select sum(users)::int from user_counts) as counted`;
    const [row] = await query<{ users: number; counted: number }>(target.url, sql);
    expect(row?.users).toBe(row?.counted);
  });

  it('in a folder is named after its time, and overwrites no file', async () => {
    const first = await shell(env, 'backup', '--to', folder);
    expect(first.out).toMatch(/latchkey-\d{8}T\d{6}Z\.jsonl\.gz$/);
    expect((await shell(env, 'backup', '--to', first.out)).err).toContain('already exists');
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('leaves no file with its name if it fails', async () => {
    expect(await shell(elsewhere, 'backup', '--to', file)).toMatchObject({ code: 1 });
    expect(await shell(env, 'backup', '--to', join(folder, 'none', 'a.gz'))).toMatchObject({ code: 1, out: '' });
    // A missing folder must not become a file.
    const missing = await shell(env, 'backup', '--to', join(folder, 'none'));
    expect(missing).toMatchObject({ code: 2, out: '', err: expect.stringContaining('is not a folder') });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that is interrupted leaves no file', async () => {
    await fill();
    const interrupted = AbortSignal.abort(new StartError('Interrupted by SIGINT.'));
    const { code, err } = await shellUntil(interrupted, systemClock, env, 'backup', '--to', file);
    expect([code, err]).toEqual([1, 'backup: Interrupted by SIGINT.']);
    expect(readdirSync(folder)).toEqual([]);
    expect(await app.services.backups.newest()).toBeNull();
  });

  it('replaces the draft of a killed one with the same name, and removes older drafts in its folder', async () => {
    writeFileSync(`${file}.partial`, 'half');
    expect(await shell(env, 'backup', '--to', file)).toMatchObject({ code: 0 });
    expect(await shell(elsewhere, 'restore', file, '--check')).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(['a.jsonl.gz']);
    const [old, young, others] = ['latchkey-20260101T000000Z', 'latchkey-20260102T000000Z', 'of-others'].map((name) =>
      join(folder, `${name}.jsonl.gz.partial`),
    ) as [string, string, string];
    for (const path of [old, young, others]) writeFileSync(path, 'half');
    for (const path of [old, others]) utimesSync(path, 0, 0);
    expect((await shell(env, 'backup', '--to', folder)).err).toContain('Removed latchkey-20260101T000000Z');
    expect([old, young, others].map((path) => existsSync(path))).toEqual([false, true, true]);
  });

  it('is refused while another one writes the same file', async () => {
    await fill();
    const both = await Promise.all([1, 2].map(() => shell(env, 'backup', '--to', file)));
    expect(both.some(({ code }) => code === 0)).toBe(true);
    expect(await shell(elsewhere, 'restore', file, '--check')).toMatchObject({ code: 0 });
    const holder = new pg.Client({ connectionString: app.databaseUrl });
    await holder.connect();
    const other = join(folder, 'b.jsonl.gz');
    await holder.query('select pg_advisory_lock(7316904, hashtext($1))', [`${hostname()}:${other}`]);
    const { code, err } = await shell(env, 'backup', '--to', other);
    await holder.end();
    expect([code, err]).toEqual([1, `backup: Another backup to ${other} is running.`]);
  });

  it('reads pages of bounded size, even if the rows are long', async () => {
    const project = await app.make.project();
    await query(
      app.databaseUrl,
      `insert into users (id, project_id, user_name, user_name_key, attributes, created_at, updated_at)
       select gen_random_uuid(), '${project.id}', n, n, jsonb_build_object('title', repeat('x', 100000)), now(), now()
       from generate_series(1, 100) n`,
    );
    const sizes = await app.services.db.snapshot(async (em) => {
      const [users] = (await tablesOf(em)).filter(({ name }) => name === 'users');
      const found: number[] = [];
      for await (const rows of rowsOf(em, users as Table)) found.push(rows.join('').length);
      return found;
    });
    expect(sizes.length).toBeGreaterThan(10);
    expect(Math.max(...sizes)).toBeLessThan(2_000_000);
  });

  it('of an older schema does not migrate the database, and restores into the current schema', async () => {
    const orm = await openDatabase({ url: target.url, poolSize: 2 });
    await orm.migrator.up({ to: (migrations[0] as { name: string }).name });
    await orm.close(true);
    expect(await shell(elsewhere, 'backup', '--to', file)).toMatchObject({ code: 0 });
    const names = await query(target.url, 'select name from migrations');
    expect(names).toHaveLength(1);
    const another = await emptyDatabase();
    expect(await shell({ ...env, DATABASE_URL: another.url }, 'restore', file)).toMatchObject({ code: 0 });
    expect(await query(another.url, 'select name from migrations')).toHaveLength(migrations.length);
    await another.drop();
  });

  it('of an embedded instance restores on another machine with only its master key', async () => {
    const [here, there] = [join(folder, 'here'), join(folder, 'there')];
    await firstStart(here);
    await shell({ DATA_DIR: here }, 'admin:link');
    const { out } = await shell({ DATA_DIR: here }, 'backup');
    expect(out).toContain(join(here, 'backups'));
    const refused = await shell({ DATA_DIR: there }, 'restore', out);
    expect(refused.err).toContain('copy it to');
    expect(existsSync(there)).toBe(false);
    const key = readFileSync(join(here, 'master.key'), 'utf8').trim();
    expect(await shell({ DATA_DIR: there, MASTER_KEY: key }, 'restore', out)).toMatchObject({ code: 0 });
    expect(await shell({ DATA_DIR: there, MASTER_KEY: key }, 'keys:rotate')).toMatchObject({ code: 0 });
    expect((await shell({ DATA_DIR: there, MASTER_KEY: key }, 'restore', out)).err).toContain('is not empty');
  });
});

describe('a backup made while the master key is rotated', () => {
  it('is refused without both keys, before anything is written', async () => {
    await fill();
    const both = { MASTER_KEY: otherKey, MASTER_KEY_SECOND: testMasterKey };
    expect(await shell({ ...env, ...both }, 'backup', '--to', file)).toMatchObject({ code: 0 });
    const onlyNew = { ...elsewhere, MASTER_KEY: otherKey };
    for (const args of [['--check', file], [file]]) {
      const { code, err } = await shell(onlyNew, 'restore', ...args);
      expect(code).toBe(1);
      expect(err).toMatch(/restore: \d+ values of .* are encrypted with another master key .*MASTER_KEY_SECOND/);
    }
    expect(await isUntouched()).toBe(true);
    expect(await shell({ ...elsewhere, ...both }, 'restore', file)).toMatchObject({ code: 0 });
    expect(await shell({ ...elsewhere, ...both }, 'master-key:rotate')).toMatchObject({ code: 0 });
    expect(await shell(onlyNew, 'keys:rotate')).toMatchObject({ code: 0 });
  });

  it('is restored with a warning if the other key, now lost, opened no signing key', async () => {
    await fill();
    // The name of the key is in the second to the fifth byte.
    await query(
      app.databaseUrl,
      `update enrolments set sealed_secret = overlay(sealed_secret placing '\\xdeadbeef' from 2)`,
    );
    expect((await shell(env, 'backup', '--to', file)).code).toBe(0);
    const { code, err } = await shell(elsewhere, 'restore', file);
    expect(code).toBe(0);
    expect(err).toMatch(/Warning: 1 values of .* are encrypted with another master key \(deadbeef\)/);
  });
});

describe('restore rejects, before it writes anything,', () => {
  beforeEach(async () => {
    await fill();
    await shell(env, 'backup', '--to', file);
  });

  afterEach(async () => expect(await isUntouched()).toBe(true));

  it('a backup made with another master key', async () => {
    const { code, err } = await shell({ ...elsewhere, MASTER_KEY: otherKey }, 'restore', file);
    expect(code).toBe(1);
    expect(err).toContain('was made with another master key');
  });

  it('a truncated file', async () => {
    const whole = readFileSync(file);
    for (const share of [0, 0.1, 0.5, 0.99]) {
      writeFileSync(file, whole.subarray(0, Math.floor(whole.length * share)));
      expect((await shell(elsewhere, 'restore', file)).err).toMatch(/is truncated|is empty/);
    }
    writeFileSync(file, whole);
    alter((lines) => lines.slice(0, -2));
    expect((await shell(elsewhere, 'restore', file)).err).toContain('is truncated');
  });

  it('a file in which a row was changed, added or removed', async () => {
    const whole = readFileSync(file);
    const isRow = (line: string) => line.startsWith('{"row":');
    for (const change of [
      (lines: string[]) => lines.map((line) => line.replace('"active":true', '"active":false')),
      (lines: string[]) => lines.filter((_line, index) => index !== lines.findIndex(isRow)),
      (lines: string[]) => lines.flatMap((line, index) => (index === lines.findIndex(isRow) ? [line, line] : [line])),
    ]) {
      writeFileSync(file, whole);
      alter(change);
      expect((await shell(elsewhere, 'restore', file)).err).toContain('was altered or is damaged');
    }
    writeFileSync(file, whole);
    whole[whole.length >> 1] = (whole[whole.length >> 1] as number) ^ 0xff;
    writeFileSync(file, whole);
    expect(await shell(elsewhere, 'restore', file)).toMatchObject({ code: 1 });
  });

  it('a file of a newer version, of another format version, or of another kind', async () => {
    const whole = readFileSync(file);
    const first = (line: (manifest: string) => string) =>
      alter((lines) => [line(lines[0] as string), ...lines.slice(1)]);
    first((manifest) => manifest.replace('"20261129002100-earlier-days"', '"29990101000000-tomorrow"'));
    expect((await shell(elsewhere, 'restore', file)).err).toContain('made by a newer version');
    writeFileSync(file, whole);
    first((manifest) => manifest.replace('"version":1', '"version":2'));
    expect((await shell(elsewhere, 'restore', file)).err).toContain('has version 2');
    writeFileSync(file, 'PGDMP');
    expect((await shell(elsewhere, 'restore', file)).err).toContain('is not a backup');
    writeFileSync(file, gzipSync('{}\n'));
    expect((await shell(elsewhere, 'restore', file)).err).toContain('is not a Latchkey backup');
    expect((await shell(elsewhere, 'restore', join(folder, 'none'))).err).toContain('cannot be read (ENOENT)');
  });

  it('nothing in a valid file (--check)', async () => {
    expect(await shell(elsewhere, 'restore', file, '--check')).toMatchObject({
      code: 0,
      err: expect.stringContaining('is complete'),
    });
  });
});

describe('restore', () => {
  it('rejects a database that is not empty', async () => {
    await shell(env, 'backup', '--to', file);
    const before = await contents(app.databaseUrl);
    expect((await shell(env, 'restore', file)).err).toContain('is not empty');
    expect(await contents(app.databaseUrl)).toEqual(before);
  });

  it('succeeds once if run twice in parallel', async () => {
    await fill();
    await shell(env, 'backup', '--to', file);
    const both = await Promise.all([shell(elsewhere, 'restore', file), shell(elsewhere, 'restore', file)]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(both.find(({ code }) => code === 1)?.err).toContain('is not empty');
  });

  it('leaves an empty database if it fails, and succeeds when run again', async () => {
    await fill();
    await shell(env, 'backup', '--to', file);
    const whole = readFileSync(file);
    // Two rows with the same key and a valid seal: the database rejects them.
    const { createHash } = await import('node:crypto');
    const { Vault } = await import('../domain/keys/vault.ts');
    const { systemRandom } = await import('../adapters/system/random.ts');
    alter((lines) => {
      const at = lines.findIndex((line) => line.startsWith('{"row":'));
      const body = [...lines.slice(0, at), lines[at] as string, ...lines.slice(at, -2)];
      const { id } = JSON.parse(body[0] as string) as { id: string };
      const checksum = createHash('sha256')
        .update(body.map((line) => `${line}\n`).join(''))
        .digest('base64url');
      const seal = new Vault(new Uint8Array(32).fill(7), systemRandom).mac('backup', id, checksum);
      const rows = body.filter((line) => line.startsWith('{"row":')).length;
      return [...body, JSON.stringify({ end: true, rows, checksum, seal }), ''];
    });
    expect(await shell(elsewhere, 'restore', file)).toMatchObject({ code: 1 });
    const tables = await query(target.url, `select tablename as name from pg_tables where schemaname = 'public'`);
    // Only the empty list of migrations remains.
    expect(tables).toEqual([{ name: 'migrations' }]);
    writeFileSync(file, whole);
    expect(await shell(elsewhere, 'restore', file)).toMatchObject({ code: 0 });
  });

  it('ends every session and refresh token with --end-sessions', async () => {
    await fill();
    await query(
      app.databaseUrl,
      `insert into refresh_grants (project_id, id, family_hash, client_id, user_id, offline, scope, auth_time, amr,
         current_hash, created_at, last_used_at)
       select c.project_id, c.id, 'family', c.id, u.id, true, 'offline_access', now(), '{swk}', 'token', now(), now()
       from clients c join users u on u.project_id = c.project_id where c.built_in is null limit 1`,
    );
    await shell(env, 'backup', '--to', file);
    await shell(elsewhere, 'restore', file, '--end-sessions');
    expect(await query(target.url, 'select from sessions where ended_at is null')).toEqual([]);
    expect(await query(target.url, 'select from sessions')).toHaveLength(1);
    expect(await query(target.url, 'select revoked_at is null as live from refresh_grants')).toEqual([{ live: false }]);
  });
});
