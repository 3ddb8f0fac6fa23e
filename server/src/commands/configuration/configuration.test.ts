import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { pngOf } from '../../../test/pictures.ts';
import { shell, testMasterKey } from '../../../test/shell.ts';
import { ProjectFileError, projectYaml } from '../../adapters/files/project-yaml.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import { kinds } from '../../domain/configuration/document.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { ClientRole } from '../../domain/roles/client-role.entity.ts';
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
const run = (name: string, ...args: string[]) => shell(settings(here), name, folder, ...args);
const clientIn = async (app: TestApp, name = 'Portal') =>
  app.services.db.reader().findOneOrFail(Client, { project: { slug: 'shop' }, name });
/** As `pull` does. */
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

/** A project with every kind of resource. */
async function populate(): Promise<void> {
  const { services, make } = here;
  project = await make.project({ name: 'Shop', slug: 'shop', smsCountries: ['SE'] });
  const { id } = project;
  await services.customAttributes.create(
    id,
    { name: 'costCenter', type: 'string', visibleTo: ['applications'] },
    system,
  );
  const scopes = ['read', 'write'].map((key) => ({ key, description: `${key} orders` }));
  const api = await services.apis.create(
    { projectId: id, identifier: 'https://orders.example.com', name: 'Orders', scopes },
    system,
  );
  const { client } = await make.client(project, { name: 'Portal' });
  await services.roles.create(client, { key: 'editor', name: 'Editor' }, system);
  await services.claims.update(client, { mappings: [{ claim: 'cost', attribute: 'custom.costCenter' }] }, system);
  await services.apis.grant(client, api.id, { scopes: ['read'], introspects: false }, system);
  const logo = await services.experiences.addLogo(id, pngOf(40, 40), system);
  await services.experiences.saveDraft(
    { projectId: id },
    { displayName: 'Acme', accent: '#123456', logoId: logo.id },
    system,
  );
  await services.experiences.publish({ projectId: id }, system);
}

