import type { EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changed, rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { system } from '../domain/kernel/actor.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const bulkRequest = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

let app: ScimApp;
let project: ScimProject;
let other: ScimProject;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  other = await app.project();
});
afterAll(() => app.close());

const someId = '01900000-0000-7000-8000-000000000000';
const routes: [method: string, path: string][] = [
  ['GET', '/ServiceProviderConfig'],
  ['GET', '/Schemas'],
  ['GET', '/ResourceTypes/User'],
  ['GET', '/Users'],
  ['POST', '/Users'],
  ['POST', '/Users/.search'],
  ['GET', `/Users/${someId}`],
  ['PUT', `/Users/${someId}`],
  ['PATCH', `/Users/${someId}`],
  ['DELETE', `/Users/${someId}`],
  ['HEAD', '/Users'],
  ['GET', '/Groups'],
  ['POST', '/Groups'],
  ['PATCH', `/Groups/${someId}`],
  ['DELETE', `/Groups/${someId}`],
  ['POST', '/.search'],
  ['POST', '/Bulk'],
  ['GET', '/Me'],
  ['GET', '/nothing/here'],
  ['DELETE', '/Schemas'],
];

const ask = (base: string, authorization?: string, method = 'GET', path = '/Users') =>
  app.send(method, `${base}${path}`, authorization === undefined ? {} : { authorization });

