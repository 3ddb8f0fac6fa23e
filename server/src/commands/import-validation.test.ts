import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { newAuthority } from '../../test/certificates.ts';
import { pngOf } from '../../test/pictures.ts';
import { rows } from '../../test/rows.ts';
import { shell, testMasterKey } from '../../test/shell.ts';
import { system } from '../domain/kernel/actor.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { customUrn } from '../domain/users/custom/definition.ts';
import { importedUser } from './transfer-users.ts';

type Data = Record<string, unknown>;

const atHome = {
  ...{ userName: 'at-home', externalId: null, displayName: null, givenName: null, familyName: null },
  ...{ active: true, attributes: { [customUrn]: { badge: 'B-1' } } },
};

const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a';
const root = newAuthority('Example root');

let here: TestApp;
let there: TestApp;
let folder: string;
let file: string;
let whole: string;
let projectId: string;
let organizationId: string;
let homeUserId: string;

const settings = (app: TestApp) => ({ DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: here.url });

beforeAll(async () => {
  [here, there] = await Promise.all([buildTestApp(), buildTestApp()]);
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
  file = join(folder, 'a.jsonl');
  const project = await here.make.project({
    name: 'Moving',
    emailFactor: true,
    deviceTrustDays: 30,
    smsCountries: ['SE'],
    smsPerDay: 7,
    passkeyAaguids: [aaguid],
    passkeyRoots: [root.pem],
  });
  projectId = project.id;
  const { client } = await here.make.client(project);
  await here.services.clients.update(client, { name: 'Portal', pkceRequired: true }, system);
  const pem = (type: 'ed25519' | 'x25519') =>
    (type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519')).publicKey
      .export({ type: 'spki', format: 'pem' })
      .toString();
  await here.services.delegationKeys.register(client, { signing: pem('ed25519'), encryption: pem('x25519') }, system);
  const ofProject = (id: string) => keyIn(projectId, id);
  const scopes = [{ key: 'read', description: 'Read orders' }];
  await here.services.apis.create({ projectId, identifier: 'https://orders.example', name: 'Orders', scopes }, system);
  const role = await here.services.roles.create(ofProject(client.id), { key: 'editor', name: 'Editor' }, system);
  const user = await here.make.user(project);
  await here.services.roles.assign(ofProject(role.id), { userId: user.id }, system);
  const organization = await here.services.organizations.create(projectId, { slug: 'north', name: 'North' }, system);
  const home = { projectId, organizationId: organization.id };
  organizationId = organization.id;
  const { customAttributes } = here.services;
  await customAttributes.create(projectId, { name: 'badge', type: 'string', uniqueness: 'server' }, system);
  const schema = await customAttributes.current(projectId);
  const created = await here.services.db.transaction((em) =>
    here.services.users.create(em, home, atHome, 'local', system, { schema }),
  );
  homeUserId = created.id;
  await here.services.groups.create(projectId, { displayName: 'Staff', externalId: null }, [user.id], system);
  await here.services.memberships.add(organization, { userId: user.id }, system);
  const mappings = [{ claim: 'job', attribute: 'title' }];
  await here.services.claims.update(ofProject(client.id), { mappings }, system);
  const logo = await here.services.experiences.addLogo(projectId, pngOf(40, 40), system);
  await here.services.experiences.saveDraft({ projectId }, { displayName: 'Acme', logoId: logo.id }, system);
  await here.services.experiences.publish({ projectId }, system);
  await shell(settings(here), 'export', '--to', file, '--project', projectId, '--without-secrets');
  whole = readFileSync(file, 'utf8');
});
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
  rmSync(folder, { recursive: true });
});

/** Changes one record of the export and recomputes the checksum, as an attacker would. */
function forge(type: string, change: (data: Data) => void): void {
  const lines = whole.trimEnd().split('\n').slice(0, -1);
  const at = lines.findIndex((line) => line.startsWith(`{"type":"${type}"`));
  const record = JSON.parse(lines[at] as string) as { data: Data };
  change(record.data);
  lines[at] = JSON.stringify(record);
  sealed(lines);
}

