import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { S3Server } from '../../../test/s3-server.ts';
import { Secret } from '../../domain/kernel/secret.ts';
import { S3Bucket, type S3Upload } from './bucket.ts';

const never = new AbortController().signal;

let server: S3Server;
let bucket: S3Bucket;
let settings: ConstructorParameters<typeof S3Bucket>[0];

beforeEach(async () => {
  server = new S3Server();
  const env = await server.listen();
  settings = {
    endpoint: env['BACKUP_S3_ENDPOINT'],
    region: env['BACKUP_S3_REGION'] as string,
    pathStyle: true,
    accessKeyId: new Secret(env['AWS_ACCESS_KEY_ID'] as string),
    secretAccessKey: new Secret(env['AWS_SECRET_ACCESS_KEY'] as string),
    sessionToken: undefined,
    pauseMs: 1,
    idleMs: 60_000,
  };
  bucket = new S3Bucket(settings, 'backups', never);
});

afterEach(async () => {
  bucket.close();
  await server.close();
});

const content = randomBytes(20_000_000);

async function filled(key: string, of: S3Bucket = bucket): Promise<S3Upload> {
  const upload = await of.begin(key);
  await pipeline(Readable.from(content, { objectMode: false, highWaterMark: 65_536 }), upload.stream);
  return upload;
}

async function store(key: string, of: S3Bucket = bucket): Promise<void> {
  const upload = await filled(key, of);
  expect(await upload.publish()).toBe(true);
  await upload.close();
}

/** Faults of the next requests that match, in order. */
function failNext(method: string, ...faults: ReturnType<S3Server['fault']>[]): void {
  server.fault = (request) => (request.method === method ? faults.shift() : undefined);
}

describe('an upload', () => {
  it('is visible only when it is complete, in parts of one size', async () => {
    const key = `a b+c/ü&(1)'*!~=.gz`;
    const upload = await filled(key);
    expect(server.objects.size).toBe(0);
    const [open] = [...server.uploads.values()];
    expect([...(open?.parts.values() ?? [])].map((part) => part.length)).toEqual([8_388_608, 8_388_608, 3_222_784]);
    await upload.publish();
    await upload.close();
    expect(server.objects.get(key)?.equals(content)).toBe(true);
    expect(await bucket.find(key)).toEqual({ key, bytes: content.length });
    expect((await buffer(bucket.read(key))).equals(content)).toBe(true);
  });

  it('repeats a part whose connection was cut, or that the storage was too busy for', async () => {
    failNext('PUT', 'cut', undefined, { status: 503, code: 'SlowDown' }, { status: 500, code: 'InternalError' });
    await store('a.gz');
    expect(server.objects.get('a.gz')?.equals(content)).toBe(true);
  });

  it('ends after four attempts, and leaves no parts', async () => {
    server.fault = ({ method }) => (method === 'PUT' ? 'cut' : undefined);
    const upload = await bucket.begin('a.gz');
    const writing = pipeline(Readable.from(content, { objectMode: false }), upload.stream);
    await expect(writing).rejects.toThrow(/^127\.0\.0\.1:\d+ cannot be reached \(ECONNRESET\)\.$/);
    await upload.close();
    expect(server.received.filter(({ method }) => method === 'PUT')).toHaveLength(4);
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
  });

  it('stops within a part once it is aborted', async () => {
    const stopping = new AbortController();
    server.fault = ({ method }) => {
      if (method !== 'PUT') return undefined;
      stopping.abort(new Error('stopped'));
      return 'hang';
    };
    const stopped = new S3Bucket(settings, 'backups', stopping.signal);
    const upload = await stopped.begin('a.gz');
    const writing = pipeline(Readable.from(content, { objectMode: false }), upload.stream);
    await expect(writing).rejects.toThrow('stopped');
    await upload.close();
    stopped.close();
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
  });

  it('succeeds if only the response to its completion was lost', async () => {
    const upload = await filled('a.gz');
    const isCompletion = ({ method, query }: { method: string; query: Map<string, string> }) =>
      method === 'POST' && query.has('uploadId');
    let completions = 0;
    server.fault = (request) => {
      if (!isCompletion(request)) return undefined;
      completions += 1;
      if (completions > 1) return undefined;
      for (const { parts } of server.uploads.values()) server.objects.set('a.gz', Buffer.concat([...parts.values()]));
      server.uploads.clear();
      return 'cut';
    };
    expect(await upload.publish()).toBe(true);
    expect(completions).toBe(2);
  });

  it('fails if its completion returns 200 with an error', async () => {
    const upload = await filled('a.gz');
    server.fault = ({ method }) => (method === 'POST' ? { status: 200, code: 'InternalError' } : undefined);
    await expect(upload.publish()).rejects.toThrow(
      'responded with 200 InternalError to s3:PutObject on s3://backups/a.gz',
    );
    server.fault = () => undefined;
    await upload.close();
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
  });

  it('fails if another program answers', async () => {
    server.fault = () => 'page';
    await expect(bucket.find('a.gz')).rejects.toThrow('The storage listed no objects: it may not be S3-compatible.');
    await expect(bucket.begin('a.gz')).rejects.toThrow('The storage began no upload');
    server.fault = ({ method }) => (method === 'PUT' ? 'page' : undefined);
    await expect(filled('a.gz')).rejects.toThrow('The storage stored no part');
  });

  it('replaces no object that was created in the meantime', async () => {
    const upload = await filled('a.gz');
    server.objects.set('a.gz', Buffer.from('other'));
    expect(await upload.publish()).toBe(false);
    await upload.close();
    expect(server.objects.get('a.gz')?.toString()).toBe('other');
    expect(server.uploads.size).toBe(0);
  });
});

