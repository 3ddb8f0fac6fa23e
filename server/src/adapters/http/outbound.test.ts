import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../domain/kernel/network.ts';
import type { NameLookup } from './name-lookup.ts';
import { fetchDocument, fetchJson, postForm, postJson } from './outbound.ts';

const strict = { allowPrivate: false, timeoutMs: 2000 };
const lenient = { allowPrivate: true, timeoutMs: 60_000 };
const hasty = { ...lenient, timeoutMs: 300 };
const form = new URLSearchParams({ logout_token: 'x' });
const servers: { close(): unknown }[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

function serve(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(handler);
  servers.push({ close: () => server.close().closeAllConnections() });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });
}

/** A name server with given answers. */
function resolvingTo(addresses: () => string[]): NameLookup {
  return (_name, done) => {
    done(
      null,
      addresses().map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

describe('a public address', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001:82b::200e'])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    'fe80::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '2001:db8::1',
    'localhost',
    '',
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('a POST to a registered URL', () => {
  it.each([
    '127.0.0.1',
    '[::1]',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '169.254.169.254',
    '10.0.0.1',
  ])('refuses the address %s without connecting', async (host) => {
    await expect(postForm(`https://${host}:1/`, form, strict)).resolves.toEqual({ error: 'the address is not public' });
  });

  it('refuses a name that resolves to such addresses, in part or at the second lookup', async () => {
    const answers: string[][] = [['127.0.0.1'], ['10.0.0.1', '::1'], ['169.254.169.254']];
    for (const addresses of answers) {
      const options = { ...strict, resolve: resolvingTo(() => addresses) };
      await expect(postForm('https://receiver.example/', form, options)).resolves.toEqual({
        error: 'the address is not public',
      });
    }
    await expect(postForm('https://localhost:1/', form, strict)).resolves.toEqual({
      error: 'the address is not public',
    });
  });

  it('resolves the name once, which prevents DNS rebinding', async () => {
    let asked = 0;
    const resolve = resolvingTo(() => {
      asked += 1;
      return asked === 1 ? [] : ['127.0.0.1'];
    });
    const outcome = await postForm('https://rebinding.example:1/', form, { ...strict, timeoutMs: 200, resolve });
    expect(outcome).toHaveProperty('error');
    expect(outcome).not.toEqual({ error: 'ECONNREFUSED' });
    expect(asked).toBe(1);
  });

  it('refuses plain http', async () => {
    await expect(postForm('http://example.com/', form, strict)).resolves.toEqual({ error: 'the address is not https' });
  });

  it('sends the form and reports the status', async () => {
    let received = '';
    const url = await serve((req, res) => {
      req.on('data', (chunk: Buffer) => (received += chunk.toString()));
      req.on('end', () => res.writeHead(204).end());
    });
    await expect(postForm(url, form, lenient)).resolves.toEqual({ status: 204 });
    expect(received).toBe('logout_token=x');
  });

  it('sends JSON, and does not read the body of the response, even if it is large', async () => {
    let received: [string | undefined, string] = ['', ''];
    const url = await serve((req, res) => {
      let text = '';
      req.on('data', (chunk: Buffer) => (text += chunk.toString()));
      req.on('end', () => {
        received = [req.headers['content-type'], text];
        res.writeHead(200);
        const more = () => void (res.destroyed || (res.write('x'.repeat(65_536)), setImmediate(more)));
        more();
      });
    });
    await expect(postJson(url, '{"a":"é"}', lenient)).resolves.toEqual({ status: 200 });
    expect(received).toEqual(['application/json', '{"a":"é"}']);
    await expect(postJson('https://10.0.0.1/', '{}', strict)).resolves.toEqual({ error: 'the address is not public' });
  });

  it('does not follow a redirect', async () => {
    let asked = 0;
    const url = await serve((_req, res) => {
      asked += 1;
      res.writeHead(302, { Location: '/again' }).end();
    });
    await expect(postForm(url, form, lenient)).resolves.toEqual({ status: 302 });
    expect(asked).toBe(1);
  });

  it('fails if the receiver switches protocols', async () => {
    const server = createSocketServer((socket) => {
      const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
      socket.once('data', () => socket.write(upgrade));
    });
    servers.push(server);
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
    const url = `http://127.0.0.1:${port}/`;
    await expect(postForm(url, form, lenient)).resolves.toEqual({ error: 'status 101' });
    await expect(fetchJson(url, lenient)).resolves.toEqual({ error: 'status 101' });
  });

  it('times out on a receiver that hangs', async () => {
    const url = await serve(() => undefined);
    await expect(postForm(url, form, hasty)).resolves.toEqual({ error: 'no answer in time' });
  });

  it('times out on a receiver that accepts and never reads', async () => {
    const server = createSocketServer();
    servers.push(server);
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
    await expect(postForm(`http://127.0.0.1:${port}/`, form, hasty)).resolves.toHaveProperty('error');
  });

  it('does not read an endless response', async () => {
    const url = await serve((_req, res) => {
      res.writeHead(200);
      const more = () => {
        while (res.write('x'.repeat(65_536)));
        res.once('drain', more);
      };
      more();
    });
    await expect(postForm(url, form, lenient)).resolves.toEqual({ status: 200 });
  });
});

describe('a fetched document', () => {
  it('must be at a public https address', async () => {
    const notPublic = { error: 'the address is not public' };
    const resolve = resolvingTo(() => ['10.0.0.1']);
    await expect(fetchJson('https://127.0.0.1:1/', strict)).resolves.toEqual(notPublic);
    await expect(fetchJson('https://keys.example/', { ...strict, resolve })).resolves.toEqual(notPublic);
    await expect(fetchJson('http://example.com/', strict)).resolves.toEqual({ error: 'the address is not https' });
  });

  it('is JSON of limited size with status 200; redirects are not followed', async () => {
    const url = await serve((req, res) => {
      if (req.url === '/moved') res.writeHead(302, { Location: '/' }).end();
      else if (req.url === '/large') res.end(JSON.stringify('x'.repeat(70_000)));
      else if (req.url === '/slow') res.write('{');
      else res.end(req.url === '/text' ? 'text' : '{"keys":[]}');
    });
    await expect(fetchJson(url, lenient)).resolves.toEqual({ json: { keys: [] } });
    await expect(fetchJson(`${url}moved`, lenient)).resolves.toEqual({ error: 'status 302' });
    await expect(fetchJson(`${url}large`, lenient)).resolves.toEqual({ error: 'the document is too large' });
    await expect(fetchJson(`${url}text`, lenient)).resolves.toEqual({ error: 'the document is not JSON' });
    await expect(fetchJson(`${url}slow`, hasty)).resolves.toEqual({ error: 'no answer in time' });
  });
});

describe('a document of a stranger', () => {
  it('must be at a public https address, also after a redirect, which is not followed', async () => {
    const notPublic = { error: 'the address is not public' };
    for (const address of ['169.254.169.254', '10.0.0.1', '[::1]', '127.0.0.1', '[fd00::1]']) {
      await expect(fetchDocument(`https://${address}/client.json`, strict), address).resolves.toEqual(notPublic);
    }
    const resolve = resolvingTo(() => ['192.168.1.1']);
    await expect(fetchDocument('https://client.example/a', { ...strict, resolve })).resolves.toEqual(notPublic);
    const url = await serve((req, res) => {
      if (req.url === '/') res.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end();
    });
    await expect(fetchDocument(url, lenient)).resolves.toEqual({ error: 'status 302' });
  });

  it('is JSON by its media type, of at most 16 KB, with the lifetime of its header', async () => {
    const url = await serve((req, res) => {
      const [path, ...more] = decodeURIComponent(req.url ?? '').split('?');
      if (path === '/endless')
        return void res.writeHead(200, { 'Content-Type': 'application/json' }).end('['.repeat(10_000_000));
      const headers = more[0] === undefined ? {} : { 'Cache-Control': more[0] };
      res
        .writeHead(200, { 'Content-Type': path === '/' ? 'application/json' : `${path?.slice(1)}`, ...headers })
        .end('{}');
    });
    await expect(fetchDocument(url, lenient)).resolves.toEqual({ json: {}, cacheSeconds: null });
    await expect(fetchDocument(`${url}?max-age=60`, lenient)).resolves.toEqual({ json: {}, cacheSeconds: 60 });
    await expect(fetchDocument(`${url}?max-age=60, no-cache`, lenient)).resolves.toEqual({ json: {}, cacheSeconds: 0 });
    const own = encodeURIComponent('application/cimd+json; charset=utf-8');
    await expect(fetchDocument(url + own, lenient)).resolves.toEqual({ json: {}, cacheSeconds: null });
    for (const type of ['text/html', 'application/jsonp', 'text/json']) {
      const refused = { error: 'the media type is not JSON' };
      await expect(fetchDocument(url + encodeURIComponent(type), lenient), type).resolves.toEqual(refused);
    }
    await expect(fetchDocument(`${url}endless`, lenient)).resolves.toEqual({ error: 'the document is too large' });
  });
});