describe('the order of refusals', () => {
  it.each(routes)('refuses %s %s without a token and with one of another project', async (method, path) => {
    for (const authorization of [undefined, `Bearer ${other.token}`]) {
      const reply = await ask(project.baseUrl, authorization, method, path);
      expect(reply.status).toBe(401);
      // RFC 6750 §3: the error is named only if a token was sent.
      const fault = authorization === undefined ? '' : ', error="invalid_token"';
      expect(reply.headers.get('www-authenticate')).toBe(`Bearer realm="scim"${fault}`);
      expect(reply.headers.get('content-type')).toBe('application/scim+json');
      if (method !== 'HEAD') expect(reply.body).toMatchObject({ status: '401', detail: expect.any(String) });
    }
  });

  describe('while another token is in use', () => {
    const ids: string[] = [];
    beforeAll(async () => {
      for (const each of [project, other]) {
        const user = (await each.request('POST', '/Users', { userName: 'there' })).body.id as string;
        const group = (await each.request('POST', '/Groups', { displayName: 'there', members: [{ value: user }] })).body
          .id;
        ids.push(user, group);
      }
    });
    it.each([
      ...routes,
      ['GET', '/Users/:user'],
      ['PATCH', '/Users/:user'],
      ['PUT', '/Users/:user'],
      ['DELETE', '/Users/:user'],
      ['GET', '/Groups/:group'],
      ['PATCH', '/Groups/:group'],
      ['GET', '/Users?filter=userName+eq+%22there%22'],
      ['GET', '/Users?count=0'],
    ] as [string, string][])('refuses %s %s with other tokens, and for other projects', async (method, path) => {
      for (const each of [project, other]) expect((await each.request('GET', '/Users')).status).toBe(200);
      const bearer = (token: string) => `Bearer ${token}`;
      const [own = '', ownGroup = '', theirs = '', theirGroup = ''] = ids;
      const here = path.replace(':user', own).replace(':group', ownGroup);
      for (const authorization of [undefined, bearer(other.token), bearer(project.token.slice(0, -1)), project.token]) {
        const reply = await ask(project.baseUrl, authorization, method, here);
        expect([authorization, reply.status]).toEqual([authorization, 401]);
      }
      const there = path.replace(':user', theirs).replace(':group', theirGroup);
      expect((await ask(other.baseUrl, bearer(project.token), method, there)).status).toBe(401);
      expect((await ask(`${project.baseUrl}%20Bearer`, project.token, method, here)).status).toBe(404);
    });
  });

  it.each([
    ['no scheme', () => project.token],
    ['another scheme', () => `Basic ${Buffer.from(`x:${project.token}`).toString('base64')}`],
    ['nothing after the scheme', () => 'Bearer '],
    ['two tokens', () => `Bearer ${project.token} ${project.token}`],
    ['a truncated token', () => `Bearer ${project.token.slice(0, -1)}`],
    ['a token with a suffix', () => `Bearer ${project.token}x`],
    ['another case', () => `Bearer ${project.token.toUpperCase()}`],
    ['10,000 characters', () => `Bearer ${'x'.repeat(10_000)}`],
  ])('401 for %s', async (_what, authorization) => {
    expect((await ask(project.baseUrl, authorization())).status).toBe(401);
  });

  it('accepts the scheme in any case', async () => {
    expect((await ask(project.baseUrl, `bearer ${project.token}`)).status).toBe(200);
  });

  it('401 for a token from its expiry or revocation; another one stays valid', async () => {
    const { id, baseUrl, token } = await app.project();
    const expiresAt = new Date(app.clock.now().getTime() + 60_000);
    const short = await app.services.directories.issueScimToken({ projectId: id, name: 'Short', expiresAt }, system);
    const revoked = await app.services.directories.issueScimToken({ projectId: id, name: 'Revoked' }, system);
    for (const each of [token, short.token, revoked.token])
      expect((await ask(baseUrl, `Bearer ${each}`)).status).toBe(200);
    await app.services.directories.revokeScimToken(revoked.scimToken, system);
    app.clock.turn(60);
    expect((await ask(baseUrl, `Bearer ${short.token}`)).status).toBe(401);
    expect((await ask(baseUrl, `Bearer ${revoked.token}`)).status).toBe(401);
    expect((await ask(baseUrl, `Bearer ${token}`)).status).toBe(200);
  });

  const ends: readonly (readonly [end: string, status: number, sql: string, of: 'token' | 'project'])[] = [
    ['is revoked', 401, 'update scim_tokens set revoked_at = now() where id = ?', 'token'],
    ['has expired', 401, '', 'token'],
    [
      'is of another project',
      401,
      'update scim_tokens t set project_id = (select min(p.id::text)::uuid from projects p) where id = ?',
      'token',
    ],
    ['was deleted', 401, 'delete from scim_tokens where id = ?', 'token'],
    ['is of a project with SCIM off', 404, 'update projects set scim_enabled = false where id = ?', 'project'],
    ['is of the admins’ project', 404, `update projects set built_in = 'console' where id = ?`, 'project'],
    ['is of a project that was deleted', 404, 'delete from projects where id = ?', 'project'],
  ];
  it.each(ends)('refuses every request of a token that %s', async (end, status, sql, of) => {
    const { id, baseUrl } = await app.project();
    const expiresAt = new Date(app.clock.now().getTime() + 3_000);
    const issued = await app.services.directories.issueScimToken({ projectId: id, name: 'T', expiresAt }, system);
    const authorization = `Bearer ${issued.token}`;
    const send = (method: string, path: string, body?: object) =>
      app.send(
        method,
        `${baseUrl}${path}`,
        { authorization, 'content-type': 'application/scim+json' },
        body && JSON.stringify(body),
      );
    const user = (await send('POST', '/Users', { userName: 'there' })).body.id as string;
    const group = (await send('POST', '/Groups', { displayName: 'there' })).body.id as string;
    const there = { filter: 'userName eq "there"' };
    const replace = (path: string, value: unknown) => ({ Operations: [{ op: 'replace', path, value }] });
    const seen: [string, string, object?][] = [
      ['GET', `/Users/${user}`],
      ['HEAD', `/Users/${user}`],
      ['GET', '/Users?filter=userName+eq+%22there%22'],
      ['GET', '/Users?filter=userName+co+%22e%22&sortBy=userName'],
      ['GET', '/Users?sortBy=userName&count=1&cursor='],
      ['GET', '/Users?cursor=&count=0'],
      ['GET', '/Users?startIndex=2'],
      ['POST', '/Users/.search', there],
      ['POST', '/Users/.search', { count: 0 }],
      ['POST', '/.search', there],
      ['PATCH', `/Users/${user}`, replace('displayName', 'New')],
      ['PATCH', `/Users/${user}`, replace('userName', 'there')],
      ['PATCH', `/Users/${user}`, replace('active', false)],
      ['PUT', `/Users/${user}`, { userName: 'there' }],
      ['PUT', `/Users/${user}`, { userName: 'elsewhere' }],
      ['PATCH', `/Users/${user}`, { Operations: 'none' }],
      ['GET', '/Users?filter=userName+eq+%22nobody%22'],
      ['GET', '/Users?count=0'],
      ['GET', '/Users?filter=nonsense'],
      ['POST', '/Users', { userName: 'new' }],
      ['GET', `/Groups/${group}`],
      ['PATCH', `/Groups/${group}`, replace('displayName', 'New')],
      ['PUT', `/Groups/${group}`, { displayName: 'New' }],
      ['POST', '/Groups', { displayName: 'new' }],
      ['POST', '/Groups/.search', {}],
      ['POST', '/Bulk', { schemas: [bulkRequest], Operations: [{ method: 'DELETE', path: `/Users/${user}` }] }],
      ['DELETE', `/Groups/${group}`],
      ['DELETE', `/Users/${user}`],
      ...routes.map(([method, path]) => [method, path] as [string, string]),
    ];
    expect((await send('GET', `/Users/${user}`)).status).toBe(200);
    const { db } = app.services;
    if (sql === '') app.clock.turn(3);
    else await changed(db, sql, [of === 'token' ? issued.scimToken.id : id]);
    for (const [method, path, body] of seen) {
      expect((await send(method, path, body)).status, `${method} ${path}`).toBe(status);
    }
    const left = await rows(db, 'select user_name, version, active from users where project_id = ?', [id]);
    const groups = await rows(db, 'select display_name, version from groups where project_id = ?', [id]);
    const isGone = end.endsWith('project that was deleted');
    expect(left).toEqual(isGone ? [] : [{ user_name: 'there', version: 1, active: true }]);
    expect(groups).toEqual(isGone ? [] : [{ display_name: 'there', version: 1 }]);
    await changed(db, 'update projects set built_in = null where id = ?', [id]);
  });

  it.each([someId, 'no-uuid', '%00', '..%2f..'])('404 for a project that does not exist: %s', async (id) => {
    const reply = await ask(`${app.url}/v1/scim/${id}`, `Bearer ${project.token}`);
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toBe('application/scim+json');
  });

  it('404 if SCIM is off, with any token', async () => {
    const { baseUrl, token } = await app.project({ scimEnabled: false });
    expect((await ask(baseUrl, `Bearer ${token}`)).status).toBe(404);
    expect((await ask(baseUrl)).status).toBe(404);
  });

  it('503 with Retry-After if no token was issued, 401 if the last one was revoked', async () => {
    const { id } = await app.make.project({ name: 'New' });
    const baseUrl = `${app.url}/v1/scim/${id}`;
    const reply = await ask(baseUrl, `Bearer ${project.token}`);
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(reply.body).toMatchObject({ status: '503' });
    const { scimToken } = await app.services.directories.issueScimToken({ projectId: id, name: 'T' }, system);
    await app.services.directories.revokeScimToken(scimToken, system);
    expect((await ask(baseUrl, `Bearer ${project.token}`)).status).toBe(401);
  });

  it('refuses every directory for the project of the admins', async () => {
    const console = await app.make.project({ name: 'Latchkey' });
    await app.services.directories.issueScimToken({ projectId: console.id, name: 'Before' }, system);
    await app.services.db.transaction(async (em) => {
      (await em.findOneOrFail(Project, console.id)).builtIn = 'console';
    });
    const token = await app.services.directories
      .issueScimToken({ projectId: console.id, name: 'T' }, system)
      .catch(String);
    expect(token).toContain('forbidden');
    expect((await ask(`${app.url}/v1/scim/${console.id}`, `Bearer ${project.token}`)).status).toBe(404);
  });
});

