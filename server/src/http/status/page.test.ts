import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Breakable } from '../../../test/breakable.ts';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { buildApp } from '../../app.ts';
import { PublicStatus } from '../../domain/instance/public-status.ts';

const way = new Breakable();
let app: TestApp;
let server: Server;
let url: string;
let status: PublicStatus;
let databaseFault: string | null = null;

beforeAll(async () => {
  app = await buildTestApp((to) => way.to(to));
});

beforeEach(async () => {
  databaseFault = null;
  status = new PublicStatus({ clock: app.clock, hasMail: true, databaseFault: () => databaseFault });
  server?.close();
  server = createServer(buildApp({ ...app.options, status }));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await app.close();
});

const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Language': 'de' };
const report = async () => {
  const { status: state, services } = (await (await fetch(`${url}/status`)).json()) as Record<string, never>;
  return [state, ...Object.values(services ?? {})];
};
const working = ['working', 'working', 'working', 'working'];

describe('the status page', () => {
  it('does not exist unless STATUS_PAGE is set', async () => {
    const answer = await fetch(`${app.url}/status`, { headers: browser });
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('Seite nicht gefunden')]);
  });

  it('is a page in the language of the reader, or JSON', async () => {
    const page = await fetch(`${url}/status`, { headers: browser });
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('vary')).toMatch(/Accept(,|$)/);
    const text = await page.text();
    expect(text).toContain('Alle Dienste funktionieren');
    expect(text).not.toContain('<script');
    const answer = await fetch(`${url}/status`);
    expect(await answer.json()).toEqual({
      status: 'working',
      services: { sign_in: 'working', mail: 'working', directory_sync: 'working' },
      checked_at: app.clock.now().toISOString(),
    });
  });

  it.each([
    ['en', /\d+:\d\d:\d\d [AP]M UTC/],
    ['en-US,en;q=0.9', /\d+:\d\d:\d\d [AP]M UTC/],
    ['en-GB,en;q=0.9', /\d\d:\d\d:\d\d UTC/],
    ['nl-NL,en-GB;q=0.8,en-US;q=0.7', /\d\d:\d\d:\d\d UTC/],
    ['en-x-private,en-gb-oed,en-u-nu-arab;q=0.9', /\d+:\d\d:\d\d [AP]M UTC/],
  ])('formats times for the region of %s', async (language, expected) => {
    const page = await fetch(`${url}/status`, { headers: { ...browser, 'Accept-Language': language } });
    expect(await page.text()).toMatch(expected);
  });

  it('runs no statement, even for 200 concurrent readers', async () => {
    const statements = await statementsDuring(async () => {
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => fetch(`${url}/status`, { headers: browser })),
      );
      expect(new Set(answers.map(({ status: code }) => code))).toEqual(new Set([200]));
    });
    expect(statements).toEqual([]);
  });

  it('is served while the database is unavailable, without the reason', async () => {
    databaseFault = 'connect ECONNREFUSED 10.0.0.7:5432';
    expect(await report()).toEqual(['unavailable', 'unavailable', 'unavailable', 'unavailable']);
    const text = await (await fetch(`${url}/status`, { headers: browser })).text();
    expect(text).toContain('Einige Dienste sind nicht verfügbar');
    expect(text).not.toContain('10.0.0.7');
    databaseFault = null;
    expect(await report()).toEqual(working);
  });

  it('names a service whose requests fail, until they succeed for two minutes', async () => {
    for (let count = 0; count < 3; count += 1) status.record('directory_sync', false);
    expect(await report()).toEqual(['unavailable', 'working', 'working', 'unavailable']);
    status.record('directory_sync', true);
    expect(await report()).toEqual(['disrupted', 'working', 'working', 'disrupted']);
    app.clock.turn(130);
    expect(await report()).toEqual(working);
  });

  it('ignores a few failures among many requests', async () => {
    for (let count = 0; count < 97; count += 1) status.record('sign_in', true);
    for (let count = 0; count < 3; count += 1) status.record('sign_in', false);
    expect(await report()).toEqual(working);
    for (let count = 0; count < 10; count += 1) status.record('sign_in', false);
    expect(await report()).toEqual(['disrupted', 'disrupted', 'working', 'working']);
  });

  it('shows sign-in as disrupted while no mail is sent', async () => {
    for (let count = 0; count < 3; count += 1) status.record('mail', false);
    expect(await report()).toEqual(['unavailable', 'disrupted', 'unavailable', 'working']);
    const without = new PublicStatus({ clock: app.clock, hasMail: false, databaseFault: () => null });
    expect(without.report().services).toEqual({ sign_in: 'disrupted', mail: 'unavailable', directory_sync: 'working' });
  });

  it('ignores refused requests, including those to a project without SCIM tokens', async () => {
    const project = await app.make.project();
    for (const path of [`/v1/scim/${project.id}/Users`, '/userinfo', '/authorize', '/oauth2/token']) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url + path)));
      expect(answers.every(({ ok }) => !ok)).toBe(true);
    }
    expect(await report()).toEqual(working);
  });

  it('counts requests that fail in a database outage, and stays available during it', async () => {
    const project = await app.make.project();
    await way.close();
    for (let count = 0; count < 3; count += 1)
      expect((await fetch(`${url}/v1/scim/${project.id}/Users`)).status).toBe(503);
    expect(await report()).toEqual(['unavailable', 'working', 'working', 'unavailable']);
    const page = await fetch(`${url}/status`, { headers: browser });
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('Einige Dienste sind nicht verfügbar'),
    ]);
    await way.open();
  });
});
