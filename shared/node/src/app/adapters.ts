import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Incoming, ofNode, ofRequest, type RequestLike } from '../incoming.ts';
import type { Handler } from '../middleware.ts';
import type { DefaultUser, Session } from '../session/sessions.ts';
import { fetched, isWebSocket, type Latchkey, notShared } from './create-latchkey.ts';
import type { Answer, SessionRequirements } from './routes.ts';

/** Sessions of requests that have passed `requireSession`. */
class Passed<Key extends object, User> {
  private readonly sessions = new WeakMap<Key, Session<User>>();

  set(request: Key, session: Session<unknown>): void {
    this.sessions.set(request, session as Session<User>);
  }

  of(request: Key): Session<User> {
    const session = this.sessions.get(request);
    if (!session) throw new TypeError('The route has no session: put requireSession before it.');
    return session;
  }
}

export interface ExpressAdapter<User> {
  /** All routes: `app.use(auth.routes)`. With and without a body parser. */
  routes: Handler<RequestLike, ServerResponse>;
  requireSession(requirements?: SessionRequirements): Handler<RequestLike, ServerResponse>;
  /** The session of a request that has passed `requireSession`. */
  sessionOf(req: RequestLike): Session<User>;
}

/** For Express, Connect and compatible frameworks. */
export function expressAdapter<User = DefaultUser>({ routes }: Latchkey<User>): ExpressAdapter<User> {
  const passed = new Passed<RequestLike, User>();
  return {
    routes: async (req, res, next) => {
      try {
        const answer = await routes.handle(ofNode(req));
        if (answer) sendNode(res, answer);
        else next();
      } catch (error) {
        next(error);
      }
    },
    requireSession: (requirements) => async (req, res, next) => {
      try {
        const required = await routes.require(ofNode(req), requirements);
        if ('answer' in required) return sendNode(res, required.answer);
        passed.set(req, required.session);
        for (const cookie of required.cookies) res.appendHeader('Set-Cookie', cookie);
        res.setHeader('Cache-Control', notShared);
        if (required.cookies.length > 0) keepPrivate(res);
      } catch (error) {
        return next(error);
      }
      next();
    },
    sessionOf: (req) => passed.of(req),
  };
}

function sendNode(res: ServerResponse, { body, cookies, headers, status }: Answer): void {
  for (const cookie of cookies) res.appendHeader('Set-Cookie', cookie);
  res.writeHead(status, headers).end(body ?? undefined);
}

/**
 * Keeps a response that renews a session out of shared caches, regardless of its handler's headers; see `withCookies`.
 */
function keepPrivate(res: ServerResponse): void {
  const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => ServerResponse;
  res.writeHead = (status: number, ...rest: unknown[]) => {
    res.setHeader('Cache-Control', notShared);
    return writeHead(status, ...rest.map(withoutCacheControl));
  };
}

/** @param headers of `writeHead`, as an object or a flat list; its other arguments are returned as they are */
function withoutCacheControl(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return headers;
  const isOther = (name: unknown) => String(name).toLowerCase() !== 'cache-control';
  if (!Array.isArray(headers)) return Object.fromEntries(Object.entries(headers).filter(([name]) => isOther(name)));
  return headers.flatMap((name, at) => (at % 2 === 0 && isOther(name) ? [name, headers[at + 1]] : []));
}

/** The parts of Fastify's request that the adapter uses. */
export interface FastifyRequestLike {
  raw: IncomingMessage;
  body?: unknown;
}

/** The parts of Fastify's reply that the adapter uses. */
export interface FastifyReplyLike {
  raw: ServerResponse;
  header(name: string, value: string | string[]): unknown;
  code(status: number): unknown;
  send(body?: string | null): unknown;
}

/** The parts of Fastify that the adapter uses. */
export interface FastifyLike {
  route(options: {
    method: string;
    url: string;
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>;
  }): unknown;
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'string' },
    parser: (request: unknown, body: string, done: (error: null, body: string) => void) => void,
  ): unknown;
}

