import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type Listening, PortError, prepareListening } from './listener.ts';

let listening: Listening | undefined;
afterEach(() => listening?.drain(0));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the port of the application', () => {
  it('is closed until the application is ready, so that a proxy tries another process', async () => {
    const port = await freePort();
    listening = await prepareListening('127.0.0.1', port, 'PORT');
    const ask = () => fetch(`http://127.0.0.1:${port}`, { method: 'POST' });
    await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await listening.serve((_req, res) => void res.end('served'));
    expect(await (await ask()).text()).toBe('served');
  });

  it('is checked before anything else starts', async () => {
    const port = await freePort();
    const other = await prepareListening('127.0.0.1', port, 'PORT');
    await other.serve((_req, res) => void res.end());
    const refused = prepareListening('127.0.0.1', port, 'PORT');
    await expect(refused).rejects.toThrow(PortError);
    await expect(refused).rejects.toThrow(`127.0.0.1:${port} is taken by another program`);
    await other.drain(0);
  });

  it('serves pending connections when it closes, accepted or not', async () => {
    const port = await freePort();
    listening = await prepareListening('127.0.0.1', port, 'PORT');
    await listening.serve((_req, res) => void res.end('served'));
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n');
    // The kernel has connected it; the server has not accepted it yet.
    await new Promise<void>((connected) => process.nextTick(connected));
    const drained = listening.drain(1_000);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*Connection: close\r\n[^]*served/i);
    await drained;
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  });

  it('accepts a whole URL, if the Host header names its host', async () => {
    const port = await freePort();
    listening = await prepareListening('127.0.0.1', port, 'PORT');
    await listening.serve((_req, res) => void res.end('served'));
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'GET http://A.example:80/?x=http://b.example HTTP/1.1\r\nHost: a.example:80\r\nConnection: close\r\n\r\n',
    );
    expect((await text(socket)).split('\r\n')[0]).toContain('200');
  });

  it.each([
    ['/a//b?x=http://b/#', '/a//b?x=http://b/'],
    ['http://a.example/b/../c?d#e', '/b/../c?d'],
    ['http://a.example', '/'],
    ['http://a.example?x', '/?x'],
    ['//b.example/#', '//b.example/'],
    ['*', '/*'],
  ])('passes on the target %s as %s', async (target, url) => {
    const port = await freePort();
    listening = await prepareListening('127.0.0.1', port, 'PORT');
    await listening.serve((req, res) => void res.end(`<${req.url}>`));
    const socket = connect(port, '127.0.0.1');
    socket.write(`OPTIONS ${target} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toContain(`<${url}>`);
  });

  it.each([
    ['two Host headers', 'GET / HTTP/1.1\r\nHost: a.example\r\nhost: b.example', '400 Bad Request'],
    ['no Host header', 'GET / HTTP/1.1', '400 Bad Request'],
    ['a URL of another host', 'GET http://a.example/ HTTP/1.1\r\nHost: b.example', '400 Bad Request'],
    ['another major version', 'GET / HTTP/2.0\r\nHost: a.example', '505 HTTP Version Not Supported'],
    [
      'both a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked',
      '400',
    ],
  ])('refuses %s, and closes', async (_what, head, status) => {
    const port = await freePort();
    listening = await prepareListening('127.0.0.1', port, 'PORT');
    await listening.serve((_req, res) => void res.end('served'));
    const socket = connect(port, '127.0.0.1');
    socket.write(`${head}\r\n\r\n`);
    expect((await text(socket)).split('\r\n')[0]).toContain(status);
  });
});
