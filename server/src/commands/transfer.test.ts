import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { shell, shellWith, testMasterKey } from '../../test/shell.ts';
import { newDeviceKey } from '../../test/signin-browser.ts';
import { MasterKeyChange } from '../domain/instance/master-key-change.ts';
import { system } from '../domain/kernel/actor.ts';
import { digest } from '../domain/kernel/secret.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn, type TenantKey } from '../domain/projects/tenant.ts';
import { User } from '../domain/users/user.entity.ts';
import { StartError } from '../instance.ts';

/** A COSE key on P-256 (the point of RFC 6979 appendix A.2.5). */
const publicKey =
  'pQECAyYgASFYIGD-1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p-2IlggeQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk';

let here: TestApp;
let there: TestApp;
let folder: string;
let file: string;
let passphrase: string;

const settings = (app: TestApp) => ({ DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: here.url });

beforeEach(async () => {
  [here, there] = await Promise.all([buildTestApp(), buildTestApp()]);
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
  file = join(folder, 'a.jsonl');
  passphrase = join(folder, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\n');
});

afterEach(async () => {
  await Promise.all([here.close(), there.close()]);
  rmSync(folder, { recursive: true });
});

/** Adds a passkey of the user in this instance; returns its id. */
async function addPasskey(user: User): Promise<string> {
  const created = {
    ...{ credentialId: 'a-credential', publicKey, alg: -7, transports: ['internal', 'hybrid'] },
    ...{ aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd', signCount: 7, attestedRoot: null, attestationFormat: 'none' },
    ...{ backupEligible: true, backedUp: false, userVerified: true },
  };
  const { db, passkeys } = here.services;
  const actor = { kind: 'system' } as const;
  return db.transaction(async (em) => (await passkeys.register(em, { user, created, createdBy: 'factor', actor })).id);
}

const credentialRows = (app: TestApp, kind: string) =>
  app.services.db.reader().execute<object[]>('select * from credentials where kind = ? order by id', [kind]);

/** Adds a role of the user and of the group, and claim settings. */
async function addRoles({ project, id }: TenantKey, user: User): Promise<void> {
  const { db, claims, roles } = here.services;
  const { id: roleId } = await roles.create(keyIn(project.id, id), { key: 'editor', name: 'Editor' }, system);
  const [group] = await db.reader().execute<{ id: string }[]>('select id from groups');
  for (const holder of [{ userId: user.id }, { groupId: group?.id as string }]) {
    await roles.assign(keyIn(project.id, roleId), holder, system);
  }
  const mappings = [
    { claim: 'job', attribute: 'title' },
    { claim: 'policy', scope: 'groups', list: { of: 'groups' as const, prefix: 'C' } },
  ];
  await claims.update(keyIn(project.id, id), { groups: 'assigned', mappings }, system);
}

const deviceKey = await newDeviceKey();

interface Populated {
  project: Project;
  user: User;
  secretKey: string;
  scimToken: string;
  codes: string[];
  totp: { id: string; secret: string };
}

async function populate(): Promise<Populated> {
  const { services, make } = here;
  const project = await make.project({ name: 'Moving' });
  const { client, secretKey } = await make.client(project);
  const user = await make.user(project, { attributes: { title: 'a\u2028b\nc' } });
  const [codes, totp] = await services.db.transaction(async (em) => {
    const begun = await services.mfa.begin(em, { user: user, deviceId: null, method: 'totp', phone: null });
    const made = (await services.mfa.verify(em, begun, user, { kind: 'system' })) as string[];
    const secret = services.vault.open('totp', begun.id, begun.sealedSecret as Buffer).toString();
    return [made, { id: begun.id, secret }] as const;
  });
  const { token: scimToken } = await services.directories.issueScimToken(
    { projectId: project.id, name: 'Directory' },
    { kind: 'system' },
  );
  await services.delegationKeys.rotate(client, { kind: 'system' });
  await services.db.transaction(async (em) => {
    await em.execute(
      `insert into groups (id, project_id, display_name, created_at, updated_at) values (gen_random_uuid(), ?, 'Crew', now(), now())`,
      [project.id],
    );
    await em.execute(
      'insert into group_members (project_id, group_id, user_id, created_at) select project_id, id, ?, now() from groups',
      [user.id],
    );
    await em.execute(
      `insert into credentials (id, project_id, client_id, user_id, jkt, public_jwk, alg, name, created_at, last_used_at)
       values (gen_random_uuid(), ?, ?, ?, ?, ?, 'ES256', 'Laptop', now(), now())`,
      [project.id, client.id, user.id, deviceKey.jkt, JSON.stringify(deviceKey.jwk)],
    );
  });
  await addRoles(client, user);
  return { project, user, secretKey: secretKey as string, scimToken, codes, totp };
}

/** Cheap keys: deriving those of a release would take most of the time of a test. */
const cheap = { passphraseCosts: { N: 2 ** 10, r: 8, p: 1 } };

function exported(...args: string[]) {
  return shellWith(cheap, settings(here), 'export', '--to', file, ...args);
}
/** Imports the file, also over its projects. */
function imported(...args: string[]) {
  const [, ids = ''] = /"projects":\["([^\]]*)"\]/.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? [];
  const named = ids === '' || args.includes('--overwrite') ? [] : ['--overwrite', ids.replaceAll('","', ',')];
  return shellWith(cheap, settings(there), 'import', file, ...named, ...args);
}
const sealedToo = () => ['--passphrase-file', passphrase];

/** Changes lines and recomputes the checksum, as an attacker would. */
function forge(change: (lines: string[]) => string[]): void {
  const lines = change(readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -1));
  const checksum = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('base64url');
  writeFileSync(
    file,
    `${[...lines, JSON.stringify({ type: 'end', records: lines.length - 1, checksum })].join('\n')}\n`,
  );
}
function forgeFirst(type: string, change: (data: Record<string, unknown>) => void): void {
  forge((lines) => {
    const at = lines.findIndex((line) => line.startsWith(`{"type":"${type}"`));
    const record = JSON.parse(lines[at] as string) as { data: Record<string, unknown> };
    change(record.data);
    return lines.with(at, JSON.stringify(record));
  });
}
const count = async (app: TestApp, table: string) =>
  (await app.services.db.reader().execute<{ n: number }[]>(`select count(*)::int as n from ${table}`))[0]?.n;

describe('a project exported and imported into another instance', () => {
  it('keeps ids, factors, recovery codes and devices of users, and its keys and tokens stay valid', async () => {
    const { project, user, secretKey, scimToken, codes, totp } = await populate();
    expect(await exported('--project', project.id, ...sealedToo())).toMatchObject({ code: 0 });
    const { code, out, err } = await imported(...sealedToo());
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^user +1 added, 0 changed, 0 unchanged$/m);
    const { services } = there;
    const em = services.db.reader();
    expect(await em.findOne(User, { id: user.id, project: project.id })).toMatchObject({ attributes: user.attributes });
    expect((await services.registry.bySecretKey(secretKey))?.name).toBe('App');
    expect(
      await services.directories.authenticate(project.id, { authorization: `Bearer ${scimToken}`, ip: undefined }),
    ).toBeTruthy();
    const [enrolment] = await em.execute<{ sealed_secret: Buffer }[]>('select sealed_secret from enrolments');
    expect(services.vault.open('totp', totp.id, enrolment?.sealed_secret as Buffer).toString()).toBe(totp.secret);
    const used = (typed: string) => services.db.transaction((own) => services.mfa.recoveryCodes.use(own, user, typed));
    expect(await used(codes[0] as string)).toBe(true);
    for (const table of ['group_members', 'credentials', 'delegation_keys']) expect(await count(there, table)).toBe(1);
    for (const table of ['client_roles', 'role_assignments', 'claim_settings']) {
      const of = (app: TestApp) => app.services.db.reader().execute<object[]>(`select * from ${table} order by 1, 2`);
      expect(await of(there)).toEqual(await of(here));
    }
    expect(await count(there, 'role_assignments')).toBe(2);
    expect(await count(there, `audit_log where type = 'project.imported'`)).toBe(1);
  });

  it('keeps passkeys, also without secrets', async () => {
    const { project, user } = await populate();
    const id = await addPasskey(user);
    await exported('--project', project.id, '--without-secrets');
    expect(await imported('--without-secrets')).toMatchObject({ code: 0, err: '' });
    const rows = await credentialRows(here, 'passkey');
    expect(rows).toMatchObject([{ id, sign_count: '7', transports: ['internal', 'hybrid'], created_by: 'factor' }]);
    expect(await credentialRows(there, 'passkey')).toEqual(rows);
    const { db, passkeys } = there.services;
    expect((await passkeys.find(db.reader(), project.id, 'a-credential'))?.user.id).toBe(user.id);
    expect((await imported('--without-secrets')).out).toMatch(/^device +0 added, 0 changed, 2 unchanged$/m);
  });

  it('keeps its devices if the previous release exported it', async () => {
    const { project } = await populate();
    await exported('--project', project.id, '--without-secrets');
    const added = [
      ...['kind', 'created_by', 'credential_id', 'public_key', 'cose_alg', 'aaguid', 'transports', 'sign_count'],
      ...['backup_eligible', 'backed_up', 'user_verified'],
    ];
    forgeFirst('device', (data) => {
      expect(Object.keys(data)).toEqual(expect.arrayContaining(added));
      for (const name of added) delete data[name];
    });
    forgeFirst('project', (data) => delete data['passkeys']);
    expect(await imported('--without-secrets')).toMatchObject({ code: 0, err: '' });
    expect(await credentialRows(there, 'device-key')).toEqual(await credentialRows(here, 'device-key'));
    expect(await count(there, `projects where id = '${project.id}' and passkeys`)).toBe(1);
  });

  it('warns that passkeys belong to the host name of their server', async () => {
    const { project } = await populate();
    await exported('--project', project.id, '--without-secrets');
    const elsewhere = async (BASE_URL: string) =>
      (await shell({ ...settings(there), BASE_URL }, 'import', file, '--without-secrets', '--dry-run')).err;
    expect(await elsewhere('https://id.example.com')).toContain('passkeys cannot be used here');
    const sameHost = new URL(here.url);
    sameHost.port = '1';
    expect(await elsewhere(sameHost.origin)).not.toContain('passkeys');
  });

  it('works under another master key, recovery codes included', async () => {
    const { project, user, codes, totp } = await populate();
    await exported('--project', project.id, ...sealedToo());
    const otherKey = Buffer.alloc(32, 8).toString('base64');
    const other = { ...settings(there), MASTER_KEY: otherKey, MASTER_KEY_SECOND: testMasterKey };
    await shell(other, 'master-key:rotate');
    const alone = { ...settings(there), MASTER_KEY: otherKey };
    expect(await shellWith(cheap, alone, 'import', file, ...sealedToo())).toMatchObject({ code: 0 });
    const { Vault } = await import('../domain/keys/vault.ts');
    const { RecoveryCodes } = await import('../domain/mfa/recovery-codes.ts');
    const { systemRandom } = await import('../adapters/system/random.ts');
    const vault = new Vault(new Uint8Array(32).fill(8), systemRandom);
    const recoveryCodes = new RecoveryCodes({ clock: there.clock, random: systemRandom, vault });
    const { db } = there.services;
    expect(await db.transaction((em) => recoveryCodes.use(em, user, codes[1] as string))).toBe(true);
    const [row] = await db.reader().execute<{ sealed_secret: Buffer }[]>('select sealed_secret from enrolments');
    expect(vault.open('totp', totp.id, row?.sealed_secret as Buffer).toString()).toBe(totp.secret);
    expect(await new MasterKeyChange({ db, clock: there.clock, vault, audit: there.services.audit }).left()).toBe(0);
  });

  it('can be imported again without changes; later changes are applied', async () => {
    const { project, user } = await populate();
    await exported('--project', project.id, ...sealedToo());
    await imported(...sealedToo());
    const again = await imported(...sealedToo());
    expect(again.code).toBe(0);
    expect(again.out).not.toMatch(/ [1-9]\d* (added|changed)/);
    expect(await count(there, 'users')).toBe(1);
    await here.services.db.reader().execute(`update users set display_name = 'New' where id = ?`, [user.id]);
    rmSync(file);
    await exported('--project', project.id, '--without-secrets');
    expect((await imported('--without-secrets')).out).toMatch(/^user +0 added, 1 changed, 0 unchanged$/m);
    expect(await count(there, `users where display_name = 'New' and version = 2`)).toBe(1);
    const counted = await there.services.db.reader().execute('select sum(users)::int as n from user_counts');
    expect(counted).toEqual([{ n: 1 }]);
  });

  it('ends the access of users whom the file deactivates, and notifies their applications', async () => {
    const { project, user } = await populate();
    const receives =
      "update clients set backchannel_logout_uri = 'https://app.example.com/logout' where project_id = ?";
    await here.services.db.transaction((em) => em.execute(receives, [project.id]));
    await exported('--project', project.id, ...sealedToo());
    await imported(...sealedToo());
    const copy = await there.services.db.reader().findOneOrFail(User, { id: user.id }, { populate: ['project'] });
    await there.make.session(copy.project.getEntity(), copy);
    await there.services.db.transaction(async (em) => {
      await em.execute(`insert into participations (project_id, session_id, client_id, first_at, last_at)
        select s.project_id, s.id, c.id, now(), now() from sessions s join clients c using (project_id) limit 1`);
    });
    const live = () => count(there, 'sessions where ended_at is null');
    expect([await live(), await count(there, 'credentials where revoked_at is null')]).toEqual([1, 1]);
    forgeFirst('user', (data) => (data['active'] = false));
    expect((await imported(...sealedToo())).out).toMatch(/^user +0 added, 1 changed, 0 unchanged$/m);
    expect([await live(), await count(there, 'credentials where revoked_at is null')]).toEqual([0, 0]);
    expect(await count(there, 'users where active')).toBe(0);
    expect(await count(there, "logout_deliveries where state = 'pending' and sid is null")).toBe(1);
  });

  it('ends everything of the former person if the file gives a deactivated user to another one', async () => {
    const { project, user } = await populate();
    await addPasskey(user);
    await exported('--project', project.id, ...sealedToo());
    await imported(...sealedToo());
    there.clock.turn(60);
    await there.services.accounts.setActive(project.id, user.id, false, { kind: 'scim', id: user.id });
    forgeFirst('user', (data) => {
      Object.assign(data, { user_name: 'berta@example.com' });
    });
    expect((await imported(...sealedToo())).code).toBe(0);
    const left = ['credentials where revoked_at is null', 'enrolments', 'recovery_codes', 'suspensions'];
    expect(await Promise.all(left.map((table) => count(there, table)))).toEqual([0, 0, 0, 0]);
    expect(await count(there, 'users where active')).toBe(1);
  });

  it('keeps the identity of a deactivated user: another person who is activated afterwards gets nothing', async () => {
    const { project, user } = await populate();
    const directory = { kind: 'scim', id: user.id } as const;
    await here.services.accounts.setActive(project.id, user.id, false, directory);
    await here.services.userEdits.edit(project.id, user.id, { email: 'berta@example.com' }, directory);
    await exported('--project', project.id, ...sealedToo());
    expect((await imported(...sealedToo())).out).toMatch(/^suspension +1 added/m);
    expect((await imported(...sealedToo())).out).not.toMatch(/ [1-9]\d* (added|changed)/);
    expect(await count(there, 'credentials where revoked_at is null')).toBe(1);
    await there.services.accounts.setActive(project.id, user.id, true, directory);
    expect(await count(there, 'credentials where revoked_at is null')).toBe(0);
    expect(await count(there, 'enrolments')).toBe(0);
  });

  it('restores no key, token or device that was revoked since, and no used recovery code', async () => {
    const { project, user, codes, secretKey } = await populate();
    await exported('--project', project.id, ...sealedToo());
    await imported(...sealedToo());
    const { db, mfa, registry } = there.services;
    await db.transaction(async (em) => {
      for (const table of ['api_keys', 'scim_tokens', 'credentials'])
        await em.execute(`update ${table} set revoked_at = now()`);
      expect(await mfa.recoveryCodes.use(em, user, codes[0] as string)).toBe(true);
    });
    const again = await imported(...sealedToo());
    expect(again).toMatchObject({ code: 0, out: expect.not.stringMatching(/ [1-9]\d* (added|changed)/) });
    for (const table of ['api_keys', 'scim_tokens', 'credentials'])
      expect(await count(there, `${table} where revoked_at is null`)).toBe(0);
    expect(await registry.bySecretKey(secretKey)).toBeNull();
    const used = db.transaction((em) => mfa.recoveryCodes.use(em, user, codes[0] as string));
    expect(await used).toBe(false);
  });

  it('restores no delegation key that was revoked since, and resets no counter or suspension', async () => {
    const { project, user } = await populate();
    await addPasskey(user);
    const remembered = `update credentials set mfa_remembered_at = now(), mfa_remembered_until = now() + interval '1 day'`;
    await here.services.db.reader().execute(remembered);
    await exported('--project', project.id, ...sealedToo());
    await imported(...sealedToo());
    const { db, delegationKeys } = there.services;
    const keys = await db.reader().execute<{ id: string }[]>('select id from delegation_keys');
    for (const { id } of keys) await delegationKeys.revoke(keyIn(project.id, id), system);
    for (const statement of [
      `update credentials set suspended_at = now(), mfa_remembered_at = null, mfa_remembered_until = null,
         sign_count = sign_count + 3`,
      `update enrolments set last_step = 9999999999`,
    ])
      await db.reader().execute(statement);
    const again = await imported(...sealedToo());
    expect(again).toMatchObject({ code: 0, out: expect.not.stringMatching(/ [1-9]\d* (added|changed)/) });
    expect(await count(there, 'delegation_keys where expires_at is null')).toBe(0);
    expect(await count(there, 'credentials where suspended_at is null or mfa_remembered_until is not null')).toBe(0);
    expect(await count(there, 'credentials where sign_count = 10')).toBe(1);
    expect(await count(there, 'enrolments where last_step = 9999999999')).toBe(1);
  });

  it('restores no recovery code that was replaced since, and no factor that was removed', async () => {
    const { project, user, codes } = await populate();
    await exported('--project', project.id, ...sealedToo());
    await imported(...sealedToo());
    const { accountAccess, db, mfa } = there.services;
    const use = (code: string) => db.transaction((em) => mfa.recoveryCodes.use(em, user, code));
    there.clock.turn(60);
    expect(await use(codes[0] as string)).toBe(true);
    const renewed = await db.transaction(async (em) => {
      const here = await em.findOneOrFail(User, { id: user.id, project: project.id });
      const subject = { kind: 'user', id: user.id, name: here.userName };
      there.services.audit.record(em, {
        ...{ type: 'mfa.recovery_codes_renewed', actor: system, projectId: project.id, subject },
      });
      return mfa.recoveryCodes.issue(em, here);
    });
    expect(await imported(...sealedToo())).toMatchObject({
      code: 0,
      out: expect.not.stringMatching(/ [1-9]\d* (added|changed)/),
    });
    // One was used, the rest were replaced.
    for (const code of codes) expect(await use(code)).toBe(false);
    expect(await use(renewed[0] as string)).toBe(true);

    await accountAccess.resetFactors(project.id, user.id, system);
    expect(await imported(...sealedToo())).toMatchObject({
      code: 0,
      out: expect.not.stringMatching(/ [1-9]\d* (added|changed)/),
    });
    expect(await count(there, 'enrolments')).toBe(0);
    expect(await count(there, 'recovery_codes')).toBe(0);
  });

  it('has a key that is expensive to derive, and is refused with a cheaper one', async () => {
    const { project } = await populate();
    await exported('--project', project.id, ...sealedToo());
    const unsupported = 'uses a key derivation that this release does not support';
    expect((await shell(settings(there), 'import', file, ...sealedToo())).err).toContain(unsupported);
    rmSync(file);
    await shell(settings(here), 'export', '--to', file, '--project', project.id, ...sealedToo());
    const { kdf } = JSON.parse(readFileSync(file, 'utf8').split('\n')[0] as string);
    expect(kdf).toMatchObject({ name: 'scrypt', N: 2 ** 17, r: 8, p: 1 });
    expect((await imported(...sealedToo())).err).toContain(unsupported);
    expect(await shell(settings(there), 'import', file, ...sealedToo())).toMatchObject({ code: 0 });
  });

  it('contains secrets only encrypted with the passphrase, or not at all', async () => {
    const { project, totp, secretKey } = await populate();
    const hash = createHash('sha256').update(secretKey).digest('base64url');
    await exported('--project', project.id, ...sealedToo());
    for (const secret of [totp.secret, hash, 'PRIVATE KEY']) expect(readFileSync(file, 'utf8')).not.toContain(secret);
    rmSync(file);
    await exported('--project', project.id, '--without-secrets');
    const text = readFileSync(file, 'utf8');
    for (const word of ['sealed', totp.id, 'api-key', 'scim-token', 'recovery-code', 'mac-key', hash]) {
      expect(text).not.toContain(word);
    }
    expect(await imported('--without-secrets')).toMatchObject({ code: 0 });
    expect(await count(there, 'users')).toBe(1);
    expect(await count(there, 'enrolments')).toBe(0);
  });

  it('is imported without its secrets on request', async () => {
    const { project } = await populate();
    await exported('--project', project.id, ...sealedToo());
    expect(await imported('--without-secrets')).toMatchObject({ code: 0 });
    for (const table of ['enrolments', 'api_keys', 'scim_tokens', 'recovery_codes'])
      expect(await count(there, table)).toBe(0);
  });

  it('leaves no trace after a dry run', async () => {
    const { project } = await populate();
    await exported('--project', project.id, ...sealedToo());
    const { code, out } = await imported(...sealedToo(), '--dry-run');
    expect([code, out.includes('1 added')]).toEqual([0, true]);
    expect(await count(there, 'users')).toBe(0);
    expect(await count(there, 'retired_mac_keys')).toBe(0);
  });

  it('is exported with all others by --all, which omits the project of the admins', async () => {
    await here.services.seed.create({ demo: true });
    await populate();
    await exported('--all', '--without-secrets');
    const projects = (JSON.parse(readFileSync(file, 'utf8').split('\n')[0] as string) as { projects: string[] })
      .projects;
    expect(projects).toHaveLength(2);
    const { out } = await shell(
      settings(here),
      'export',
      '--project',
      await consoleId(),
      '--to',
      '-',
      '--without-secrets',
    );
    expect(out).toBe('');
  });
});

