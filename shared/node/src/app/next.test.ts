import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { origin, settings, TestBrowser } from '../../test/application.ts';
import { startProvider, type TestProvider } from '../../test/provider.ts';
import { MemorySessionRevocations } from '../session/revocations.ts';
import { createLatchkey } from './create-latchkey.ts';
import { nextAdapter } from './next.ts';
import type { LatchkeyOptions } from './options.ts';

/** The adapter with functions that behave as those of Next.js; `npm run interop` has the framework itself. */

let provider: TestProvider;
let errors: unknown[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-07-01T08:00:00Z') });
  provider = await startProvider();
  errors = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await provider.close();
});

/** The error that `redirect` of Next.js throws. */
class Redirected extends Error {}

function application(session: Partial<LatchkeyOptions['session']> = {}) {
  const own = { secret: 'a secret of at least 32 characters', revocations: new MemorySessionRevocations() };
  const onError = (error: unknown) => void errors.push(error);
  const latchkey = createLatchkey(settings(provider, { onError, session: { ...own, ...session } }));
  let current = new Headers();
  const auth = nextAdapter(latchkey, {
    headers: async () => current,
    redirect: (path) => {
      throw new Redirected(path);
    },
  });
  const pages: Record<string, () => Promise<unknown>> = {
    '/account': () => auth.requireSession({ returnTo: '/account?tab=2' }),
    '/admin': () => auth.requireSession({ acrValues: ['phr'], maxAgeSeconds: 300, returnTo: '//evil.example.com' }),
    '/open': () => auth.getSession(),
  };
  const render = async (request: Request): Promise<Response> => {
    current = request.headers;
    try {
      return Response.json((await pages[new URL(request.url).pathname]?.()) ?? null);
    } catch (error) {
      if (!(error instanceof Redirected)) throw error;
      return new Response(null, { status: 307, headers: { Location: error.message } });
    }
  };
  const proxy = auth.proxy(render);
  return { send: (path: string, init?: RequestInit) => proxy(new Request(origin + path, init)), close: async () => {} };
}

const turn = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

describe('nextAdapter', () => {
  it('sends visitors of a page to the sign-in and back, and gives it the session', async () => {
    const browser = new TestBrowser(application());
    const sent = await browser.visit('/account');
    expect(sent.headers.get('location')).toBe('/auth/login?return_to=%2Faccount%3Ftab%3D2');
    expect(await (await browser.visit('/open')).json()).toBeNull();
    const back = await browser.signIn(provider, {}, sent.headers.get('location') ?? '');
    // Required by the proxy of Next.js.
    expect(back.headers.get('location')).toBe(`${origin}/account?tab=2`);
    expect(await (await browser.visit('/account')).json()).toMatchObject({ sub: 'user-1' });
    expect(await (await browser.visit('/open')).json()).toMatchObject({ user: { email: 'ada@example.com' } });
  });

  it('asks for a stronger sign-in, and does not return to another site', async () => {
    const browser = new TestBrowser(application());
    expect((await browser.visit('/admin')).headers.get('location')).toBe('/auth/login?return_to=%2F');
    await browser.signIn(provider, {}, '/auth/login');
    const sent = (await browser.visit('/admin')).headers.get('location') ?? '';
    expect(sent).toBe('/auth/login?acr_values=phr&max_age=300&return_to=%2F');
    const claims = { acr: 'phr', amr: ['hwk', 'user', 'pop', 'mfa'], auth_time: Math.floor(Date.now() / 1000) };
    await browser.signIn(provider, claims, sent);
    expect((await browser.visit('/admin')).status).toBe(200);
    turn(301);
    expect((await browser.visit('/admin')).status).toBe(307);
  });

  it('does not count a sign-in by a device key alone as fresh', async () => {
    const browser = new TestBrowser(application());
    const claims = { acr: 'phr', amr: ['swk'], auth_time: Math.floor(Date.now() / 1000) };
    await browser.signIn(provider, claims, '/auth/login');
    expect((await browser.visit('/account')).status).toBe(200);
    expect((await browser.visit('/admin')).status).toBe(307);
  });

  it('renews a session in the proxy, with a response that no cache may store', async () => {
    const browser = new TestBrowser(application());
    await browser.signIn(provider, {}, '/auth/login');
    for (let used = 0; used < 3; used++) {
      turn(1700);
      const response = await browser.visit('/open');
      expect(response.headers.getSetCookie()).toHaveLength(1);
      expect(response.headers.get('cache-control')).toBe('private, no-store');
    }
    expect((await browser.visit('/account')).status).toBe(200);
    turn(1700);
    expect((await browser.visit('/_next/static/a.js')).headers.getSetCookie()).toEqual([]);
  });

  it('shows pages, and no session, while the storage of ended sessions fails', async () => {
    const revocations = new MemorySessionRevocations();
    const browser = new TestBrowser(application({ revocations }));
    await browser.signIn(provider, {}, '/auth/login');
    revocations.revokedAt = () => {
      throw new Error('down');
    };
    expect((await browser.visit('/other')).status).toBe(200);
    await expect(browser.visit('/account')).rejects.toMatchObject({ code: 'REVOCATIONS_FAILED' });
    expect(errors).toMatchObject([{ code: 'REVOCATIONS_FAILED' }]);
  });

  it('refuses in pages the sessions that the proxy has ended, even if it is another copy of the library', async () => {
    provider.clientId = crypto.randomUUID();
    const [proxy, pages] = [application({ revocations: undefined }), application({ revocations: undefined })];
    const browser = new TestBrowser(proxy);
    await browser.signIn(provider, {}, '/auth/login');
    const copy = browser.copy();
    expect((await pages.send('/account', { headers: cookieOf(copy) })).status).toBe(200);
    await browser.script('/auth/sign-out', { method: 'POST' });
    expect((await pages.send('/account', { headers: cookieOf(copy) })).status).toBe(307);
  });
});

function cookieOf({ cookies }: TestBrowser): Record<string, string> {
  return { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') };
}
