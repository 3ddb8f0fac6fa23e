import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Actor } from '../domain/kernel/actor.ts';
import { addressOf } from '../domain/kernel/network.ts';
import type { Random } from '../domain/kernel/random.ts';
import { inRequest } from '../domain/kernel/scope.ts';

/** Metadata of a request, available to every route. */
export interface RequestContext {
  /** Included in every response (`X-Request-Id`), log line and error page. */
  requestId: string;
  /** Client IP address, resolved with TRUST_PROXY; undefined if a proxy sent none, or text that is no address. */
  ip: string | undefined;
  userAgent: string | undefined;
}

const contexts = new WeakMap<Request, RequestContext>();

/** Attaches the context. Must be the first middleware. */
export function withContext(random: Random): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    const requestId = random.id();
    const userAgent = printable(req.get('user-agent'))?.slice(0, 400);
    contexts.set(req, { requestId, ip: addressOf(req.ip) ?? undefined, userAgent });
    res.setHeader('X-Request-Id', requestId);
    inRequest(next, requestId);
  };
}

export function requestContext(req: Request): RequestContext {
  const context = contexts.get(req);
  if (!context) throw new Error('withContext must come first');
  return context;
}

/** The caller as an actor for the audit log. */
export function actorOf(req: Request, who: Pick<Actor, 'kind' | 'id' | 'name'> = { kind: 'anonymous' }): Actor {
  const { requestId, ip, userAgent } = requestContext(req);
  return { ...who, requestId, ...(ip === undefined ? {} : { ip }), ...(userAgent === undefined ? {} : { userAgent }) };
}

function printable(text: string | undefined): string | undefined {
  return text?.replace(/[^\x20-\x7e]/g, '?');
}
