import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { atOnce } from '../../../test/at-once.ts';
import { everything } from '../../domain/admins/permission.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import { accountHeader } from '../api/caller.ts';
import { freshSeconds } from '../api/caller-checks.ts';

let harness: AdminHarness;
let projectId: string;
let clientId: string;
let admin: Record<string, string>;
const owner = { grants: everything, actor: system };

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Ours' }, system)).id;
  clientId = (await harness.services.clients.create({ projectId, name: 'App' }, system)).client.id;
  admin = await harness.tokenOf('project_admin', projectId);
});
afterAll(() => harness.close());

describe('the API of roles', () => {
  const grant = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id role admin { email } } }';
  const token = 'mutation ($input: IssueAdminTokenInput!) { issueAdminToken(input: $input) { token } }';

  it("refuses grants above the caller's role", async () => {
    const asAdmin = (input: object) => harness.call(grant, { input }, admin);
    expect((await asAdmin({ email: 'e@example.com', role: 'OWNER' })).code).toBe('forbidden');
    expect((await asAdmin({ email: 'e@example.com', role: 'OWNER', projectId })).code).toBe('invalid');
    const other = { email: 'e@example.com', role: 'PROJECT_VIEWER', projectId: harness.builtIn.console.id };
    expect((await asAdmin(other)).code).toBe('not-found');
    const within = await asAdmin({ email: 'new@example.com', role: 'PROJECT_ADMIN', projectId });
    expect(within.data.grantRole).toMatchObject({ role: 'PROJECT_ADMIN', admin: { email: 'new@example.com' } });
    expect((await harness.call(token, { input: { name: 'x', role: 'OWNER' } }, admin)).code).toBe('forbidden');
  });

  it('keeps the last owner, even if two remove each other concurrently', async () => {
    const list = () => harness.call('{ memberships { id admin { email } } }');
    const remove = (id: string) => harness.call('mutation ($id: ID!) { revokeRole(id: $id) }', { id });
    const one = await harness.call(grant, { input: { email: 'one@example.com', role: 'OWNER' } });
    const two = await harness.call(grant, { input: { email: 'two@example.com', role: 'OWNER' } });
    const answers = await Promise.all([remove(one.data.grantRole.id), remove(two.data.grantRole.id)]);
    expect(answers.map(({ code }) => code).sort()).toEqual(['forbidden', undefined]);
    expect((await list()).data.memberships).toHaveLength(1);
  });

  it("ends a token's rights with those of its creator", async () => {
    const userId = await harness.person('maker@example.com');
    const { admins } = harness.services;
    const membership = await admins.grantRole({ email: 'maker@example.com', role: 'project_admin', projectId }, owner);
    const headers = await harness.sessionOf(userId);
    const input = { name: 'mine', role: 'PROJECT_ADMIN', projectId };
    const { data } = await harness.call(token, { input }, headers);
    const bearer = { Authorization: `Bearer ${data.issueAdminToken.token}` };
    const query = 'query ($id: ID!) { project(id: $id) { id } }';
    expect((await harness.call(query, { id: projectId }, bearer)).code).toBeUndefined();
    await admins.revokeRole(membership.id, owner);
    expect((await harness.call(query, { id: projectId }, bearer)).status).toBe(401);
  });

  it('lets an admin of a project grant and revoke roles in it', async () => {
    const userId = await harness.person('granter@example.com');
    await harness.services.admins.grantRole({ email: 'granter@example.com', role: 'project_admin', projectId }, owner);
    const headers = await harness.sessionOf(userId);
    const grant = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id role } }';
    const input = { email: 'vi@example.com', role: 'PROJECT_VIEWER', projectId };
    const { data } = await harness.call(grant, { input }, headers);
    expect(data.grantRole.role).toBe('PROJECT_VIEWER');
    const revoke = 'mutation ($id: ID!) { revokeRole(id: $id) }';
    expect((await harness.call(revoke, { id: data.grantRole.id }, headers)).code).toBeUndefined();
  });

  it('creates no token that outlives the calling token', async () => {
    const later = (seconds: number) => new Date(harness.clock.now().getTime() + seconds * 1000).toISOString();
    const issue = (expiresAt: string | null | undefined, headers?: Record<string, string>) =>
      harness.call(
        'mutation ($input: IssueAdminTokenInput!) { issueAdminToken(input: $input) { token adminToken { expiresAt } } }',
        { input: { name: 'ci', role: 'PROJECT_ADMIN', projectId, expiresAt } },
        headers,
      );
    const end = later(60);
    const { data } = await issue(end);
    const short = { Authorization: `Bearer ${data.issueAdminToken.token}` };
    expect(await issue(later(61), short)).toMatchObject({
      code: 'invalid',
      errors: [{ extensions: { field: 'expiresAt' } }],
    });
    for (const [asked, given] of [
      [undefined, end],
      [null, end],
      [end, end],
      [later(30), later(30)],
    ] as const) {
      const made = await issue(asked, short);
      expect([asked, made.data?.issueAdminToken.adminToken.expiresAt]).toEqual([asked, given]);
    }
    const second = { Authorization: `Bearer ${(await issue(undefined, short)).data.issueAdminToken.token}` };
    expect((await issue(later(61), second)).code).toBe('invalid');
    expect((await issue(undefined, admin)).data.issueAdminToken.adminToken.expiresAt).toBeNull();
    harness.clock.turn(60);
    expect((await issue(undefined, second)).status).toBe(401);
  });

  it('refuses a token that has expired or was revoked', async () => {
    const expiresAt = new Date(harness.clock.now().getTime() + 60_000).toISOString();
    const first = await harness.call(token, { input: { name: 'short', role: 'OWNER', expiresAt } });
    const short = { Authorization: `Bearer ${first.data.issueAdminToken.token}` };
    expect((await harness.call('{ me { kind } }', {}, short)).data.me.kind).toBe('ADMIN_TOKEN');
    harness.clock.turn(60);
    expect((await harness.call('{ me { kind } }', {}, short)).status).toBe(401);
  });
});

