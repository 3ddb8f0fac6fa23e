import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { RequestHandler } from 'express';

/** Default limit of a request body (decisions 10). */
export const maxBodyBytes = 64 * 1024;

/** How a route reads the body of a request. */
export interface Body {
  maxBytes: number;
  /** Reads the body before the handler. Absent: the handler reads it, after checks of its own. */
  read?: RequestHandler;
}

/** A body over the limit. Each route renders the 413 in its own error format. */
export class BodyTooLargeError extends Error {
  readonly status = 413;
  /** As in body-parser: the message may be shown to the client. */
  readonly expose = true;

  constructor(readonly maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`);
    this.name = 'BodyTooLargeError';
  }
}

/**
 * A body parser that rejects early: by `Content-Length` before reading, or while reading a chunked body once it passes
 * the limit. Closes the connection after the response; without it, Express parsers would read to the end first.
 *
 * @param parser an Express parser with the same limit
 */
export function bounded(parser: RequestHandler, maxBytes: number): RequestHandler {
  return (req, res, proceed) => {
    // The parser continues in an event of the connection. `AsyncLocalStorage.bind` would keep each request in memory until
    // the next full garbage collection (decisions/0081).
    const context = new AsyncResource('body');
    let length = 0;
    let isSettled = false;
    const settle = (error?: unknown) => {
      if (isSettled) return;
      isSettled = true;
      req.off('data', count);
      context.runInAsyncScope(proceed, undefined, error);
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
    // Only while the parser reads: a `data` listener would otherwise start the stream. Node ends an announced body itself.
    if (!isSettled && req.headers['transfer-encoding'] !== undefined) req.on('data', count);
  };
}

/**
 * Runs before all routes. A response sent before the end of a long or endless body closes the connection without reading
 * the rest.
 */
export function closingLongBodies(rest: RequestListener): RequestListener {
  return (req, res) => {
    if (announcedBytes(req) <= maxBodyBytes && req.headers['transfer-encoding'] === undefined) return rest(req, res);
    closeInStages(req);
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res;
    res.writeHead = (...args: unknown[]) => {
      if (!req.complete) res.shouldKeepAlive = false;
      return writeHead(...args);
    };
    rest(req, res);
  };
}

/** Refuses a body over the default limit, where no route reads it. */
export const withoutLongBody: RequestHandler = (req, res, next) => {
  if (announcedBytes(req) <= maxBodyBytes) return next();
  res.shouldKeepAlive = false;
  next(new BodyTooLargeError(maxBodyBytes));
};

/** Limits on what is read and dropped of a body after the response. */
const drained = { bytes: 64 * 1024 * 1024, milliseconds: 10_000 };

/**
 * Ends the connection in stages if it closes before the whole body has arrived (RFC 9112 §9.6): after the response, only
 * the side of the server closes. A client that still writes would otherwise get a reset, which discards the response before
 * the client has read it.
 */
function closeInStages(req: IncomingMessage): void {
  const { socket } = req;
  socket.destroySoon = () => {
    // Node's own.
    Reflect.deleteProperty(socket, 'destroySoon');
    if (req.complete || socket.destroyed) return socket.destroySoon();
    const timer = setTimeout(() => socket.destroy(), drained.milliseconds);
    let left = drained.bytes;
    const drain = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) socket.destroy();
    };
    req.on('data', drain).on('end', () => socket.destroySoon());
    socket.on('close', () => clearTimeout(timer));
    socket.end();
  };
}

/** `Content-Length` of a request; 0 without one. */
export function announcedBytes(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}
