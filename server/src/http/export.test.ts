import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { csvRecord, sendExport } from './export.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface Row {
  n: number;
}

async function serving(pages: () => AsyncIterable<readonly Row[]>, onEnd?: (error: unknown) => void): Promise<string> {
  const app = express();
  app.get('/file', async (_req, res) => {
    await sendExport(res, { name: 'rows', format: 'csv', columns: { n: ({ n }) => n }, pages: pages() }).then(
      () => onEnd?.(undefined),
      (error: unknown) => onEnd?.(error),
    );
  });
  server = createServer(app);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
}

describe('a CSV record (RFC 4180)', () => {
  it('quotes values, doubles quotes, keeps line breaks, and leaves null and undefined empty', () => {
    expect(csvRecord(['a"b', 'c,d', 'e\r\nf', null, undefined, 7, { g: 1 }])).toBe(
      '"a""b","c,d","e\r\nf",,,"7","{""g"":1}"\r\n',
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])('escapes the formula %j', (text) => {
    expect(csvRecord([text])).toBe(`"'${text}"\r\n`);
  });
});

describe('an export', () => {
  it('sends every page, in order', async () => {
    async function* pages() {
      yield [{ n: 1 }, { n: 2 }];
      yield [{ n: 3 }];
    }
    const response = await fetch(await serving(pages));
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="rows.csv"');
    expect(await response.text()).toBe('"n"\r\n"1"\r\n"2"\r\n"3"\r\n');
  });

  it('applies backpressure, and stops reading when the client disconnects', async () => {
    let read = 0;
    let isOver = false;
    async function* pages() {
      try {
        for (;;) {
          read += 1;
          yield Array.from({ length: 5000 }, (_, n) => ({ n }));
        }
      } finally {
        isOver = true;
      }
    }
    const ended = Promise.withResolvers<unknown>();
    const controller = new AbortController();
    const response = await fetch(await serving(pages, ended.resolve), { signal: controller.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort();
    expect(await ended.promise).toBeUndefined();
    expect(isOver).toBe(true);
    expect(read).toBeLessThan(1000);
  });

  it('aborts the connection if reading fails, so that a partial file is not mistaken for a complete one', async () => {
    async function* pages() {
      yield [{ n: 1 }];
      throw new Error('unavailable');
    }
    const ended = Promise.withResolvers<unknown>();
    const response = await fetch(await serving(pages, ended.resolve));
    await expect(response.text()).rejects.toThrow();
    expect(await ended.promise).toBeInstanceOf(Error);
  });
});
