import { type IRouter, type RequestHandler, Router } from 'express';
import { announcedBytes, BodyTooLargeError, maxBodyBytes } from '../bodies.ts';
import { cors } from '../cors.ts';
import { siteFault } from '../site.ts';
import { labelOf, methods, type Operation, operationOf, type Route, setMatched } from './route.ts';

/** A method that a route does not have. `status` and `expose` are those of body-parser's errors. */
class MethodNotAllowedError extends Error {
  readonly status = 405;
  readonly expose = true;

  constructor(method: string) {
    super(`${method} is not supported here.`);
    this.name = 'MethodNotAllowedError';
  }
}

/** Where a table of routes is mounted. */
export interface Place {
  /** E.g. `/p/:slug`. Default: the root. */
  prefix?: string;
  /** The prefix in labels. Default: `prefix`. */
  label?: string;
  /** Runs before each route, e.g. to find the issuer. Its errors are the route's. */
  before?: RequestHandler;
}

/** Mounts each route of a table. Earlier routes win. */
export function mount<Deps>(
  app: IRouter,
  routes: readonly Route<Deps, never>[],
  deps: Deps,
  { prefix = '', label = prefix, before }: Place = {},
): void {
  const router = prefix === '' ? app : Router({ mergeParams: true });
  for (const route of routes) mountRoute(router, route, deps, labelOf(route, label), before);
  if (prefix !== '') app.use(prefix, router);
}

/** Files below `path`; other requests below it continue to later routes. */
export function mountFiles(app: IRouter, path: string, handler: RequestHandler): void {
  const label = `${path}/*`;
  app.use(path, (req, _res, next) => {
    setMatched(req, { label });
    next(siteFault(req));
  });
  app.use(path, handler);
}

function mountRoute<Deps>(
  router: IRouter,
  route: Route<Deps, never>,
  deps: Deps,
  label: string,
  before: RequestHandler | undefined,
): void {
  const at = router.route(route.path);
  const { offered, service, any, errors } = route;
  at.all((req, _res, next) => {
    setMatched(req, { label, service });
    next(siteFault(req));
  });
  if (before) at.all(before);
  if (offered) at.all((req, _res, next) => next(offered.at(req) ? undefined : 'route'));
  if (route.cors) at.all(cors(route.cors(deps), Object.keys(route.methods)));
  at.all(withHeaders(route));
  const allow = allowed(route);
  if (route.options ?? isRead(route)) at.options((_req, res) => void res.status(204).setHeader('Allow', allow).end());
  if (route.checks) at.all(...route.checks(deps));
  at.all(withoutUnreadBody(route));
  const refused: RequestHandler = (req, res, next) => {
    res.setHeader('Allow', allow);
    next(new MethodNotAllowedError(req.method));
  };
  if (route.head === 'refused') at.head(refused);
  for (const method of methods) {
    const operation = route.methods[method];
    if (operation) at[method.toLowerCase() as 'get'](...handlersOf(operation, deps));
  }
  at.all(...(any ? handlersOf(any, deps) : [refused]));
  if (errors) at.all(errors(deps) as unknown as RequestHandler);
}

function handlersOf<Deps>({ checks, body, handler }: Operation<Deps, never>, deps: Deps): RequestHandler[] {
  return [...(checks?.(deps) ?? []), ...(body?.read ? [body.read] : []), handler(deps)];
}

function withHeaders<Deps>(route: Route<Deps, never>): RequestHandler {
  const headers = Object.entries(route.headers ?? {});
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}

/** Refuses a long body that the operation would not read. */
function withoutUnreadBody<Deps>(route: Route<Deps, never>): RequestHandler {
  return (req, res, next) => {
    const operation = operationOf(route, req.method);
    if (!operation || operation.body || announcedBytes(req) <= maxBodyBytes) return next();
    res.shouldKeepAlive = false;
    next(new BodyTooLargeError(maxBodyBytes));
  };
}

/** A row that browsers or programs GET, and whose OPTIONS no policy of CORS answers. */
function isRead<Deps>({ methods: { GET }, any, cors: policy }: Route<Deps, never>): boolean {
  return GET !== undefined && !any && !policy;
}

function allowed<Deps>({ methods: own, options }: Route<Deps, never>): string {
  const names: string[] = methods.filter((method) => own[method]);
  if (!options) return names.join(', ');
  return [...names.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])), 'OPTIONS'].join(', ');
}
