import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { changed } from '../../../test/rows.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import type { User } from '../../domain/users/user.entity.ts';
import { freshSeconds } from '../api/caller-checks.ts';

let harness: AdminHarness;
let project: Project;
let foreign: Project;
let ada: User;
const many = 1200;

beforeAll(async () => {
  harness = await openAdminHarness();
  const make = new Factories(harness.services, harness.clock);
  project = await make.project({ name: 'Acme' });
  foreign = await make.project({ name: 'Other' });
  await harness.services.db.transaction((em) =>
    em.execute(
      `insert into users (id, project_id, user_name, user_name_key, display_name, created_at, updated_at)
       select gen_random_uuid(), '${project.id}', 'user-' || n, 'user-' || n, 'Somebody, "else"', now(), now()
       from generate_series(1, ${many - 1}) n`,
    ),
  );
  ada = await make.user(project, {
    userName: 'ada',
    userNameKey: 'ada',
    email: 'ada@example.com',
    emailKey: 'ada@example.com',
    displayName: '=cmd|calc',
    phone: '+12025550143',
    attributes: { locale: 'en-GB' },
    lastSignInAt: harness.clock.now(),
  });
});
afterAll(() => harness.close());

const get = (path: string, query: Record<string, string> = {}, headers: Record<string, string> = bootstrap) =>
  fetch(`${harness.url}/admin/export/users${path}?${new URLSearchParams(query)}`, { headers });

const events = async (type: string) => {
  const query = `{ auditEvents(projectId: "${project.id}", filter: { types: ["${type}"] }) { edges { node { detail subject { id } } } } }`;
  return (await harness.call(query)).data.auditEvents.edges.map(({ node }: { node: object }) => node);
};

describe('GET /admin/export/users', () => {
  it('returns every user as CSV (RFC 4180), without spreadsheet formulas', async () => {
    const response = await get('', { project: project.id });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="users-.*\.csv"$/);
    const [head, ...lines] = (await response.text()).trimEnd().split('\r\n');
    expect(head).toBe(
      '"id","user_name","external_id","display_name","given_name","family_name","email","phone","active","provenance","created_at","updated_at","last_sign_in_at"',
    );
    expect(lines).toHaveLength(many);
    const line = lines.find((one) => one.includes(ada.id));
    expect(line).toBe(
      `"${ada.id}","ada",,"'=cmd|calc",,,"ada@example.com","'+12025550143","true","local","2026-03-01T12:00:00.000Z","2026-03-01T12:00:00.000Z","2026-03-01T12:00:00.000Z"`,
    );
    expect(lines[0] === line ? lines[1] : lines[0]).toContain('"Somebody, ""else"""');
  });

  it('returns JSON Lines by the search and filters of the list', async () => {
    const wanted = { project: project.id, format: 'jsonl', search: 'ad', has_signed_in: 'true', active: 'true' };
    const lines = (await (await get('', wanted)).text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ id: ada.id, displayName: '=cmd|calc', active: true }),
    ]);
    const none = { project: project.id, format: 'jsonl', group: foreign.id };
    expect(await (await get('', none)).text()).toBe('');
  });

  it('is recorded as an event with the number of users, without the search text', async () => {
    const [newest] = (await events('users.exported')).slice(1);
    expect(newest.detail).toEqual({
      format: 'jsonl',
      users: 1,
      filter: { active: true, hasSignedIn: true },
      searched: true,
    });
    expect(JSON.stringify(await events('users.exported'))).not.toContain('"ad"');
  });

  it('reads no further than the client does', async () => {
    const stop = new AbortController();
    const url = `${harness.url}/admin/export/users?project=${project.id}`;
    const response = await fetch(url, { headers: bootstrap, signal: stop.signal });
    stop.abort();
    await expect(response.text()).rejects.toThrow();
    expect((await get('', { project: project.id, search: 'ada' })).status).toBe(200);
    expect(harness.bugs).toEqual([]);
  });

  it('refuses unknown parameters', async () => {
    const codeOf = async (query: Record<string, string>) => {
      const response = await get('', { project: project.id, ...query });
      const { errors } = (await response.json()) as { errors: { extensions: { code: string; field?: string } }[] };
      return [response.status, errors[0]?.extensions.code, errors[0]?.extensions.field];
    };
    expect(await codeOf({ format: 'xls' })).toEqual([400, 'invalid', 'format']);
    expect(await codeOf({ active: 'maybe' })).toEqual([400, 'invalid', 'active']);
    expect(await codeOf({ group: "' or 1=1" })).toEqual([400, 'invalid', 'filter.groupId']);
    expect(await codeOf({ signed_in_since: 'yesterday' })).toEqual([400, 'invalid', 'signed_in_since']);
    expect(await codeOf({ fields: 'password' })).toEqual([400, 'invalid', 'fields']);
    expect(await codeOf({ search: '\0' })).toEqual([400, 'invalid', 'search']);
    expect((await codeOf({ project: 'x' }))[0]).toBe(404);
    expect((await get('', {})).status).toBe(400);
  });
});

