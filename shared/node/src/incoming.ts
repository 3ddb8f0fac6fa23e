import type { IncomingMessage } from 'node:http';
import { textOf } from './bytes.ts';

/** A request of Express, Connect or Node itself. */
export interface RequestLike extends IncomingMessage {
  /** Set by a body parser, if any. */
  body?: unknown;
  /** Express: the original URL. */
  originalUrl?: string;
}

/** The parts of a request that a handler reads, of Node or of the Fetch standard. */
export interface Incoming {
  method: string;
  /** Absolute, or only path and query, or `*`. */
  url: string;
  header(name: string): string | undefined;
  /** The text, or the fields that a body parser has read. Throws {@link BodyError}. */
  body(): Promise<string | Record<string, unknown>>;
}

const maxBytes = 64 * 1024;

type BodyStatus = 400 | 403 | 405 | 413 | 415;

/** An invalid body, or request, with the HTTP status to respond with. */
export class BodyError extends Error {
  readonly status: BodyStatus;

  constructor(status: BodyStatus, message: string) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
  }
}

export function ofNode(req: RequestLike): Incoming {
  return {
    method: req.method ?? '',
    url: req.originalUrl ?? req.url ?? '/',
    header: (name) => [req.headers[name]].flat()[0],
    body: async () => {
      if (!req.readableDidRead && !req.readableEnded) return limited(req as AsyncIterable<Uint8Array>);
      const { body } = req;
      if (typeof body === 'string') return body;
      if (body instanceof Uint8Array) return textOf(body);
      return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
    },
  };
}

export function ofRequest(request: Request): Incoming {
  return {
    method: request.method,
    url: request.url,
    header: (name) => request.headers.get(name) ?? undefined,
    body: async () => {
      if (request.bodyUsed) throw new BodyError(400, 'The body was already read: pass the request before reading it.');
      return limited(request.body ?? []);
    },
  };
}

/** The URL of a request; its host is not meaningful. */
export function urlOf({ url }: Incoming): URL {
  // `//other.example/` is a path here, not another host.
  return new URL(url.startsWith('/') ? `http://localhost${url}` : url, 'http://localhost');
}

/** Names and values of a request's cookies. A name can occur more than once. */
export function cookiesOf(incoming: Incoming): [name: string, value: string][] {
  const pairs = (incoming.header('cookie') ?? '').split(/; */);
  return pairs.flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at), pair.slice(at + 1)]] : [];
  });
}

/** Reads a JSON object. Throws {@link BodyError}. */
export async function jsonBody(incoming: Incoming): Promise<Record<string, unknown>> {
  needType(incoming, 'application/json');
  const body = await incoming.body();
  if (typeof body !== 'string') return body;
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Invalid JSON and non-objects get the same error below.
  }
  throw new BodyError(400, 'The body must be a JSON object.');
}

/** Reads form fields, each at most once. Throws {@link BodyError}. */
export async function formBody(incoming: Incoming): Promise<Record<string, unknown>> {
  needType(incoming, 'application/x-www-form-urlencoded');
  const body = await incoming.body();
  if (typeof body !== 'string') return body;
  const form = new URLSearchParams(body);
  const names = [...form.keys()];
  if (new Set(names).size !== names.length) throw new BodyError(400, 'A field is repeated.');
  return Object.fromEntries(form);
}

function needType(incoming: Incoming, type: string): void {
  const sent = incoming.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (sent !== type) throw new BodyError(415, `The body must be ${type}.`);
}

async function limited(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyError(413, `The body exceeds ${maxBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