describe('admin API tokens', () => {
  const listed = async (id: string) => {
    const { data } = await harness.call('query ($id: ID!) { adminTokens(projectId: $id) { name revokedAt } }', { id });
    return data.adminTokens as { name: string; revokedAt: string | null }[];
  };
  const issue = (id: string, name: string) =>
    harness.services.admins.createToken({ name, role: 'project_admin', projectId: id }, owner);

  /** Inserts tokens, each newer than the one before and than issued ones, which is faster than issuing them. */
  const insert = (id: string, count: number, revokedAt: Date | null = null) =>
    execute(
      harness.services.db.alone,
      sql`insert into admin_tokens (id, name, hash, hint, role, project_id, created_at, revoked_at)
        select ('ffffffff' || substr(${id}, 9, 20) || lpad(n::text, 8, '0'))::uuid, 'T ' || n, gen_random_uuid(), 'abcd',
          'project_admin', ${id}::uuid, ${harness.clock.now()}, ${revokedAt}::timestamptz
        from generate_series(1, ${count}::int) n`,
    );

  it('are all listed while they work, even if many have ended since', async () => {
    const { id } = await harness.services.projects.create({ name: 'Tokens' }, system);
    await issue(id, 'First');
    await insert(id, 101, harness.clock.now());
    const tokens = await listed(id);
    expect(tokens).toHaveLength(100);
    expect(tokens.filter(({ revokedAt }) => revokedAt === null)).toEqual([{ name: 'First', revokedAt: null }]);
    expect(tokens[0]).toMatchObject({ name: 'T 101' });
  });

  it('are a hundred at most, for each project', async () => {
    const { id } = await harness.services.projects.create({ name: 'Many tokens' }, system);
    await insert(id, 99);
    await issue(id, 'Hundredth');
    const input = { name: 'One more', role: 'PROJECT_ADMIN', projectId: id };
    const mutation =
      'mutation ($input: IssueAdminTokenInput!) { issueAdminToken(input: $input) { adminToken { id } } }';
    const refused = await harness.call(mutation, { input });
    expect(refused.errors[0].message).toBe('projectId already has 100 tokens: revoke one first.');
    expect(await listed(id)).toHaveLength(100);
    const other = await harness.services.projects.create({ name: 'Other tokens' }, system);
    expect((await harness.call(mutation, { input: { ...input, projectId: other.id } })).code).toBeUndefined();
  });
});

