import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { emptyDatabase, type FreshDatabase } from '../../test/database.ts';
import { type Received, S3Server } from '../../test/s3-server.ts';
import { type Ran, shell, shellUntil, testMasterKey } from '../../test/shell.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { OperatorError } from '../domain/kernel/problem.ts';
import { StartError } from '../instance.ts';
import { placeFor } from './backup-places.ts';

const nameFormat = /latchkey-\d{8}T\d{6}Z\.jsonl\.gz$/;
const [oldest, older, newest] = ['20260101', '20260102', '20260103'].map(
  (day) => `latchkey-${day}T000000Z.jsonl.gz`,
) as [string, string, string];
const foreign = [
  'latchkey-notes.txt',
  'latchkey-20260101T000000Z.jsonl.gz.partial',
  'x-latchkey-20260101T000000Z.jsonl.gz',
];

let app: TestApp;
let server: S3Server;
let storage: Record<string, string>;
let env: Record<string, string>;
let printed: string[];

beforeEach(async () => {
  app = await buildTestApp();
  server = new S3Server();
  storage = await server.listen();
  env = { DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey, ...storage };
  printed = [];
});

afterEach(async () => {
  for (const secret of [storage['AWS_SECRET_ACCESS_KEY'], storage['AWS_ACCESS_KEY_ID'], 'hunter2'])
    expect(printed.join('\n')).not.toContain(secret);
  await server.close();
  await app.close();
});

async function run(with_: Record<string, string>, ...args: [string, ...string[]]): Promise<Ran> {
  const ran = await shell({ ...env, ...with_ }, ...args);
  printed.push(ran.out, ran.err);
  return ran;
}

