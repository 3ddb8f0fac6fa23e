import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { configuredProject, connectionSecret, receiverSecrets } from '../../../test/configured-project.ts';
import { RelyingParty } from '../../../test/relying-party.ts';
import { changed, rows } from '../../../test/rows.ts';
import { SamlProvider } from '../../../test/saml-provider.ts';
import { shell, testMasterKey } from '../../../test/shell.ts';
import { ProjectFileError } from '../../adapters/files/project-yaml.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import { projectYaml } from '../../domain/configuration/project-yaml.ts';
import { Connection } from '../../domain/connections/connection.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { digest } from '../../domain/kernel/secret.ts';
import { Organization } from '../../domain/organizations/organization.entity.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { wantedIn } from './wanted.ts';

let here: TestApp;
let folder: string;
let project: Project;
/** The settings before each test. */
let original: Record<string, unknown>;
const file = (name = 'shop.yaml') => join(folder, name);
const settings = (app: TestApp, more: Record<string, string> = {}) => ({
  ...{ DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: app.url },
  ...more,
});
/** Refers to the secret of the log stream, which a pulled file does not contain. */
const refer = () => edit('header: Authorization', 'header: Authorization\n    secret: !env CONFIG_COLLECTOR');
const references = { CONFIG_COLLECTOR: receiverSecrets.logStream };
const run = (name: string, ...args: string[]) => shell(settings(here), name, folder, ...args);
const clientIn = async (app: TestApp, name = 'Portal') =>
  app.services.db.reader().findOneOrFail(Client, { project: { slug: 'shop' }, name });
/** Writes the original settings to the file, like `pull`. */
const write = () => {
  const save = (bytes: Uint8Array) => {
    writeFileSync(file('logo.png'), bytes);
    return 'logo.png';
  };
  writeFileSync(file(), projectYaml(original, save));
};
const edit = (from: string | RegExp, to: string) =>
  writeFileSync(
    file(),
    readFileSync(file(), 'utf8').replace(from, () => to),
  );