/** A code that was sent to this address by a sign-in that is already deleted. */
async function codeTo({ id, email }: { id: string | null; email?: string | null | undefined }) {
  const at = harness.clock.now();
  await execute(
    harness.services.db.alone,
    sql`
      insert into one_time_codes (id, project_id, ceremony_id, purpose, account, user_id, address, code_mac,
        created_at, expires_at)
      values (${systemRandom.id()}, ${project.id}, ${systemRandom.id()}, 'sign-in', 'x', ${id}, ${email}, 'x',
        ${at}, ${new Date(at.getTime() + 300_000)})`,
  );
}

describe('GET /admin/export/users/{id}', () => {
  it('returns everything stored about the user, and no secret', async () => {
    const { services } = harness;
    const client = (await services.clients.create({ projectId: project.id, name: 'App' }, system)).client;
    const { session, device } = await harness.signedIn(project, ada, client.id);
    const passkey = await harness.passkeyOf(project, ada);
    const group = await services.groups.create(
      project.id,
      { displayName: 'Staff', externalId: null },
      [ada.id],
      system,
    );
    const networks = 'insert into known_networks (project_id, user_id, network, last_at) values (?, ?, ?, ?)';
    await changed(services.db, networks, [project.id, ada.id, 'mac of a network', harness.clock.now()]);
    await codeTo(ada);
    await services.db.transaction(async (em) => {
      const enrolment = await services.mfa.begin(em, { user: ada, deviceId: null, method: 'totp', phone: null });
      await services.mfa.verify(em, enrolment, ada, system);
      const admin = { kind: 'admin', id: foreign.id, name: 'Grace', ip: '203.0.113.9', userAgent: 'theirs' } as const;
      const own = {
        kind: 'user',
        id: ada.id,
        name: 'ada',
        ip: '198.51.100.7',
        userAgent: 'hers',
        signInId: 'opaque',
      } as const;
      const subject = { kind: 'user', id: ada.id };
      services.audit.record(em, { type: 'user.updated', actor: admin, projectId: project.id, subject });
      services.audit.record(em, { type: 'user.signed_in', actor: own, projectId: project.id, subject });
      await services.tokens.issueCode(em, {
        projectId: project.id,
        clientId: client.id,
        userId: ada.id,
        scope: 'openid',
        authTime: harness.clock.now(),
        amr: ['swk'],
      });
    });
    const response = await get(`/${ada.id}`);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="person-.*\.json"$/);
    const text = await response.text();
    const person = JSON.parse(text);
    expect(person).toMatchObject({
      issuer: harness.issuer,
      projectId: project.id,
      profile: { id: ada.id, userName: 'ada', phone: '+12025550143', attributes: { locale: 'en-GB' } },
      groups: [{ id: group.id, displayName: 'Staff' }],
      sessions: [{ id: session.id, amr: ['swk', 'otp'] }],
      devices: [{ id: device.id, name: 'Browser' }],
      passkeys: [
        {
          ...{ id: passkey, name: 'iCloud Keychain', credentialId: expect.any(String), revokedAt: null },
          ...{ aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd', createdBy: 'mail-code', userAgent: null },
          ...{ backupEligible: true, backedUp: true, userVerified: true },
        },
      ],
      knownNetworks: [{ lastAt: expect.stringContaining('20') }],
      oneTimeCodes: [{ purpose: 'sign-in', address: 'ada@example.com', attempts: 0 }],
      secondFactors: [{ method: 'totp' }],
      authorizationCodes: [{ clientId: client.id, scope: 'openid' }],
      messages: [],
    });
    const types = person.eventsAbout.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(['user.updated', 'user.signed_in', 'user.exported']));
    expect(types).toEqual(expect.arrayContaining(['device.registered', 'passkey.registered']));
    // The origin of an admin's action is the admin's data; that of the sign-in is the user's.
    expect(text).toContain('198.51.100.7');
    expect(text).not.toContain('203.0.113.9');
    expect(text).not.toContain('signInId');
    expect(text).not.toMatch(/hash|sealed|secret"|mac of/i);
    const holdings = 'sessions devices passkeys secondFactors groups messages events';
    const { data } = await harness.call(`{ userHoldings(userId: "${ada.id}") { ${holdings} } }`);
    expect(data.userHoldings).toMatchObject({ sessions: 1, devices: 1, passkeys: 1, secondFactors: 1 });
    expect(data.userHoldings).toMatchObject({ groups: 1, messages: 0 });
    expect(data.userHoldings.events).toBe(person.eventsAbout.length + person.eventsBy.length);
  });

  it('is recorded as an event of the user', async () => {
    expect(await events('user.exported')).toEqual([{ detail: null, subject: { id: ada.id } }]);
  });

  it('contains no rows of other users', async () => {
    const { services } = harness;
    const { client } = await services.clients.create({ projectId: project.id, name: 'App' }, system);
    await harness.signedIn(project, ada, client.id);
    await harness.passkeyOf(project, ada);
    await services.groups.create(project.id, { displayName: 'Staff', externalId: null }, [ada.id], system);
    await codeTo(ada);
    const bob = await services.db.transaction(async (em) => {
      await services.mfa.begin(em, { user: ada, deviceId: null, method: 'totp', phone: null });
      await services.consents.give(em, client, ada, { scope: 'openid', resources: [], organizationId: null }, system);
      return services.users.signUp(em, project.id, 'bob@example.com', system);
    });
    const exported = async (id: string) => (await (await get(`/${id}`)).json()) as Record<string, unknown>;
    const rowsOf = (person: Record<string, unknown>) =>
      Object.entries(person).filter(
        ([name, rows]) => Array.isArray(rows) && rows.length > 0 && !name.startsWith('events'),
      );
    const names = rowsOf(await exported(ada.id)).map(([name]) => name);
    const stored = ['groups', 'sessions', 'devices', 'passkeys', 'oneTimeCodes', 'secondFactors', 'consents'];
    expect(names).toEqual(expect.arrayContaining(stored));
    expect(rowsOf(await exported(bob.id))).toEqual([]);
  });

  it('is not found after the user is erased', async () => {
    const make = new Factories(harness.services, harness.clock);
    const gone = await make.user(project);
    const { db } = harness.services;
    const at = harness.clock.now();
    await execute(
      db.alone,
      sql`insert into known_networks (project_id, user_id, network, last_at) values (${project.id}, ${gone.id}, ${'x'}, ${at})`,
    );
    await codeTo(gone);
    await codeTo({ id: null, email: gone.email });
    const left = () =>
      query(
        db.alone,
        sql`select 'network' from known_networks where user_id = ${gone.id}
          union all select 'code' from one_time_codes where user_id = ${gone.id} or address = ${gone.email}`,
      );
    expect(await left()).toHaveLength(3);
    await harness.services.accountAccess.erase(project.id, gone.id, system);
    expect(await left()).toEqual([]);
    expect((await get(`/${gone.id}`)).status).toBe(404);
    expect((await get('/nobody')).status).toBe(404);
  });
});

