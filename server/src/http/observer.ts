import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Middleware that observes a request and its response, e.g. for metrics or traces. */
export type Observer = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** Wraps `listener` in the observers, first one outermost. */
export function observed(observers: readonly Observer[], listener: RequestListener): RequestListener {
  return observers.reduceRight<RequestListener>(
    (next, observe) => (req, res) => observe(req, res, () => next(req, res)),
    listener,
  );
}