beforeAll(async () => {
  here = await buildTestApp();
  await populate();
  original = await here.services.configurations.document(project);
});
afterAll(() => here.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('pull, apply and plan', () => {
  it('make an empty instance the same, and then find no changes', async () => {
    expect(await run('pull')).toMatchObject({ code: 0 });
    expect(readdirSync(folder).sort()).toEqual(['shop-logo.png', 'shop.yaml']);
    expect(await run('plan')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
    const pulled = readFileSync(file(), 'utf8');
    const there = await buildTestApp();
    try {
      const at = (name: string) => shell(settings(there), name, folder);
      expect((await at('plan')).code).toBe(2);
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
    for (const secret of [publishableKey, secretKey, clientSecret as string]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/lk_[a-z]+_/);
    await here.services.clients.delete(client, system);
  });
});

type Hand = (app: TestApp) => Promise<unknown>;
const roleOf = async (app: TestApp) => {
  const role = await app.services.db.reader().findOneOrFail(ClientRole, { project: project.id, key: 'editor' });
  return keyIn(project.id, role.id);
};
/** A change in the console, by the kind of its resource; the second removes the resource, the third adds one. */
const byHand: Record<(typeof kinds)[number], Hand[]> = {
  settings: [({ services }) => services.projects.update(project.id, { mfaPolicy: 'required' }, system)],
  sessionPolicy: [
    ({ services }) => services.projects.updateSessionPolicy(project.id, { idleTimeoutSeconds: 600 }, system),
  ],
  customAttributes: [
    ({ services }) => services.customAttributes.update(project.id, 'costCenter', { description: 'Other' }, system),
    ({ services }) =>
      services.customAttributes.delete(project.id, 'costCenter', system).then(() => services.customAttributes.sweep()),
    ({ services }) => services.customAttributes.create(project.id, { name: 'badge', type: 'integer' }, system),
  ],
  apis: [
    async ({ services }) => {
      const [api] = await services.apis.list(services.db.reader(), project.id);
      return services.apis.update(keyIn(project.id, api?.id ?? ''), { name: 'Other' }, system);
    },
    async ({ services }) => {
      const [api] = await services.apis.list(services.db.reader(), project.id);
      return services.apis.delete(keyIn(project.id, api?.id ?? ''), system);
    },
    ({ services }) => {
      const scopes = [{ key: 'all', description: 'All' }];
      return services.apis.create(
        { projectId: project.id, identifier: 'https://b.example.com', name: 'B', scopes },
        system,
      );
    },
  ],
  applications: [
    async (app) =>
      app.services.clients.update(await clientIn(app), { redirectUris: ['https://evil.example.com/'] }, system),
    async (app) => app.services.clients.delete(await clientIn(app), system),
    (app) => app.make.client(project, { name: 'Shadow' }),
  ],
  roles: [
    async (app) => app.services.roles.update(await roleOf(app), { name: 'Other' }, system),
    async (app) => app.services.roles.delete(await roleOf(app), system),
    async (app) => app.services.roles.create(await clientIn(app), { key: 'owner', name: 'Owner' }, system),
  ],
  claims: [async (app) => app.services.claims.update(await clientIn(app), { mappings: [] }, system)],
  apiAccess: [async (app) => access(app, ['read', 'write']), async (app) => access(app, [])],
  branding: [
    async ({ services }) => {
      await services.experiences.saveDraft({ projectId: project.id }, { displayName: 'Other' }, system);
      await services.experiences.publish({ projectId: project.id }, system);
    },
  ],
};
async function access(app: TestApp, scopes: string[]) {
  const [api] = await app.services.apis.list(app.services.db.reader(), project.id);
  return app.services.apis.grant(await clientIn(app), api?.id ?? '', { scopes, introspects: false }, system);
}

describe.each(kinds)('a change of %s by hand', (kind) => {
  it('shows as drift, which apply undoes', async () => {
    const { configurations } = here.services;
    const differences = () => configurations.plan(configurations.read(original));
    expect(await differences()).toEqual([]);
    for (const change of byHand[kind]) {
      await change(here);
      expect((await differences()).map((one) => one.kind)).toContain(kind);
      await configurations.apply(configurations.read(original), { prune: true, actor: system });
      expect(await differences()).toEqual([]);
    }
  });
});

describe('apply', () => {
  beforeEach(async () => {
    const { configurations } = here.services;
    await configurations.apply(configurations.read(original), { prune: true, actor: system });
    write();
  });

  it('keeps what the files lack, without --prune', async () => {
    await byHand.applications[2]?.(here);
    expect(await run('apply')).toMatchObject({ code: 0, out: 'shop.yaml: no changes' });
    expect(await run('plan')).toMatchObject({ code: 2, out: expect.stringContaining('- applications Shadow') });
    expect(await clientIn(here, 'Shadow')).toBeTruthy();
  });

  it('leaves settings that a file does not name as they are, and other projects alone', async () => {
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

  it('changes nothing of a project if one of its changes is refused', async () => {
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

  it.each([
    ['mfaPolicy: off', 'mfaPolicy: sometimes', 'settings.mfaPolicy must be one of off, optional, required'],
    ['mfaPolicy: off', 'mfaPolcy: off', 'settings.mfaPolcy is not a setting'],
    ['https://app.example.com/callback', 'javascript:alert(1)', 'applications[0].redirectUris[0]'],
    ['key: editor', 'key: "a b"', 'applications[0].roles[0].key'],
    ['idleTimeoutSeconds: 1800', 'idleTimeoutSeconds: soon', 'sessionPolicy.idleTimeoutSeconds'],
    ['key: read\n', 'key: openid\n', 'apis[0].scopes[0].key is a scope of OpenID Connect'],
    ['accent: "#123456"', 'accent: red', 'branding.accent must be a colour'],
    ['type: string', 'type: text', 'customAttributes[0].type'],
    ['claim: cost', 'claim: sub', 'applications[0].claims.mappings'],
    ['slug: shop', 'slug: Shop Two', 'slug must be'],
    ['slug: shop', 'slug: [', 'shop.yaml: '],
    ['slug: shop', 'slug: shop\nslug: shop', 'shop.yaml: '],
  ])('refuses %j as %j, naming the file and the setting', async (from, to, message) => {
    edit(from, to);
    const read = () => wantedIn(folder, { env: {} }, here);
    for (const part of [ProjectFileError, message, 'shop.yaml']) expect(read).toThrow(part);
  });

  it('takes values from variables and files, without printing them', async () => {
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

  it('writes the secrets of new applications to a file of the owner alone, which are valid', async () => {
    edit('- name: Portal', '- name: Second\n    redirectUris: []\n  - name: Portal');
    const secrets = join(folder, 'secrets.jsonl');
    expect(await run('apply', '--secrets-to', secrets)).toMatchObject({ code: 0 });
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    const { application, clientId, secretKey } = JSON.parse(readFileSync(secrets, 'utf8'));
    expect(application).toBe('Second');
    expect((await here.services.registry.bySecretKey(secretKey))?.id).toBe(clientId);
    expect(await run('apply', '--secrets-to', secrets)).toMatchObject({ code: 2 });
  });

  it('publishes branding, and keeps an open draft of the console', async () => {
    await here.services.experiences.saveDraft({ projectId: project.id }, { displayName: 'Draft' }, system);
    edit('displayName: Acme', 'displayName: Published');
    expect(await run('apply')).toMatchObject({ code: 0 });
    const { published, draft } = await here.services.experiences.state(here.services.db.reader(), project.id);
    expect([published.displayName, draft.displayName]).toEqual(['Published', 'Draft']);
  });
});

it('never reads or writes the project of the admins', async () => {
  await here.services.seed.plant({ demo: false });
  const console = await here.services.db.reader().findOneOrFail(Project, { builtIn: 'console' });
  writeFileSync(file('console.yaml'), `slug: ${console.slug}\nsettings:\n  signUp: open\n`);
  for (const command of ['plan', 'apply']) expect((await run(command)).code).toBe(1);
  await run('pull');
  expect(readdirSync(folder)).not.toContain(`${console.slug}.yaml`);
});

it('plan exits with 1 for arguments that it does not know, which is not drift', async () => {
  expect((await shell(settings(here), 'plan')).code).toBe(1);
  expect((await shell(settings(here), 'plan', folder, '--unknown')).code).toBe(1);
  expect((await shell(settings(here), 'plan', join(folder, 'absent'))).code).toBe(1);
});
