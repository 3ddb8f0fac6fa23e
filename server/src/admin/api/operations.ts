import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import type { Request, Response } from 'express';
import { GraphQLError } from 'graphql';
import type { IdempotentRequests } from '../../domain/admins/idempotent-requests.ts';
import type { Clock } from '../../domain/kernel/clock.ts';
import type { Database } from '../../domain/kernel/database.ts';
import type { Turns } from '../../domain/limits/turns.ts';
import { actorOf, requestContext } from '../../http/context.ts';
import { adminSchema } from '../schema.ts';
import { type AdminCaller, actorFor } from './caller.ts';
import type { AdminDomain, AdminRequest } from './context.ts';
import { formatError, isBug } from './graphql-error.ts';
import { idempotencyPlugin } from './idempotency.ts';
import { limits, limitsOf } from './limits.ts';

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

/** Runs the operation of a request, and responds. */
export type Operations = (req: Request, res: Response, caller: AdminCaller) => Promise<void>;

/** Builds the schema, and starts Apollo on it. */
export async function operationsOf(api: AdminApi): Promise<Operations> {
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
  return (req, res, caller) =>
    execute(server, req, res, async () => ({
      caller,
      actor: actorFor(caller, actorOf(req)),
      requestId: requestContext(req).requestId,
      now: api.clock.now(),
      domain: api.domain,
      db: api.db,
      setFlowCookie: (flow, secret) => api.setFlowCookie(res, flow, secret),
      operations: new Map(),
    }));
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
