import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { emptyDatabase } from '../../../test/database.ts';
import { ownTime } from '../../../test/own-time.ts';
import { poolerStandIn } from '../../../test/pooler-stand-in.ts';
import { shell, shellAt, testMasterKey } from '../../../test/shell.ts';
import type { SystemCheck } from '../../domain/instance/checks.ts';

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
  it('prints a level for each check, and advice for each problem', async () => {
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
    expect(checks['Release']?.summary).toMatch(/^Latchkey \d+\.\d+\.\d+ on Node \d+/);
    // A slow machine may cause a warning.
    expect(['ok', 'warn']).toContain(checks['Connection']?.level);
  });

  it('warns if all users have the private address of one proxy', async () => {
    const project = await app.make.project();
    const signIns = (ips: readonly string[]) =>
      app.services.db.transaction(async (em) => {
        for (const [n, ip] of ips.entries()) {
          const subject = { kind: 'user', id: `user-${n}` };
          const actor = { kind: 'user', id: subject.id, ip } as const;
          app.services.audit.record(em, { type: 'user.signed_in', actor, projectId: project.id, subject });
        }
      });
    const level = async () => (await examined(env)).checks['Client addresses'];
    await signIns(Array.from({ length: 9 }, () => '10.0.0.2'));
    expect(await level()).toMatchObject({ level: 'ok' });
    await signIns(Array.from({ length: 10 }, () => '10.0.0.2'));
    expect(await level()).toMatchObject({
      level: 'warn',
      summary: 'All 10 users who signed in during the last day have the address 10.0.0.2',
      advice: expect.stringContaining('TRUST_PROXY'),
    });
    await signIns(['203.0.113.7']);
    expect(await level()).toMatchObject({ level: 'ok' });
  });

  it('exits with 1 if a check fails: no mail server', async () => {
    expect(await examined(env)).toMatchObject({ code: 1, checks: { Mail: { level: 'fail' } } });
  });

  it('reports every invalid setting, without secrets', async () => {
    const { code, out } = await shell({ PORT: 'x', MASTER_KEY: 'hunter2' }, 'doctor');
    expect(code).toBe(1);
    expect(out.match(/^FAIL {2}Settings/gm)).toHaveLength(2);
    expect(out).not.toContain('hunter2');
  });

  it('reports an unreachable database, mail server, SMS gateway and BASE_URL', async () => {
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
    for (const name of ['Database', 'Mail server']) expect(checks[name]?.summary).toContain('127.0.0.1');
    expect(checks['Database']?.advice).toContain('Connection refused');
    expect(checks['Mail server']?.advice).toContain('Connection refused');
    expect(JSON.stringify(checks)).not.toContain('hunter2');
  });

  it('waits three seconds in total for hosts that accept the connection and do not respond', async () => {
    const held = new Set<Socket>();
    const silent = createServer((socket) => void held.add(socket.on('error', () => undefined)));
    await new Promise<void>((listening) => {
      silent.listen(0, '127.0.0.1', listening);
    });
    const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const unanswered = {
      ...env,
      DATABASE_URL: `postgresql://latchkey:hunter2@${host}/latchkey`,
      BASE_URL: `http://${host}`,
      SMS_URL: `https://${host}`,
      ...{ SMTP_URL: `smtp://user:hunter2@${host}`, MAIL_FROM: 'signin@example.com' },
    };
    const { result, took } = await ownTime(() => examined(unanswered));
    expect(took).toBeLessThan(4_500);
    const { code, checks } = result;
    expect(code).toBe(1);
    for (const name of ['Database', 'Mail server', 'SMS gateway'])
      expect(checks[name]).toMatchObject({
        level: 'fail',
        summary: expect.stringMatching(/no (answer|response)|ETIMEDOUT/),
      });
    expect(checks['Address']).toMatchObject({ level: 'warn', summary: expect.stringMatching(/no (answer|response)/) });
    for (const socket of held) socket.destroy();
    await new Promise((closed) => silent.close(closed));
  });

  it('reports a wrong master key, and an unfinished rotation', async () => {
    const other = Buffer.alloc(32, 8).toString('base64');
    expect(await examined({ ...env, MASTER_KEY: other })).toMatchObject({
      code: 1,
      checks: { 'Master key': { level: 'fail' } },
    });
    const { checks } = await examined({ ...env, MASTER_KEY: other, MASTER_KEY_SECOND: testMasterKey });
    expect(checks['Master key']).toMatchObject({ level: 'warn', advice: 'Run `master-key:rotate`.' });
  });

  it.each([1, 3])(
    'reports a pooler that loses prepared statements, with %s connections, and runs the other checks',
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
      expect(checks['Row security']).toBeUndefined();
      const scoped = { ...behind, DATABASE_PREPARED_STATEMENTS: 'false', DATABASE_ROW_SECURITY: 'true' };
      const { checks: unprepared } = await examined(scoped);
      expect(unprepared['Statements']).toBeUndefined();
      expect(unprepared['Row security']).toMatchObject({
        level: 'fail',
        advice: expect.stringContaining('DATABASE_ROW_SECURITY=false'),
      });
      expect(unprepared['Master key']).toMatchObject({ level: 'ok' });
      await pooler.close();
    },
  );

  it('reports a pooler that rejects a startup parameter', async () => {
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

  it('reports a BASE_URL that serves another issuer', async () => {
    const { checks } = await examined({ ...env, BASE_URL: app.url.replace('127.0.0.1', 'localhost') });
    expect(checks['Address']).toMatchObject({ level: 'fail', advice: expect.stringContaining('BASE_URL') });
  });

  it('changes nothing in an empty database or folder', async () => {
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

  it('fails for test mode with more than 100 users over https, and only warns below that', async () => {
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

  it('warns of a signing key whose rotation is overdue', async () => {
    app.clock.turn(120 * 24 * 3600);
    const { checks } = await examined(env);
    expect(checks['Key ES512']).toMatchObject({ level: 'warn' });
  });
});
