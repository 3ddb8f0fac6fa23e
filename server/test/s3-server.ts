import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A failure: `cut` closes the connection, `hang` never answers, `drip` answers byte by byte without an end, `page` is an
 * answer of another program, `switch` one that changes to another protocol.
 */
export type Fault = 'cut' | 'hang' | 'drip' | 'page' | 'switch' | { status: number; code: string } | undefined;

/** A request that was received; its body counts as read. */
export interface Received {
  method: string;
  key: string;
  query: Map<string, string>;
}

interface Upload {
  key: string;
  begunAt: Date;
  parts: Map<number, Buffer>;
}

const minPartBytes = 5 * 1024 * 1024;
const pageSize = 2;
const skewMs = 15 * 60_000;
const bucket = 'backups';
const accessKeyId = 'AKIDEXAMPLE';
const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const region = 'eu-central-1';

/**
 * S3 on HTTP with one bucket, as the API reference of Amazon S3 describes it: it verifies each signature (AWS Signature
 * Version 4) and each body's hash, and lists two entries per page.
 */
export class S3Server {
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, Upload>();
  readonly received: Received[] = [];
  /** Decides about each request before it is carried out. */
  fault: (request: Received) => Fault = () => undefined;
  /** The connection of a download is closed after this number of bytes. */
  cutDownloadAfter: number | undefined;
  /** A download stops after this number of bytes, with its connection open. */
  holdDownloadAfter: number | undefined;
  onHeld: () => void = () => undefined;

  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });

  /** Settings of a command. */
  async listen(): Promise<Record<string, string>> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return {
      BACKUP_S3_ENDPOINT: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      BACKUP_S3_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    const [path = '', search = ''] = (request.url ?? '').split('?');
    const [, name = '', ...segments] = path.split('/').map(decodeURIComponent);
    const pairs = search.split('&').filter(Boolean);
    const query = new Map(pairs.map((pair) => pair.split('=').map(decodeURIComponent) as [string, string]));
    const received = { method: request.method ?? '', key: segments.join('/'), query };
    this.received.push(received);
    const fault = this.fault(received) ?? faultOf(request, path, query, body);
    if (fault === 'hang') return;
    if (fault === 'drip') return drip(response);
    if (fault === 'cut') return void request.socket.destroy();
    if (fault === 'switch')
      return response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'websocket' }).flushHeaders();
    if (fault === 'page') return void response.end('<!doctype html><title>It works</title>');
    if (fault) return refuse(response, fault.status, fault.code);
    if (name !== bucket) return refuse(response, 404, 'NoSuchBucket');
    this.#carryOut(received, request, response, body);
  }

  #carryOut({ method, key, query }: Received, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const upload = this.uploads.get(query.get('uploadId') ?? '');
    if (key === '') return xml(response, query.has('uploads') ? this.#uploadList(query) : this.#objectList(query));
    if (query.has('uploadId') && upload?.key !== key) return refuse(response, 404, 'NoSuchUpload');
    if (method === 'GET') return this.#download(key, request, response);
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      this.uploads.set(id, { key, begunAt: new Date(), parts: new Map() });
      return xml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    if (method === 'PUT' && upload) {
      upload.parts.set(Number(query.get('partNumber')), body);
      return void response.setHeader('ETag', etagOf(body)).end();
    }
    if (method === 'POST' && upload) return this.#complete(upload, query.get('uploadId') ?? '', response, body);
    if (method === 'DELETE') {
      if (upload) this.uploads.delete(query.get('uploadId') ?? '');
      else this.objects.delete(key);
      response.statusCode = 204;
      return void response.end();
    }
    refuse(response, 405, 'MethodNotAllowed');
  }

  #complete(upload: Upload, id: string, response: ServerResponse, body: Buffer): void {
    const wanted = [...body.toString().matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag><\/Part>/g)];
    const parts = wanted.map(([, number]) => upload.parts.get(Number(number)));
    const isWhole = parts.every(
      (part, at) => part && Number(wanted[at]?.[1]) === at + 1 && etagOf(part) === wanted[at]?.[2],
    );
    if (!isWhole || parts.length === 0) return refuse(response, 400, 'InvalidPart');
    if (parts.slice(0, -1).some((part) => (part?.length ?? 0) < minPartBytes))
      return refuse(response, 400, 'EntityTooSmall');
    this.objects.set(upload.key, Buffer.concat(parts as Buffer[]));
    this.uploads.delete(id);
    xml(response, `<CompleteMultipartUploadResult><Key>${escaped(upload.key)}</Key></CompleteMultipartUploadResult>`);
  }

  #download(key: string, request: IncomingMessage, response: ServerResponse): void {
    const whole = this.objects.get(key);
    if (!whole) return refuse(response, 404, 'NoSuchKey');
    const { range, 'if-match': version = etagOf(whole) } = request.headers;
    if (version !== etagOf(whole)) return refuse(response, 412, 'PreconditionFailed');
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    const content = whole.subarray(from);
    response.writeHead(range ? 206 : 200, { ETag: etagOf(whole), 'Content-Length': content.length });
    const held = this.holdDownloadAfter;
    if (held !== undefined) return void response.write(content.subarray(0, Math.max(held, 1)), () => this.onHeld());
    const cut = this.cutDownloadAfter;
    if (cut === undefined || cut >= content.length) return void response.end(content);
    this.cutDownloadAfter = undefined;
    response.write(content.subarray(0, cut), () => request.socket.destroy());
  }

  #objectList(query: Map<string, string>): string {
    const after = query.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()].sort().filter((key) => isListed(key, query) && key > after);
    const page = keys.slice(0, pageSize);
    const next =
      keys.length > pageSize ? `<NextContinuationToken>${escaped(page.at(-1) ?? '')}</NextContinuationToken>` : '';
    const contents = page.map(
      (key) => `<Contents><Key>${escaped(key)}</Key><Size>${this.objects.get(key)?.length}</Size></Contents>`,
    );
    return `<ListBucketResult>${next}${contents.join('')}</ListBucketResult>`;
  }

  #uploadList(query: Map<string, string>): string {
    const listed = [...this.uploads].filter(([, { key }]) => isListed(key, query));
    const entries = listed.map(
      ([id, { key, begunAt }]) =>
        `<Upload><Key>${escaped(key)}</Key><UploadId>${id}</UploadId><Initiated>${begunAt.toISOString()}</Initiated></Upload>`,
    );
    return `<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`;
  }
}

