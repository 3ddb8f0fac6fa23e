import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(app.url + path, { method, headers, redirect: 'manual' });
const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Language': 'de' };

describe('the start page', () => {
  it('explains this address, and links to the console', async () => {
    const answer = await ask('/', browser);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await answer.text();
    expect(text).toContain('Beginnen Sie in Ihrer Anwendung');
    expect(text).toContain('href="/admin"');
  });

  it('redirects a browser with a session to its account', async () => {
    const { status, headers } = await ask('/', { ...browser, Cookie: `lk-session-${randomUUID()}=secret` });
    expect([status, headers.get('location')]).toEqual([303, '/account']);
  });
});

describe('an address without a page', () => {
  it.each(['/nowhere', '/v1/nowhere', '/.well-known/nowhere', '/sdk/nowhere.js'])(
    'returns a page to browsers and a line to programs: %s',
    async (path) => {
      const page = await ask(path, browser);
      const line = await ask(path);
      expect([page.status, line.status]).toEqual([404, 404]);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(await page.text()).toContain('Seite nicht gefunden');
      expect(await line.text()).toBe('Not found.\n');
    },
  );

  it('responds to other methods without reading their body', async () => {
    const answer = await ask('/nowhere', browser, 'DELETE');
    expect([answer.status, await answer.text()]).toEqual([404, 'Not found.\n']);
  });
});