describe('a backup to S3-compatible storage', () => {
  let target: FreshDatabase;

  beforeEach(async () => {
    target = await emptyDatabase();
  });

  afterEach(() => target.drop());

  it('is checked and restored from there', async () => {
    const project = await app.make.project();
    const user = await app.make.user(project, { attributes: { title: 'a\nb\u2028 😀' } });
    const made = await run({}, 'backup', '--to', 's3://backups/prod/');
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(nameFormat) });
    expect(made.out.startsWith('s3://backups/prod/latchkey-')).toBe(true);
    expect([[...server.objects.keys()], server.uploads.size]).toEqual([[made.out.slice('s3://backups/'.length)], 0]);
    const checked = await run({}, 'restore', made.out, '--check');
    expect(checked).toMatchObject({ code: 0, err: expect.stringContaining(`${made.out} is complete`) });
    expect(await run({ DATABASE_URL: target.url }, 'restore', made.out)).toMatchObject({ code: 0 });
    const client = new pg.Client({ connectionString: target.url });
    await client.connect();
    const { rows } = await client.query('select id, attributes from users where id = $1', [user.id]);
    await client.end();
    expect(rows).toEqual([{ id: user.id, attributes: { title: 'a\nb\u2028 😀' } }]);
    const recorded = await app.services.backups.newest();
    const [stored] = server.objects.values();
    expect(recorded).toMatchObject({ file: expect.stringMatching(/^latchkey-/), bytes: stored?.length });
  });

  it('is refused if truncated, like a file', async () => {
    await run({}, 'backup', '--to', 's3://backups/a.jsonl.gz');
    const whole = server.objects.get('a.jsonl.gz') as Buffer;
    server.objects.set('a.jsonl.gz', whole.subarray(0, whole.length >> 1));
    const { code, err } = await run({ DATABASE_URL: target.url }, 'restore', 's3://backups/a.jsonl.gz');
    expect([code, err]).toEqual([1, 'restore: s3://backups/a.jsonl.gz is truncated.']);
  });

  it('survives connections that are cut while it uploads and restores', async () => {
    const faults = ['cut', 'cut'] as const;
    let cuts = 0;
    server.fault = ({ method }) => (method === 'PUT' ? faults[cuts++] : undefined);
    expect(await run({}, 'backup', '--to', 's3://backups/a.jsonl.gz')).toMatchObject({ code: 0 });
    expect(cuts).toBe(3);
    server.cutDownloadAfter = 1000;
    expect(await run({}, 'restore', 's3://backups/a.jsonl.gz', '--check')).toMatchObject({ code: 0 });
    expect(server.cutDownloadAfter).toBeUndefined();
  });

  it.each<[string, (request: Received) => boolean]>([
    ['for the object', ({ method }) => method === 'GET'],
    ['for interrupted uploads', ({ query }) => query.has('uploads')],
    ['to begin', ({ method, query }) => method === 'POST' && query.has('uploads')],
    ['with a part', ({ method }) => method === 'PUT'],
    ['to complete it', ({ method, query }) => method === 'POST' && query.has('uploadId')],
  ])('that is interrupted during the request %s leaves nothing, and is not recorded', async (_, isIts) => {
    const stopping = new AbortController();
    server.fault = (request) => {
      if (!isIts(request)) return undefined;
      stopping.abort(new StartError('Interrupted by SIGTERM.'));
      return 'hang';
    };
    const ran = await shellUntil(stopping.signal, systemClock, env, 'backup', '--to', 's3://backups/');
    expect([ran.code, ran.err.split('\n').at(-1)]).toEqual([1, 'backup: Interrupted by SIGTERM.']);
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
    expect(await app.services.backups.newest()).toBeNull();
  });

  it.each([0, 1000])(
    'whose restore is interrupted during the download, after %i bytes, writes nothing',
    async (bytes) => {
      await run({}, 'backup', '--to', 's3://backups/a.jsonl.gz');
      const stopping = new AbortController();
      server.holdDownloadAfter = bytes;
      server.onHeld = () => stopping.abort(new StartError('Interrupted by SIGTERM.'));
      const into = { ...env, DATABASE_URL: target.url };
      const ran = await shellUntil(stopping.signal, systemClock, into, 'restore', 's3://backups/a.jsonl.gz');
      expect([ran.code, ran.err]).toEqual([1, 'restore: Interrupted by SIGTERM.']);
    },
  );

  it('overwrites no object', async () => {
    server.objects.set('a.jsonl.gz', Buffer.from('kept'));
    const { code, err } = await run({}, 'backup', '--to', 's3://backups/a.jsonl.gz');
    expect(code).toBe(2);
    expect(err).toContain('s3://backups/a.jsonl.gz already exists');
    expect(server.objects.get('a.jsonl.gz')?.toString()).toBe('kept');
  });

  it('removes the uploads of killed runs: with its name immediately, with other names after a day', async () => {
    const begun = (key: string, hours: number) =>
      server.uploads.set(key, { key, begunAt: new Date(Date.now() - hours * 3_600_000), parts: new Map() });
    begun('a.jsonl.gz', 0);
    begun('b.jsonl.gz', 48);
    begun(`p/${oldest}`, 48);
    begun(`p/${older}`, 1);
    begun('p/latchkey-of-others', 48);
    const { err } = await run({}, 'backup', '--to', 's3://backups/a.jsonl.gz');
    expect(err).toContain('Removed an interrupted upload of a.jsonl.gz');
    await run({}, 'backup', '--to', 's3://backups/p/');
    expect([...server.uploads.keys()]).toEqual(['b.jsonl.gz', `p/${older}`, 'p/latchkey-of-others']);
  });

  it('works without listing uploads', async () => {
    server.fault = ({ method, query }) =>
      method === 'GET' && query.has('uploads') ? { status: 501, code: 'NotImplemented' } : undefined;
    const { code, err } = await run({}, 'backup', '--to', 's3://backups/');
    expect(code).toBe(0);
    expect(err).toContain('Interrupted uploads could not be listed: ');
  });
});

describe('backup storage refuses', () => {
  it.each([
    [{ AWS_SECRET_ACCESS_KEY: 'hunter2' }, 's3://backups/', 'refused the credentials (SignatureDoesNotMatch)'],
    [{ AWS_ACCESS_KEY_ID: 'hunter2' }, 's3://backups/', 'refused the credentials (InvalidAccessKeyId)'],
    [{ BACKUP_S3_REGION: 'eu-west-9' }, 's3://backups/', 'check BACKUP_S3_REGION'],
    [{}, 's3://absent/', 'The bucket absent does not exist at 127.0.0.1:'],
    [{ BACKUP_S3_ENDPOINT: 'http://127.0.0.1:1' }, 's3://backups/', '127.0.0.1:1 cannot be reached (ECONNREFUSED).'],
    [{ AWS_SECRET_ACCESS_KEY: '' }, 's3://backups/', 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are required'],
    [{ BACKUP_S3_ENDPOINT: 'http://minio.internal' }, 's3://backups/', 'BACKUP_S3_ENDPOINT must start with https://'],
    [{ BACKUP_S3_ENDPOINT: 'https://a:hunter2@minio.internal' }, 's3://backups/', 'must not contain a user name'],
  ])('%o for %s: %s', async (with_, url, words) => {
    const commands: [string, ...string[]][] = [
      ['backup', '--to', url],
      ['restore', `${url}a.jsonl.gz`, '--check'],
    ];
    for (const args of commands) {
      const { code, err } = await run(with_ as Record<string, string>, ...args);
      expect(code).toBe(1);
      expect(err).toContain(words);
      expect(err.split('\n')).toHaveLength(1);
    }
  });

  it.each([
    's3:backups',
    's3://',
    's3://B/',
    's3://backups/a/../b.gz',
    's3://backups//a.gz',
    's3://backups/a b.gz',
    's3://backups/a?b.gz',
    's3://backups/a',
  ])('the malformed address %s', async (url) => {
    expect(await run({}, 'backup', '--to', url)).toMatchObject({ code: 2, out: '' });
    expect(server.received).toEqual([]);
  });

  it('a write that the key does not permit, and names the permission', async () => {
    server.fault = ({ method }) => (method === 'POST' ? { status: 403, code: 'AccessDenied' } : undefined);
    const { code, err } = await run({}, 'backup', '--to', 's3://backups/a.jsonl.gz');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^backup: \S+ denied s3:PutObject on s3:\/\/backups\/a\.jsonl\.gz: allow it/),
    ]);
  });
});