function isListed(key: string, query: Map<string, string>): boolean {
  const prefix = query.get('prefix') ?? '';
  const isDeeper = query.get('delimiter') === '/' && key.slice(prefix.length).includes('/');
  return key.startsWith(prefix) && !isDeeper;
}

function drip(response: ServerResponse): void {
  const dripping = setInterval(() => response.write(' '), 5);
  response.once('close', () => clearInterval(dripping));
}

/** The fault of a request's signature, clock or body. */
function faultOf(request: IncomingMessage, path: string, query: Map<string, string>, body: Buffer): Fault {
  const { authorization = '', 'x-amz-date': date = '', 'x-amz-content-sha256': hash } = request.headers;
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[^/]+\/s3\/aws4_request), SignedHeaders=([^,]+), Signature=(\w+)$/;
  const [, key, scope = '', names = '', signature = ''] = form.exec(authorization) ?? [];
  if (scope === '') return { status: 403, code: 'AccessDenied' };
  if (key !== accessKeyId) return { status: 403, code: 'InvalidAccessKeyId' };
  if (scope.split('/')[1] !== region) return { status: 400, code: 'AuthorizationHeaderMalformed' };
  const at = Date.parse(String(date).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (!(Math.abs(Date.now() - at) < skewMs)) return { status: 403, code: 'RequestTimeTooSkewed' };
  if (hash !== sha256(body)) return { status: 400, code: 'XAmzContentSHA256Mismatch' };
  if (!['host', 'x-amz-date', 'x-amz-content-sha256'].every((name) => names.split(';').includes(name)))
    return { status: 403, code: 'AccessDenied' };
  const canonical = [
    request.method,
    path.split('/').map(decodeURIComponent).map(encoded).join('/'),
    [...query]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    names,
    hash,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const signingKey = scope
    .split('/')
    .reduce<Buffer | string>((left, part) => hmac(left, part), `AWS4${secretAccessKey}`);
  const expected = hmac(signingKey, text);
  const given = Buffer.from(signature, 'hex');
  if (given.length === expected.length && timingSafeEqual(given, expected)) return undefined;
  return { status: 403, code: 'SignatureDoesNotMatch' };
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status;
  xml(response, `<Error><Code>${code}</Code><Message>refused</Message></Error>`);
}

function xml(response: ServerResponse, text: string): void {
  response.setHeader('Content-Type', 'application/xml').end(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`);
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const etagOf = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`;
