import type { IncomingMessage, RequestListener } from 'node:http';
import type { RequestHandler } from 'express';

/** Longest body of a request, where no door says otherwise (decisions 10). */
export const maxBodyBytes = 64 * 1024;

/** A body beyond the limit: 413, in the words of the room that throws it. */
class BodyTooLargeError extends Error {
  readonly status = 413;
  /** As body parsers say it: the message may be told. */
  readonly expose = true;

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`);
    this.name = 'BodyTooLargeError';
  }
}

/**
 * A body parser that refuses at once: an announced length beyond the limit before anything is read, a body of unannounced
 * length when it passes the limit. The connection ends with the answer, since parsers alone would read to the end first.
 *
 * @param parser of Express, made with the same limit
 */
export function bounded(parser: RequestHandler, maxBytes: number): RequestHandler {
  return (req, res, next) => {
    let length = 0;
    let isSettled = false;
    const settle = (error?: unknown) => {
      if (isSettled) return;
      isSettled = true;
      req.off('data', count);
      next(error);
    };
    const refuse = () => {
      res.shouldKeepAlive = false;
      settle(new BodyTooLargeError(maxBytes));
    };
    const count = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) refuse();
    };
    if (announcedBytes(req) > maxBytes) return refuse();
    parser(req, res, settle);
    // Only beside the parser: a listener of its own would make the body flow where nothing reads it.
    if (!isSettled) req.on('data', count);
  };
}

/**
 * In front of everything: where nothing reads bodies, a long one that is announced is refused with 413, and an answer
 * that comes before the end of a long or endless body ends the connection. What is left of it is not read.
 *
 * @param readsBody true where a room judges the body with {@link bounded} or its own reader
 */
export function withoutLongBodies(
  readsBody: (req: IncomingMessage) => boolean,
  rest: RequestListener,
): RequestListener {
  return (req, res) => {
    const announced = announcedBytes(req);
    if (announced <= maxBodyBytes && req.headers['transfer-encoding'] === undefined) return rest(req, res);
    if (announced > maxBodyBytes && !readsBody(req)) {
      const body = JSON.stringify({ error: 'invalid_request', error_description: 'The body is too large.' });
      res.shouldKeepAlive = false;
      res.writeHead(413, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }).end(body);
      return;
    }
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res;
    res.writeHead = (...args: unknown[]) => {
      if (!req.complete) res.shouldKeepAlive = false;
      return writeHead(...args);
    };
    rest(req, res);
  };
}

function announcedBytes(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}
