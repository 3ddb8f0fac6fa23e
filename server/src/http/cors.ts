import type { RequestHandler } from 'express';

export interface CorsPolicy {
  /** `*`, or a question asked for each Origin. */
  origin: '*' | ((origin: string) => Promise<boolean>);
  methods: readonly string[];
  requestHeaders: readonly string[];
  exposedHeaders?: readonly string[];
}

/** Cross-origin reads (the Fetch standard), without credentials; answers the preflight of its path itself. */
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
