import express from 'express';
import Fastify, { type FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import {
  createLatchkey,
  expressAdapter,
  fastifyAdapter,
  honoAdapter,
  type LatchkeyOptions,
  MemorySessionRevocations,
} from '../src/index.ts';
import { listen } from './listen.ts';
import type { TestProvider } from './provider.ts';

/** An application with the same routes in each framework: `/account`, `/fresh`, `/admin` with a step-up, and `POST /write`. */
export interface TestApplication {
  send(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<unknown>;
}

export const kinds = ['Fetch', 'Express', 'Fastify', 'Hono'] as const;

export const origin = 'https://app.example.com';
export const secret = 'a secret of at least 32 characters';
const fresh = { maxAgeSeconds: 300 };
const stepUp = { acrValues: ['phr'], ...fresh };

export function settings(provider: TestProvider, more: Partial<LatchkeyOptions> = {}): LatchkeyOptions {
  return {
    issuer: provider.url,
    clientId: provider.clientId,
    apiKey: provider.apiKey,
    redirectUri: `${origin}/auth/callback`,
    session: { secret },
    ...more,
  };
}

export function application(kind: (typeof kinds)[number], options: LatchkeyOptions): Promise<TestApplication> {
  const session = { secret, revocations: new MemorySessionRevocations(), ...options.session };
  return builders[kind]({ ...options, session });
}

const builders: Record<(typeof kinds)[number], (options: LatchkeyOptions) => Promise<TestApplication>> = {
  Fetch: async (options) => {
    const latchkey = createLatchkey(options);
    const shown = latchkey.requireSession((_request, session) => Response.json(session));
    const pages: Record<string, (request: Request) => Promise<Response>> = {
      '/account': shown,
      '/write': shown,
      '/fresh': latchkey.requireSession((_request, session) => Response.json(session), fresh),
      '/admin': latchkey.requireSession((_request, session) => Response.json(session), stepUp),
    };
    return {
      send: async (path, init) => {
        const request = new Request(`${origin}${path}`, init);
        const response = (await latchkey.handle(request)) ?? (await pages[new URL(request.url).pathname]?.(request));
        return response ?? new Response(null, { status: 404 });
      },
      close: async () => undefined,
    };
  },

  Express: async (options) => {
    const auth = expressAdapter(createLatchkey(options));
    const server = express();
    server.use(auth.routes);
    server.get('/account', auth.requireSession(), (req, res) => void res.json(auth.sessionOf(req)));
    server.post('/write', auth.requireSession(), (req, res) => void res.json(auth.sessionOf(req)));
    server.get('/fresh', auth.requireSession(fresh), (req, res) => void res.json(auth.sessionOf(req)));
    server.get('/admin', auth.requireSession(stepUp), (req, res) => void res.json(auth.sessionOf(req)));
    const { close, url } = await listen(server);
    return { close, send: (path, init) => fetch(`${url}${path}`, { ...init, redirect: 'manual' }) };
  },

  Fastify: async (options) => {
    const auth = fastifyAdapter(createLatchkey(options));
    const server: FastifyInstance = Fastify();
    await server.register(auth.routes);
    server.get('/account', { preHandler: auth.requireSession() }, async (request) => auth.sessionOf(request));
    server.post('/write', { preHandler: auth.requireSession() }, async (request) => auth.sessionOf(request));
    server.get('/fresh', { preHandler: auth.requireSession(fresh) }, async (request) => auth.sessionOf(request));
    server.get('/admin', { preHandler: auth.requireSession(stepUp) }, async (request) => auth.sessionOf(request));
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    return {
      close: () => server.close(),
      send: (path, init) => fetch(`${url}${path}`, { ...init, redirect: 'manual' }),
    };
  },

  Hono: async (options) => {
    const auth = honoAdapter(createLatchkey(options));
    const server = new Hono();
    server.use(auth.routes);
    server.get('/account', auth.requireSession(), (context) => context.json(auth.sessionOf(context)));
    server.post('/write', auth.requireSession(), (context) => context.json(auth.sessionOf(context)));
    server.get('/fresh', auth.requireSession(fresh), (context) => context.json(auth.sessionOf(context)));
    server.get('/admin', auth.requireSession(stepUp), (context) => context.json(auth.sessionOf(context)));
    return { close: async () => undefined, send: async (path, init) => server.request(`${origin}${path}`, init) };
  },
};

/** A browser at an application: it keeps cookies, and sends the headers of browsers. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  private readonly app: TestApplication;

  constructor(app: TestApplication) {
    this.app = app;
  }

  /** Visits a page. */
  visit(path: string): Promise<Response> {
    return this.send(path, { headers: { Accept: 'text/html', 'Sec-Fetch-Dest': 'document' } });
  }

  /** Sends a request of a page's script. */
  script(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const own = init.method === undefined ? {} : { Origin: origin };
    return this.send(path, { ...init, headers: { 'Sec-Fetch-Dest': 'empty', ...own, ...init.headers } });
  }

  /** Signs in at the provider's hosted page, with these claims. Returns the response to the callback. */
  async signIn(provider: TestProvider, claims: Record<string, unknown> = {}, path = '/account'): Promise<Response> {
    const begun = new URL((await this.visit(path)).headers.get('location') ?? '');
    const { nonce, state = '' } = Object.fromEntries(begun.searchParams);
    provider.nextIdToken = await provider.idToken({ nonce, ...claims });
    return this.visit(`/auth/callback?${new URLSearchParams({ code: 'c', state, iss: provider.url })}`);
  }

  private async send(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.app.send(path, { ...init, headers: { ...init.headers, ...(cookie && { cookie }) } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (line.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** The value of the session's cookie. */
  get session(): [name: string, value: string] | undefined {
    return [...this.cookies].find(([name]) => !name.includes('sign-in'));
  }

  /** Another browser, with a stolen copy of the cookies. */
  copy(): TestBrowser {
    const copy = new TestBrowser(this.app);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }
}
