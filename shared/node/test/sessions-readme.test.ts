import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ended, freePort, type Installed, install, snippetsOf } from './installed.ts';
import { startProvider, type TestProvider } from './provider.ts';

/** The README's applications with sessions, unchanged, on the packed tarball. */

const snippets = snippetsOf(readFileSync(new URL('../README.md', import.meta.url), 'utf8'));

let installed: Installed;
let provider: TestProvider;

beforeAll(async () => {
  installed = await install();
});
afterAll(() => installed.remove());
beforeEach(async () => {
  provider = await startProvider();
});
afterEach(() => provider.close());

function use(name: string, program: string): Promise<string> {
  installed.write(`${name}.mjs`, snippets.get(name) ?? '');
  const env = environmentOfSessions('https://app.example.com/auth/callback');
  return installed.node(`import * as snippet from './${name}.mjs';\n${program}`, { env });
}

describe('README', () => {
  it('has quick starts of less than 40 lines', () => {
    const quickStarts = [...snippets].filter(([name]) => name.startsWith('sessions-'));
    expect(quickStarts).toHaveLength(4);
    for (const [, text] of quickStarts) expect(text.split('\n').length).toBeLessThan(40);
  });

  it.each(['sessions-express', 'sessions-fastify', 'sessions-hono'])(
    'runs an application with sessions: %s',
    async (name) => {
      const port = await freePort();
      installed.write(`${name}.mjs`, snippets.get(name) ?? '');
      const at = `http://localhost:${port}`;
      const env = { ...environmentOfSessions(`${at}/auth/callback`), PATH: process.env['PATH'] ?? '', PORT: `${port}` };
      const server = spawn(process.execPath, [`${name}.mjs`], { cwd: installed.folder, env });
      try {
        await once(server.stdout, 'data');
        await signsIn((path, headers) => fetch(`${at}${path}`, { headers, redirect: 'manual' }));
      } finally {
        await ended(server);
      }
    },
  );

  it('runs an application with sessions and requests of the Fetch standard', async () => {
    const program = `
      const app = snippet.default.fetch;
      const at = 'https://app.example.com';
      const page = { Accept: 'text/html', 'Sec-Fetch-Dest': 'document' };
      const begun = await app(new Request(at + '/account', { headers: page }));
      const headers = { 'Content-Type': 'application/json', Origin: at };
      const body = JSON.stringify({ code: 'c' });
      const signedIn = await app(new Request(at + '/auth/sign-in', { method: 'POST', headers, body }));
      const cookie = signedIn.headers.getSetCookie()[0].split(';')[0];
      const account = await app(new Request(at + '/account', { headers: { cookie } }));
      console.log(JSON.stringify([begun.status, signedIn.status, await account.json()]));`;
    const printed = await use('sessions-fetch', program);
    expect(JSON.parse(printed)).toEqual([303, 204, { sub: 'user-1', email: 'ada@example.com' }]);
  });

  it('stores ended sessions in a table', async () => {
    const program = `
      const rows = new Map();
      const store = snippet.revocations({ query: async (sql, [key, at]) => {
        if (sql.startsWith('insert')) return rows.set(key, Math.max(at, rows.get(key) ?? at));
        const found = key.flatMap((one) => rows.get(one) ?? []);
        return { rows: [{ at: found.length > 0 ? Math.max(...found) : null }] };
      } });
      await store.revoke('a', 7, new Date());
      console.log(JSON.stringify([await store.revokedAt(['a', 'b']), (await store.revokedAt(['b'])) === undefined]));`;
    expect(JSON.parse(await use('revocations', program))).toEqual([7, true]);
  });
});

function environmentOfSessions(redirectUri: string): Record<string, string> {
  return {
    LATCHKEY_ISSUER: provider.url,
    LATCHKEY_CLIENT_ID: provider.clientId,
    LATCHKEY_API_KEY: provider.apiKey,
    REDIRECT_URI: redirectUri,
    SESSION_SECRET: 'a secret of at least 32 characters',
  };
}

/** Signs in to an application by the hosted page. */
async function signsIn(get: (path: string, headers: Record<string, string>) => Promise<Response>): Promise<void> {
  const page = { Accept: 'text/html', 'Sec-Fetch-Dest': 'document' };
  const cookieOf = (response: Response) => response.headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
  const begun = await get('/account', page);
  const { nonce, state = '' } = Object.fromEntries(new URL(begun.headers.get('location') ?? '').searchParams);
  provider.nextIdToken = await provider.idToken({ nonce });
  const query = new URLSearchParams({ code: 'c', state, iss: provider.url });
  const back = await get(`/auth/callback?${query}`, { ...page, cookie: cookieOf(begun) });
  expect([back.status, back.headers.get('location')]).toEqual([303, '/account']);
  const account = await get('/account', { cookie: cookieOf(back) });
  expect(await account.json()).toEqual({ sub: 'user-1', email: 'ada@example.com' });
}
