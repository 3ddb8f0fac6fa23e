import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { emptyDatabase } from '../../test/database.ts';
import { poolerStandIn } from '../../test/pooler-stand-in.ts';
import { shell, shellAt, testMasterKey } from '../../test/shell.ts';
import type { SystemCheck } from '../domain/instance/checks.ts';

let app: TestApp;
let env: Record<string, string>;

beforeEach(async () => {
  app = await buildTestApp();
  env = { DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: app.url };
});

afterEach(() => app.close());

async function examined(
  settings: Record<string, string>,
): Promise<{ code: number; checks: Record<string, SystemCheck> }> {
  const { code, out } = await shellAt(app.clock, settings, 'doctor', '--json');
  const { checks } = JSON.parse(out) as { checks: SystemCheck[] };
  return { code, checks: Object.fromEntries(checks.map((check) => [check.name, check])) };
}

describe('doctor', () => {
  it('says of each thing how it is, and what to do wherever it is not well', async () => {
    const { out } = await shell(env, 'doctor');
    for (const line of out.split('\n')) expect(line).toMatch(/^(ok {4}|WARN {2}|FAIL {2})\S|^ {21}→ /);
    const { checks } = await examined(env);
    for (const { level, advice } of Object.values(checks)) if (level !== 'ok') expect(advice).not.toBeNull();
    const well = [
      'Settings',
      'Address',
      'Statements',
      'Migrations',
      'Master key',
      'Key ES512',
      'Key EdDSA',
      'Test mode',
    ];
    for (const name of well) expect(checks[name]).toMatchObject({ level: 'ok' });
    // A slow machine is warned of; that is no fault of the connection.
    expect(['ok', 'warn']).toContain(checks['Connection']?.level);
  });

  it('ends with 1 where something fails: no mail server', async () => {
    expect(await examined(env)).toMatchObject({ code: 1, checks: { Mail: { level: 'fail' } } });
  });

  it('tells every fault of the settings, and shows no secret', async () => {
    const { code, out } = await shell({ PORT: 'x', MASTER_KEY: 'hunter2' }, 'doctor');
    expect(code).toBe(1);
    expect(out.match(/^FAIL {2}Settings/gm)).toHaveLength(2);
    expect(out).not.toContain('hunter2');
  });

  it('finds a database, a mail server, an SMS gateway and an address that are away', async () => {
    const away = 'http://127.0.0.1:1';
    const { code, checks } = await examined({
      ...env,
      DATABASE_URL: 'postgresql://latchkey:hunter2@127.0.0.1:1/latchkey',
      BASE_URL: away,
      SMS_URL: away,
      ...{ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'signin@example.com' },
    });
    expect(code).toBe(1);
    for (const name of ['Database', 'Mail server', 'SMS gateway'])
      expect(checks[name]).toMatchObject({ level: 'fail' });
    expect(checks['Address']).toMatchObject({ level: 'warn' });
    // Where, and what to do.
    for (const name of ['Database', 'Mail server']) expect(checks[name]?.summary).toContain('127.0.0.1');
    expect(checks['Database']?.advice).toContain('Nobody listens there');
    expect(checks['Mail server']?.advice).toContain('Nothing listens at this port');
    expect(JSON.stringify(checks)).not.toContain('hunter2');
  });

  it('waits three seconds in all for those that take the connection and say nothing', async () => {
    const held = new Set<Socket>();
    const silent = createServer((socket) => void held.add(socket.on('error', () => undefined)));
    await new Promise<void>((listening) => {
      silent.listen(0, '127.0.0.1', listening);
    });
    const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const began = performance.now();
    const { code, checks } = await examined({
      ...env,
      DATABASE_URL: `postgresql://latchkey:hunter2@${host}/latchkey`,
      BASE_URL: `http://${host}`,
      SMS_URL: `https://${host}`,
      ...{ SMTP_URL: `smtp://user:hunter2@${host}`, MAIL_FROM: 'signin@example.com' },
    });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(code).toBe(1);
    for (const name of ['Database', 'Mail server', 'SMS gateway'])
      expect(checks[name]).toMatchObject({ level: 'fail', summary: expect.stringMatching(/no answer|ETIMEDOUT/) });
    expect(checks['Address']).toMatchObject({ level: 'warn', summary: expect.stringContaining('no answer') });
    for (const socket of held) socket.destroy();
    await new Promise((closed) => silent.close(closed));
  });

  it('finds a wrong master key, and one that is being changed', async () => {
    const other = Buffer.alloc(32, 8).toString('base64');
    expect(await examined({ ...env, MASTER_KEY: other })).toMatchObject({
      code: 1,
      checks: { 'Master key': { level: 'fail' } },
    });
    const { checks } = await examined({ ...env, MASTER_KEY: other, MASTER_KEY_SECOND: testMasterKey });
    expect(checks['Master key']).toMatchObject({ level: 'warn', advice: 'Run `master-key:rotate`.' });
  });

  it.each([1, 3])(
    'finds a pooler that loses prepared statements, with %s connections, and looks at the rest',
    async (connections) => {
      const pooler = await poolerStandIn(app.databaseUrl, { connections });
      const behind = { ...env, DATABASE_URL: pooler.url };
      const { code, checks } = await examined(behind);
      expect(code).toBe(1);
      expect(checks['Statements']).toMatchObject({
        level: 'fail',
        advice: expect.stringContaining('DATABASE_PREPARED_STATEMENTS=false'),
      });
      expect(['ok', 'warn']).toContain(checks['Connection']?.level);
      for (const name of ['Migrations', 'Master key']) expect(checks[name]).toMatchObject({ level: 'ok' });
      const { checks: unprepared } = await examined({ ...behind, DATABASE_PREPARED_STATEMENTS: 'false' });
      expect(unprepared['Statements']).toBeUndefined();
      expect(unprepared['Master key']).toMatchObject({ level: 'ok' });
      await pooler.close();
    },
  );

  it('finds a pooler that refuses what a server begins its connections with', async () => {
    const pooler = await poolerStandIn(app.databaseUrl, { refuses: 'lock_timeout' });
    const { code, checks } = await examined({ ...env, DATABASE_URL: pooler.url });
    expect(code).toBe(1);
    expect(checks['Database']).toMatchObject({
      level: 'fail',
      summary: expect.stringContaining('unsupported startup parameter: lock_timeout'),
      advice: expect.stringContaining('server/docs/database.md'),
    });
    await pooler.close();
  });

  it('finds an address where somebody else answers', async () => {
    const { checks } = await examined({ ...env, BASE_URL: app.url.replace('127.0.0.1', 'localhost') });
    expect(checks['Address']).toMatchObject({ level: 'fail', advice: expect.stringContaining('BASE_URL') });
  });

  it('changes nothing: neither a database without a schema nor an empty folder', async () => {
    const database = await emptyDatabase();
    const { code, checks } = await examined({ ...env, DATABASE_URL: database.url });
    expect(code).toBe(1);
    expect(checks['Migrations']).toMatchObject({ level: 'fail' });
    await database.drop();
    const folder = mkdtempSync(join(tmpdir(), 'lk-'));
    await shell({ DATA_DIR: folder }, 'doctor');
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('fails where test mode is on for more than 100 users over https, and says so where it holds', async () => {
    const project = await app.make.project({ name: 'Grown', testMode: true });
    for (let n = 0; n < 100; n += 1) await app.make.user(project);
    const secure = { ...env, BASE_URL: 'https://id.example.com' };
    expect((await examined(secure)).checks['Test mode']).toMatchObject({ level: 'warn' });
    await app.make.user(project);
    expect(await examined(secure)).toMatchObject({
      code: 1,
      checks: { 'Test mode': { level: 'fail', summary: expect.stringContaining('Grown') } },
    });
    expect((await examined(env)).checks['Test mode']).toMatchObject({ level: 'ok' });
  });

  it('sees a signing key that should have changed long ago', async () => {
    app.clock.turn(120 * 24 * 3600);
    const { checks } = await examined(env);
    expect(checks['Key ES512']).toMatchObject({ level: 'warn' });
  });
});
