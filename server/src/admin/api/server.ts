import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import { GraphQLError } from 'graphql';
import type { IdempotentRequests } from '../../domain/admins/idempotent-requests.ts';
import { hasAny } from '../../domain/admins/permission.ts';
import type { Clock } from '../../domain/kernel/clock.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import type { Turns } from '../../domain/limits/turns.ts';
import { type Body, bounded, maxBodyBytes } from '../../http/bodies.ts';
import { actorOf, requestContext } from '../../http/context.ts';
import { failureOf } from '../../http/failure.ts';
import { adminSchema } from '../schema.ts';
import { type AdminCaller, actorFor } from './caller.ts';
import type { AdminDomain, AdminRequest } from './context.ts';
import { formatError, isBug } from './graphql-error.ts';
import { idempotencyPlugin } from './idempotency.ts';
import { limits, limitsOf } from './limits.ts';
import { sendProblem } from './send-problem.ts';

/** Authenticates a request; null if it has no valid credentials. */
export type CallerOf = (req: Request) => Promise<AdminCaller | null>;

/** Dependencies of the admin API. */
export interface AdminApi {
  db: Database;
  clock: Clock;
  domain: AdminDomain;
  /** Connections to the database, by `turnsOf` of the caller. */
  turns: Turns;
  idempotentRequests: IdempotentRequests;
  /** Browsers must send requests from this origin. */
  issuer: string;
  setFlowCookie(res: Response, flow: string, secret: string): void;
  /** Called for unexpected errors. */
  onBug(error: unknown, requestId: string): void;
}

/** Forms and images of other sites cannot send it. */
export const csrfHeader = 'X-Latchkey-Csrf';

/** The handlers of `POST /admin/graphql`: one operation as JSON, from an authenticated caller. */
export interface GraphqlEndpoint {
  authenticate: RequestHandler;
  handle: RequestHandler;
}

export const graphqlBody: Body = {
  maxBytes: maxBodyBytes,
  read: bounded(express.json({ limit: maxBodyBytes }), maxBodyBytes),
};

export async function graphqlEndpoint(api: AdminApi, callerOf: CallerOf): Promise<GraphqlEndpoint> {
  const server = new ApolloServer<AdminRequest>({
    schema: adminSchema(),
    // For admins only: `authenticate` runs first.
    introspection: true,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    // Clients send the whole query.
    persistedQueries: false,
    parseOptions: { maxTokens: limits.tokens },
    formatError,
    plugins: [limitsPlugin(), idempotencyPlugin(api), errorsPlugin(api)],
  });
  await server.start();

  const callers = new WeakMap<Request, AdminCaller>();
  const handle: RequestHandler = (req, res) =>
    execute(server, req, res, async () => {
      const caller = callers.get(req) as AdminCaller;
      return {
        caller,
        actor: actorFor(caller, actorOf(req)),
        requestId: requestContext(req).requestId,
        now: api.clock.now(),
        domain: api.domain,
        db: api.db,
        setFlowCookie: (flow, secret) => api.setFlowCookie(res, flow, secret),
        operations: new Map(),
      };
    });

  return { authenticate: authenticate(api, callerOf, callers), handle: takingTurns(api, callers, handle) };
}

/** Runs the operation of a POST. Apollo's integration for Express calls `url.parse`, for which Node prints a warning (DEP0169). */
async function execute(
  server: ApolloServer<AdminRequest>,
  req: Request,
  res: Response,
  context: () => Promise<AdminRequest>,
): Promise<void> {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined) headers.set(name, [value].flat().join(', '));
  }
  const request = { method: req.method, headers, search: '', body: req.body as unknown };
  const response = await server.executeHTTPGraphQLRequest({ httpGraphQLRequest: request, context });
  for (const [name, value] of response.headers) res.setHeader(name, value);
  res.status(response.status ?? 200);
  // The schema has no `@defer` and `@stream`.
  if (response.body.kind !== 'complete') throw new Error('The response is incremental.');
  res.send(response.body.string);
}

