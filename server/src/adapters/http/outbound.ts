import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { isPublicAddress } from '../../domain/kernel/network.ts';
import { lookupOf, type NameLookup, nameLookup } from './name-lookup.ts';

/** Result of a POST to a customer's server. */
export type PostResult = { status: number } | { error: string };

export interface OutboundOptions {
  /** Allows loopback and private addresses, and plain http: for tests and private networks. */
  allowPrivate: boolean;
  timeoutMs: number;
  /** Additional headers. */
  headers?: Record<string, string>;
  /** Default: the system's name servers. */
  resolve?: NameLookup;
}

/**
 * POSTs a form to a URL that a customer registered. Does not read the response body. See {@link send}.
 */
export function postForm(url: string, form: URLSearchParams, options: OutboundOptions): Promise<PostResult> {
  return post(url, form.toString(), 'application/x-www-form-urlencoded', options);
}

/** Like {@link postForm}, with a JSON text as the body. */
export function postJson(url: string, json: string, options: OutboundOptions): Promise<PostResult> {
  return post(url, json, 'application/json', options);
}

/** Like {@link postForm}, with any body. */
export function post(
  url: string,
  body: string | Buffer,
  contentType: string,
  options: OutboundOptions,
): Promise<PostResult> {
  const headers = {
    ...options.headers,
    'Content-Type': contentType,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  return send<PostResult>('POST', url, { ...options, headers }, body, (response, done) => {
    done({ status: response.statusCode ?? 0 });
    response.destroy();
  });
}

/** Maximum size of a fetched document, in bytes. */
const maxDocumentBytes = 64 * 1024;

/** The JSON document at a URL that a customer registered: status 200, at most 64 KB. See {@link send}. */
export function fetchJson(url: string, options: OutboundOptions): Promise<{ json: unknown } | { error: string }> {
  const headers = { ...options.headers, Accept: 'application/json' };
  return send<{ json: unknown } | { error: string }>('GET', url, { ...options, headers }, '', (response, done) => {
    if (response.statusCode === 200) return readJson(response, maxDocumentBytes, done);
    done({ error: `status ${response.statusCode}` });
    response.destroy();
  });
}

/** A JSON document and how long it may be cached. */
export type FetchedDocument = { json: unknown; cacheSeconds: number | null } | { error: string };

/** Maximum size of a client's metadata document, in bytes. */
const maxMetadataBytes = 16 * 1024;

/**
 * Like {@link fetchJson}, for an untrusted URL: requires a JSON media type, at most 16 KB. `cacheSeconds` by `Cache-Control` (RFC
 * 9111 section 5.2.2); null: not stated.
 */
export function fetchDocument(url: string, options: OutboundOptions): Promise<FetchedDocument> {
  const headers = { ...options.headers, Accept: 'application/json' };
  return send<FetchedDocument>('GET', url, { ...options, headers }, '', (response, done) => {
    const refuse = (error: string) => {
      done({ error });
      response.destroy();
    };
    if (response.statusCode !== 200) return refuse(`status ${response.statusCode}`);
    if (!jsonType.test(response.headers['content-type'] ?? '')) return refuse('the media type is not JSON');
    const cacheSeconds = lifetimeOf(response.headers['cache-control'] ?? '', response.headers.age);
    readJson(response, maxMetadataBytes, (read) => done('json' in read ? { ...read, cacheSeconds } : read));
  });
}

const jsonType = /^application\/([a-z0-9.-]+\+)?json *(;|$)/i;

/** @param age of a cached response, in seconds */
function lifetimeOf(cacheControl: string, age: string | undefined): number | null {
  if (/\b(no-store|no-cache)\b/i.test(cacheControl)) return 0;
  const seconds = /\bmax-age="?(\d{1,9})/i.exec(cacheControl)?.[1];
  return seconds === undefined ? null : Math.max(0, Number(seconds) - (Number(age) || 0));
}

/** Maximum size of SAML metadata, in bytes. */
const maxSamlMetadataBytes = 512 * 1024;

/** The XML document at a URL that a customer registered: status 200, at most 512 KB. See {@link send}. */
export function fetchMetadata(url: string, options: OutboundOptions): Promise<{ body: Buffer } | { error: string }> {
  const headers = { ...options.headers, Accept: 'application/samlmetadata+xml, application/xml, text/xml' };
  return send<{ body: Buffer } | { error: string }>('GET', url, { ...options, headers }, '', (response, done) => {
    if (response.statusCode === 200) return readBody(response, maxSamlMetadataBytes, done);
    done({ error: `status ${response.statusCode}` });
    response.destroy();
  });
}

/** A whole response: at most 64 KB. */
interface BoundedResponse {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** Of SOAP 1.1 (SAML Bindings section 3.2.3). */
export const soapHeaders = {
  'Content-Type': 'text/xml; charset=utf-8',
  SOAPAction: '"http://www.oasis-open.org/committees/security"',
};

/** A request to a URL that a customer registered, with its response of at most 64 KB. See {@link send}. */
export function exchange(
  method: 'GET' | 'POST',
  url: string,
  options: OutboundOptions,
  body = '',
): Promise<BoundedResponse | { error: string }> {
  return send<BoundedResponse | { error: string }>(method, url, options, body, (response, done) => {
    const { headers, statusCode: status = 0 } = response;
    readBody(response, maxDocumentBytes, (read) => done('error' in read ? read : { status, headers, ...read }));
  });
}

function readJson(
  response: IncomingMessage,
  maxBytes: number,
  done: (answer: { json: unknown } | { error: string }) => void,
): void {
  readBody(response, maxBytes, (read) => {
    if ('error' in read) return done(read);
    try {
      done({ json: JSON.parse(read.body.toString()) });
    } catch {
      done({ error: 'the document is not JSON' });
    }
  });
}

function readBody(
  response: IncomingMessage,
  maxBytes: number,
  done: (answer: { body: Buffer } | { error: string }) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      done({ error: 'the document is too large' });
      response.destroy();
      return;
    }
    chunks.push(chunk);
  });
  response.on('error', (error) => done({ error: reasonOf(error) }));
  response.on('end', () => done({ body: Buffer.concat(chunks) }));
}

