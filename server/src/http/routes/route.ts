import type { IncomingMessage } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { PublicService } from '../../domain/instance/public-status.ts';
import type { Body } from '../bodies.ts';
import type { CorsPolicy } from '../cors.ts';
import type { Operation as Description } from '../openapi/document.ts';

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

/** One method of a route. `About` is what its description depends on, such as the capabilities of an issuer. */
export interface Operation<Deps, About> {
  handler(deps: Deps): RequestHandler;
  /** Runs before the body is read, e.g. authentication. */
  checks?(deps: Deps): RequestHandler[];
  /** Absent: the operation reads no body, and one over 64 KB is refused. */
  body?: Body;
  /** The description in the OpenAPI document, or the reason why there is none. */
  openApi: ((about: About) => Description) | Unlisted;
}

/** Why the OpenAPI document leaves an operation out. */
export type Unlisted =
  | 'page'
  | 'asset of the pages'
  | 'read by our own pages alone'
  | 'read by browsers (WebAuthn)'
  | 'at custom domains only'
  | 'GraphQL and downloads of the admin API'
  | 'refusal'
  | 'the document itself';

/** One route. {@link mount} mounts it; metrics, traces, body limits, errors, CORS and the OpenAPI document follow from it. */
export interface Route<Deps, About = void> {
  /** In Express's syntax, below the prefix of its table. */
  path: string;
  methods: Partial<Record<Method, Operation<Deps, About>>>;
  /** Takes all methods that `methods` does not name. Absent: they get 405 with `Allow`. */
  any?: Operation<Deps, About> & { openApi: Unlisted };
  /** Default: as GET. `refused`: 405, since GET has effects (RFC 9110 §9.2.1). */
  head?: 'refused';
  /** OPTIONS is answered with `Allow` (RFC 9110 §9.3.7), before all checks. Default: if it has GET, without CORS. */
  options?: 'allowed-methods';
  /** Label in metrics, traces and logs. Default: prefix and path. Never contains input. */
  label?: string;
  /** Whether the route exists for a request, and in a description. */
  offered?: { at(req: Request): boolean; about?(about: About): boolean };
  cors?(deps: Deps): CorsPolicy;
  /** Headers of every response, such as {@link noStore}. */
  headers?: Readonly<Record<string, string>>;
  /** Runs before all methods, e.g. authentication and a rate limit. */
  checks?(deps: Deps): RequestHandler[];
  /** Sends errors, also of the checks and the body, in the format of the protocol. Default: `lastResort`. */
  errors?(deps: Deps): ErrorRequestHandler;
  /** The service that the public status page counts its responses for. */
  service?: PublicService;
}

export const noStore = { 'Cache-Control': 'no-store' } as const;

/** The route of a request, as far as metrics, traces and logs need it. */
export interface Matched {
  label: string;
  service?: PublicService | undefined;
}

const matched = new WeakMap<IncomingMessage, Matched>();

export function setMatched(req: IncomingMessage, route: Matched): void {
  matched.set(req, route);
}

/** The route that a request matched; undefined for none, and before the match. */
export function matchedRoute(req: IncomingMessage): Matched | undefined {
  return matched.get(req);
}

/** Low-cardinality label of a request, once it has matched: the template of its route, or `other`. */
export function routeLabel(req: IncomingMessage): string {
  return matched.get(req)?.label ?? 'other';
}

/** Label of a route below `prefix`. */
export function labelOf({ path, label }: Pick<Route<never, never>, 'path' | 'label'>, prefix = ''): string {
  return label ?? (path === '/' && prefix !== '' ? prefix : `${prefix}${path}`);
}

/** Whether a route has an operation for this method: by its name, or for any. */
export function operationOf<Deps, About>(
  route: Pick<Route<Deps, About>, 'methods' | 'any'>,
  method: string,
): Operation<Deps, About> | undefined {
  return Object.hasOwn(route.methods, method) ? route.methods[method as Method] : route.any;
}
