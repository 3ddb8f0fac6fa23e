import type { ErrorRequestHandler, Request, Response } from 'express';
import { Refusal } from '../domain/kernel/problem.ts';
import { requestContext } from './context.ts';
import { failureOf } from './failure.ts';
import { PageMissingError, type Pages, wantsPage } from './pages.ts';

/** What no room has answered: a bug, or a database that is away. People get a page, programs JSON. */
export function lastResort(log: { error(fields: object, message: string): void }, pages: Pages): ErrorRequestHandler {
  // Express knows an error's handler by its four parameters.
  return (thrown: unknown, req, res, _next) => {
    const { requestId } = requestContext(req);
    if (res.headersSent) {
      // Too late to say anything; Express would print the whole error, and what drivers hang on theirs.
      log.error({ err: thrown, requestId }, 'an answer broke off');
      res.destroy();
      return;
    }
    const failure = failureOf(thrown);
    const away = failure instanceof Refusal && failure.problem.code === 'unavailable' ? failure.problem : undefined;
    const status = away ? 503 : statusOf(thrown);
    if (away) res.setHeader('Retry-After', String(away.retryAfterSeconds));
    if (!away && status >= 500) log.error({ err: thrown, requestId }, 'request failed');
    if (status >= 500 && wantsPage(req)) return sendOrSay(pages, req, res, status);
    const error = away ? 'temporarily_unavailable' : status < 500 ? 'invalid_request' : 'server_error';
    res.status(status).setHeader('Cache-Control', 'no-store').json({ error, request_id: requestId });
  };
}

function statusOf(thrown: unknown): number {
  const { status } = (thrown ?? {}) as { status?: unknown };
  return typeof status === 'number' ? status : 500;
}

function sendOrSay(pages: Pages, req: Request, res: Response, status: number): void {
  try {
    pages.send(req, res, 'unavailable', { status });
  } catch (error) {
    if (!(error instanceof PageMissingError)) throw error;
    res.status(status).type('text/plain').send('Not available just now. Try again in a moment.\n');
  }
}
