import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Sees a request come, and its answer go. */
export type Observer = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** Each request passes the observers, in order, before `listener` gets it. */
export function observed(observers: readonly Observer[], listener: RequestListener): RequestListener {
  return observers.reduceRight<RequestListener>(
    (next, observe) => (req, res) => observe(req, res, () => next(req, res)),
    listener,
  );
}