describe('data of another project', () => {
  it('is not found: path, filter, members, manager, bulk', async () => {
    const foreign = (await other.request('POST', '/Users', { userName: 'theirs', externalId: 'x' })).body.id as string;
    const foreignGroup = (await other.request('POST', '/Groups', { displayName: 'theirs' })).body.id as string;
    const own = (await project.request('POST', '/Users', { userName: 'ours' })).body.id as string;
    const group = (await project.request('POST', '/Groups', { displayName: 'ours' })).body.id as string;
    const add = { Operations: [{ op: 'add', path: 'members', value: [{ value: foreign }] }] };
    const rename = { Operations: [{ op: 'replace', path: 'displayName', value: 'taken over' }] };

    for (const [method, path, body] of [
      ['GET', `/Users/${foreign}`, undefined],
      ['PUT', `/Users/${foreign}`, { userName: 'taken over' }],
      ['PATCH', `/Users/${foreign}`, rename],
      ['DELETE', `/Users/${foreign}`, undefined],
      ['GET', `/Groups/${foreignGroup}`, undefined],
      ['PUT', `/Groups/${foreignGroup}`, { displayName: 'taken over' }],
      ['PATCH', `/Groups/${foreignGroup}`, rename],
      ['DELETE', `/Groups/${foreignGroup}`, undefined],
    ] as const) {
      expect((await project.request(method, path, body)).status, `${method} ${path}`).toBe(404);
    }
    expect((await project.request('PATCH', `/Groups/${group}`, add)).body).toMatchObject({ scimType: 'invalidValue' });
    const made = await project.request('POST', '/Groups', { displayName: 'g', members: [{ value: foreign }] });
    expect(made.body).toMatchObject({ status: '400', scimType: 'invalidValue' });

    for (const filter of [
      `id eq "${foreign}"`,
      'userName eq "theirs"',
      'externalId eq "x"',
      `not (id eq "${own}") and not (userName sw "alice")`,
      `id eq "${own}" and id eq "${own}") or (id eq "${foreign}"`,
    ]) {
      const reply = await project.request('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      const ids = ((reply.body.Resources ?? []) as { id: string }[]).map(({ id }) => id);
      expect(ids, filter).not.toContain(foreign);
    }
    const groups = await project.request('GET', `/Groups?filter=${encodeURIComponent(`members eq "${foreign}"`)}`);
    expect(groups.body.totalResults).toBe(0);

    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const managed = await project.request('PATCH', `/Users/${own}`, {
      Operations: [{ op: 'add', path: `${enterprise}:manager`, value: foreign }],
    });
    expect(JSON.stringify(managed.body)).not.toContain('theirs');

    const bulk = await project.request('POST', '/Bulk', {
      schemas: [bulkRequest],
      Operations: [
        { method: 'DELETE', path: `/Users/${foreign}` },
        { method: 'PATCH', path: `/Users/${foreign}`, data: rename },
        { method: 'PATCH', path: `/Groups/${group}`, data: add },
      ],
    });
    expect(bulk.body.Operations.map(({ status }: { status: string }) => status)).toEqual(['404', '404', '400']);
    expect((await other.request('GET', `/Users/${foreign}`)).body).toMatchObject({
      userName: 'theirs',
      meta: { version: 'W/"1"' },
    });
  });

  it('does not share cursors', async () => {
    for (const each of [project, other]) {
      for (const userName of ['cursor1', 'cursor2']) await each.request('POST', '/Users', { userName });
    }
    const { nextCursor } = (await other.request('GET', '/Users?cursor=&count=1')).body;
    const reply = await project.request('GET', `/Users?cursor=${nextCursor}&count=1`);
    expect(reply.body).toMatchObject({ status: '400', scimType: 'invalidCursor' });
    const { nextCursor: own } = (await project.request('GET', '/Users?cursor=&count=1')).body;
    expect(own).toMatch(/^[\w.~-]+$/);
    const padded = await project.request('GET', `/Users?cursor=${own}%3D&count=1`);
    expect(padded.body).toMatchObject({ status: '400', scimType: 'invalidCursor' });
    app.clock.turn(3601);
    const late = await project.request('GET', `/Users?cursor=${own}&count=1`);
    expect(late.body).toMatchObject({ status: '400', scimType: 'expiredCursor' });
    for (const at of [0, 10, own.length - 1]) {
      const altered = `${own.slice(0, at)}${own[at] === 'A' ? 'B' : 'A'}${own.slice(at + 1)}`;
      const answer = await project.request('GET', `/Users?cursor=${altered}&count=1`);
      expect(answer.body, `altered at ${at}`).toMatchObject({ status: '400' });
    }
  });
});

describe('limits', () => {
  it('429 with Retry-After beyond the burst, only for that project, until tokens are refilled', async () => {
    const limited = await startScimApp({ rateLimit: { perSecond: 2, burst: 3 } });
    try {
      const [busy, quiet] = [await limited.project(), await limited.project()];
      const statuses = [];
      for (let i = 0; i < 5; i++) statuses.push((await busy.request('GET', '/Users?count=0')).status);
      expect(statuses).toEqual([200, 200, 200, 429, 429]);
      const reply = await busy.request('GET', '/Users?count=0');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(reply.body).toMatchObject({ status: '429', detail: expect.any(String) });
      expect((await quiet.request('GET', '/Users?count=0')).status).toBe(200);
      limited.clock.turn(1);
      expect((await busy.request('GET', '/Users?count=0')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  describe('of concurrent requests', () => {
    /** Sends thirty changes of a locked user, and calls `meanwhile` when five of them wait for the lock. */
    async function sendLocked(busy: ScimProject, meanwhile: () => Promise<void>): Promise<number[]> {
      const { id } = (await busy.request('POST', '/Users', { userName: 'locked' })).body;
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      const blockedIn = async (em: EntityManager) => {
        // A transaction sees one snapshot of the statistics.
        await em.execute('select pg_stat_clear_snapshot()');
        return (await em.execute(waiting)).length;
      };
      const Operations = [{ op: 'replace', path: 'title', value: 'T' }];
      const inBulk = [{ method: 'PATCH', path: `/Users/${id}`, data: { Operations } }];
      const { sent } = await app.services.db.transaction(async (em) => {
        await em.execute('select from users where id = ? for update', [id]);
        const requests = Array.from({ length: 30 }, (_, at) =>
          at % 2 === 0
            ? busy.request('PATCH', `/Users/${id}`, { Operations })
            : busy.request('POST', '/Bulk', { schemas: [bulkRequest], Operations: inBulk }),
        );
        while ((await blockedIn(em)) < 5);
        await meanwhile();
        expect(await blockedIn(em)).toBe(5);
        return { sent: requests };
      });
      return (await Promise.all(sent)).map(({ status }) => status);
    }

    it('one directory whose requests wait for a lock leaves connections to the others', async () => {
      const [busy, quiet] = [await app.project(), await app.project()];
      const statuses = await sendLocked(busy, async () => {
        for (let at = 0; at < 20; at += 1) expect((await quiet.request('GET', '/Users')).status).toBe(200);
      });
      expect(new Set(statuses)).toEqual(new Set([200]));
    });

    it('checks the token again when a waiting request runs', async () => {
      const busy = await app.project();
      const statuses = await sendLocked(busy, async () => {
        app.clock.turn(2);
        const [token] = await app.services.directories.scimTokens(busy.id);
        await app.services.directories.revokeScimToken(keyIn(busy.id, token?.id ?? ''), system);
      });
      expect(statuses.toSorted()).toEqual([...Array(5).fill(200), ...Array(25).fill(401)]);
    });
  });

  it('413 beyond 1 MB, and for Bulk beyond 4 MB or 1,000 operations', async () => {
    const mb = 1024 * 1024;
    const padded = (bytes: number, rest = '') => `{"userName":"big"${rest},"unknown":"${'x'.repeat(bytes)}"}`;
    const send = (path: string, raw: string) => project.request('POST', path, undefined, { raw });
    expect((await send('/Users', padded(mb))).status).toBe(413);
    expect((await send('/Users/.search', `{"filter":"${'x'.repeat(mb)}"}`)).status).toBe(413);
    expect((await send('/Users', padded(mb - 200))).status).toBe(201);
    const operation = '{"method":"PUT","path":"/Nowhere"}';
    const bulk = (count: number, padding = 0) =>
      `{"schemas":["${bulkRequest}"],"Operations":[${Array(count).fill(operation).join()}],"x":"${'x'.repeat(padding)}"}`;
    expect((await send('/Bulk', bulk(1, 3 * mb))).status).toBe(200);
    expect((await send('/Bulk', bulk(1, 4 * mb))).status).toBe(413);
    expect((await send('/Bulk', bulk(1001))).status).toBe(413);
    expect((await send('/Bulk', bulk(1000))).body.Operations).toHaveLength(1000);
  });
});

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));
