import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let ada: User;
let clientId: string;
const allScopes = ['openid', 'profile', 'email', 'phone', 'address', 'groups', 'roles'];

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
  project = await make.project({ name: 'Acme' });
  ada = await make.user(project, {
    ...{ userName: 'ada', userNameKey: 'ada', givenName: 'Ada', email: 'ada@example.com', emailKey: 'ada@example.com' },
    attributes: { title: 'Countess', roles: [{ value: 'auditor' }] },
  });
  const { groups, roles } = harness.services;
  const group = (displayName: string, members = [ada.id]) =>
    groups.create(project.id, { displayName, externalId: null }, members, system);
  const staff = await group('staff');
  await group('k8s-admins');
  const strangers = await group('strangers', []);
  clientId = (await make.client(project, { name: 'Wiki' })).client.id;
  const other = (await make.client(project, { name: 'Other' })).client.id;
  const role = async (client: string, key: string) =>
    (await roles.create(keyIn(project.id, client), { key, name: key }, system)).id;
  const give = async (client: string, key: string, holder: object) =>
    roles.assign(keyIn(project.id, await role(client, key)), holder, system);
  await give(clientId, 'editor', { userId: ada.id });
  await give(clientId, 'viewer', { groupId: staff.id });
  await give(clientId, 'owner', { groupId: strangers.id });
  await give(other, 'elsewhere', { userId: ada.id });
});
afterAll(() => harness.close());

