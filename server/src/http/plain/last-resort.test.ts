import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemRandom } from '../../adapters/system/random.ts';
import { openLog } from '../../adapters/telemetry/log.ts';
import { withContext } from '../context.ts';
import { Pages } from '../pages.ts';
import { lastResort } from './last-resort.ts';

afterEach(() => void vi.restoreAllMocks());

describe('an error after the response has started', () => {
  it('closes the connection, and is logged without the SQL statement', async () => {
    const printed = vi.spyOn(console, 'error');
    const lines: string[] = [];
    const log = openLog('info', { write: (line) => void lines.push(line) });
    const app = express().use(withContext(systemRandom));
    app.get('/', (_req, res) => {
      res.writeHead(200, { 'Content-Length': '9' }).write('a');
      throw new Error("select * from users where secret = 'hunter2' - connection lost");
    });
    app.use(lastResort(log, new Pages('/nowhere')));
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const whole = fetch(`http://127.0.0.1:${port}/`).then((response) => response.text());
    await expect(whole).rejects.toThrow();
    await new Promise((resolve) => server.close(resolve));
    expect(lines.join()).toContain('response aborted');
    expect(lines.join()).toContain('connection lost');
    expect(lines.join()).not.toContain('hunter2');
    expect(printed).not.toHaveBeenCalled();
  });
});

describe('a URL that cannot be decoded', () => {
  it('gets 400 and is not logged', async () => {
    const lines: string[] = [];
    const app = express().use(withContext(systemRandom));
    app.get('/:name', (_req, res) => void res.end());
    app.use(lastResort(openLog('info', { write: (line) => void lines.push(line) }), new Pages('/nowhere')));
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/%ff`);
    await new Promise((resolve) => server.close(resolve));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: 'invalid_request', request_id: expect.any(String) });
    expect(lines).toEqual([]);
  });
});