describe('the members of a project', () => {
  const fields = 'admin { id email name active lastSignInAt }';
  const grant = `mutation ($input: GrantRoleInput!) { grantRole(input: $input) { ${fields} } }`;
  const list = `query ($id: ID) { memberships(projectId: $id) { ${fields} } }`;

  /** A project with `count` members. */
  const filled = async (count: number) => {
    const { db, projects } = harness.services;
    const { id } = await projects.create({ name: 'Many admins' }, system);
    const emails = Array.from({ length: count }, (_, at) => `member-${at}.${id}@example.com`);
    for (const email of emails)
      await harness.services.admins.grantRole({ email, role: 'project_viewer', projectId: id }, owner);
    const rows = sql`select from memberships where project_id = ${id}`;
    return { id, emails, count: async () => (await query(db.alone, rows)).length };
  };

  it('are a hundred at most, whose roles can change', async () => {
    const full = await filled(100);
    const asAdmin = await harness.tokenOf('project_admin', full.id);
    const add = (email: string, to = full.id) =>
      harness.call(grant, { input: { email, role: 'PROJECT_ADMIN', projectId: to } }, to === full.id ? asAdmin : admin);
    const refused = await add('one-more@example.com');
    expect(refused.errors[0].message).toBe('projectId already has 100 admins: revoke the role of one first.');
    expect(refused.code).toBe('invalid');
    const users = sql`select from users where email = 'one-more@example.com'`;
    expect(await query(harness.services.db.alone, users)).toEqual([]);
    expect((await add(full.emails[0] ?? '')).code).toBeUndefined();
    expect((await add('one-more@example.com', projectId)).code).toBeUndefined();
    const { data } = await harness.call(
      'query ($id: ID) { memberships(projectId: $id) { id } }',
      { id: full.id },
      asAdmin,
    );
    await harness.call('mutation ($id: ID!) { revokeRole(id: $id) }', { id: data.memberships[0].id }, asAdmin);
    expect((await add('one-more@example.com')).code).toBeUndefined();
    expect(await full.count()).toBe(100);
  });

  it('add at most 200 users a day to the project of the admins, even if their roles are revoked', async () => {
    const { db, admins, projects } = harness.services;
    const { id } = await projects.create({ name: 'Churn' }, system);
    const { id: other } = await projects.create({ name: 'Beside churn' }, system);
    const add = async (email: string, to = id) => {
      const { id: membership } = await admins.grantRole({ email, role: 'project_viewer', projectId: to }, owner);
      await admins.revokeRole(membership, owner);
    };
    for (let at = 0; at < 200; at += 1) await add(`churn-${at}@example.com`);
    await expect(add('churn-more@example.com')).rejects.toMatchObject({ problem: { code: 'too-many' } });
    expect(await query(db.alone, sql`select from users where email = 'churn-more@example.com'`)).toEqual([]);
    await add('churn-0@example.com');
    await add('churn-more@example.com', other);
    harness.clock.turn(24 * 3600);
    await add('churn-last@example.com');
  });

  it('are a hundred at most, even under concurrent additions', async () => {
    const full = await filled(99);
    const works = ['a', 'b', 'c'].map((name) => () => {
      const email = `${name}.${full.id}@example.com`;
      return harness.services.admins.grantRole({ email, role: 'project_admin', projectId: full.id }, owner);
    });
    const granted = await atOnce(harness.services.db, 'memberships', works);
    expect(granted.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await full.count()).toBe(100);
  });

  it('are shown to project admins by id and address only, whether the address was known or not', async () => {
    const userId = await harness.person('known@example.com');
    const sql = `update users set display_name = 'Ada', last_sign_in_at = now(), active = false where id = ?`;
    await harness.services.db.transaction((em) => em.execute(sql, [userId]));
    const asAdmin = (email: string) =>
      harness.call(grant, { input: { email, role: 'PROJECT_VIEWER', projectId } }, admin);
    const hidden = { name: null, active: null, lastSignInAt: null };
    for (const email of ['known@example.com', 'unknown@example.com']) {
      const { data } = await asAdmin(email);
      expect(data.grantRole.admin).toEqual({ id: expect.any(String), email, ...hidden });
    }
    const listed = await harness.call(list, { id: projectId }, admin);
    for (const one of listed.data.memberships) expect(one.admin).toMatchObject(hidden);
    const owned = await harness.call(list, { id: projectId });
    expect(owned.data.memberships.find((one: { admin: { id: string } }) => one.admin.id === userId).admin).toEqual({
      id: userId,
      email: 'known@example.com',
      name: 'Ada',
      active: false,
      lastSignInAt: expect.any(String),
    });
  });
});

