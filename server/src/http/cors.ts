import type { RequestHandler, Response } from 'express';

export interface CorsPolicy {
  /** `*`, or a predicate for the Origin header. */
  origin: '*' | ((origin: string) => Promise<boolean>);
  requestHeaders: readonly string[];
  exposedHeaders?: readonly string[];
  /**
   * Preflight requests from any site succeed: the browser then sends the request, and the handler decides with
   * {@link readableBy} which refusals the site may read. Default: only for `origin`.
   */
  preflightOfAnySite?: boolean;
}

/** CORS without credentials (Fetch standard); also handles preflight requests. @param methods those of the route */
export function cors(policy: CorsPolicy, methods: readonly string[]): RequestHandler {
  return async (req, res, next) => {
    const origin = req.get('origin');
    if (policy.origin === '*') res.setHeader('Access-Control-Allow-Origin', '*');
    else {
      res.vary('Origin');
      if (req.method === 'OPTIONS' && policy.preflightOfAnySite) readableBy(res, origin);
      else if (origin !== undefined && (await policy.origin(origin))) readableBy(res, origin);
    }
    if (policy.exposedHeaders) res.setHeader('Access-Control-Expose-Headers', policy.exposedHeaders.join(', '));
    if (req.method !== 'OPTIONS') return next();
    res.setHeader('Access-Control-Allow-Methods', methods.join(', '));
    res.setHeader('Access-Control-Allow-Headers', policy.requestHeaders.join(', '));
    res.setHeader('Access-Control-Max-Age', '600');
    res.status(204).end();
  };
}

/** Lets pages of `origin` read this response. Opaque origins (`null`) and other schemes cannot. */
export function readableBy(res: Response, origin: string | undefined): void {
  if (origin !== undefined && /^https?:\/\/[^/?#\s]{1,255}$/.test(origin))
    res.setHeader('Access-Control-Allow-Origin', origin);
}