/**
 * A request to a URL that a customer registered. The socket's peer must be a public address: checked when the name is
 * resolved, and again on the connected socket before anything is sent. Follows no redirects, takes at most `timeoutMs`.
 */
function send<T>(
  method: 'GET' | 'POST',
  url: string,
  options: OutboundOptions,
  body: string | Buffer,
  read: (response: IncomingMessage, done: (answer: T | { error: string }) => void) => void,
): Promise<T | { error: string }> {
  return new Promise((done) => {
    const target = new URL(url);
    const secure = target.protocol === 'https:';
    if (!secure && !options.allowPrivate) return done({ error: 'the address is not https' });
    // A name is checked when it is resolved; an IP address is never resolved.
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    if (!options.allowPrivate && isIP(literal) !== 0 && !isPublicAddress(literal)) return done(notPublic);
    const open = secure ? httpsRequest : httpRequest;
    const requestOptions: RequestOptions = {
      method,
      headers: options.headers,
      // The socket connects to the address that was checked, which prevents DNS rebinding.
      lookup: options.allowPrivate
        ? undefined
        : lookupOf(options.resolve ?? bySystemServers, isPublicAddress, notPublic.error),
      // No pooled socket: it would skip the check.
      agent: false,
      signal: AbortSignal.timeout(options.timeoutMs),
    };
    const request = open(target, requestOptions, (response) => read(response, done));
    request.on('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        if (!options.allowPrivate && !isPublicAddress(socket.remoteAddress ?? '')) {
          request.destroy(new Error(notPublic.error));
          return;
        }
        request.end(body);
      });
    });
    // Without a listener, Node closes the connection of a 101 response, and reports neither a response nor an error.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      done({ error: 'status 101' });
    });
    request.on('error', (error) => done({ error: reasonOf(error) }));
  });
}

export const noAnswer = 'no answer in time';
export const notPublic = { error: 'the address is not public' };
export const bySystemServers = nameLookup();

export function reasonOf(error: Error & { code?: string }): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return noAnswer;
  return error.code ?? error.message;
}