describe("the console's session", () => {
  it('requires a fresh sign-in for sensitive operations only', async () => {
    const { admins } = harness.services;
    const userId = await harness.person('session@example.com');
    await admins.grantRole({ email: 'session@example.com', role: 'project_admin', projectId }, owner);
    const headers = await harness.sessionOf(userId);
    const issue = () =>
      harness.call(
        'mutation ($id: ID!) { issueApiKey(clientId: $id, kind: SECRET) { key } }',
        { id: clientId },
        headers,
      );
    const rename = (settings: object) =>
      harness.call(
        'mutation ($input: UpdateClientInput!) { updateClient(input: $input) { name } }',
        {
          input: { id: clientId, ...settings },
        },
        headers,
      );
    expect((await issue()).code).toBeUndefined();
    harness.clock.turn(freshSeconds);
    expect((await issue()).code).toBe('reauthentication-required');
    expect((await rename({ name: 'Other' })).data.updateClient.name).toBe('Other');
    expect((await rename({ redirectUris: ['https://evil.example/cb'] })).code).toBe('reauthentication-required');
    const policy = async (settings: object) => {
      const mutation = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
      return (await harness.call(mutation, { input: { id: projectId, ...settings } }, headers)).code;
    };
    expect(await policy({ name: 'Renamed' })).toBeUndefined();
    expect(await policy({ scimAuthoritative: false })).toBe('reauthentication-required');
    const longer = 'mutation ($input: UpdateSessionPolicyInput!) { updateSessionPolicy(input: $input) { id } }';
    const input = { projectId, maxSessionSeconds: 31_536_000 };
    expect((await harness.call(longer, { input }, headers)).code).toBe('reauthentication-required');
    expect(await policy({ testMode: false })).toBeUndefined();
    const uris = ['https://evil.example/'];
    for (const settings of [
      ...[{ postLogoutRedirectUris: uris }, { backchannelLogoutUri: uris[0] }, { relatedOrigins: true }],
      ...[{ jwks: {} }, { jwksUri: uris[0] }, { tokenEndpointAuthMethod: 'NONE' }, { grantTypes: ['DEVICE_CODE'] }],
      ...[{ adminScopes: ['users:read'] }, { thirdParty: false }, { passkeyRequired: false }, { disabled: false }],
      ...[{ pkceRequired: false }, { pkceOptional: true }, { pushedRequestsRequired: false }, { fapiProfile: false }],
      ...[{ dpopRequired: false }, { dpopNonceRequired: false }],
    ]) {
      expect([settings, (await rename(settings)).code]).toEqual([settings, 'reauthentication-required']);
    }
    const grant = async (rights: object) => {
      const mutation = 'mutation ($input: SetApiGrantInput!) { setApiGrant(input: $input) { introspects } }';
      const input = { clientId, apiId: clientId, ...rights };
      return (await harness.call(mutation, { input }, headers)).code;
    };
    expect(await grant({ scopes: ['read'] })).toBe('reauthentication-required');
    expect(await grant({ scopes: [], introspects: true })).toBe('reauthentication-required');
    expect(await grant({ scopes: [] })).toBe('not-found');
    for (const weaker of [
      { signUp: 'OPEN' },
      { scimEnabled: true },
      { emailFactor: true },
      { passkeyPolicy: 'ALLOWED' },
      { passkeyAaguids: [] },
      { passkeyRoots: [] },
      { deviceTrustSeconds: 31_536_000 },
      { deviceTrustDays: 3650 },
      { smsCountries: [] },
      { smsPerDay: 1_000_000 },
      { testMode: true },
      { mfaPolicy: 'OFF' },
      { offeredFactors: ['EMAIL'] },
      { rememberMfaSeconds: 31_536_000 },
    ]) {
      expect([weaker, await policy(weaker)]).toEqual([weaker, 'reauthentication-required']);
    }
  });

  it('learns that they have no passkey, while passkeys are on; an API token does not', async () => {
    const { console } = harness.builtIn;
    const userId = await harness.person('keyless@example.com');
    await harness.services.admins.grantRole({ email: 'keyless@example.com', role: 'project_admin', projectId }, owner);
    const session = await harness.sessionOf(userId);
    const lacks = async (headers: Record<string, string>) =>
      (await harness.call('{ me { lacksPasskey } }', {}, headers)).data.me.lacksPasskey;
    expect(await lacks(session)).toBe(true);
    expect(await lacks(admin)).toBe(false);
    const set = (passkeyPolicy: 'off' | 'allowed') =>
      harness.services.projects.update(console.id, { passkeyPolicy }, system);
    await set('off');
    expect(await lacks(session)).toBe(false);
    await set('allowed');
    expect(await lacks(session)).toBe(true);
    const passkey = await harness.passkeyOf(console, { id: userId });
    expect(await lacks(await harness.sessionOf(userId, 'person', passkey))).toBe(false);
  });

  it('is not fresh by a device key alone, however new: a person must prove their identity', async () => {
    const userId = await harness.person('device@example.com');
    await harness.services.admins.grantRole({ email: 'device@example.com', role: 'project_admin', projectId }, owner);
    const mutation = 'mutation ($id: ID!) { issueApiKey(clientId: $id, kind: SECRET) { key } }';
    const silent = await harness.sessionOf(userId, 'device');
    expect((await harness.call(mutation, { id: clientId }, silent)).code).toBe('reauthentication-required');
    const { data } = await harness.call('{ me { freshUntil } }', {}, silent);
    expect(new Date(data.me.freshUntil).getTime()).toBeLessThanOrEqual(harness.clock.now().getTime());
    const fresh = await harness.sessionOf(userId);
    expect((await harness.call(mutation, { id: clientId }, fresh)).code).toBeUndefined();
  });

  it('does not authenticate a page that another admin has loaded', async () => {
    const { admins } = harness.services;
    const [one, other] = [await harness.person('one.tab@example.com'), await harness.person('other.tab@example.com')];
    for (const email of ['one.tab@example.com', 'other.tab@example.com']) {
      await admins.grantRole({ email, role: 'project_admin', projectId }, owner);
    }
    const headers = await harness.sessionOf(one);
    const from = (account: string) => ({ ...headers, [accountHeader]: account });
    const mutation = 'mutation ($input: UpdateClientInput!) { updateClient(input: $input) { name } }';
    const rename = (account: string) =>
      harness.call(mutation, { input: { id: clientId, name: 'Renamed' } }, from(account));
    const refused = await rename(other);
    expect([refused.status, refused.code]).toEqual([401, 'unauthenticated']);
    expect((await rename('')).status).toBe(401);
    expect((await rename(one)).data.updateClient.name).toBe('Renamed');
    const upload = (account: string) =>
      fetch(`${harness.url}/admin/projects/${projectId}/logos`, { method: 'POST', headers: from(account), body: 'x' });
    expect([(await upload(other)).status, (await upload(one)).status]).toEqual([401, 400]);
    // With a token, the account header has no effect.
    expect((await harness.call('{ me { kind } }', {}, { ...admin, [accountHeader]: other })).status).toBe(200);
  });

  it('is not a session without the header, from another origin, or for a user without a role', async () => {
    const userId = await harness.person('plain@example.com');
    const { Cookie = '', ...rest } = await harness.sessionOf(userId);
    const query = '{ me { name } }';
    expect((await harness.call(query, {}, { Cookie })).status).toBe(403);
    expect((await harness.call(query, {}, { Cookie, ...rest, Origin: 'https://evil.example' })).status).toBe(403);
    expect((await harness.call(query, {}, { Cookie, ...rest, 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
    const answer = await harness.call(query, {}, { Cookie, ...rest });
    expect([answer.status, answer.errors[0].message]).toEqual([403, 'This is not allowed: you have no role here.']);
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
