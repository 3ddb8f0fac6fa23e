import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { contextOf, firstStart, shell, shellAt, testMasterKey } from '../../test/shell.ts';
import { noQueue } from '../domain/kernel/queue.ts';
import { allCommands } from './commands.ts';
import { withDatabase } from './opened.ts';

const commands = await allCommands();

let app: TestApp;
let env: Record<string, string>;

beforeEach(async () => {
  app = await buildTestApp();
  env = { DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey };
});

afterEach(() => app.close());

describe('the shell', () => {
  it('lists every command, and prints the help of each', async () => {
    const { code, out } = await shell({}, '--help');
    expect(code).toBe(0);
    for (const command of commands) {
      expect(out).toContain(command.name);
      const help = await shell({}, command.name, '--help');
      expect(help.code).toBe(0);
      for (const option of Object.keys(command.options ?? {})) expect(help.out).toContain(`--${option}`);
    }
  });

  it('rejects unknown commands and arguments without reading the settings', async () => {
    expect(await shell({ PORT: 'x' }, 'no-such')).toMatchObject({ code: 2 });
    expect(await shell({ PORT: 'x' }, 'keys:rotate', '--no-such')).toMatchObject({ code: 2, out: '' });
    expect(await shell({ PORT: 'x' }, 'keys:rotate', 'surplus')).toMatchObject({ code: 2, out: '' });
  });

  it('prints one line for invalid settings or an unreachable database', async () => {
    expect((await shell({ PORT: 'x' }, 'keys:rotate')).err).toMatch(/^keys:rotate: PORT must be/);
    const away = { ...env, DATABASE_URL: 'postgresql://nobody:hunter2@127.0.0.1:1/none' };
    const { code, err } = await shell(away, 'keys:rotate');
    expect(code).toBe(1);
    expect(err).toMatch(/^keys:rotate: Cannot use the database: /);
    expect(err).not.toContain('hunter2');
  });

  it.each(['backup', 'admin:link', 'keys:rotate', 'master-key:rotate'])(
    'creates no database for %s without the settings of the server',
    async (command) => {
      const folder = mkdtempSync(join(tmpdir(), 'lk-'));
      const { code, err } = await shell({ DATA_DIR: folder }, command);
      expect(code).toBe(1);
      expect(err).toMatch(/^\S+: There is no database in .*: run this command with the settings of the server/);
      expect(readdirSync(folder)).toEqual([]);
      rmSync(folder, { recursive: true });
    },
  );
});

describe('admin:link', () => {
  it('prints a link that the server accepts, and records it in the audit log', async () => {
    const { out } = await shellAt(app.clock, { ...env, BASE_URL: app.url }, 'admin:link');
    const link = /http\S+/.exec(out)?.[0] as string;
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(303);
    const sql = `select count(*)::int as count from audit_log where type = 'setup-link.minted'`;
    expect(await app.services.db.reader().execute(sql)).toEqual([{ count: 1 }]);
  });
});

describe('keys:rotate', () => {
  it('creates no signing key with a wrong master key', async () => {
    const before = await app.services.keys.list();
    const { code, err } = await shellAt(
      app.clock,
      { ...env, MASTER_KEY: Buffer.alloc(32, 8).toString('base64') },
      'keys:rotate',
    );
    expect(code).toBe(1);
    expect(err).toContain('sealed under another master key');
    expect(await app.services.keys.list()).toHaveLength(before.length);
  });

  it('publishes keys that sign a day later, and does nothing when run again', async () => {
    const before = (await app.services.keys.jwks()).keys.length;
    const { code, out } = await shellAt(app.clock, env, 'keys:rotate');
    expect(code).toBe(0);
    expect(out.split('\n')).toHaveLength(2);
    app.clock.turn(10);
    expect((await app.services.keys.jwks()).keys).toHaveLength(before + 2);
    await shellAt(app.clock, env, 'keys:rotate');
    app.clock.turn(10);
    expect((await app.services.keys.jwks()).keys).toHaveLength(before + 2);
  });

  it('with --emergency invalidates all earlier tokens, while sign-in keeps working', async () => {
    const { signer, keys } = app.services;
    const token = await signer.sign('id-token', { sub: 'somebody', aud: 'app' });
    await shellAt(app.clock, env, 'keys:rotate');
    const { out } = await shellAt(app.clock, env, 'keys:rotate', '--emergency');
    expect(out.match(/^withdrawn/gm)).toHaveLength(4);
    app.clock.turn(10);
    expect(await signer.verify('id-token', token)).toBeNull();
    expect((await keys.jwks()).keys).toHaveLength(2);
    expect(
      await signer.verify('id-token', await signer.sign('id-token', { sub: 'somebody', aud: 'app' })),
    ).not.toBeNull();
  });
});

