import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { system } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Client } from './client.entity.ts';
import { Origins, originStatement } from './origins.ts';

let app: TestApp;
let client: (...redirectUris: string[]) => Promise<Client>;

beforeAll(async () => {
  app = await buildTestApp();
  const project = await app.make.project();
  client = async (...redirectUris) => (await app.make.client(project, { redirectUris })).client;
});

afterAll(async () => {
  await app.close();
});

/** Origins over a database that counts queries. */
function counted() {
  let count = 0;
  const { alone } = app.services.db;
  const getKysely = () => {
    count += 1;
    return alone.getKysely();
  };
  const db = Object.create(app.services.db, { alone: { value: { ...alone, getKysely } } }) as Database;
  return { origins: new Origins({ db, clock: app.clock }), lookUps: () => count };
}

const allows = async (origin: string): Promise<boolean> => {
  const headers = { Origin: origin, 'Access-Control-Request-Method': 'POST' };
  const response = await fetch(`${app.url}/oauth2/token`, { method: 'OPTIONS', headers });
  return response.headers.get('access-control-allow-origin') === origin;
};

it('allowed origins are those of redirect URIs, port included except for loopback addresses', async () => {
  await client('https://a.example.com/cb', 'https://b.example.com:443/cb?x=1', 'https://c.example.com:8443/cb');
  await client('http://localhost:3000/cb', 'http://127.0.0.1/cb', 'http://[::1]:1234');
  for (const origin of [
    ...['https://a.example.com', 'https://b.example.com', 'https://c.example.com:8443', 'http://localhost:5173'],
    ...['http://localhost', 'http://127.0.0.1:81', 'http://[::1]:80'],
  ]) {
    expect([origin, await allows(origin)]).toEqual([origin, true]);
  }
  for (const origin of [
    ...[
      'https://c.example.com',
      'https://a.example.com:8443',
      'http://a.example.com',
      'https://a.example.com.evil.tld',
    ],
    ...['https://localhost', 'http://localhost.evil.tld', 'null', 'https://a.example.com/cb', "https://'"],
  ]) {
    expect([origin, await allows(origin)]).toEqual([origin, false]);
  }
});

it('origins are looked up once in five seconds, unknown ones too', async () => {
  const { origins, lookUps } = counted();
  for (let n = 0; n < 50; n += 1) expect(await origins.isRegistered('https://unknown.example.com')).toBe(false);
  expect(lookUps()).toBe(1);
  await client('https://unknown.example.com/cb');
  app.clock.turn(5.001);
  expect(await origins.isRegistered('https://unknown.example.com')).toBe(true);
  expect(lookUps()).toBe(2);
});

it('registered origins stay cached while thousands of unknown ones are requested', async () => {
  await client('https://known.example.com/cb');
  const { origins, lookUps } = counted();
  expect(await origins.isRegistered('https://known.example.com')).toBe(true);
  await Promise.all(Array.from({ length: 2000 }, (_, n) => origins.isRegistered(`https://x${n}.example.com`)));
  const before = lookUps();
  expect(await origins.isRegistered('https://known.example.com')).toBe(true);
  expect(lookUps()).toBe(before);
});

it('allowed origins follow a change or disabling of a client immediately', async () => {
  const origin = 'https://young.example.com';
  expect(await allows(origin)).toBe(false);
  const young = await client(`${origin}/cb`);
  expect(await allows(origin)).toBe(true);
  await app.services.clients.update(young, { redirectUris: ['https://other.example.com/cb'] }, system);
  expect(await allows(origin)).toBe(false);
  await app.services.clients.update(young, { redirectUris: [`${origin}/cb`] }, system);
  expect(await allows(origin)).toBe(true);
  await app.services.clients.update(young, { disabled: true }, system);
  expect(await allows(origin)).toBe(false);
});

it('origins are found by an index among many clients', async () => {
  const { db } = app.services;
  await db.transaction(async (em) => {
    await em.execute(
      `insert into clients (id, project_id, name, token_endpoint_auth_method, redirect_uris, post_logout_redirect_uris,
         backchannel_logout_session_required, logout_token_type, version, created_at, updated_at)
       select gen_random_uuid(), (select id from projects limit 1), 'x', 'none', array['https://app' || n || '.example.com/cb'],
         '{}', true, 'secevent', 1, now(), now() from generate_series(1, 20000) n`,
    );
  });
  await execute(db.alone, sql`analyze clients`);
  const plan = await query(
    db.alone,
    sql<{ 'QUERY PLAN': string }>`explain ${originStatement('https://app77.example.com')}`,
  );
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('clients_redirect_origins_index');
  expect(await allows('https://app77.example.com')).toBe(true);
});