beforeAll(async () => {
  here = await buildTestApp();
  project = await configuredProject(here.services);
  original = await here.services.configurations.document(project);
});
afterAll(() => here.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('pull, apply and plan', () => {
  it('copy a project to an empty instance, and then find no changes', async () => {
    expect(await run('pull')).toMatchObject({ code: 0 });
    expect(readdirSync(folder).sort()).toEqual(['shop-logo.png', 'shop.yaml']);
    expect(await run('plan')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
    const pulled = readFileSync(file(), 'utf8');
    const there = await buildTestApp();
    try {
      const at = (name: string) => shell(settings(there, references), name, folder);
      expect((await at('plan')).code).toBe(2);
      expect(await at('apply')).toMatchObject({ code: 1, err: expect.stringContaining('secret is required') });
      expect(await there.services.db.reader().count(Project, { slug: 'shop' })).toBe(0);
      refer();
      expect(await at('apply')).toMatchObject({ code: 0 });
      expect(await at('plan')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
      expect(await at('apply')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
      await at('pull');
      expect(readFileSync(file(), 'utf8')).toBe(pulled);
      expect((await clientIn(there)).id).not.toBe((await clientIn(here)).id);
    } finally {
      await there.close();
    }
  });

  it('contain no secret', async () => {
    const { client, publishableKey, secretKey, clientSecret } = await here.make.client(project, {
      ...{ name: 'Web', tokenEndpointAuthMethod: 'client_secret_basic' },
    });
    const outputs = [await run('pull'), await run('plan')].map(({ out, err }) => out + err).join('');
    const text = outputs + readFileSync(file(), 'utf8');
    const { webhook, logStream } = receiverSecrets;
    const secrets = [publishableKey, secretKey, clientSecret as string, webhook, logStream, connectionSecret];
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/lk_[a-z]+_|whsec_/);
    expect(outputs).not.toContain('path-token');
    await here.services.clients.delete(client, system);
  });
});

describe('apply', () => {
  beforeEach(async () => {
    const { configurations } = here.services;
    await configurations.apply(configurations.read(original), { prune: true, actor: system });
    write();
  });

  it('keeps resources that the files lack, without --prune', async () => {
    await here.make.client(project, { name: 'Shadow' });
    expect(await run('apply')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
    expect(await run('plan')).toMatchObject({ code: 2, out: expect.stringContaining('- applications Shadow') });
    expect(await clientIn(here, 'Shadow')).toBeTruthy();
  });

  it('does not change settings that a file does not name, nor other projects', async () => {
    const other = await here.make.project({ name: 'Other' });
    const before = await here.services.db.reader().findOneOrFail(Project, other.id);
    writeFileSync(file(), 'slug: shop\nsettings:\n  mfaPolicy: optional\n');
    expect(await run('apply', '--prune')).toMatchObject({
      code: 0,
      out: expect.stringContaining('"off" → "optional"'),
    });
    const after = await here.services.db.reader().findOneOrFail(Project, project.id);
    expect(after).toMatchObject({ mfaPolicy: 'optional', name: 'Shop', smsCountries: ['SE'] });
    expect(await clientIn(here)).toBeTruthy();
    expect(await here.services.db.reader().findOneOrFail(Project, other.id)).toEqual(before);
  });

  it('ends the tokens of users who lose access to an application', async () => {
    const client = await clientIn(here);
    const party = new RelyingParty(here, client);
    await party.signIn(await here.make.user(project));
    await party.tokens();
    const live = () =>
      rows(here.services.db, 'select from authorization_codes where client_id = ? and revoked_at is null', [client.id]);
    expect(await live()).toHaveLength(1);
    edit('access: everyone', 'access: assigned');
    expect(await run('apply')).toMatchObject({ code: 0 });
    expect(await live()).toHaveLength(0);
  });

  it('gives access to a group by its name, and removes it; rules for users stay', async () => {
    const client = await clientIn(here);
    const user = await here.make.user(project);
    await here.services.accessRules.grant(client, { userId: user.id }, system);
    const values = { displayName: 'Night shift', externalId: null };
    const group = () => here.services.groups.create(project.id, values, [], system);
    const { id: groupId } = await group();
    const rules = () =>
      rows<{ group_id: string | null; user_id: string | null; role_id: string | null }>(
        here.services.db,
        'select group_id, user_id, role_id is not null as role from access_rules where client_id = ? order by id',
        [client.id],
      );
    const [role, byUser] = [
      { group_id: null, user_id: null, role: true },
      { group_id: null, user_id: user.id, role: false },
    ];
    edit('- holder: role:editor', '- holder: group:Night shift\n      - holder: role:editor');
    expect(await run('apply')).toMatchObject({ code: 0, out: expect.stringContaining('+ accessRules') });
    expect(await rules()).toEqual([role, byUser, { group_id: groupId, user_id: null, role: false }]);
    expect((await run('plan')).code).toBe(0);
    write();
    expect((await run('plan')).code).toBe(2);
    expect(await run('apply', '--prune')).toMatchObject({ code: 0 });
    expect(await rules()).toEqual([role, byUser]);

    edit('- holder: role:editor', '- holder: group:Night shift\n      - holder: role:editor');
    await group();
    expect((await run('apply')).err).toContain('names several groups');
    edit('group:Night shift', 'group:Day shift');
    expect((await run('apply')).err).toContain('names no group');
    edit('group:Day shift', 'user:ada');
    expect((await run('plan')).err).toContain('must be role: and a key, or group: and a name');
    await here.services.accountAccess.erase(project.id, user.id, system);
  });

  it('changes nothing in a project if one of its changes is refused', async () => {
    const updates = () => here.services.db.reader().execute("select id from audit_log where type = 'project.updated'");
    const before = await updates();
    edit('mfaPolicy: off', 'mfaPolicy: required');
    // The scope is checked against the API, at the end.
    edit(
      /apiAccess:\n +- identifier: .*\n +scopes:\n +- read/,
      'apiAccess:\n      - identifier: https://orders.example.com\n        scopes:\n          - admin',
    );
    const refused = await run('apply');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      'apiAccess.Portal.https://orders.example.com.scopes must contain only scopes of the API',
    );
    const after = await here.services.db.reader().findOneOrFail(Project, project.id);
    expect(after.mfaPolicy).toBe('off');
    expect(await updates()).toEqual(before);
  });

  it('treats a webhook setting without a value as absent', () => {
    edit(/types:\n +- user\.\*/, 'types:');
    expect(() => wantedIn(folder, { env: {} }, here)).not.toThrow();
  });

  it.each([
    ['mfaPolicy: off', 'mfaPolicy: sometimes', 'settings.mfaPolicy must be one of off, optional, required'],
    ['mfaPolicy: off', 'mfaPolcy: off', 'settings.mfaPolcy is not a setting'],
    ['https://app.example.com/callback', 'javascript:alert(1)', 'applications[0].redirectUris[0]'],
    ['key: editor', 'key: "a b"', 'applications[0].roles[0].key'],
    ['idleTimeoutSeconds: 1800', 'idleTimeoutSeconds: soon', 'sessionPolicy.idleTimeoutSeconds'],
    ['key: read\n', 'key: openid\n', 'apis[0].scopes[0].key is a scope of OpenID Connect'],
    ['accent: "#123456"', 'accent: red', 'branding.accent must be a color'],
    ['type: string', 'type: text', 'customAttributes[0].type'],
    ['claim: cost', 'claim: sub', 'applications[0].claims.mappings'],
    ['host: login.example.com', 'host: Login.example.com', 'domains[0].host must be written as login.example.com'],
    ['host: login.example.com', 'host: co.uk', 'domains[0].host must not be a public suffix'],
    ['https://hooks.example.com', 'http://hooks.example.com', 'webhooks[0].url must be https'],
    ['- user.*', '- user.vanished', 'webhooks[0].types[0] must be an event type'],
    ['enabled: true', 'enabled: yes', 'webhooks[0].enabled must be true or false'],
    ['enabled: true', 'secret: whsec_short', 'webhooks[0].secret must be whsec_'],
    ['enabled: true', `secret: ${receiverSecrets.webhook}`, 'secret must be a reference: !env or !file'],
    ['https://logs.example.com', 'https://user@logs.example.com', 'logStreams[0].target must not contain a user name'],
    ['tls://logs.example.com:6514', 'tls://logs.example.com', 'logStreams[1].target must be tls://host:port'],
    ['tls://logs.example.com:6514', 'audit.jsonl', 'logStreams[1].target'],
    ['header: Authorization', 'header: Cookie', 'logStreams[0].header must be the name of a header'],
    ['header: Authorization', 'header: X\n    secret: plain', 'secret must be a reference: !env or !file'],
    ['format: json-lines', 'format: xml', 'logStreams[0].format must be one of json-lines, json-array'],
    ['slug: acme', 'slug: Acme', 'organizations[0].slug must have 1 to 63'],
    ['joinByDomain: off', 'joinByDomain: maybe', 'organizations[0].joinByDomain must be one of off, ask, on'],
    ['plan: pro', `plan: ${'x'.repeat(4096)}`, 'organizations[0].metadata must have at most 4096 bytes'],
    ['joinByDomain: off', 'members: []', 'organizations[0].members is not a setting'],
    ['domain: acme.example.com', 'domain: ACME.example.com', 'mailDomains[0].domain must be written as acme'],
    ['domain: acme.example.com', 'domain: gmail.com', 'mailDomains[0].domain must not be the domain of a public'],
    ['preset: okta', 'preset: oktopus', 'organizations[0].connections'],
    ['kind: oidc', 'kind: ldap', 'connections[0].kind must be one of oidc, saml'],
    ['issuer: https://acme.okta.com', 'issuer: http://acme.okta.com', 'issuer must'],
    ['issuer: https://acme.okta.com', 'ssoUrl: https://acme.okta.com', 'ssoUrl is no setting of the kind oidc'],
    ['issuer: https://acme.okta.com', 'secret: plain', 'secret must be a reference: !env or !file'],
    ['entityId: urn:acme', 'entityId: null', 'entityId must be given, with entityId, ssoUrl and certificates'],
    ['metadataUrl: null', 'metadataUrl: https://idp.example.com', 'entityId must be absent: it is read from'],
    ['signed: either', 'signed: maybe', 'signed must be one of either, assertion, response, both'],
    ['slug: shop', 'slug: Shop Two', 'slug must be'],
    ['slug: shop', 'slug: [', 'shop.yaml: '],
    ['slug: shop', 'slug: shop\nslug: shop', 'shop.yaml: '],
    ['slug: shop', `slug: shop\nx: &x [1]\ny: [${'*x, '.repeat(101)}]`, 'shop.yaml: Excessive alias count'],
  ])('refuses %j as %j, naming the file and the setting', async (from, to, message) => {
    edit(from, to);
    const read = () => wantedIn(folder, { env: {} }, here);
    for (const part of [ProjectFileError, message, 'shop.yaml']) expect(read).toThrow(part);
  });

  it.each([
    ['tls://logs.example.com:6514', 'tls://10.0.0.1:6514', 'logStreams[1].target must have a public address'],
    ['https://logs.example.com', 'https://169.254.169.254', 'logStreams[0].target must have a public address'],
    ['https://hooks.example.com', 'http://localhost', 'webhooks[0].url must be https'],
  ])('refuses %j as the private target %j', async (from, to, message) => {
    edit(from, to);
    expect(await run('apply')).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  it('and plan refuse a new project without a name', async () => {
    writeFileSync(file(), 'slug: new\n');
    for (const name of ['plan', 'apply']) {
      const { code, err } = await run(name);
      expect([code, err]).toEqual([1, `${name}: shop.yaml: settings.name is required for a new project`]);
    }
  });

  it('reads values from variables and files, without printing them', async () => {
    edit('displayName: Acme', 'displayName: !env CONFIG_NAME');
    const applied = await shell(settings(here, { CONFIG_NAME: 'Ivory Tower' }), 'apply', folder);
    expect(applied).toMatchObject({ code: 0, out: expect.stringContaining('displayName: (by reference)') });
    expect(applied.out).not.toContain('Ivory Tower');
    const { published } = await here.services.experiences.state(here.services.db.reader(), project.id);
    expect(published.displayName).toBe('Ivory Tower');
  });

  it('refuses variables of the server, and files outside of the directory', async () => {
    symlinkSync('/etc/hostname', join(folder, 'link'));
    for (const reference of [
      '!env MASTER_KEY',
      '!env CONFIG_ABSENT',
      '!file ../other',
      '!file /etc/hostname',
      '!file link',
    ]) {
      write();
      edit('displayName: Acme', `displayName: ${reference}`);
      const env = { MASTER_KEY: testMasterKey };
      expect(() => wantedIn(folder, { env }, here), reference).toThrow(ProjectFileError);
    }
  });

  it('writes valid secrets of new applications to a file that only its owner can read', async () => {
    edit('- name: Portal', '- name: Second\n    redirectUris: []\n  - name: Portal');
    const secrets = join(folder, 'secrets.jsonl');
    expect(await run('apply', '--secrets-to', secrets)).toMatchObject({ code: 0 });
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    const { application, clientId, secretKey } = JSON.parse(readFileSync(secrets, 'utf8'));
    expect(application).toBe('Second');
    expect((await here.services.registry.bySecretKey(secretKey))?.id).toBe(clientId);
    expect(await run('apply', '--secrets-to', secrets)).toMatchObject({ code: 2 });
  });

  it.each(['webhook', 'application'])('does not create a %s if its secrets cannot be written', async (kind) => {
    if (kind === 'webhook') edit('webhooks:', 'webhooks:\n  - url: https://new.example.com/');
    else edit('- name: Portal', '- name: Lost\n    redirectUris: []\n  - name: Portal');
    const { configurations } = here.services;
    const [wanted] = wantedIn(folder, { env: {} }, here);
    const before = await configurations.document(project);
    const fail = () => {
      throw new Error('the disk is full');
    };
    const options = { prune: false, actor: system, keep: fail };
    await expect(configurations.apply(wanted?.wanted as never, options)).rejects.toThrow('the disk is full');
    expect(await configurations.document(project)).toEqual(before);
  });

  it('generates the secret of a new webhook, or uses that of a reference, and leaves no empty file', async () => {
    const secrets = join(folder, 'secrets.jsonl');
    const reference = 'secret: !env CONFIG_HOOK';
    edit('webhooks:', `webhooks:\n  - url: https://a.example.com/\n  - url: https://b.example.com/\n    ${reference}`);
    const given = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
    const at = (...args: string[]) => shell(settings(here, { CONFIG_HOOK: given }), 'apply', folder, ...args);
    const applied = await at('--secrets-to', secrets);
    expect(applied).toMatchObject({ code: 0, out: expect.stringContaining('secret: (by reference)') });
    const [line, ...others] = readFileSync(secrets, 'utf8').trim().split('\n');
    const { webhook, signingSecret } = JSON.parse(line ?? '');
    expect([webhook, others, applied.out.includes(given)]).toEqual(['https://a.example.com/', [], false]);
    const stored = await here.services.webhooks.list(here.services.db.reader(), project.id);
    const digests = Object.fromEntries(stored.map((one) => [one.url, here.services.webhooks.secretDigest(one)]));
    expect(digests['https://a.example.com/']).toBe(digest(signingSecret));
    expect(digests['https://b.example.com/']).toBe(digest(given));
    expect(await at('--secrets-to', join(folder, 'none.jsonl'))).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).not.toContain('none.jsonl');
  });

  it('names receivers without their paths, which may contain a token', async () => {
    edit('hooks.example.com/orders', 'hooks.example.com/other-token');
    const planned = await run('plan');
    expect(planned).toMatchObject({ code: 2, out: expect.stringContaining('+ webhooks https://hooks.example.com/…') });
    expect(planned.out).not.toContain('token');
  });

  it('publishes branding, and keeps an open draft of the console', async () => {
    await here.services.experiences.saveDraft({ projectId: project.id }, { displayName: 'Draft' }, system);
    edit('displayName: Acme', 'displayName: Published');
    expect(await run('apply')).toMatchObject({ code: 0 });
    const { published, draft } = await here.services.experiences.state(here.services.db.reader(), project.id);
    expect([published.displayName, draft.displayName]).toEqual(['Published', 'Draft']);
  });
});

describe('organizations', () => {
  const inFile = () => (original['organizations'] as Record<string, unknown>[])[0] as Record<string, unknown>;
  const document = (acme: object) => ({ slug: 'shop', organizations: [{ slug: 'acme', ...acme }] });
  const apply = (acme: object) => {
    const { configurations } = here.services;
    return configurations.apply(configurations.read(document(acme)), { prune: true, actor: system });
  };
  const plan = (acme: object) => {
    const { configurations } = here.services;
    return configurations.plan(configurations.read(document(acme)));
  };
  const acmeIn = async () =>
    here.services.db.reader().findOneOrFail(Organization, { project: project.id, slug: 'acme' });
  const connection = async (name: string) =>
    here.services.db.reader().findOne(Connection, { project: project.id, organizationId: (await acmeIn()).id, name });
  beforeEach(() => {
    const { configurations } = here.services;
    return configurations.apply(configurations.read(original), { prune: true, actor: system });
  });

  it('that a file does not name stay, with --prune, too, and are no differences', async () => {
    const globex = await here.services.organizations.create(project.id, { slug: 'globex', name: 'Globex' }, system);
    write();
    expect(await run('plan')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
    expect(await run('apply', '--prune')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
    await here.services.organizationEnds.delete(globex, null, system);
  });

  it('keep their members and what was proved', async () => {
    const acme = await acmeIn();
    const user = await here.make.user(project);
    await here.services.memberships.add(acme, { userId: user.id, roleKeys: ['admin'] }, system);
    const before = await rows(here.services.db, 'select * from organization_domains', []);
    expect((await apply({ name: 'Acme Inc', mailDomains: inFile()['mailDomains'] })).map(({ kind }) => kind)).toEqual([
      'organizations',
    ]);
    expect(await rows(here.services.db, 'select * from organization_domains', [])).toEqual(before);
    expect(await rows(here.services.db, 'select * from organization_memberships', [])).toHaveLength(1);
    await here.services.accountAccess.erase(project.id, user.id, system);
  });

  it('get a connection with the metadata at its address, which is read before anything changes', async () => {
    const idp = await SamlProvider.open(() => here.clock.now());
    const saml = { name: 'IdP', kind: 'saml', preset: 'generic', enabled: true, metadataUrl: idp.metadataUrl };
    const wanted = { connections: [...(inFile()['connections'] as object[]), saml] };
    idp.lies.metadata = (_, res) => res.writeHead(500).end();
    await expect(apply({ name: 'Changed', ...wanted })).rejects.toMatchObject({
      problem: { field: 'connections.acme.IdP.metadataUrl' },
    });
    expect((await acmeIn()).name).toBe('Acme');
    delete idp.lies.metadata;
    const read = idp.reads;
    await apply(wanted);
    expect(idp.reads).toBe(read + 1);
    expect(await connection('IdP')).toMatchObject({ state: 'enabled', settings: { entityId: idp.entityId } });
    expect(await plan(wanted)).toEqual([]);
    await apply({ connections: [...(inFile()['connections'] as object[]), { ...saml, allowsSha1: true }] });
    expect(idp.reads).toBe(read + 1);
    expect(await connection('IdP')).toMatchObject({ settings: { allowsSha1: true, entityId: idp.entityId } });
    await apply({ connections: inFile()['connections'] });
    expect(await connection('IdP')).toBeNull();
    await idp.close();
  });

  it('keep the version of a connection if no setting of its provider changes', async () => {
    const before = await connection('Okta');
    const all = inFile()['connections'] as Record<string, unknown>[];
    const wanted = all.map((one) => (one['name'] === 'Okta' ? { ...one, secret: connectionSecret, jit: false } : one));
    expect((await apply({ connections: wanted })).map(({ after }) => after)).toEqual([{ jit: false }]);
    expect(await connection('Okta')).toMatchObject({ jit: false, version: before?.version, state: 'enabled' });
  });

  it('send a stored client secret to no other issuer', async () => {
    const okta = { name: 'Okta', kind: 'oidc', preset: 'okta', issuer: 'https://evil.okta.com' };
    await expect(apply({ connections: [okta] })).rejects.toMatchObject({
      problem: { field: 'connections.acme.Okta.secret', reason: 'must be entered again for another issuer' },
    });
  });

  it('are not in the document of a project with more than 200', async () => {
    const add = `insert into organizations (project_id, id, slug, name, created_at, updated_at)
      select ?, gen_random_uuid(), 'many-' || n, 'Many', now(), now() from generate_series(1, 200) n`;
    await changed(here.services.db, add, [project.id]);
    const { configurations } = here.services;
    expect((await configurations.document(project))['organizations']).toBeUndefined();
    // A file that names some is still compared with these.
    expect(await configurations.plan(configurations.read(original))).toEqual([]);
    await changed(here.services.db, "delete from organizations where project_id = ? and name = 'Many'", [project.id]);
  });
});

it('never reads or writes the project of the admins', async () => {
  await here.services.seed.create({ demo: false });
  const console = await here.services.db.reader().findOneOrFail(Project, { builtIn: 'console' });
  writeFileSync(file('console.yaml'), `slug: ${console.slug}\nsettings:\n  signUp: open\n`);
  for (const command of ['plan', 'apply']) expect((await run(command)).code).toBe(1);
  await run('pull');
  expect(readdirSync(folder)).not.toContain(`${console.slug}.yaml`);
});

it('plan exits with 1 for invalid arguments: 2 would mean drift', async () => {
  expect((await shell(settings(here), 'plan')).code).toBe(1);
  expect((await shell(settings(here), 'plan', folder, '--unknown')).code).toBe(1);
  expect((await shell(settings(here), 'plan', join(folder, 'absent'))).code).toBe(1);
});