describe('master-key:rotate', () => {
  const newKey = Buffer.alloc(32, 8).toString('base64');
  const swapped = () => ({ ...env, MASTER_KEY: newKey, MASTER_KEY_SECOND: testMasterKey });

  it('re-encrypts all values: then the new key alone is enough, and recovery codes still work', async () => {
    const project = await app.make.project();
    const user = await app.make.user(project);
    const { services } = app;
    const [codes, enrolment] = await services.db.transaction(async (em) => {
      const begun = await services.mfa.begin(em, { user: user, deviceId: null, method: 'totp', phone: null });
      return [(await services.mfa.verify(em, begun, user, { kind: 'system' })) as string[], begun] as const;
    });
    const secret = services.vault.open('totp', enrolment.id, enrolment.sealedSecret as Buffer).toString();

    const { code, out } = await shell(swapped(), 'master-key:rotate');
    expect(code).toBe(0);
    expect(out).toMatch(/^3 values re-encrypted/);
    expect((await shell(swapped(), 'master-key:rotate')).out).toMatch(/^0 values re-encrypted/);

    const after = await openedWith(newKey);
    const sealed = await after.services.db
      .reader()
      .execute<{ sealed_secret: Buffer }[]>('select sealed_secret from enrolments');
    expect(after.services.vault.open('totp', enrolment.id, sealed[0]?.sealed_secret as Buffer).toString()).toBe(secret);
    expect((await after.services.keys.published()).length).toBe(2);
    const used = (typed: string) =>
      after.services.db.transaction((em) => after.services.mfa.recoveryCodes.use(em, user, typed));
    expect(await used(codes[0] as string)).toBe(true);
    expect(await used(codes[0] as string)).toBe(false);
    await after.close();
  });

  it('changes nothing if it fails, and succeeds when run again', async () => {
    const em = () => app.services.db.reader();
    await em().execute(
      `create function fail() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
    );
    await em().execute('create trigger fail before insert on audit_log execute function fail()');
    const before = await em().execute('select sealed_private_key from signing_keys order by id');
    expect(await shell(swapped(), 'master-key:rotate')).toMatchObject({ code: 1, out: '' });
    expect(await em().execute('select sealed_private_key from signing_keys order by id')).toEqual(before);
    await em().execute('drop trigger fail on audit_log');
    expect(await shell(swapped(), 'master-key:rotate')).toMatchObject({ code: 0 });
  });

  it('does not disturb processes with both keys before, during or after', async () => {
    const other = await openedWith(newKey, testMasterKey);
    expect(await other.services.keys.published()).toHaveLength(2);
    const [first, second] = await Promise.all([
      shell(swapped(), 'master-key:rotate'),
      shell(swapped(), 'master-key:rotate'),
    ]);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect([first.out, second.out].map((out) => Number.parseInt(out, 10)).sort()).toEqual([0, 2]);
    const late = await openedWith(testMasterKey, newKey);
    expect(await late.services.keys.published()).toHaveLength(2);
    await other.close();
    await late.close();
  });

  it('fails if a value is encrypted with neither key, or the second key is missing', async () => {
    const wrong = { ...env, MASTER_KEY: newKey, MASTER_KEY_SECOND: Buffer.alloc(32, 9).toString('base64') };
    const { code, err } = await shell(wrong, 'master-key:rotate');
    expect(code).toBe(1);
    expect(err).toContain('sealed under another master key');
    expect((await shell({ ...env, MASTER_KEY: newKey }, 'master-key:rotate')).err).toContain('set MASTER_KEY_SECOND');
  });

  it('covers every encrypted column of the database', async () => {
    const found = await app.services.db.reader().execute<{ name: string }[]>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and data_type = 'bytea' and column_name like 'sealed%' order by 1`,
    );
    const { sealedColumns } = await import('../domain/instance/master-key-change.ts');
    expect(found.map(({ name }) => name)).toEqual(
      sealedColumns.map(({ table, column }) => `${table}.${column}`).sort(),
    );
  });

  it('generates and stores the keys of an embedded instance', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'lk-'));
    const embedded = { DATA_DIR: dataDir };
    try {
      await firstStart(dataDir);
      await shell(embedded, 'keys:rotate');
      const { code, out } = await shell(embedded, 'master-key:rotate');
      expect(out).toMatch(/^4 values re-encrypted/);
      expect(code).toBe(0);
      expect(await shell(embedded, 'keys:rotate')).toMatchObject({ code: 0 });
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('is refused while another command uses an embedded instance: that would encrypt with the old key', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'lk-'));
    const embedded = { DATA_DIR: dataDir };
    try {
      await firstStart(dataDir);
      const rotation = await withDatabase(contextOf(embedded), () => shell(embedded, 'master-key:rotate'));
      expect(rotation).toMatchObject({
        code: 1,
        err: expect.stringContaining('Another Latchkey uses the data folder'),
      });
      expect(readdirSync(dataDir).filter((name) => name.startsWith('master.key'))).toEqual(['master.key']);
      expect(await shell(embedded, 'master-key:rotate')).toMatchObject({ code: 0 });
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});

/** Another process on the same database. */
async function openedWith(masterKey: string, second?: string) {
  const { openDatabase } = await import('../adapters/postgres/database.ts');
  const { systemRandom } = await import('../adapters/system/random.ts');
  const { buildServices } = await import('../services.ts');
  const orm = await openDatabase({ url: app.databaseUrl, poolSize: 2 });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
  const services = buildServices(
    {
      orm,
      clock: app.clock,
      random: systemRandom,
      queue: noQueue,
      senders: { mail: null, sms: null },
      postLogoutToken: async () => ({ status: 200 }),
    },
    {
      issuer: app.url,
      masterKey: bytes(masterKey),
      secondMasterKey: second === undefined ? undefined : bytes(second),
      allowPrivateTargets: true,
    },
  );
  return { services, close: () => orm.close(true) };
}
