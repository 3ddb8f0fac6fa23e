import type { RequestHandler } from 'express';

export interface CorsPolicy {
  /** `*`, or a predicate for the Origin header. */
  origin: '*' | ((origin: string) => Promise<boolean>);
  methods: readonly string[];
  requestHeaders: readonly string[];
  exposedHeaders?: readonly string[];
}

/** CORS without credentials (Fetch standard); also answers preflight requests. */
export function cors(policy: CorsPolicy): RequestHandler {
  return async (req, res, next) => {
    const origin = req.get('origin');
    if (policy.origin === '*') res.setHeader('Access-Control-Allow-Origin', '*');
    else {
      res.vary('Origin');
      if (origin !== undefined && (await policy.origin(origin))) res.setHeader('Access-Control-Allow-Origin', origin);
    }
    if (policy.exposedHeaders) res.setHeader('Access-Control-Expose-Headers', policy.exposedHeaders.join(', '));
    if (req.method !== 'OPTIONS') return next();
    res.setHeader('Access-Control-Allow-Methods', policy.methods.join(', '));
    res.setHeader('Access-Control-Allow-Headers', policy.requestHeaders.join(', '));
    res.setHeader('Access-Control-Max-Age', '600');
    res.status(204).end();
  };
}