/** Refuses unauthenticated callers, cross-site requests and callers without a role; stores the caller in `callers`. */
function authenticate(api: AdminApi, callerOf: CallerOf, callers: WeakMap<Request, AdminCaller>): RequestHandler {
  return async (req, res, next) => {
    const caller = await callerOf(req);
    if (!caller) return sendProblem(req, res.status(401), { code: 'unauthenticated' });
    if (caller.kind === 'admin' && !isOwnPage(req, api.issuer)) {
      const reason = `a browser must send ${csrfHeader}, from the console's own origin`;
      return sendProblem(req, res.status(403), { code: 'forbidden', reason });
    }
    if (!hasAny(caller.grants)) {
      return sendProblem(req, res.status(403), { code: 'forbidden', reason: 'you have no role here' });
    }
    callers.set(req, caller);
    next();
  };
}

function takingTurns(
  { turns }: AdminApi,
  callers: WeakMap<Request, AdminCaller>,
  handle: RequestHandler,
): RequestHandler {
  return (req, res, next) => {
    const { turnsOf } = callers.get(req) as AdminCaller;
    return turns.ofConnections(turnsOf, () => handle(req, res, next));
  };
}

export const onlyJson: RequestHandler = (req, res, next) => {
  if (!req.is('application/json')) {
    return sendProblem(req, res.status(415), {
      code: 'invalid',
      field: 'Content-Type',
      reason: 'must be application/json',
    });
  }
  next();
};

export const graphqlErrors: ErrorRequestHandler = (error, req, res, next) => {
  const failure = failureOf(error);
  if (failure instanceof Refusal) {
    const { problem } = failure;
    if (problem.code === 'unavailable') return sendProblem(req, res.status(503), problem);
    if (problem.code === 'too-many') return sendProblem(req, res.status(429), problem);
  }
  const status = (error as { status?: unknown }).status;
  if (typeof status !== 'number' || status < 400 || status > 499) return next(error);
  if (status === 405)
    return sendProblem(req, res.status(405), { code: 'invalid', field: 'method', reason: 'must be POST' });
  const reason = status === 413 ? 'must have at most 64 KB' : 'must be a JSON object';
  sendProblem(req, res.status(status), { code: 'invalid', field: 'body', reason });
};

/** Whether a request with a session cookie comes from our own page. */
export function isOwnPage(req: Request, issuer: string): boolean {
  const origin = req.get('origin');
  const site = req.get('sec-fetch-site');
  if (origin !== undefined && origin !== new URL(issuer).origin) return false;
  if (site !== undefined && site !== 'same-origin') return false;
  return Boolean(req.get(csrfHeader));
}

/** Checks the limits before an operation runs. */
function limitsPlugin(): ApolloServerPlugin<AdminRequest> {
  const schema = adminSchema();
  const check = limitsOf(schema);
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, request }) {
          if (!operation) return;
          if (!schema.getRootType(operation.operation)) {
            throw new GraphQLError(`The operation type ${operation.operation} is not supported.`, {
              extensions: { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } },
            });
          }
          check(document, operation, request.variables ?? {});
        },
      };
    },
  };
}

/** Adds the request id to every error, and reports bugs. */
function errorsPlugin(api: AdminApi): ApolloServerPlugin<AdminRequest> {
  return {
    async requestDidStart() {
      return {
        async didEncounterErrors({ errors, contextValue }) {
          for (const error of errors) if (isBug(error)) api.onBug(error.originalError ?? error, contextValue.requestId);
        },
        async willSendResponse({ response, contextValue }) {
          if (response.body.kind !== 'single') return;
          const { singleResult } = response.body;
          // Apollo sets its own for a rejected persisted query; ours is `no-store` always.
          response.http.headers.delete('cache-control');
          const away = singleResult.errors?.find(({ extensions }) => extensions?.['code'] === 'unavailable');
          if (away) {
            response.http.status = 503;
            response.http.headers.set('retry-after', String(away.extensions?.['retryAfterSeconds']));
          }
          singleResult.errors = singleResult.errors?.map((error) => ({
            ...error,
            extensions: { ...error.extensions, requestId: contextValue.requestId },
          }));
        },
      };
    },
  };
}