describe('both exports', () => {
  const paths = () =>
    [
      ['', { project: project.id }],
      [`/${ada.id}`, {}],
    ] as const;
  const status = async (headers: Record<string, string>) => {
    const answers = await Promise.all(paths().map(([path, query]) => get(path, query, headers)));
    for (const answer of answers) if (answer.status !== 200) expect(await answer.text()).not.toContain('example.com');
    return answers.map((answer) => answer.status);
  };

  it('are for project admins: not for viewers, other projects or unauthenticated callers', async () => {
    expect(await status({})).toEqual([401, 401]);
    expect(await status(await harness.tokenOf('project_viewer', project.id))).toEqual([403, 403]);
    expect(await status(await harness.tokenOf('project_admin', foreign.id))).toEqual([404, 404]);
    expect(await status(await harness.tokenOf('project_admin', project.id))).toEqual([200, 200]);
  });

  it('require a fresh sign-in, and refuse cross-site requests of browsers', async () => {
    const userId = await harness.person('pa@example.com');
    const owner = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await harness.services.admins.grantRole(
      { email: 'pa@example.com', role: 'project_admin', projectId: project.id },
      owner,
    );
    const headers = await harness.sessionOf(userId);
    expect(await status({ ...headers, 'Sec-Fetch-Site': 'same-origin' })).toEqual([200, 200]);
    expect(await status({ ...headers, 'Sec-Fetch-Site': 'cross-site' })).toEqual([403, 403]);
    harness.clock.turn(freshSeconds);
    expect(await status({ ...headers, 'Sec-Fetch-Site': 'same-origin' })).toEqual([403, 403]);
  });
});