/** Writes records with their checksum. */
function sealed(lines: readonly string[]): void {
  const checksum = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('base64url');
  const end = JSON.stringify({ type: 'end', records: lines.length - 1, checksum });
  writeFileSync(file, `${[...lines, end].join('\n')}\n`);
}
const unknownId = '00000000-0000-7000-8000-000000000000';
const imported = () => shell(settings(there), 'import', file, '--without-secrets');
const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };

describe('a user at home in an organization', () => {
  it('is refused where the file does not contain the organization before, or not the membership', async () => {
    forge('user', (data) => Object.assign(data, { organization_id: unknownId }));
    expect((await imported()).err).toContain('refers to an organization that does not precede it');
    const lines = whole.trimEnd().split('\n').slice(0, -1);
    sealed(lines.filter((line) => !line.startsWith('{"type":"organization-membership"')));
    expect((await imported()).err).toContain('but is not a member of it');
    const { db } = there.services;
    expect(await rows(db, 'select id from projects where id = ?', [projectId])).toEqual([]);
  });

  it('is refused as a member of a group at home elsewhere, whose directory would see the user', async () => {
    forge('group-member', (data) => Object.assign(data, { user_id: homeUserId }));
    expect((await imported()).err).toContain('has a member at another home');
    forge('group', (data) => Object.assign(data, { organization_id: organizationId }));
    expect((await imported()).err).toContain('has a member at another home');
  });

  it('has no login as the record of a guest, whatever the file says, and is no record at home in the project', async () => {
    const guest = {
      ...{
        id: unknownId,
        project_id: projectId,
        user_name: 'eve',
        account_id: homeUserId,
        organization_id: organizationId,
      },
      ...{
        email: 'eve@example.com',
        email_key: 'eve@example.com',
        phone: '+41791234567',
        withheld_phone: '+41790000000',
      },
      attributes: { emails: [{ value: 'eve@example.com' }], phoneNumbers: [{ value: '+41791234567', type: 'mobile' }] },
    };
    expect(importedUser(guest, undefined, new Date()).row).toMatchObject({
      ...{ email: null, email_key: null, phone: null },
      ...{ withheld_email_key: 'eve@example.com', withheld_phone: '+41791234567' },
    });
    forge('user', (data) => Object.assign(data, { account_id: homeUserId, organization_id: null }));
    expect((await imported()).err).toContain('account_id must be of a user at home in an organization');
  });

  it('moves with its home, and is deleted with the project', async () => {
    writeFileSync(file, whole);
    expect((await imported()).code).toBe(0);
    const { db, projects } = there.services;
    const kept = await rows(
      db,
      `select u.user_name, o.slug, m.state from users u
        join organizations o on o.project_id = u.project_id and o.id = u.organization_id
        join organization_memberships m on m.project_id = u.project_id and m.organization_id = o.id and m.user_id = u.id
      where u.project_id = ?`,
      [projectId],
    );
    expect(kept).toEqual([{ user_name: 'at-home', slug: 'north', state: 'active' }]);
    const counted = await rows(
      db,
      'select sum(users)::int as users, sum(in_organizations)::int as elsewhere from user_counts where project_id = ?',
      [projectId],
    );
    expect(counted).toEqual([{ users: 2, elsewhere: 1 }]);
    // A file without the home changes no home, nor that of the index.
    const homes = () =>
      rows(
        db,
        `select u.organization_id as home, v.organization_id as indexed, v.key from users u
          join custom_values v on v.project_id = u.project_id and v.user_id = u.id where u.project_id = ?`,
        [projectId],
      );
    const atNorth = { home: organizationId, indexed: organizationId, key: 'b-1' };
    expect(await homes()).toEqual([atNorth]);
    const bare = whole
      .trimEnd()
      .split('\n')
      .slice(0, -1)
      .map((line) => (line.startsWith('{"type":"user"') ? line.replace(/"organization_id":"[^"]*",?/, '') : line));
    sealed(bare);
    const again = await shell(settings(there), 'import', file, '--without-secrets', '--overwrite', projectId);
    expect(again).toMatchObject({ code: 0 });
    expect(await homes()).toEqual([atNorth]);
    await projects.delete(projectId, 'Moving', system);
    expect(await rows(db, 'select id from users where project_id = ?', [projectId])).toEqual([]);
  });
});

describe('import validates like the admin API: it rejects', () => {
  const cases: [type: string, change: Data, message: string][] = [
    ['client', { redirect_uris: ['https://a.example/cb', 'javascript:alert(1)'] }, 'redirectUris[1] must be https'],
    ['client', { redirect_uris: ['http://app.example.com/cb'] }, 'redirectUris[0] must be https'],
    ['client', { redirect_uris: 'https://a.example/cb' }, 'redirectUris must be a list'],
    ['client', { post_logout_redirect_uris: ['data:text/html,x'] }, 'postLogoutRedirectUris[0] must be https'],
    ['client', { backchannel_logout_uri: 'http://169.254.169.254/' }, 'backchannelLogoutUri must be https'],
    ['api', { identifier: 'orders' }, 'identifier must be an absolute URI'],
    ['api', { scopes: [{ key: 'openid', description: 'x' }] }, 'scopes[0].key is a scope of OpenID Connect'],
    ['api', { access_token_ttl_seconds: 90 * 24 * 3600 }, 'accessTokenTtlSeconds must be a whole number'],
    ['role', { key: 'a b' }, 'key must begin with a letter or digit'],
    ['role', { name: ' ' }, 'name must not be blank'],
    ['role-assignment', { group_id: unknownId }, 'userId must be given if groupId is not, and only then'],
    ['role-assignment', { user_id: unknownId }, 'refers to a user that does not precede it'],
    ['role-assignment', { user_id: null, group_id: unknownId }, 'refers to a group that does not precede it'],
    ['role-assignment', { role_id: unknownId }, 'belongs to a role that does not precede it'],
    ['claim-settings', { mappings: [{ claim: 'sub', scope: null, constant: 'x' }] }, 'mappings[0].claim is reserved'],
    ['claim-settings', { mappings: [{ claim: 'a', scope: null, constant: 1, attribute: null }] }, 'an unknown member'],
    ['claim-settings', { list_limit: 0 }, 'listLimit must be from 1'],
    ['client', { access_token_ttl_seconds: 90 * 24 * 3600 }, 'accessTokenTtlSeconds must be a whole number'],
    ['client', { name: 'two\nlines' }, 'name must not contain control characters'],
    ['client', { name: 'Visit www.evil.example' }, 'name must not contain a URL'],
    ['client', { name: 7 }, 'name must be text'],
    ['client', { token_endpoint_auth_method: 'client_secret_none' }, 'tokenEndpointAuthMethod must be one of'],
    ['client', { token_endpoint_auth_method: 'private_key_jwt', jwk: null }, 'jwks is required'],
    ['client', { jwk: { ...key, d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A' } }, 'jwks contains a private key'],
    ['client', { jwk: { kty: 'oct', k: 'AA' }, jwk_set: [key] }, 'jwks must be in jwk or in jwk_set, not in both'],
    ['client', { jwks_uri: 'http://169.254.169.254/' }, 'jwksUri must be https'],
    ['client', { grant_types: ['client_credentials'] }, 'grantTypes client_credentials needs client authentication'],
    ['client', { admin_scopes: ['everything'] }, 'adminScopes must contain only'],
    ['client', { kind: 'web' }, 'kind must be one of'],
    ['client', { third_party: 'no' }, 'thirdParty must be true or false'],
    ['client', { refresh_token_ttl_seconds: 2_000_000_000 }, 'refreshTokenTtlSeconds must be a whole number'],
    ['client', { refresh_token_idle_seconds: 0 }, 'refreshTokenIdleSeconds must be a whole number'],
    ['client', { logout_token_type: 'jwt' }, 'logoutTokenTyp must be one of'],
    ['client', { pkce_required: 'no' }, 'pkceRequired must be true or false'],
    ['project', { id_token_ttl_seconds: 90 * 24 * 3600 }, 'idTokenTtlSeconds must be a whole number'],
    ['project', { access_token_ttl_seconds: 7200 }, 'accessTokenTtlSeconds must be a whole number'],
    ['project', { max_session_seconds: 2_000_000_000 }, 'maxSessionSeconds must be a whole number'],
    ['project', { device_trust_days: 99_999 }, 'deviceTrustDays must be a whole number'],
    ['project', { device_trust_seconds: -1 }, 'deviceTrustSeconds must be a whole number'],
    ['project', { sms_countries: ['ZZ'] }, 'smsCountries must contain'],
    ['project', { sms_per_day: 2_000_000 }, 'smsPerDay must be a whole number'],
    ['project', { offered_factors: ['pigeon'] }, 'offeredFactors must contain only'],
    ['project', { passkey_aaguids: ['any'] }, 'passkeyAaguids must contain UUIDs'],
    ['project', { passkey_roots: ['any'] }, 'passkeyRoots must contain one CA certificate'],
    ['project', { mfa_policy: 'never' }, 'mfaPolicy must be one of'],
    ['project', { name: 'Right\u202eleft' }, 'name must not contain control characters'],
    ['logo', { type: 'text/html' }, 'type does not match the image'],
    ['logo', { bytes: `\\x${Buffer.from('<svg onload=alert(1)>').toString('hex')}` }, 'logo must be PNG, JPEG or WebP'],
    ['delegation-key', { signing_public_pem: 'x' }, 'signingKey must be one public key'],
  ];
  it.each(cases)('a %s with %j', async (type, change, message) => {
    forge(type, (data) => Object.assign(data, change));
    const { code, err } = await imported();
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
    expect(err).toMatch(/^import: .*a\.jsonl:\d+ /);
    expect(await there.services.db.reader().count(Project, { id: projectId })).toBe(0);
  });

  it('an API with an address of this server as identifier: the admin API and UserInfo would accept its tokens', async () => {
    forge('api', (data) => Object.assign(data, { identifier: `${here.url}/admin` }));
    expect((await imported()).err).toContain('identifier must not be an address of this server');
    expect(await there.services.db.reader().count(Project, { id: projectId })).toBe(0);
  });

  it('a link of the sign-in page that is not https', async () => {
    forge('experience', ({ content }) =>
      Object.assign(content as Data, { texts: { en: { supportUrl: 'javascript:alert(1)' } } }),
    );
    expect((await imported()).err).toContain('texts.en.supportUrl must be a URL that begins with https://');
    expect(await there.services.db.reader().count(Project, { id: projectId })).toBe(0);
  });

  it('an invalid client, with file, line, name and field in one line', async () => {
    forge('client', (data) => Object.assign(data, { redirect_uris: ['javascript:alert(1)'] }));
    expect((await imported()).err).toMatch(
      /^import: .*a\.jsonl:\d+ client "Portal": redirectUris\[0\] must be https, http for loopback, or com\.example\.app:\/… for apps\.$/m,
    );
  });

  it('nothing that is valid: every setting survives export and import', async () => {
    writeFileSync(file, whole);
    expect(await imported()).toMatchObject({ code: 0, err: '' });
    const project = await there.services.db.reader().findOneOrFail(Project, projectId);
    expect(project).toMatchObject({ emailFactor: true, deviceTrustDays: 30, smsCountries: ['SE'], smsPerDay: 7 });
    expect(project).toMatchObject({ passkeyAaguids: [aaguid], passkeyRoots: [root.pem] });
    const copy = join(folder, 'b.jsonl');
    await shell(settings(there), 'export', '--to', copy, '--project', projectId, '--without-secrets');
    const again = readFileSync(copy, 'utf8');
    const clientLine = (text: string) => text.split('\n').find((line) => line.startsWith('{"type":"client"'));
    const versionless = (text = '') => text.replace(/"version":\d+/, '');
    expect(versionless(clientLine(again))).toBe(versionless(clientLine(whole)));
    expect(clientLine(again)).toContain('"pkce_required":true');
    const repeated = await shell(settings(there), 'import', file, '--without-secrets', '--overwrite', projectId);
    expect(repeated.out).toMatch(/^project +0 added, 0 changed, 1 unchanged$/m);
  });
});
