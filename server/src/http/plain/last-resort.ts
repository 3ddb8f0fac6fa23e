import type { ErrorRequestHandler, Request, Response } from 'express';
import { Refusal } from '../../domain/kernel/problem.ts';
import { requestContext } from '../context.ts';
import { failureOf } from '../failure.ts';
import { PageMissingError, type Pages, wantsPage } from '../pages.ts';

/** Final error handler, for bugs and an unreachable database: an HTML page for browsers, JSON otherwise. */
export function lastResort(log: { error(fields: object, message: string): void }, pages: Pages): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  return (thrown: unknown, req, res, _next) => {
    const { requestId } = requestContext(req);
    if (res.headersSent) {
      // Express's default handler would print the whole error, including the driver's details.
      log.error({ err: thrown, requestId }, 'response aborted');
      res.destroy();
      return;
    }
    const failure = failureOf(thrown);
    const away = failure instanceof Refusal && failure.problem.code === 'unavailable' ? failure.problem : undefined;
    const status = away ? 503 : statusOf(thrown);
    if (away) res.setHeader('Retry-After', String(away.retryAfterSeconds));
    if (!away && status >= 500) log.error({ err: thrown, requestId }, 'request failed');
    if (status >= 500 && wantsPage(req)) return sendUnavailable(pages, req, res, status);
    const error = away ? 'temporarily_unavailable' : status < 500 ? 'invalid_request' : 'server_error';
    res
      .status(status)
      .setHeader('Cache-Control', 'no-store')
      .json({
        error,
        ...(away?.detail !== undefined && { error_description: away.detail }),
        request_id: requestId,
      });
  };
}

function statusOf(thrown: unknown): number {
  const { status } = (thrown ?? {}) as { status?: unknown };
  return typeof status === 'number' ? status : 500;
}

function sendUnavailable(pages: Pages, req: Request, res: Response, status: number): void {
  try {
    pages.send(req, res, 'plain/unavailable', { status });
  } catch (error) {
    if (!(error instanceof PageMissingError)) throw error;
    res.status(status).type('text/plain').send('Temporarily unavailable. Try again in a moment.\n');
  }
}
