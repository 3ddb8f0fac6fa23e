import { Readable, Writable } from 'node:stream';
import { callbackify } from 'node:util';
import { S3Connection, type S3Settings } from './connection.ts';
import { S3Error } from './error.ts';
import { contentsOf, textOf } from './xml.ts';

/** All parts but the last have one size, which some storages require. S3 requires at least 5 MiB. */
const partBytes = 8 * 1024 * 1024;
const maxParts = 10_000;
/** Maximum number of times that a download continues after a broken connection. */
const continuations = 4;

export interface StoredObject {
  key: string;
  bytes: number;
}

/** An unfinished upload. */
export interface OpenUpload {
  key: string;
  id: string;
  begunAt: Date;
}

/** One bucket of S3-compatible storage. Each method throws {@link S3Error}, and the signal's reason. */
export class S3Bucket {
  readonly #connection: S3Connection;

  /** @param signal aborts requests in flight, except removals */
  constructor(
    settings: S3Settings,
    bucket: string,
    private readonly signal: AbortSignal,
  ) {
    this.#connection = new S3Connection(settings, bucket);
  }

  /** Objects whose key begins with `prefix`, without those in deeper "folders". */
  async objects(prefix: string): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    let next: string | undefined;
    do {
      const query = {
        'list-type': '2',
        delimiter: '/',
        prefix,
        ...(next !== undefined && { 'continuation-token': next }),
      };
      const { signal } = this;
      const { text } = await this.#connection.text({ method: 'GET', action: 'ListBucket', query, signal });
      // Else a page of another program would be an empty bucket.
      if (!text.includes('<ListBucketResult')) throw notS3('listed no objects');
      for (const one of contentsOf(text, 'Contents'))
        found.push({ key: textOf(one, 'Key') ?? '', bytes: Number(textOf(one, 'Size')) });
      const token = textOf(text, 'NextContinuationToken');
      if (token && token === next) throw notS3('listed the same objects twice');
      next = token;
    } while (next);
    return found;
  }

  async find(key: string): Promise<StoredObject | undefined> {
    return (await this.objects(key)).find((one) => one.key === key);
  }

  async remove(key: string): Promise<void> {
    await this.#connection.text({ method: 'DELETE', action: 'DeleteObject', key });
  }

  /** Unfinished uploads whose key begins with `prefix`; at most the first 1000. */
  async uploads(prefix: string): Promise<OpenUpload[]> {
    const query = { uploads: '', prefix };
    const { signal } = this;
    const request = { method: 'GET', action: 'ListBucketMultipartUploads', query, signal } as const;
    const { text } = await this.#connection.text(request);
    return contentsOf(text, 'Upload').map((one) => ({
      key: textOf(one, 'Key') ?? '',
      id: textOf(one, 'UploadId') ?? '',
      begunAt: new Date(textOf(one, 'Initiated') ?? ''),
    }));
  }

  async abort(key: string, id: string): Promise<void> {
    const query = { uploadId: id };
    await this.#connection.text({ method: 'DELETE', action: 'AbortMultipartUpload', key, query });
  }

  async begin(key: string): Promise<S3Upload> {
    const { signal } = this;
    const { text } = await this.#connection.text({
      method: 'POST',
      action: 'PutObject',
      key,
      query: { uploads: '' },
      headers: { 'Content-Type': 'application/gzip' },
      signal,
    });
    const id = textOf(text, 'UploadId');
    if (!id) throw notS3('began no upload');
    return new S3Upload(this, this.#connection, key, id, signal);
  }

  /** The object's content. Continues after broken connections, with the same version of the object. */
  read(key: string): Readable {
    return Readable.from(this.#chunks(key), { objectMode: false, highWaterMark: 65_536 });
  }

  async *#chunks(key: string): AsyncGenerator<Buffer> {
    let at = 0;
    let version: string | undefined;
    for (let left = continuations; ; left -= 1) {
      const headers: Record<string, string> =
        version === undefined ? {} : { Range: `bytes=${at}-`, 'If-Match': version };
      const { signal } = this;
      const response = await this.#connection.stream({ method: 'GET', action: 'GetObject', key, headers, signal });
      version ??= response.headers.etag;
      // Without support for ranges the object starts again.
      let skipped = response.statusCode === 206 ? 0 : at;
      let [received, waitedMs, askedAt] = [0, 0, performance.now()];
      try {
        for await (const chunk of response as AsyncIterable<Buffer>) {
          received += chunk.length;
          // Not the time that the reader takes.
          waitedMs += performance.now() - askedAt;
          if (waitedMs > this.#connection.exchangeMs * (1 + received / partBytes)) throw new Error('too slow');
          const rest = chunk.subarray(skipped);
          skipped -= chunk.length - rest.length;
          at += rest.length;
          if (rest.length > 0) yield rest;
          askedAt = performance.now();
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        const { code, message } = error as NodeJS.ErrnoException;
        if (left === 0 || version === undefined)
          throw new S3Error(`The download of ${key} broke off (${code ?? message}).`, 'cut', false);
      } finally {
        response.destroy();
      }
    }
  }

  close(): void {
    this.#connection.close();
  }
}

function notS3(what: string): S3Error {
  return new S3Error(`The storage ${what}: it may not be S3-compatible.`, 'NotS3', false);
}

/** An object that exists once {@link publish} has succeeded. Holds one part in memory. */
export class S3Upload {
  readonly stream: Writable;
  readonly #part = Buffer.allocUnsafeSlow(partBytes);
  readonly #tags: string[] = [];
  #filled = 0;
  #bytes = 0;
  #isPublished = false;

  constructor(
    private readonly bucket: S3Bucket,
    private readonly connection: S3Connection,
    private readonly key: string,
    private readonly id: string,
    private readonly signal: AbortSignal,
  ) {
    const take = callbackify((chunk: Buffer) => this.#take(chunk));
    this.stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => take(chunk, done),
      final: callbackify(() => this.#send()),
    });
  }

  /** Completes the upload. False if an object with this key was created in the meantime. */
  async publish(): Promise<boolean> {
    if (await this.bucket.find(this.key)) return false;
    const parts = this.#tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    try {
      const query = { uploadId: this.id };
      const headers = { 'Content-Type': 'application/xml' };
      const { key, signal } = this;
      await this.connection.text({ method: 'POST', action: 'PutObject', key, query, headers, body, signal });
    } catch (error) {
      // An earlier attempt succeeded, and its response was lost.
      const isDone = error instanceof S3Error && error.reason === 'NoSuchUpload';
      if (!isDone || (await this.bucket.find(this.key))?.bytes !== this.#bytes) throw error;
    }
    this.#isPublished = true;
    return true;
  }

  /** Aborts the upload unless it was published. Throws {@link S3Error} if the storage keeps its parts. */
  async close(): Promise<void> {
    this.stream.destroy();
    if (!this.#isPublished) await this.bucket.abort(this.key, this.id);
  }

  async #take(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(this.#part, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === partBytes) await this.#send();
    }
  }

  async #send(): Promise<void> {
    if (this.#filled === 0) return;
    if (this.#tags.length === maxParts) throw new S3Error('The backup is larger than 80 GB.', 'EntityTooLarge', false);
    const body = this.#part.subarray(0, this.#filled);
    const query = { partNumber: String(this.#tags.length + 1), uploadId: this.id };
    const { key, signal } = this;
    const { headers } = await this.connection.text({ method: 'PUT', action: 'PutObject', key, query, body, signal });
    if (!headers.etag) throw notS3('stored no part');
    this.#tags.push(headers.etag.replace(/[<>&]/g, ''));
    this.#bytes += this.#filled;
    this.#filled = 0;
  }
}