describe('--keep', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lk-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('removes the oldest backups in a folder, and nothing else', async () => {
    for (const name of [oldest, older, newest, ...foreign]) writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'latchkey-20250101T000000Z.jsonl.gz'));
    const { code, out, err } = await run({}, 'backup', '--to', folder, '--keep', '2');
    expect(code).toBe(0);
    expect(err).toContain(`Removed ${older}\nRemoved ${oldest}`);
    const [made] = nameFormat.exec(out) ?? [];
    expect(readdirSync(folder).sort()).toEqual(
      [...foreign, 'latchkey-20250101T000000Z.jsonl.gz', newest, made as string].sort(),
    );
    await run({}, 'restore', out, '--check');
  });

  it('removes the oldest backups with a prefix, and nothing else', async () => {
    const kept = [...foreign.map((name) => `p/${name}`), `p/q/${oldest}`, oldest, `p/${newest}`];
    for (const key of [`p/${oldest}`, `p/${older}`, ...kept]) server.objects.set(key, Buffer.from(key));
    const { code, out } = await run({}, 'backup', '--to', 's3://backups/p/', '--keep', '2');
    expect(code).toBe(0);
    expect([...server.objects.keys()].sort()).toEqual([...kept, out.slice('s3://backups/'.length)].sort());
  });

  it('keeps the new backup even if others have a later name', async () => {
    const future = 'latchkey-29990101T000000Z.jsonl.gz';
    writeFileSync(join(folder, future), '');
    const { out } = await run({}, 'backup', '--to', folder, '--keep', '1');
    expect([existsSync(out), existsSync(join(folder, future))]).toEqual([true, false]);
  });

  it('removes nothing if the backup fails', async () => {
    for (const name of [oldest, older]) server.objects.set(name, Buffer.from(name));
    server.fault = ({ method }) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : undefined);
    expect(await run({}, 'backup', '--to', 's3://backups/', '--keep', '1')).toMatchObject({ code: 1 });
    expect([...server.objects.keys()]).toEqual([oldest, older]);
  });

  it('only warns if it fails', async () => {
    for (const name of [oldest, older]) server.objects.set(name, Buffer.from(name));
    server.fault = ({ method, key }) =>
      method === 'DELETE' && key === older ? { status: 403, code: 'AccessDenied' } : undefined;
    const { code, err } = await run({}, 'backup', '--to', 's3://backups/', '--keep', '1');
    expect(code).toBe(0);
    expect(err).toMatch(/Warning: latchkey-20260102T000000Z\.jsonl\.gz was not removed: \S+ denied s3:DeleteObject/);
    expect([server.objects.has(oldest), server.objects.has(older)]).toEqual([false, true]);
  });

  it.each([
    [['--to', '-', '--keep', '2'], '--keep requires a folder'],
    [['--to', 's3://backups/a.jsonl.gz', '--keep', '2'], '--keep requires a folder'],
    [['--keep', '0'], '--keep must be a whole number'],
    [['--keep', '1.5'], '--keep must be a whole number'],
  ])('is refused with %o', async (args, words) => {
    const { code, err } = await run({}, 'backup', ...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
    expect(server.objects.size).toBe(0);
  });
});

describe('a full disk', () => {
  it('is reported with the file; other errors are unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-full-'));
    const path = join(folder, 'today.jsonl.gz');
    const interrupted = new AbortController().signal;
    const place = await placeFor(path, {
      config: {} as never,
      now: systemClock.now(),
      interrupted,
      log: () => undefined,
    });
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    expect(place.explain(full)).toEqual(
      new OperatorError(`${path} cannot be written (its disk is full: free some space, or choose another place).`),
    );
    const lost = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(place.explain(lost)).toBe(lost);
    rmSync(folder, { recursive: true });
  });
});
