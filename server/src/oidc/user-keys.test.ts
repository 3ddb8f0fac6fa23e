/** API keys of users: made at `/account`, introspected by their API (RFC 7662, decisions/0423). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Visit } from '../../test/account-visit.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { administer, apiOf, basic, type Machine, machineOf, orders, send, tokenOf } from '../../test/machine.ts';
import { Places } from '../../test/organizations.ts';
import { changed, rows } from '../../test/rows.ts';
import type { Api } from '../domain/apis/api.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

const day = 24 * 3600;

let app: TestApp;
let project: Project;
let api: Api;
/** The application that is the API. */
let service: Machine;
let user: User;

beforeAll(async () => {
  app = await buildTestApp();
  // Creates the console's project, to which admins of the API belong.
  await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  api = await apiOf(app, project);
  await app.services.apis.update(api, { userKeys: true }, system);
  service = await machineOf(app, project);
  await app.services.apis.grant(service.client, api.id, { scopes: [], introspects: true }, system);
  user = await app.make.user(project);
});

async function visitOf(of = user, proof: 'person' | 'device-key' = 'person'): Promise<Visit> {
  const { session, secret } = await app.make.session(project, of, ['swk', 'otp'], undefined, proof);
  return new Visit(app.url, project.id, { id: session.id, secret });
}
const shownIn = (page: string) => /lk_user_[\w-]{43}/.exec(page)?.[0];
const formOf = (fields: Record<string, string> = {}) => ({
  ...{ api: api.id, name: 'Nightly export', 'scope.0': 'read', days: '90', networks: '', ...fields },
});

/** A key as the user makes it. */
async function keyOf(fields: Record<string, string> = {}, of = user): Promise<string> {
  const answer = await (await visitOf(of)).change('add-api-key', formOf(fields));
  const key = shownIn(await answer.text());
  if (!key) throw new Error(`no key: ${answer.status}`);
  return key;
}

type Introspected = { active: boolean } & Record<string, unknown>;
const introspect = async (token: string, by = service, further: Record<string, string> = {}) =>
  (await (await send(by, '/oauth2/introspect', { token, ...further })).json()) as Introspected;
const inactive = { active: false };
const isActive = async (token: string) => (await introspect(token)).active;
const idOf = async () =>
  (await rows<{ id: string }>(app.services.db, 'select id from user_keys where user_id = ?', [user.id]))[0]?.id ?? '';
const events = (type: string) =>
  rows<{ detail: Record<string, unknown>; actor_id: string; subject_name: string }>(
    app.services.db,
    'select detail, actor_id, subject_name from audit_log where project_id = ? and type = ? order by at, id',
    [project.id, type],
  );