async function consoleId(): Promise<string> {
  const sql = `select id from projects where built_in = 'console'`;
  return ((await here.services.db.reader().execute<{ id: string }[]>(sql))[0] as { id: string }).id;
}

describe('import rejects, without writing anything,', () => {
  let populated: Populated;

  beforeEach(async () => {
    populated = await populate();
    await exported('--project', populated.project.id, ...sealedToo());
  });

  /** Deriving a key from the passphrase is slow: omitted for files that are refused with or without their secrets. */
  async function refused(reason: RegExp | string, ...args: string[]): Promise<void> {
    const before = [await count(there, 'projects'), await count(there, 'users')];
    const { code, err } = await imported(...(args.length > 0 ? args : sealedToo()));
    expect(err).toMatch(reason);
    expect(code).toBeGreaterThan(0);
    expect([await count(there, 'projects'), await count(there, 'users')]).toEqual(before);
  }

  it('a file with another passphrase, without one, or with one that is too short', async () => {
    writeFileSync(passphrase, 'another horse battery staple');
    await refused('passphrase does not match');
    await refused('choose exactly one', '--dry-run');
    writeFileSync(passphrase, 'short');
    await refused('at least 12 characters');
  });

  it('a file that is truncated, modified, of another version or of another kind', async () => {
    const whole = readFileSync(file, 'utf8');
    for (const share of [0, 0.3, 0.98]) {
      writeFileSync(file, whole.slice(0, Math.floor(whole.length * share)));
      await refused(/is truncated|is empty/, '--without-secrets');
    }
    writeFileSync(file, whole.replace('"active":true', '"active":false'));
    await refused('was altered or is damaged');
    writeFileSync(file, whole.replace('"version":1', '"version":9'));
    await refused('has version 9');
    writeFileSync(file, whole.replace(/"salt":"[^"]*"/, '"salt":7'));
    await refused('uses a key derivation that this release does not support');
    writeFileSync(file, 'id,name\n1,x\n');
    await refused('cannot be read as JSON');
    writeFileSync(file, '{"format":"latchkey-backup"}\n');
    await refused('is not a Latchkey export');
    rmSync(file);
    await refused('ENOENT');
  });

  it('invalid records, with their line', async () => {
    const whole = readFileSync(file);
    const cases: [string, (data: Record<string, unknown>) => void, RegExp][] = [
      ['user', (data) => Object.assign(data, { is_admin: true }), /:\d+ has an unknown field for user: is_admin/],
      ['project', (data) => Object.assign(data, { built_in: 'console' }), /unknown field for project: built_in/],
      ['user', (data) => Object.assign(data, { id: 'x' }), /has a user with a value of the wrong format: "x"/],
      [
        'user',
        (data) => Object.assign(data, { id: 'x', active: false }),
        /has a user with a value of the wrong format: "x"/,
      ],
      ['user', (data) => Object.assign(data, { user_name: null }), /user "\S+": userName is required/],
      ['project', (data) => Object.assign(data, { mfa_policy: 'never' }), /mfaPolicy must be one of/],
      [
        'user',
        (data) => Object.assign(data, { project_id: '00000000-0000-7000-8000-000000000000' }),
        /is of a project that the header does not name: 00000000-0000-7000-8000-000000000000/,
      ],
      [
        'device',
        (data) => Object.assign(data, { client_id: '00000000-0000-7000-8000-000000000000' }),
        /refers to a client that does not precede it/,
      ],
      ['device', (data) => Object.assign(data, { kind: 'passkey' }), /device "\S.*": credentialId must be base64url/],
      ['api-key', (data) => Object.assign(data, { hash: 'plain' }), /contains a secret that is not encrypted/],
      [
        'enrolment',
        (data) => Object.assign(data, { id: '00000000-0000-7000-8000-000000000000' }),
        /secret that was modified/,
      ],
    ];
    for (const [type, change, reason] of cases) {
      writeFileSync(file, whole);
      forgeFirst(type, change);
      await refused(reason, ...(/secret/.test(reason.source) ? [] : ['--without-secrets']));
    }
    writeFileSync(file, whole);
    forge((lines) => [...lines, '{"type":"membership","data":{}}']);
    await refused('has a type that this version does not support: membership', '--without-secrets');
    for (const type of ['user', 'group-member']) {
      writeFileSync(file, whole);
      forge((lines) => lines.flatMap((line) => (line.startsWith(`{"type":"${type}"`) ? [line, line] : [line])));
      await refused(/^import: \S+:\d+(-\d+)? has the same record twice\.$/, '--without-secrets');
    }
  });

  it('an id that belongs to another project, and a login address that is taken', async () => {
    const { user } = populated;
    const project = await there.make.project({ name: 'Other' });
    const taken = await there.make.user(project, { id: user.id });
    await refused('belongs to another project or owner');
    expect(await there.services.db.reader().findOne(User, { id: taken.id, project: project.id })).toBeTruthy();
    await there.services.db.reader().execute('delete from users');
    expect(await imported(...sealedToo())).toMatchObject({ code: 0 });
    forgeFirst('user', (data) => Object.assign(data, { id: '00000000-0000-7000-8000-000000000001' }));
    await refused(
      /belongs to a user that does not precede it|has the email address of another user of this instance: /,
    );
  });
});

describe('export', () => {
  it('rejects ambiguous options, and leaves no file', async () => {
    for (const args of [['--all'], ['--without-secrets'], ['--all', '--project', 'x', '--without-secrets']]) {
      expect(await exported(...args)).toMatchObject({ code: 2 });
    }
    expect((await exported('--project', 'x', '--without-secrets')).err).toContain('There is no project x');
    expect(
      (await shell(settings(here), 'export', '--all', '--without-secrets', '--to', join(folder, 'no', 'a'))).code,
    ).toBe(1);
    writeFileSync(file, 'mine');
    expect((await exported('--all', '--without-secrets')).err).toContain('already exists');
    expect(existsSync(`${file}.partial`)).toBe(false);
  });

  it('that is interrupted leaves no file', async () => {
    const { project } = await populate();
    const interrupted = AbortSignal.abort(new StartError('Interrupted by SIGINT.'));
    const args = ['--project', project.id, '--to', file, '--without-secrets'];
    const { code, err } = await shellWith({ interrupted: () => interrupted }, settings(here), 'export', ...args);
    expect([code, err]).toEqual([1, 'export: Interrupted by SIGINT.']);
    expect(readdirSync(folder)).toEqual(['passphrase']);
    expect(await exported('--project', project.id, '--without-secrets')).toMatchObject({ code: 0 });
  });
});

describe('issuers', () => {
  it('keep client secrets and slugs; a new project gets another slug if its own is taken, and keeps it', async () => {
    const project = await here.make.project({ name: 'Moving', slug: 'moving' });
    const settings = { tokenEndpointAuthMethod: 'client_secret_basic', idTokenSignedResponseAlg: 'RS256' } as const;
    const { client, clientSecret } = await here.make.client(project, settings);
    await there.make.project({ name: 'Other', slug: 'moving' });
    expect(await exported('--project', project.id, ...sealedToo())).toMatchObject({ code: 0 });
    const slugs = [];
    for (let round = 0; round < 2; round += 1) {
      expect(await imported(...sealedToo())).toMatchObject({ code: 0 });
      slugs.push((await there.services.projects.find(there.services.db.reader(), project.id))?.slug);
    }
    expect(slugs[0]).toMatch(/^moving-[0-9a-f]{8}$/);
    expect(slugs[1]).toBe(slugs[0]);
    const holder = await there.services.registry.current.bySecretHash(digest(clientSecret ?? ''));
    expect(holder?.client).toMatchObject({ id: client.id, idTokenSignedResponseAlg: 'RS256' });
  });
});
