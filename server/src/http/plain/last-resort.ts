import type { ErrorRequestHandler, Request, Response } from 'express';
import { Refusal } from '../../domain/kernel/problem.ts';
import { requestContext } from '../context.ts';
import { failureOf } from '../failure.ts';
import { PageMissingError, type Pages, wantsPage } from '../pages.ts';
import { routeLabel } from '../routes/route.ts';

/**
 * Final error handler, for bugs, an unreachable database and requests that no handler responded to: a page for
 * browsers, JSON otherwise.
 */
export function lastResort(log: { error(fields: object, message: string): void }, pages: Pages): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  return (thrown: unknown, req, res, _next) => {
    const { requestId } = requestContext(req);
    if (res.headersSent) {
      // Express's default handler would print the whole error, including the driver's details.
      log.error({ err: thrown, requestId, route: routeLabel(req) }, 'response aborted');
      res.destroy();
      return;
    }
    const failure = failureOf(thrown);
    const away = failure instanceof Refusal && failure.problem.code === 'unavailable' ? failure.problem : undefined;
    const status = away ? 503 : statusOf(thrown);
    if (away) res.setHeader('Retry-After', String(away.retryAfterSeconds));
    if (!away && status >= 500) log.error({ err: thrown, requestId, route: routeLabel(req) }, 'request failed');
    if (wantsPage(req)) return sendPage(pages, req, res, status);
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

/** Message keys of requests that no handler responded to, by status. */
const refusals: Partial<Record<number, string>> = { 405: 'error.method', 413: 'error.tooLong' };

function sendPage(pages: Pages, req: Request, res: Response, status: number): void {
  try {
    if (status >= 500) return pages.send(req, res, 'plain/unavailable', { status });
    const message = pages.text(req, refusals[status] ?? 'error.unreadable');
    pages.send(req, res, 'plain/closed', { status, values: { title: pages.text(req, 'error.refusedTitle'), message } });
  } catch (error) {
    if (!(error instanceof PageMissingError)) throw error;
    const text = status >= 500 ? 'Temporarily unavailable. Try again in a moment.' : 'This request is not supported.';
    res.status(status).type('text/plain').send(`${text}\n`);
  }
}
