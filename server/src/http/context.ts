import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Actor } from '../domain/kernel/actor.ts';
import type { Random } from '../domain/kernel/random.ts';

/** What every room knows of a request. */
export interface RequestContext {
  /** In every answer (`X-Request-Id`), every log line and every error that a person sees. */
  requestId: string;
  /** The caller's address, as TRUST_PROXY says. */
  ip: string;
  userAgent: string | undefined;
}

const contexts = new WeakMap<Request, RequestContext>();

/** Gives each request its context; the first middleware of all. */
export function withContext(random: Random): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    const requestId = random.id();
    contexts.set(req, { requestId, ip: req.ip ?? '', userAgent: printable(req.get('user-agent'))?.slice(0, 400) });
    res.setHeader('X-Request-Id', requestId);
    next();
  };
}

export function requestContext(req: Request): RequestContext {
  const context = contexts.get(req);
  if (!context) throw new Error('withContext must come first');
  return context;
}

/** The request's caller, as the audit log is to name them. */
export function actorOf(req: Request, who: Pick<Actor, 'kind' | 'id' | 'name'> = { kind: 'anonymous' }): Actor {
  const { requestId, ip, userAgent } = requestContext(req);
  return { ...who, requestId, ip, ...(userAgent === undefined ? {} : { userAgent }) };
}

function printable(text: string | undefined): string | undefined {
  return text?.replace(/[^\x20-\x7e]/g, '?');
}
