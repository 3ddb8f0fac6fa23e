import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { origin, settings, type TestApplication, TestBrowser } from '../../test/application.ts';
import { type Listening, listen } from '../../test/listen.ts';
import { startProvider, type TestProvider } from '../../test/provider.ts';
import { MemorySessionRevocations } from '../session/revocations.ts';
import { expressAdapter, fastifyAdapter, honoAdapter } from './adapters.ts';
import { createLatchkey, type Latchkey } from './create-latchkey.ts';
import { nextAdapter } from './next.ts';

/** Applications whose handler lets shared caches store its responses. */

const cacheable = { 'Cache-Control': 'public, max-age=3600' };
const page = () => Response.json('page', { headers: cacheable });

type Build = (latchkey: Latchkey) => Promise<TestApplication> | TestApplication;
const overNetwork = ({ close, url }: Listening): TestApplication => ({
  close,
  send: (path, init) => fetch(`${url}${path}`, { ...init, redirect: 'manual' }),
});

const builders: Record<string, Build> = {
  Fetch: (latchkey) => {
    const account = latchkey.requireSession(page);
    return {
      send: async (path, init) =>
        (await latchkey.handle(new Request(origin + path, init))) ?? account(new Request(origin + path, init)),
      close: async () => undefined,
    };
  },
  Express: async (latchkey) => {
    const auth = expressAdapter(latchkey);
    const server = express();
    server.use(auth.routes);
    server.get('/account', auth.requireSession(), (_req, res) => void res.set(cacheable).json('page'));
    return overNetwork(await listen(server));
  },
  'Express, with headers passed with the status': async (latchkey) => {
    const auth = expressAdapter(latchkey);
    const server = express();
    server.use(auth.routes);
    server.get('/account', auth.requireSession(), (_req, res) => void res.writeHead(200, 'OK', cacheable).end());
    return overNetwork(await listen(server));
  },
  'Express, with a list of headers': async (latchkey) => {
    const auth = expressAdapter(latchkey);
    const server = express();
    server.use(auth.routes);
    const list = Object.entries(cacheable).flat();
    server.get('/account', auth.requireSession(), (_req, res) => void res.writeHead(200, list).end());
    return overNetwork(await listen(server));
  },
  Fastify: async (latchkey) => {
    const auth = fastifyAdapter(latchkey);
    const server = Fastify();
    await server.register(auth.routes);
    server.get('/account', { preHandler: auth.requireSession() }, async (_request, reply) => {
      reply.headers(cacheable);
      return 'page';
    });
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    return overNetwork({ url, close: () => server.close() } as Listening);
  },
  Hono: (latchkey) => {
    const auth = honoAdapter(latchkey);
    const server = new Hono();
    server.use(auth.routes);
    server.get('/account', auth.requireSession(), (context) => context.json('page', 200, cacheable));
    return { send: async (path, init) => server.request(origin + path, init), close: async () => undefined };
  },
  'the proxy of Next.js': (latchkey) => {
    const redirect = (path: string): never => {
      throw new Error(path);
    };
    const proxy = nextAdapter(latchkey, { headers: async () => new Headers(), redirect }).proxy(page);
    return { send: (path, init) => proxy(new Request(origin + path, init)), close: async () => undefined };
  },
};

let provider: TestProvider;
let app: TestApplication;

describe.each(Object.entries(builders))('%s', (_name, build) => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-07-01T08:00:00Z') });
    provider = await startProvider();
    const session = { secret: 'a secret of at least 32 characters', revocations: new MemorySessionRevocations() };
    app = await build(createLatchkey(settings(provider, { session })));
  });
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all([app.close(), provider.close()]);
  });

  it('lets no shared cache store a renewed session', async () => {
    const browser = new TestBrowser(app);
    await browser.signIn(provider, {}, '/auth/login');
    const early = await browser.visit('/account');
    expect([early.status, early.headers.getSetCookie()]).toEqual([200, []]);
    vi.setSystemTime(Date.now() + 600_000);
    const renewed = await browser.visit('/account');
    expect([renewed.status, renewed.headers.getSetCookie().length]).toEqual([200, 1]);
    expect(renewed.headers.get('cache-control')).toBe('private, no-store');
  });
});
