import type { IncomingMessage } from 'node:http';

/** A request of Express, Connect or Node itself. */
export interface RequestLike extends IncomingMessage {
  /** Set by a body parser, if any. */
  body?: unknown;
  /** Express: the original URL. */
  originalUrl?: string;
}

const maxBytes = 64 * 1024;

/** An invalid body, with the HTTP status to respond with. */
export class BodyError extends Error {
  readonly status: 400 | 405 | 413 | 415;

  constructor(status: 400 | 405 | 413 | 415, message: string) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
  }
}

/** Reads a JSON object, with or without a body parser. Throws {@link BodyError}. */
export async function jsonBody(req: RequestLike): Promise<Record<string, unknown>> {
  needType(req, 'application/json');
  const body = await raw(req);
  if (typeof body !== 'string') return body;
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Invalid JSON and non-objects get the same error below.
  }
  throw new BodyError(400, 'The body must be a JSON object.');
}

/** Reads form fields, each at most once, with or without a body parser. Throws {@link BodyError}. */
export async function formBody(req: RequestLike): Promise<Record<string, unknown>> {
  needType(req, 'application/x-www-form-urlencoded');
  const body = await raw(req);
  if (typeof body !== 'string') return body;
  const form = new URLSearchParams(body);
  if (new Set(form.keys()).size !== form.size) throw new BodyError(400, 'A field is repeated.');
  return Object.fromEntries(form);
}

function needType(req: RequestLike, type: string): void {
  const sent = req.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (sent !== type) throw new BodyError(415, `The body must be ${type}.`);
}

async function raw(req: RequestLike): Promise<string | Record<string, unknown>> {
  if (req.readableDidRead || req.readableEnded) {
    const { body } = req;
    if (typeof body === 'string' || Buffer.isBuffer(body)) return body.toString();
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyError(413, `The body exceeds ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
