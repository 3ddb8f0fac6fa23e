/** Reason of a failed request. */
export type OutgoingFault =
  | 'invalid-url'
  | 'insecure-url'
  | 'redirected'
  | 'too-large'
  | 'timeout'
  | 'aborted'
  | 'network';

export class OutgoingError extends Error {
  readonly fault: OutgoingFault;

  constructor(fault: OutgoingFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutgoingError';
    this.fault = fault;
  }
}

export interface Outgoing {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** Timeout of the whole request, including the body. */
  timeoutMs: number;
  /** Maximum size of the decompressed body. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
  /** Allows plain http to any host; logged once per origin. */
  allowInsecureHttp?: boolean | undefined;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Sends one request with time and size limits, without redirects, over https or to loopback.
 * Throws {@link OutgoingError}.
 */
export async function send(url: string, request: Outgoing): Promise<Answer> {
  const address = checkedUrl(url, request.allowInsecureHttp);
  if (!isSecure(address)) warnOf(address);
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
  try {
    const response = await fetch(address, {
      method: request.method,
      ...(request.headers ? { headers: request.headers } : {}),
      ...(request.body === undefined ? {} : { body: request.body }),
      redirect: 'manual',
      signal,
    });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new OutgoingError('redirected', `The response is a redirect (${response.status}).`);
    }
    return { status: response.status, headers: response.headers, body: await bodyOf(response, request.maxBytes) };
  } catch (error) {
    if (error instanceof OutgoingError) throw error;
    if (request.signal?.aborted) throw new OutgoingError('aborted', 'The request was aborted.', { cause: error });
    if (timeout.aborted) {
      throw new OutgoingError('timeout', `No complete response within ${request.timeoutMs} ms.`, { cause: error });
    }
    throw new OutgoingError('network', 'The request failed.', { cause: error });
  }
}

/** Parses an https URL, or http to loopback or, if allowed, any host. Throws {@link OutgoingError}. */
export function checkedUrl(url: string, allowInsecureHttp = false): URL {
  let address: URL;
  try {
    if (typeof url !== 'string') throw new TypeError('not a string');
    address = new URL(url);
  } catch (cause) {
    throw new OutgoingError('invalid-url', 'The value is not a URL.', { cause });
  }
  if (address.username !== '' || address.password !== '') {
    throw new OutgoingError('invalid-url', 'The URL must not contain credentials.');
  }
  if (isSecure(address) || (address.protocol === 'http:' && allowInsecureHttp)) return address;
  throw new OutgoingError('insecure-url', 'The URL must use https, or http to loopback.');
}

function isSecure({ hostname, protocol }: URL): boolean {
  const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && loopback);
}

const warned = new Set<string>();

function warnOf({ origin }: URL): void {
  if (warned.has(origin)) return;
  warned.add(origin);
  console.warn(
    `Latchkey: allowInsecureHttp is set, so requests to ${origin} are not encrypted: any computer on the way can read keys and tokens, and impersonate the service.`,
  );
}

async function bodyOf(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // Throwing in the loop cancels the stream.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new OutgoingError('too-large', `The response exceeds ${maxBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The JSON object in `text`, or null. */
export function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** `Retry-After` in seconds (RFC 9110 §10.2.3), if a plain number. */
export function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) : undefined;
}
