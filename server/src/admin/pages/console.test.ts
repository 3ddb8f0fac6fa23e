import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';

let harness: AdminHarness;
let signedIn: Record<string, string>;
const dist = mkdtempSync(join(tmpdir(), 'latchkey-console-'));

beforeAll(async () => {
  mkdirSync(join(dist, 'admin'));
  const meta =
    '<meta nonce="%{nonce}" data-issuer="%{issuer}" data-owner="%{owner}" data-account="%{account}" data-version="%{version}">';
  const page = `<html data-scheme="%{color_scheme}">${meta}<b>%{unknown}</b>`;
  writeFileSync(join(dist, 'admin', 'index.html'), page);
  harness = await openAdminHarness({ consoleDist: dist });
  signedIn = await harness.sessionOf(await harness.person('x@example.com'));
});

afterAll(async () => {
  await harness.close();
  rmSync(dist, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(harness.url + path, { headers, redirect: 'manual' });

describe('GET /admin and below', () => {
  it("redirects unauthenticated requests to the console's sign-in", async () => {
    const response = await get('/admin');
    const address = new URL(response.headers.get('location') ?? '', harness.issuer);
    expect([response.status, address.pathname]).toEqual([303, '/authorize']);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: harness.builtIn.consoleClient.id,
      redirect_uri: `${harness.issuer}/admin/callback`,
      scope: 'openid',
      code_challenge_method: 'S256',
    });
  });

  it('redirects back to the requested page', async () => {
    const asked = '/admin/projects/1/users?search=a%20b&after=x';
    const { searchParams } = new URL((await get(asked)).headers.get('location') ?? '', harness.issuer);
    const back = await get(`/admin/callback?state=${searchParams.get('state')}&code=c`);
    expect([back.status, back.headers.get('location')]).toEqual([303, asked]);
  });

  it.each([
    ['another site', 'https://evil.example/admin'],
    ['another site without its scheme', '//evil.example/admin'],
    ['another path of this server', '/oauth2/end_session'],
    ['another path by dots', '/admin/../oauth2/end_session'],
    ['another path by escaped dots', '/admin/%2e%2e/oauth2/end_session'],
    ['another site by a backslash', '/admin/..\\\\evil.example'],
    ['a path with the same prefix', '/administrator'],
    ['an injected header', '/admin\r\nSet-Cookie: a=b'],
    ['nothing', ''],
  ])('lets no forged state lead to %s', async (_what, path) => {
    const state = `x.${Buffer.from(path).toString('base64url')}`;
    const location = (await get(`/admin/callback?state=${state}`)).headers.get('location') ?? '';
    expect(new URL(location, harness.issuer).origin).toBe(new URL(harness.issuer).origin);
    expect(location).toMatch(/^\/admin(\/|$)/);
  });

  it('reports an unfinished sign-in, without input in the page', async () => {
    const state = `x.${Buffer.from('/admin/"><script>alert(1)</script>').toString('base64url')}`;
    const response = await get(`/admin/callback?error=access_denied&error_description=<script>&state=${state}`);
    const html = await response.text();
    expect(response.status).toBe(403);
    expect(html).not.toContain('<script');
  });

  it('serves the console at each of its URLs, with a fresh nonce in the policy', async () => {
    const nonces = new Set<string>();
    for (const path of ['/admin', '/admin/projects/1/applications/2/settings']) {
      const response = await get(path, signedIn);
      const html = await response.text();
      const nonce = /nonce="([\w-]{43})"/.exec(html)?.[1] as string;
      nonces.add(nonce);
      expect(response.status).toBe(200);
      expect(html).toContain(`data-issuer="${harness.issuer}"`);
      expect(html).toContain('<b></b>');
      expect(html).toContain('data-version="unknown"');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy.split('; ').sort()).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "frame-src 'self'",
        "img-src 'self' data:",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
      ]);
    }
    expect(nonces.size).toBe(2);
  });

  it('cannot be navigated by a site that opens it; the page that ends a sign-in in a popup can close it', async () => {
    const policy = async (path: string) => (await get(path, signedIn)).headers.get('cross-origin-opener-policy');
    expect(await policy('/admin')).toBe('same-origin-allow-popups');
    expect(await policy('/admin/projects/1/users')).toBe('same-origin-allow-popups');
    expect(await policy('/admin/signed-in?fresh')).toBeNull();
  });

  it('applies the chosen color scheme in the first paint, and nothing else from that cookie', async () => {
    const schemeWith = async (cookie: string) => {
      const html = await (await get('/admin', { ...signedIn, Cookie: `${signedIn['Cookie']}; ${cookie}` })).text();
      return /data-scheme="([^"]*)"/.exec(html)?.[1];
    };
    expect(await schemeWith('lk-color-scheme=dark')).toBe('dark');
    expect(await schemeWith('lk-color-scheme="><script>')).toBe('');
  });

  it('passes the account to the page, which sends it with each request', async () => {
    const userId = await harness.person('account@example.com');
    const html = await (await get('/admin', await harness.sessionOf(userId))).text();
    expect(html).toContain(`data-account="${userId}"`);
  });

  it('passes to the page whether the account is an owner, so that it requests only data that it may read', async () => {
    const ownerIn = async () => /data-owner="([^"]*)"/.exec(await (await get('/admin', signedIn)).text())?.[1];
    expect(await ownerIn()).toBe('false');
    const input = { email: 'x@example.com', role: 'OWNER' };
    await harness.call('mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }', { input });
    expect(await ownerIn()).toBe('true');
  });

  it('requires a new sign-in despite a session, if a change needs a fresh one', async () => {
    for (const [address, prompt, end] of [
      ['/admin/sign-in?fresh', 'login', '/admin/signed-in?fresh'],
      ['/admin/sign-in', null, '/admin/signed-in'],
    ] as const) {
      const response = await get(address, signedIn);
      const { searchParams } = new URL(response.headers.get('location') ?? '', harness.issuer);
      expect(searchParams.get('prompt')).toBe(prompt);
      const state = searchParams.get('state');
      expect((await get(`/admin/callback?state=${state}`)).headers.get('location')).toBe(end);
      expect(await (await get(`/admin/callback?error=access_denied&state=${state}`)).text()).toContain(
        `<a href="${address}">`,
      );
    }
  });

  it('explains how to build the console if it is not built', async () => {
    const unbuilt = await openAdminHarness();
    const headers = await unbuilt.sessionOf(await unbuilt.person('x@example.com'));
    const response = await fetch(`${unbuilt.url}/admin`, { headers });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('npm run build');
    await unbuilt.close();
  });
});