describe('an API key of a user', () => {
  it('is shown once, stored as a hash, and introspected by its API', async () => {
    const visit = await visitOf();
    expect(await visit.page()).toContain('New key for Orders');
    const page = await (await visit.change('add-api-key', formOf({ 'scope.1': 'write' }))).text();
    const key = shownIn(page) ?? '';
    expect(await visit.page()).not.toContain(key);
    expect(await visit.page()).toContain(`lk_user_…${key.slice(-4)}`);
    const [stored] = await rows(app.services.db, 'select * from user_keys where user_id = ?', [user.id]);
    expect(JSON.stringify(stored)).not.toContain(key);
    const iat = Math.floor(app.clock.now().getTime() / 1000);
    expect(await introspect(key)).toEqual({
      ...{ active: true, scope: 'read write', sub: user.id, aud: orders, iss: service.issuer },
      ...{ iat, exp: iat + 90 * day, jti: await idOf(), token_type: 'Bearer' },
    });
    expect(await visit.page()).not.toContain('Never used');
    const [created] = await events('user-key.created');
    expect(created).toMatchObject({ actor_id: user.id, subject_name: 'Nightly export' });
    expect(created?.detail).toMatchObject({ userId: user.id, api: orders, scopes: ['read', 'write'] });
    expect(JSON.stringify(await events('user-key.created'))).not.toContain(key);
    expect(app.logLines.join('')).not.toContain(key);
  });

  it('needs a fresh sign-in, an API that allows keys, its scopes, and a lifetime of a year at most', async () => {
    const stale = await (await visitOf(user, 'device-key')).change('add-api-key', formOf());
    expect(stale.status).toBe(403);
    const visit = await visitOf();
    const refused = async (fields: Record<string, string>) =>
      (await visit.change('add-api-key', formOf(fields))).status;
    expect(await refused({ 'scope.0': 'admin' })).toBe(400);
    expect(await refused({ 'scope.1': 'openid' })).toBe(400);
    expect(await refused({ 'scope.0': '' })).toBe(400);
    // Back to the page, with a notice.
    expect(await refused({ name: ' ' })).toBe(303);
    for (const days of ['0', '367', '1.5', '-1', 'x', '']) expect([days, await refused({ days })]).toEqual([days, 400]);
    expect(await refused({ networks: '10.0.0.0/33' })).toBe(400);
    const other = await apiOf(app, await app.make.project());
    await app.services.apis.update(other, { userKeys: true }, system);
    const closed = await apiOf(app, project, 'https://closed.example.com');
    for (const { id } of [other, closed, project]) await refused({ api: id });
    const forged = await visit.change('add-api-key', { ...formOf(), csrf: 'x' });
    expect(forged.status).toBe(403);
    expect(await rows(app.services.db, 'select 1 from user_keys where project_id = ?', [project.id])).toEqual([]);
    expect((await visit.page()).match(/New key for Orders/g)).toHaveLength(1);
  });

  it('is limited to 20 for each user, also of 40 at once, from two browsers', async () => {
    const browsers = await Promise.all(
      [await visitOf(), await visitOf()].map(async (visit) => ({ browser: visit.browser, csrf: await visit.csrf() })),
    );
    const make = ({ browser, csrf }: (typeof browsers)[number]) =>
      browser.post(`${app.url}/account`, { ...formOf(), change: 'add-api-key', project: project.id, csrf });
    const asked = Array.from({ length: 20 }, () => browsers.map(make)).flat();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 409)).toHaveLength(20);
    const other = await app.make.user(project);
    expect(await isActive(await keyOf({}, other))).toBe(true);
  });

  it('works from its networks only, by the address that the API reports (RFC 7662 section 2.1)', async () => {
    const key = await keyOf({ networks: '192.0.2.0/24, 2001:db8::/32' });
    const from = async (client_ip: string) => (await introspect(key, service, { client_ip })).active;
    expect([await from('192.0.2.7'), await from('::ffff:192.0.2.7'), await from('2001:db8::1')]).toEqual([
      true,
      true,
      true,
    ]);
    expect([await from('198.51.100.1'), await from('2001:db9::1'), await from('x'), await isActive(key)]).toEqual(
      Array(4).fill(false),
    );
    const [{ address } = { address: '' }] = await rows<{ address: string }>(
      app.services.db,
      'select last_used_address as address from user_keys where user_id = ?',
      [user.id],
    );
    expect(address).toBe('192.0.2.7');
  });

  it('takes its address from no header, and from no list, range or repeated parameter', async () => {
    const key = await keyOf({ networks: '192.0.2.0/24' });
    const address = '192.0.2.7';
    const forged = {
      ...{ 'X-Forwarded-For': address, Forwarded: `for=${address}`, 'X-Real-IP': address, Client_Ip: address },
      ...{ 'True-Client-IP': address, 'CF-Connecting-IP': address },
    };
    const from = async (form: Record<string, string | string[]>) => {
      const answer = await send(
        service,
        '/oauth2/introspect',
        { token: key, ...form },
        { ...basic(service), ...forged },
      );
      return [answer.status, ((await answer.json()) as Introspected).active];
    };
    expect(await from({ client_ip: address })).toEqual([200, true]);
    expect(await from({})).toEqual([200, false]);
    const outside = ['198.51.100.1', `198.51.100.1, ${address}`, `${address}, 198.51.100.1`, `${address}/32`, '', '0'];
    for (const client_ip of outside)
      expect([client_ip, ...(await from({ client_ip }))]).toEqual([client_ip, 200, false]);
    expect(await from({ client_ip: [address, '198.51.100.1'] })).toEqual([400, undefined]);
  });

  it('has the scopes that the user chose, whatever the API gets later', async () => {
    const key = await keyOf();
    const scopes = ['read', 'write', 'delete'].map((name) => ({ key: name, description: name }));
    await app.services.apis.update(api, { scopes }, system);
    expect(await introspect(key, service, { scope: 'read write delete' })).toMatchObject({
      active: true,
      scope: 'read',
    });
  });

  it('is inactive for all others, and at every other place', async () => {
    const key = await keyOf();
    const stranger = await machineOf(app, project);
    await app.services.apis.grant(stranger.client, api.id, { scopes: ['read'], introspects: false }, system);
    expect(await introspect(key, stranger)).toEqual(inactive);
    const elsewhere = await app.make.project();
    const theirs = await machineOf(app, elsewhere);
    const theirApi = await apiOf(app, elsewhere);
    await app.services.apis.update(theirApi, { userKeys: true }, system);
    await app.services.apis.grant(theirs.client, theirApi.id, { scopes: ['read'], introspects: true }, system);
    expect(await introspect(key, theirs)).toEqual(inactive);
    expect(await introspect(`${key}x`)).toEqual(inactive);
    expect(await introspect(key.slice(0, -1))).toEqual(inactive);
    expect((await administer(app, key, '{ me { kind } }')).status).toBe(401);
    const bearer = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${service.issuer}/userinfo`, { headers: bearer })).status).toBe(401);
    expect((await fetch(`${app.url}/v1/scim/${project.id}/Users`, { headers: bearer })).status).not.toBe(200);
    const revoked = await send(service, '/oauth2/revoke', { token: key });
    expect([revoked.status, await isActive(key)]).toEqual([200, true]);
  });

  it('is inactive for a project that has a user and an API with the same ids', async () => {
    const key = await keyOf();
    const elsewhere = await app.make.project();
    for (const [table, id] of [
      ['users', user.id],
      ['apis', api.id],
    ] as const) {
      const twin = `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('project_id', ?::text))).*
        from ${table} t where project_id = ? and id = ?`;
      expect(await changed(app.services.db, twin, [elsewhere.id, project.id, id])).toBe(1);
    }
    const theirs = await machineOf(app, elsewhere);
    await app.services.apis.grant(theirs.client, api.id, { scopes: [], introspects: true }, system);
    expect(await introspect(key, theirs)).toEqual(inactive);
    // Without row security, which confines the request above.
    expect(await app.services.userKeys.introspect(theirs.client, key, undefined)).toBeNull();
    expect(await app.services.userKeys.introspect(service.client, key, undefined)).toMatchObject({ userId: user.id });
  });

  it('is for the organization that the user chose, and ends with the membership', async () => {
    await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
    const places = new Places(app, project);
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    const membership = await places.join(north, user);
    const key = await keyOf({ organization: north.id });
    const plain = await keyOf();
    expect(await introspect(key)).toMatchObject({ active: true, org_id: north.id });
    expect(await introspect(plain)).not.toHaveProperty('org_id');
    await (await visitOf()).change('add-api-key', formOf({ organization: south.id }));
    expect(await rows(app.services.db, 'select 1 from user_keys where organization_id = ?', [south.id])).toEqual([]);
    await (await visitOf()).change('leave-organization', { id: membership });
    expect([await isActive(key), await isActive(plain)]).toEqual([false, true]);
    await app.runJobs();
    await places.join(north, user);
    expect(await isActive(key)).toBe(false);
  });
});

describe('the end of an API key', () => {
  const ends: [string, () => Promise<unknown>][] = [
    ['its time', async () => app.clock.turn(90 * day + 1)],
    ['the user removes it', async () => (await visitOf()).change('revoke-api-key', { id: await idOf() })],
    ['an admin revokes it', async () => app.services.userKeys.revokeAny(keyIn(project.id, await idOf()), system)],
    ['the user is deactivated', () => app.services.accountAccess.deactivate(project.id, user.id, system)],
    ['the user is erased', () => app.services.accountAccess.erase(project.id, user.id, system)],
    ['the API allows keys no longer', () => app.services.apis.update(api, { userKeys: false }, system)],
    [
      'the API has its scope no longer',
      () => app.services.apis.update(api, { scopes: [{ key: 'x', description: 'x' }] }, system),
    ],
    ['the API is deleted', () => app.services.apis.delete(api, system)],
  ];

  it.each(ends)('is %s', async (_case, end) => {
    const key = await keyOf();
    expect(await isActive(key)).toBe(true);
    await end();
    expect(await introspect(key)).toEqual(inactive);
  });

  it('is each state of the user that is not active, also of one that ended no key', async () => {
    const key = await keyOf();
    await changed(app.services.db, 'update users set active = false where id = ?', [user.id]);
    expect(await introspect(key)).toEqual(inactive);
  });

  it('is for good when the user is deactivated, also by a directory', async () => {
    const key = await keyOf();
    await app.services.accountAccess.deactivate(project.id, user.id, system);
    await app.services.accountAccess.activate(project.id, user.id, system);
    expect(await isActive(key)).toBe(false);
  });

  it('is never brought about by another user, or another project', async () => {
    const key = await keyOf();
    const id = await idOf();
    await (await visitOf(await app.make.user(project))).change('revoke-api-key', { id });
    const other = await app.make.project();
    const foreign = app.services.userKeys.revokeAny(keyIn(other.id, id), system);
    expect(await problemOf(foreign)).toMatchObject({ code: 'not-found' });
    expect(await isActive(key)).toBe(true);
  });

  it('is forgotten after 30 days', async () => {
    await keyOf();
    app.clock.turn(121 * day);
    await app.services.retention.sweep();
    expect(await rows(app.services.db, 'select 1 from user_keys where user_id = ?', [user.id])).toEqual([]);
  });
});

describe('the admin API', () => {
  it('lists the keys of a user without secrets, and revokes one', async () => {
    const key = await keyOf();
    const machine = await machineOf(app, project, { adminScopes: ['users:write', 'clients:read'] });
    const token = await tokenOf(machine, { resource: `${app.url}/admin` });
    const list = `{ userKeys(userId: "${user.id}") { id name hint scopes networks api { identifier } lastUsedAt } }`;
    const { data } = await administer(app, token, list);
    expect(data.userKeys).toEqual([
      {
        ...{ id: await idOf(), name: 'Nightly export', hint: key.slice(-4), scopes: ['read'], networks: [] },
        ...{ api: { identifier: orders }, lastUsedAt: null },
      },
    ]);
    const mutation = `mutation { revokeUserKey(id: "${await idOf()}") }`;
    const stranger = await machineOf(app, await app.make.project(), { adminScopes: ['users:write'] });
    const foreign = await tokenOf(stranger, { resource: `${app.url}/admin` });
    expect((await administer(app, foreign, mutation)).code).toBe('not-found');
    expect((await administer(app, token, mutation)).data.revokeUserKey).toBe(data.userKeys[0].id);
    expect(await isActive(key)).toBe(false);
    expect((await administer(app, token, list)).data.userKeys).toEqual([]);
    expect(await events('user-key.revoked')).toHaveLength(1);
  });
});