describe('a download', () => {
  it('continues after a broken connection', async () => {
    server.objects.set('a.gz', content);
    server.cutDownloadAfter = 5_000_000;
    expect((await buffer(bucket.read('a.gz'))).equals(content)).toBe(true);
    expect(server.received).toHaveLength(2);
  });

  it('does not continue with another version of the object', async () => {
    server.objects.set('a.gz', content);
    server.cutDownloadAfter = 5_000_000;
    server.fault = () => {
      if (server.received.length === 2) server.objects.set('a.gz', Buffer.from('new'));
      return undefined;
    };
    await expect(buffer(bucket.read('a.gz'))).rejects.toThrow('412 PreconditionFailed');
  });
});

describe('a bucket', () => {
  it.each<[string, (key: string) => Promise<unknown>]>([
    ['ListBucket', (key) => bucket.find(key)],
    ['PutObject', (key) => bucket.begin(key)],
    ['GetObject', (key) => buffer(bucket.read(key))],
    ['DeleteObject', (key) => bucket.remove(key)],
  ])('fails immediately if the storage switches protocols: %s', async (action, work) => {
    server.fault = () => 'switch';
    await expect(work('a.gz')).rejects.toThrow(`responded with 101 to s3:${action} on s3://backups/`);
    expect(server.received).toHaveLength(1);
  });

  it('gives up on a silent connection', async () => {
    server.fault = () => 'hang';
    const storage = new S3Bucket({ ...settings, idleMs: 50 }, 'backups', never);
    await expect(storage.remove('a.gz')).rejects.toThrow('cannot be reached (no answer in time)');
    storage.close();
  });

  it.each<[string, (bucket: S3Bucket) => Promise<unknown>]>([
    ['a list', (bucket) => bucket.objects('p/')],
    ['a removal', (bucket) => bucket.remove('a.gz')],
    ['a new upload', (bucket) => bucket.begin('a.gz')],
  ])('gives up on an endless response: %s', async (_name, work) => {
    server.fault = () => 'drip';
    const storage = new S3Bucket({ ...settings, exchangeMs: 100 }, 'backups', never);
    await expect(work(storage)).rejects.toThrow('cannot be reached (no answer in time)');
    storage.close();
  });

  it('gives up on a download that is too slow', async () => {
    server.fault = ({ key }) => (key === 'a.gz' ? 'drip' : undefined);
    const storage = new S3Bucket({ ...settings, exchangeMs: 100 }, 'backups', never);
    await expect(buffer(storage.read('a.gz'))).rejects.toThrow(/\((too slow|no answer in time)\)\.$/);
    storage.close();
  });

  it('lists all pages of a prefix, without deeper ones', async () => {
    for (const key of ['p/1', 'p/2', 'p/3', 'p/4', 'p/<&5', 'p/q/6', 'r']) server.objects.set(key, Buffer.from(key));
    expect((await bucket.objects('p/')).map(({ key }) => key)).toEqual(['p/1', 'p/2', 'p/3', 'p/4', 'p/<&5']);
  });

  it.each([
    ['InvalidAccessKeyId', 403, 'refused the credentials (InvalidAccessKeyId)'],
    ['AccessDenied', 403, 'denied s3:DeleteObject on s3://backups/a.gz: allow it for this access key.'],
    ['RequestTimeTooSkewed', 403, 'the clock of this machine is wrong'],
    ['PermanentRedirect', 301, 'check BACKUP_S3_REGION'],
    ['', 302, 'check BACKUP_S3_REGION'],
    ['\u001b[31mred', 409, 'responded with 409 to s3:DeleteObject'],
  ])('explains %s, without another attempt', async (code, status, words) => {
    server.fault = () => ({ status, code });
    await expect(bucket.remove('a.gz')).rejects.toThrow(words);
    expect(server.received).toHaveLength(1);
  });
});
