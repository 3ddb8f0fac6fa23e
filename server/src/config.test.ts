import { inspect } from 'node:util';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { openLog } from './adapters/telemetry/log.ts';
import { type ConfigError, loadConfig, renderConfigMarkdown } from './config.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64');
const noFiles = (): string => {
  throw new Error('no such file');
};

function faults(env: Record<string, string>): string[] {
  try {
    loadConfig(env, noFiles);
  } catch (error) {
    return (error as ConfigError).faults;
  }
  return [];
}

describe('the settings', () => {
  it('work without any configuration', () => {
    expect(loadConfig({}, noFiles)).toMatchObject({
      BASE_URL: 'http://localhost:3000',
      HOST: '127.0.0.1',
      PORT: 3000,
      MANAGEMENT_PORT: 9000,
      DATA_DIR: './data',
      TRUST_PROXY: false,
      DANGER_ALLOW_PRIVATE_TARGETS: false,
    });
  });

  it('read a secret from a file, without its last newline', () => {
    const config = loadConfig({ BOOTSTRAP_ADMIN_TOKEN_FILE: '/run/secrets/token' }, () => `${'t'.repeat(32)}\n`);
    expect(config.BOOTSTRAP_ADMIN_TOKEN?.reveal()).toBe('t'.repeat(32));
  });

  it('treat an empty value as unset', () => {
    expect(loadConfig({ PORT: '', SMTP_URL: '' }, noFiles)).toMatchObject({ PORT: 3000, SMTP_URL: undefined });
  });

  it.each([
    ['BASE_URL', 'http://id.example.com'],
    ['BASE_URL', 'https://id.example.com/'],
    ['BASE_URL', 'https://id.example.com/path'],
    ['BASE_URL', 'https://id.example.com?x'],
    ['BASE_URL', 'https://id.example.com.'],
    ['BASE_URL', 'https://id.example.com.:8443'],
    ['BASE_URL', 'https://user@id.example.com'],
    ['BASE_URL', 'http://localhost.example.com'],
    ['BASE_URL', 'nonsense'],
    ['PORT', '70000'],
    ['PORT', 'x'],
    ['DATABASE_URL', 'mysql://x'],
    ['MASTER_KEY', 'short'],
    ['BOOTSTRAP_ADMIN_TOKEN', 'short'],
    ['BOOTSTRAP_ADMIN_TOKEN', ' '.repeat(40)],
    ['BOOTSTRAP_ADMIN_TOKEN', `${'t'.repeat(32)} `],
    ['BOOTSTRAP_ADMIN_TOKEN', 'ä'.repeat(40)],
    ['MAIL_FROM', 'x'],
    ['MAIL_FROM', 'no address'],
    ['MAIL_FROM', 'Example <signin>'],
    ['MAIL_FROM', 'a@b.example\r\nBcc: c@d.example'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', 'nonsense'],
    ['TRUST_PROXY', '-1'],
    ['TRUST_PROXY', '10.0.0.0/99'],
    ['TRUST_PROXY', '10.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.0/8/8'],
    ['TRUST_PROXY', '10.0.0.0/255.0.255.0'],
    ['TRUST_PROXY', '::1/255.0.0.0'],
    ['TRUST_PROXY', 'loopback, proxy.example.com'],
    ['TRUST_PROXY', 'loopback,'],
    ['LOG_LEVEL', 'loud'],
    ['DANGER_ALLOW_PRIVATE_TARGETS', 'yes'],
  ])('reject %s=%s with one line that names it', (name, value) => {
    expect(faults({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  it('has an earlier name for DANGER_ALLOW_PRIVATE_TARGETS, which still works', () => {
    const earlier = 'DANGER_ALLOW_PRIVATE_LOGOUT_TARGETS';
    const allowed = (env: Record<string, string>) => loadConfig(env, () => '').DANGER_ALLOW_PRIVATE_TARGETS;
    expect(allowed({ [earlier]: 'true' })).toBe(true);
    expect(allowed({ [earlier]: 'true', DANGER_ALLOW_PRIVATE_TARGETS: 'true' })).toBe(true);
    expect(allowed({})).toBe(false);
    const both = faults({ [earlier]: 'true', DANGER_ALLOW_PRIVATE_TARGETS: 'false' });
    expect(both).toEqual([expect.stringContaining(`remove ${earlier}`)]);
  });

  it.each([
    '0',
    '2',
    'loopback',
    'loopback, linklocal,uniquelocal',
    '10.1.2.3',
    '10.0.0.0/8, 192.168.0.0/255.255.0.0',
    'fd00::/8,::1',
  ])('accept TRUST_PROXY=%s, as Express does', (value) => {
    const { TRUST_PROXY } = loadConfig({ TRUST_PROXY: value }, noFiles);
    expect(() => express().set('trust proxy', TRUST_PROXY)).not.toThrow();
  });

  it.each([
    'signin@example.com',
    'Example <signin@example.com>',
    'Latchkey <signin@localhost>',
    '"Ä, B" <a@b.example>',
    '<a@b.example>',
  ])('accept MAIL_FROM=%s', (value) => expect(faults({ MAIL_FROM: value })).toEqual([]));

  it('derive BASE_URL from PORT with the embedded database', () => {
    const database = { DATABASE_URL: 'postgresql://db/latchkey', MASTER_KEY: masterKey };
    const addressOf = (env: Record<string, string>) => loadConfig(env, noFiles).BASE_URL;
    expect(addressOf({ PORT: '3001' })).toBe('http://localhost:3001');
    expect(addressOf({ PORT: '3001', BASE_URL: 'https://id.example.com' })).toBe('https://id.example.com');
    expect(addressOf({ PORT: '3001', ...database })).toBe('http://localhost:3000');
  });

  it('reject the same port for PORT and MANAGEMENT_PORT', () => {
    expect(faults({ PORT: '9000' })).toEqual([expect.stringMatching(/^MANAGEMENT_PORT /)]);
    expect(faults({ PORT: '9000', MANAGEMENT_HOST: '10.0.0.1' })).toEqual([]);
  });

  it('report all faults at once', () => {
    expect(faults({ PORT: 'x', BASE_URL: 'y' })).toHaveLength(2);
    expect(
      faults({
        PORT: 'x',
        DATABASE_URL: 'postgresql://db/latchkey',
        SMTP_URL: 'smtp://localhost:25',
        TWILIO_FROM: '+1',
      }),
    ).toEqual(
      ['PORT', 'MASTER_KEY', 'MAIL_FROM', 'TWILIO_ACCOUNT_SID'].map((name) => expect.stringMatching(`^${name}`)),
    );
  });

  it.each<Record<string, string>>([
    { MASTER_KEY: 'short', DATABASE_URL: 'postgresql://db/latchkey' },
    { MASTER_KEY_FILE: '/x', DATABASE_URL: 'postgresql://db/latchkey' },
    { MAIL_FROM: 'x', SMTP_URL: 'smtp://localhost:25' },
    { BACKUP_S3_ALLOW_HTTP: 'x', BACKUP_S3_ENDPOINT: 'http://minio.example.com' },
  ])('report a faulty value once: %o', (env) => {
    expect(faults(env)).toHaveLength(1);
  });

  it('do not compare ports that are faulty', () => {
    expect(faults({ PORT: 'x', MANAGEMENT_PORT: 'y' })).toHaveLength(2);
  });

  it('never print a secret', () => {
    const text = faults({ BOOTSTRAP_ADMIN_TOKEN: 'hunter2', MASTER_KEY: 'hunter2', DATABASE_URL: 'hunter2' }).join();
    expect(text).not.toContain('hunter2');
  });

  it('hide secrets when logged, printed or inspected', () => {
    const secrets = {
      BOOTSTRAP_ADMIN_TOKEN: 'hunter2'.repeat(5),
      MASTER_KEY: masterKey,
      DATABASE_URL: 'postgresql://latchkey:hunter2@db/latchkey',
      SMTP_URL: 'smtps://hunter2:hunter2@mail.example.com',
      MAIL_FROM: 'signin@example.com',
      SMS_URL: 'https://hunter2@sms.example.com',
    };
    const config = loadConfig(secrets, noFiles);
    const lines: string[] = [];
    openLog('info', { write: (line) => void lines.push(line) }).info({ config }, 'settings');
    const outputs = [
      inspect(config, { depth: 9, showHidden: true }),
      JSON.stringify(config),
      `${config.SMTP_URL}`,
      ...lines,
    ];
    for (const text of outputs) {
      expect(text).toContain('[secret]');
      expect(text).not.toMatch(/hunter2/);
      expect(text).not.toContain(masterKey.slice(0, 20));
    }
    expect(config.DATABASE_URL?.reveal()).toBe(secrets.DATABASE_URL);
  });

  it('reject a second master key without a first', () => {
    expect(faults({ MASTER_KEY_SECOND: masterKey })).toEqual([expect.stringMatching(/^MASTER_KEY_SECOND /)]);
  });

  it('reject DATABASE_URL without a master key, and a secret set twice', () => {
    expect(faults({ DATABASE_URL: 'postgresql://db/latchkey' })).toEqual([expect.stringMatching(/^MASTER_KEY /)]);
    expect(faults({ DATABASE_URL: 'postgresql://db/latchkey', MASTER_KEY: masterKey })).toEqual([]);
    expect(faults({ MASTER_KEY: masterKey, MASTER_KEY_FILE: '/x' }).length).toBeGreaterThan(0);
  });

  it('reject a mail server without a sender, and incomplete Twilio settings', () => {
    expect(faults({ SMTP_URL: 'smtp://localhost:25' })).toEqual([expect.stringMatching(/^MAIL_FROM /)]);
    expect(faults({ TWILIO_FROM: '+12025550143' })).toHaveLength(1);
  });

  it('are listed in config.md', () => {
    expect(renderConfigMarkdown()).toContain('`MASTER_KEY_FILE`');
  });
});
