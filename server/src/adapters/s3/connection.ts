import { createHash } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import type { Secret } from '../../domain/kernel/secret.ts';
import { outageOf, refusalOf, S3Error, type S3Operation } from './error.ts';
import { textOf } from './xml.ts';

export interface S3Settings {
  /** Undefined: AWS. */
  endpoint: string | undefined;
  region: string;
  /** `host/bucket/key` instead of `bucket.host/key`. */
  pathStyle: boolean;
  accessKeyId: Secret<string>;
  secretAccessKey: Secret<string>;
  sessionToken: Secret<string> | undefined;
  /** Before the second attempt of a request, in milliseconds; doubled for each further one. */
  pauseMs?: number;
  /** Idle timeout of a connection, in milliseconds. */
  idleMs?: number;
  /** Maximum time of a request with its repetitions and its response, and of 8 MB of a download, in milliseconds. */
  exchangeMs?: number;
}

export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** As permissions name it. */
  action: string;
  /** Empty: the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Buffer | string;
  signal?: AbortSignal | undefined;
}

const attempts = 4;
const defaultPauseMs = 500;
const defaultIdleMs = 60_000;
/** A part of 8 MB at 14 KB/s. */
const defaultExchangeMs = 600_000;
/** A list of 1000 objects with the longest keys is about 2 MB. */
const maxAnswerBytes = 8_000_000;

/** Signed requests to one bucket (AWS Signature Version 4). Follows no redirects. */
export class S3Connection {
  readonly #settings: S3Settings;
  readonly #bucket: string;
  readonly #base: URL;
  readonly #agent: HttpAgent;

  constructor(settings: S3Settings, bucket: string) {
    this.#settings = settings;
    this.#bucket = bucket;
    const { endpoint = `https://s3.${settings.region}.amazonaws.com`, pathStyle } = settings;
    const base = new URL(endpoint.replace(/\/+$/, ''));
    if (pathStyle) base.pathname = `${base.pathname.replace(/\/$/, '')}/${bucket}`;
    else base.hostname = `${bucket}.${base.hostname}`;
    this.#base = base;
    // One request at a time: a kept connection saves a handshake for each part.
    this.#agent = base.protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  }

  get exchangeMs(): number {
    return this.#settings.exchangeMs ?? defaultExchangeMs;
  }

  /** The response's text. Throws {@link S3Error}, and the signal's reason. */
  text(request: S3Request): Promise<{ text: string; headers: IncomingMessage['headers'] }> {
    return this.#tried(request, async (response) => {
      const text = await bodyOf(response);
      // A completed upload returns 200 before it has succeeded.
      if (text.includes('<Error>')) throw refusalOf(this.#operation(request), 200, codeOf(text));
      return { text, headers: response.headers };
    });
  }

  /** The response, whose body is not read yet. Throws {@link S3Error}, and the signal's reason. */
  stream(request: S3Request): Promise<IncomingMessage> {
    return this.#tried(request, async (response) => response);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Retries transient failures, until the deadline. */
  async #tried<T>(request: S3Request, read: (response: IncomingMessage) => Promise<T>): Promise<T> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(noAnswer()), this.exchangeMs);
    try {
      return await this.#untilDone(request, deadline.signal, read);
    } finally {
      clearTimeout(timer);
    }
  }

  async #untilDone<T>(
    request: S3Request,
    deadline: AbortSignal,
    read: (response: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const { signal } = request;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      try {
        const response = await this.#sent({
          ...request,
          signal: AbortSignal.any([deadline, ...(signal ? [signal] : [])]),
        });
        const { statusCode: status = 0 } = response;
        if (status >= 300) throw refusalOf(this.#operation(request), status, codeOf(await bodyOf(response)));
        return await read(response);
      } catch (cause) {
        signal?.throwIfAborted();
        if (deadline.aborted) throw outageOf(this.#operation(request), deadline.reason as Error);
        const error = cause instanceof S3Error ? cause : outageOf(this.#operation(request), cause as Error);
        if (!error.isTransient || attempt === attempts) throw error;
      }
      const pauseMs = (this.#settings.pauseMs ?? defaultPauseMs) * 2 ** (attempt - 1);
      await pause(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    }
  }

  async #sent(request: S3Request): Promise<IncomingMessage> {
    const { body = '', signal } = request;
    const { url, headers } = await this.#signed(request);
    const { idleMs = defaultIdleMs } = this.#settings;
    return new Promise((resolve, reject) => {
      const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const options = { method: request.method, headers, agent: this.#agent, ...(signal && { signal }) };
      const outgoing = open(url, options, resolve);
      // Without a listener, Node closes the connection of a 101 response, and reports neither a response nor an error.
      outgoing.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(refusalOf(this.#operation(request), 101, ''));
      });
      outgoing.setTimeout(idleMs, () => outgoing.destroy(noAnswer()));
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  async #signed({ method, key = '', query = {}, headers = {}, body = '' }: S3Request) {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#settings;
    const url = new URL(this.#base);
    url.pathname += `${url.pathname.endsWith('/') ? '' : '/'}${key.split('/').map(encodeURIComponent).join('/')}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    // Form encoding writes a space as `+`; the signature is over `%20`.
    url.search = url.search.replaceAll('+', '%20');
    const signed = await new AwsV4Signer({
      url: url.href,
      method,
      service: 's3',
      region,
      accessKeyId: accessKeyId.reveal(),
      secretAccessKey: secretAccessKey.reveal(),
      ...(sessionToken && { sessionToken: sessionToken.reveal() }),
      headers: { ...headers, 'X-Amz-Content-Sha256': createHash('sha256').update(body).digest('hex') },
    }).sign();
    const sent = { ...Object.fromEntries(signed.headers), 'content-length': String(Buffer.byteLength(body)) };
    return { url, headers: sent };
  }

  #operation({ action, key = '' }: S3Request): S3Operation {
    return { action, place: `s3://${this.#bucket}/${key}`, bucket: this.#bucket, host: this.#base.host };
  }
}

const noAnswer = (): DOMException => new DOMException('no answer in time', 'TimeoutError');

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The error code of a response; empty: none that can be printed. */
function codeOf(text: string): string {
  const code = textOf(text, 'Code') ?? '';
  return /^[A-Za-z0-9.]{1,64}$/.test(code) ? code : '';
}
