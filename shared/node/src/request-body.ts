import type { IncomingMessage } from 'node:http';

/** A request of Express, Connect or Node itself. */
export interface RequestLike extends IncomingMessage {
  /** What a body parser before this one has made of the body. */
  body?: unknown;
  /** Express: the address as it was sent. */
  originalUrl?: string;
}

const maxBytes = 64 * 1024;

/** What a body is refused for, as an HTTP status. */
export class BodyError extends Error {
  readonly status: 400 | 405 | 413 | 415;

  constructor(status: 400 | 405 | 413 | 415, message: string) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
  }
}

/** The members of a JSON object, whether or not a parser was here before. Throws {@link BodyError}. */
export async function jsonBody(req: RequestLike): Promise<Record<string, unknown>> {
  needType(req, 'application/json');
  const body = await raw(req);
  if (typeof body !== 'string') return body;
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Falls through: what is no JSON and what is no object are refused alike.
  }
  throw new BodyError(400, 'The body is no JSON object.');
}

/** The fields of a form, each at most once, whether or not a parser was here before. Throws {@link BodyError}. */
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
    if (size > maxBytes) throw new BodyError(413, `The body has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