export interface FastifyAdapter<User> {
  /** A plugin with all routes: `app.register(auth.routes)`. */
  routes(instance: FastifyLike): Promise<void>;
  /** A hook: `app.get('/account', { preHandler: auth.requireSession() }, …)`. */
  requireSession(
    requirements?: SessionRequirements,
  ): (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>;
  /** The session of a request that has passed `requireSession`. */
  sessionOf(request: FastifyRequestLike): Session<User>;
}

/** For Fastify 5. */
export function fastifyAdapter<User = DefaultUser>({ routes }: Latchkey<User>): FastifyAdapter<User> {
  const passed = new Passed<IncomingMessage, User>();
  return {
    routes: async (instance) => {
      const form = 'application/x-www-form-urlencoded';
      if (!instance.hasContentTypeParser(form)) {
        instance.addContentTypeParser(form, { parseAs: 'string' }, (_request, body, done) => done(null, body));
      }
      for (const { handle, method, path } of routes.table) {
        const handler = async (request: FastifyRequestLike, reply: FastifyReplyLike) =>
          sendFastify(reply, await handle(ofFastify(request)));
        instance.route({ method, url: path, handler });
      }
    },
    requireSession: (requirements) => async (request, reply) => {
      const required = await routes.require(ofFastify(request), requirements);
      if ('answer' in required) return sendFastify(reply, required.answer);
      passed.set(request.raw, required.session);
      for (const cookie of required.cookies) reply.header('Set-Cookie', cookie);
      reply.header('Cache-Control', notShared);
      if (required.cookies.length > 0) keepPrivate(reply.raw);
      return undefined;
    },
    sessionOf: (request) => passed.of(request.raw),
  };
}

/** Fastify has read the body, into an object or a text. */
function ofFastify({ body, raw }: FastifyRequestLike): Incoming {
  const read = typeof body === 'string' || (typeof body === 'object' && body !== null) ? body : '';
  return { ...ofNode(raw), body: async () => read as string | Record<string, unknown> };
}

function sendFastify(reply: FastifyReplyLike, { body, cookies, headers, status }: Answer): unknown {
  for (const cookie of cookies) reply.header('Set-Cookie', cookie);
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  reply.code(status);
  return reply.send(body);
}

/** The parts of Hono's context that the adapter uses. */
export interface HonoContextLike {
  req: { raw: Request };
  res: Response;
  header(name: string, value: string, options?: { append?: boolean }): void;
}

type HonoMiddleware = (context: HonoContextLike, next: () => Promise<void>) => Promise<Response | void>;

export interface HonoAdapter<User> {
  /** All routes: `app.use(auth.routes)`. */
  routes: HonoMiddleware;
  requireSession(requirements?: SessionRequirements): HonoMiddleware;
  /** The session of a request that has passed `requireSession`. */
  sessionOf(context: HonoContextLike): Session<User>;
}

/** For Hono 4. */
export function honoAdapter<User = DefaultUser>({ handle, routes }: Latchkey<User>): HonoAdapter<User> {
  const passed = new Passed<HonoContextLike, User>();
  return {
    routes: async ({ req }, next) => (await handle(req.raw)) ?? next(),
    requireSession: (requirements) => async (context, next) => {
      const required = await routes.require(ofRequest(context.req.raw), requirements);
      if ('answer' in required) return fetched(required.answer);
      passed.set(context, required.session);
      await next();
      if (isWebSocket(context.res)) return undefined;
      for (const cookie of required.cookies) context.header('Set-Cookie', cookie, { append: true });
      const isRenewed = required.cookies.length > 0;
      if (isRenewed || !context.res.headers.has('Cache-Control')) context.header('Cache-Control', notShared);
      return undefined;
    },
    sessionOf: (context) => passed.of(context),
  };
}
