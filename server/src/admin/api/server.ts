import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { hasAny } from '../../domain/admins/permission.ts';
import { atFirstUse } from '../../domain/kernel/cache.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { type Body, bounded, maxBodyBytes } from '../../http/bodies.ts';
import { failureOf } from '../../http/failure.ts';
import type { AdminCaller } from './caller.ts';
import type { AdminApi } from './operations.ts';
import { sendProblem } from './send-problem.ts';

/** Authenticates a request; null if it has no valid credentials. */
export type CallerOf = (req: Request) => Promise<AdminCaller | null>;

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

export function graphqlEndpoint(api: AdminApi, callerOf: CallerOf): GraphqlEndpoint {
  const callers = new WeakMap<Request, AdminCaller>();
  // Schema and libraries are a large part of a start, and of an idle server's memory.
  const operations = atFirstUse(async () => (await import('./operations.ts')).operationsOf(api));
  const handle: RequestHandler = async (req, res) => {
    const run = await operations();
    await run(req, res, callers.get(req) as AdminCaller);
  };
  return { authenticate: authenticate(api, callerOf, callers), handle: takingTurns(api, callers, handle) };
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