const update = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: UpdateClaimSettingsInput!) { updateClaimSettings(input: $input) {
      clientId groups groupPrefix listLimit rolesClaim directoryRoles version
      mappings { claim scope attribute constant template list { of prefix removePrefix } } } }`,
    { input },
    headers,
  );
const preview = (
  of: { clientId: string; userId: string; scopes?: string[]; draft?: object },
  headers?: Record<string, string>,
) =>
  harness.call(
    `query ($clientId: ID!, $userId: ID!, $scopes: [String!]!, $draft: ClaimSettingsInput) {
      previewClaims(clientId: $clientId, userId: $userId, scopes: $scopes, draft: $draft) {
        claims { name value scope mapping { claim attribute } } omitted { name reason mapping { claim } } idToken userInfo } }`,
    { scopes: allScopes, ...of },
    headers,
  );

describe('Query.previewClaims', () => {
  it('shows a user as the application sees them, each claim with its origin', async () => {
    const { data } = await preview({ clientId, userId: ada.id });
    expect(data.previewClaims.userInfo).toEqual({
      ...{ sub: ada.id, name: 'Ada', given_name: 'Ada', preferred_username: 'ada', updated_at: expect.any(Number) },
      ...{ email: 'ada@example.com', email_verified: true },
      ...{ groups: ['k8s-admins', 'staff'], roles: ['editor', 'viewer'] },
    });
    expect(data.previewClaims.idToken).toEqual(data.previewClaims.userInfo);
    expect(data.previewClaims.claims).toContainEqual({
      ...{ name: 'roles', value: ['editor', 'viewer'], scope: 'roles', mapping: null },
    });
    const least = await preview({ clientId, userId: ada.id, scopes: ['openid'] });
    expect(least.data.previewClaims.userInfo).toEqual({ sub: ada.id });
  });

  it('shows settings that are not saved', async () => {
    const draft = {
      groups: 'ASSIGNED',
      listLimit: 1,
      rolesClaim: 'policy',
      directoryRoles: true,
      mappings: [
        { claim: 'job', attribute: 'title' },
        { claim: 'cost_center', attribute: 'enterprise.costCenter' },
      ],
    };
    const { data } = await preview({ clientId, userId: ada.id, scopes: ['openid', 'groups', 'roles'], draft });
    const { claims, omitted, idToken, userInfo } = data.previewClaims;
    expect(userInfo).toEqual({
      ...{ sub: ada.id, groups: ['staff'], policy: ['auditor', 'editor', 'viewer'], job: 'Countess' },
    });
    expect(idToken).toMatchObject({ groups: ['staff'], _claim_names: { policy: 'userinfo' } });
    expect(claims.at(-1)).toEqual({
      ...{ name: 'job', value: 'Countess', scope: null, mapping: { claim: 'job', attribute: 'title' } },
    });
    expect(omitted).toEqual([{ name: 'cost_center', reason: 'NO_VALUE', mapping: { claim: 'cost_center' } }]);
    const saved = await harness.call(`{ claimSettings(clientId: "${clientId}") { version mappings { claim } } }`);
    expect(saved.data.claimSettings).toEqual({ version: 0, mappings: [] });
  });

  it('refuses a user or client of another project, a caller of another project, and a bad draft', async () => {
    const other = await make.project({ name: 'Other' });
    const stranger = await make.user(other);
    const { id: abroad } = (await make.client(other)).client;
    const code = async (of: { clientId: string; userId: string; draft?: object }, headers?: Record<string, string>) =>
      (await preview(of, headers)).code;
    expect(await code({ clientId, userId: stranger.id })).toBe('not-found');
    expect(await code({ clientId: abroad, userId: ada.id })).toBe('not-found');
    expect(await code({ clientId, userId: 'x' })).toBe('not-found');
    expect(await code({ clientId, userId: ada.id }, await harness.tokenOf('project_admin', other.id))).toBe(
      'not-found',
    );
    expect(
      await code({ clientId, userId: ada.id }, await harness.tokenOf('project_viewer', project.id)),
    ).toBeUndefined();
    const draft = { mappings: [{ claim: 'sub', constant: 'root' }] };
    expect((await preview({ clientId, userId: ada.id, draft })).errors[0].message).toBe(
      'mappings[0].claim is reserved: sub.',
    );
  });
});

describe('Mutation.updateClaimSettings', () => {
  let own: string;
  beforeEach(async () => {
    own = (await make.client(project, { name: 'Grafana' })).client.id;
  });

  it('keeps absent settings, counts versions, and records the change', async () => {
    const first = await update({
      clientId: own,
      groups: 'PREFIX',
      groupPrefix: 'k8s-',
      mappings: [{ claim: 'policy', list: { of: 'GROUPS', prefix: 'k8s-', removePrefix: true } }],
    });
    expect(first.data.updateClaimSettings).toEqual({
      ...{ clientId: own, groups: 'PREFIX', groupPrefix: 'k8s-', listLimit: 200, rolesClaim: 'roles' },
      ...{ directoryRoles: false, version: 1 },
      mappings: [
        {
          ...{ claim: 'policy', scope: null, attribute: null, constant: null, template: null },
          list: { of: 'GROUPS', prefix: 'k8s-', removePrefix: true },
        },
      ],
    });
    const second = await update({ clientId: own, listLimit: 100 });
    expect(second.data.updateClaimSettings).toMatchObject({ groups: 'PREFIX', listLimit: 100, version: 2 });
    expect((await update({ clientId: own, listLimit: 100 })).data.updateClaimSettings.version).toBe(2);
    const { data } = await preview({ clientId: own, userId: ada.id, scopes: ['openid', 'groups'] });
    expect(data.previewClaims.userInfo).toEqual({ sub: ada.id, groups: ['k8s-admins'], policy: ['admins'] });
    const events = await harness.services.db
      .reader()
      .find(AuditEvent, { type: 'client.claims_updated', subjectId: own }, { orderBy: { id: 'asc' } });
    expect(events.map(({ detail }) => detail)).toMatchObject([
      { before: { groups: 'all' }, after: { groups: 'prefix', groupPrefix: 'k8s-' } },
      { before: { listLimit: 200 }, after: { listLimit: 100 } },
    ]);
  });

  it('refuses a stale version, bad values, and callers without the role, and changes nothing', async () => {
    const { version } = (await update({ clientId: own, listLimit: 10 })).data.updateClaimSettings;
    expect((await update({ clientId: own, listLimit: 11, expectedVersion: 0 })).code).toBe('conflict');
    expect((await update({ clientId: own, listLimit: 0 })).errors[0].message).toBe('listLimit must be from 1 to 1000.');
    const mappings = [
      { claim: 'ok', constant: 1 },
      { claim: 'aud', constant: 'x' },
    ];
    expect((await update({ clientId: own, mappings })).errors[0].extensions).toMatchObject({
      code: 'invalid',
      field: 'mappings[1].claim',
    });
    expect(
      (await update({ clientId: own, listLimit: 12 }, await harness.tokenOf('project_viewer', project.id))).code,
    ).toBe('forbidden');
    const settings = await harness.call(
      `{ claimSettings(clientId: "${own}") { listLimit version mappings { claim } } }`,
    );
    expect(settings.data.claimSettings).toEqual({ listLimit: 10, version, mappings: [] });
    expect((await update({ clientId: own, listLimit: 11, expectedVersion: version })).errors).toEqual([]);
  });

  it('creates the settings once in parallel requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => update({ clientId: own, listLimit: index + 1 })),
    );
    expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
    const versions = answers.map(({ data }) => data.updateClaimSettings.version).sort((a, b) => a - b);
    expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});

describe('the claims of a token', () => {
  it('are read by one statement, and null for a user who is inactive or unknown', async () => {
    const { claims, accounts, db } = harness.services;
    const request = { client: keyIn(project.id, clientId), userId: ada.id, scopes: ['openid', 'roles'] };
    const endpoint = 'https://id.example.com/p/acme/userinfo';
    expect(await claims.forIdToken(db.alone, request, endpoint)).toEqual({ roles: ['editor', 'viewer'] });
    expect(await claims.forUserInfo(db.alone, request)).toEqual({ roles: ['editor', 'viewer'] });
    const other = await make.project();
    expect(await claims.forUserInfo(db.alone, { ...request, client: keyIn(other.id, clientId) })).toBeNull();
    await accounts.setActive(project.id, ada.id, false, system);
    expect(await claims.forIdToken(db.alone, request, endpoint)).toBeNull();
    expect(await claims.forUserInfo(db.alone, request)).toBeNull();
    await accounts.setActive(project.id, ada.id, true, system);
  });
});
