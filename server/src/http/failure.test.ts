import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Breakable } from '../../test/breakable.ts';
import { bootstrapToken, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { errorFor } from '../admin/api/graphql-error.ts';
import { toFailure } from '../delegation/delegation-error.ts';
import type { Refusal } from '../domain/kernel/problem.ts';
import { execute, sql } from '../domain/kernel/sql.ts';
import { toOAuthError } from '../oidc/oauth-error.ts';
import { toSigninFailure } from '../signin/signin-error.ts';
import { failureOf } from './failure.ts';

const connection = new Breakable();
let app: TestApp;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp((url) => connection.to(url));
  const project = await app.make.project();
  rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(await app.make.user(project));
});

afterAll(async () => {
  await app.close();
});

describe('while the database is unreachable', () => {
  it('returns 503 temporarily_unavailable with Retry-After, and recovers without a restart', async () => {
    const { access_token: accessToken } = await rp.tokens();
    const code = await rp.code();
    await connection.close();
    for (const refused of [await rp.exchange(code), await rp.userInfo(accessToken), await rp.authorize()]) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    }
    await connection.open();
    expect((await rp.userInfo(accessToken)).status).toBe(200);
    expect((await rp.exchange(code)).status).toBe(200);
  });

  it('responds in the error format of each protocol', async () => {
    const project = await app.make.project();
    const json = { 'Content-Type': 'application/json' };
    const ask = (path: string, headers: Record<string, string> = {}, body?: string) =>
      fetch(app.url + path, { redirect: 'manual', headers, ...(body && { method: 'POST', body }) });
    await connection.close();
    const answers = {
      scim: await ask(`/v1/scim/${project.id}/Users`, { Authorization: 'Bearer lk_scim_x' }),
      signIn: await ask('/v1/signin/challenge', { ...json, 'X-Api-Key': 'lk_pk_x', Origin: app.url }, '{}'),
      graphql: await ask(
        '/admin/graphql',
        { ...json, Authorization: `Bearer ${bootstrapToken}` },
        '{"query":"{ projects(first: 1) { edges { node { id } } } }"}',
      ),
      delegation: await ask(
        '/v1/delegation',
        { 'Content-Type': 'application/jose', 'X-Api-Key': 'lk_sk_x' },
        'a.b.c.d.e',
      ),
      page: await ask('/authorize?client_id=0197e5a0-0000-7000-8000-000000000000&redirect_uri=https://a.example/', {
        Accept: 'text/html',
      }),
    };
    await connection.open();
    for (const [protocol, { status, headers }] of Object.entries(answers))
      expect([protocol, status, headers.get('retry-after')]).toEqual([protocol, 503, '5']);
    expect(await answers.scim.json()).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '503',
    });
    expect(await answers.signIn.json()).toMatchObject({ status: 'ERROR', error: { code: 'TEMPORARILY_UNAVAILABLE' } });
    expect(await answers.graphql.json()).toMatchObject({ errors: [{ extensions: { code: 'unavailable' } }] });
    expect(await answers.delegation.json()).toMatchObject({ error: { request_id: expect.any(String) } });
    expect(await answers.page.text()).toContain('Temporarily unavailable');
  });

  it('reports a full disk in each protocol, without the statement', async () => {
    const project = await app.make.project();
    const { token } = await app.services.directories.issueScimToken(
      { projectId: project.id, name: 'Directory' },
      { kind: 'system' },
    );
    const em = app.services.db.reader();
    await em.execute(`create function full_disk() returns trigger language plpgsql as
      'begin raise exception ''could not extend file'' using errcode = ''53100''; end'`);
    await em.execute('create trigger full_disk before insert on users execute function full_disk()');
    const scim = await fetch(`${app.url}/v1/scim/${project.id}/Users`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'full@example.com' }),
    });
    await em.execute('drop trigger full_disk on users');
    const detail = 'The service is temporarily unavailable: the disk of the database is full.';
    expect([scim.status, await scim.json()]).toEqual([503, expect.objectContaining({ detail })]);
    expect(app.logLines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        msg: 'database unavailable',
        reason: 'the disk of the database is full',
        requestId: scim.headers.get('x-request-id'),
      }),
    );
    const lost = Object.assign(new Error("insert into users values ('secret')"), { code: '53100' });
    for (const answer of [
      toSigninFailure(lost, 'r').body.error.message,
      toFailure(lost, 'r').body.error.message,
      toOAuthError(failureOf(lost)).description,
      errorFor((failureOf(lost) as Refusal).problem).message,
    ]) {
      expect(answer).toBe(detail);
    }
  });

  it('logs the foreign key that refused a write, without values', async () => {
    const project = await app.make.project();
    const { token } = await app.services.directories.issueScimToken(
      { projectId: project.id, name: 'Directory' },
      { kind: 'system' },
    );
    const em = app.services.db.reader();
    await em.execute(`create function gone_project() returns trigger language plpgsql as $$ begin
      raise exception 'violates' using errcode = '23503', table = 'users', constraint = 'users_project_id_foreign',
        detail = 'Key (user_name)=(' || new.user_name || ') is not present.'; end $$`);
    await em.execute('create trigger gone_project before insert on users for each row execute function gone_project()');
    const answer = await fetch(`${app.url}/v1/scim/${project.id}/Users`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'gone@example.com' }),
    });
    await em.execute('drop trigger gone_project on users');
    expect(answer.status).toBe(404);
    const lines = app.logLines.filter((line) => line.includes('foreign key refused a write'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 40,
        table: 'users',
        constraint: 'users_project_id_foreign',
        requestId: answer.headers.get('x-request-id'),
      }),
    ]);
    expect(lines.join()).not.toContain('gone@example.com');
  });

  it('responds with 503 to a value that another request has taken since it was looked up', async () => {
    const project = await app.make.project();
    const copy = sql`insert into projects select * from projects where id = ${project.id}`;
    const thrown = await execute(app.services.db.alone, copy).catch((error: unknown) => error);
    const { problem } = failureOf(thrown) as Refusal;
    expect(problem).toMatchObject({ code: 'unavailable', reason: 'unique violation: projects_pkey' });
    expect(JSON.stringify(toOAuthError(failureOf(thrown)))).not.toContain('projects');
  });

  it('keeps serving discovery and JWKS', async () => {
    await connection.close();
    app.clock.turn(60);
    for (const path of ['openid-configuration', 'jwks.json']) {
      expect((await fetch(`${app.url}/.well-known/${path}`)).status).toBe(200);
    }
    await connection.open();
  });
});
