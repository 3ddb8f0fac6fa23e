import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtFiles } from './built-files.ts';

const script = 'export const answer = 42;\n'.repeat(100);

let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-built-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'secret.txt'), 'not for everybody');
  writeFileSync(join(folder, 'assets', 'x.js'), script);
  writeFileSync(join(folder, 'assets', 'x.js.br'), brotliCompressSync(script));
  writeFileSync(join(folder, 'assets', 'x.js.gz'), gzipSync(script));
  writeFileSync(join(folder, 'assets', 'x.tgz'), gzipSync(script));
  const app = express().use(
    '/assets',
    builtFiles(join(folder, 'assets'), () => ({ 'Cache-Control': 'public, max-age=60' })),
  );
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

/** Raw request: does not decompress the response or resolve `..` in the path. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { port } = server.address() as AddressInfo;
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, method }, resolve).on('error', reject).end();
  });
  return { status: message.statusCode, headers: message.headers, body: await text(message) };
}

describe('files of the build', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ])('are served precompressed to a browser that accepts %s', async (accepted, encoding) => {
    const { status, headers } = await ask('/assets/x.js', { 'Accept-Encoding': accepted });
    expect(status).toBe(200);
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['content-type']).toMatch(/^text\/javascript/);
    expect(headers['cache-control']).toBe('public, max-age=60');
    expect(headers.vary).toContain('Accept-Encoding');
  });

  it('have the media type of a package', async () => {
    expect((await ask('/assets/x.tgz')).headers['content-type']).toBe('application/gzip');
  });

  it('return 304 for a matching ETag', async () => {
    const { headers } = await ask('/assets/x.js');
    const again = await ask('/assets/x.js', { 'If-None-Match': String(headers.etag) });
    expect(again.status).toBe(304);
    expect(again.body).toBe('');
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])('return 404 for %s', async (method) => {
    const { status, body } = await ask('/assets/x.js', {}, method);
    expect(status).toBe(404);
    expect(body).not.toContain('answer');
  });

  it.each(['bytes=0-9', 'bytes=-1', 'bytes=5-2', 'bytes=0-99999999999999999999', 'bytes=abc', 'lines=1-2'])(
    'ignore the range %s and send the whole file',
    async (range) => {
      const { status, body } = await ask('/assets/x.js', { Range: range });
      expect([status, body]).toEqual([200, script]);
    },
  );

  it('are served as soon as a new build writes them', async () => {
    expect((await ask('/assets/later.js')).status).toBe(404);
    writeFileSync(join(folder, 'assets', 'later.js'), script);
    expect((await ask('/assets/later.js')).body).toBe(script);
  });

  it.each([
    '/assets/../secret.txt',
    '/assets/..%2fsecret.txt',
    '/assets/%2e%2e/secret.txt',
    '/assets/..\\secret.txt',
    '/assets/',
    '/assets/%00',
    '/assets/%',
  ])('exclude anything outside the folder: %s', async (path) => {
    const { status, body } = await ask(path);
    expect([400, 404]).toContain(status);
    expect(body).not.toContain('not for everybody');
  });
});
