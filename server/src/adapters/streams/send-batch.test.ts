import { mkdtemp, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { selfSigned } from '../../../test/self-signed.ts';
import type { Batch } from '../../domain/streams/batch.ts';
import { sendBatches } from './send-batch.ts';
import { sendSyslog } from './syslog-socket.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const socket of sockets) socket.destroy();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as { port: number }).port;
}

const local = { allowPrivate: true, timeoutMs: 10_000 };
const at = (port: number, tls = false) => ({ host: tls ? 'localhost' : '127.0.0.1', port, tls });

describe('a syslog collector', () => {
  it('has accepted a batch once it has read to the end and closed', async () => {
    let received = '';
    const port = await listen(createServer((socket) => socket.on('data', (data) => (received += data))));
    expect(await sendSyslog(at(port), Buffer.from('3 abc'), local)).toEqual({ accepted: true });
    expect(received).toBe('3 abc');
  });

  it('has not accepted a batch if it cuts the connection, or never reads to the end', async () => {
    const cut = await listen(createServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    expect(await sendSyslog(at(cut), Buffer.from('3 abc'), local)).toEqual({ error: 'ECONNRESET' });
    const hangs = await listen(createServer({ allowHalfOpen: true, pauseOnConnect: true }, () => undefined));
    const outcome = await sendSyslog(at(hangs), Buffer.from('3 abc'), { ...local, timeoutMs: 100 });
    expect(outcome).toEqual({ error: 'no answer in time' });
  });

  it('needs a certificate that the system trusts', async () => {
    let received = '';
    const port = await listen(createTlsServer(selfSigned, (socket) => socket.on('data', (data) => (received += data))));
    expect(await sendSyslog(at(port, true), Buffer.from('3 abc'), local)).toEqual({
      error: expect.stringMatching(/SELF_SIGNED/),
    });
    expect(received).toBe('');
    const trusted = { ...local, ca: selfSigned.cert };
    expect(await sendSyslog(at(port, true), Buffer.from('3 abc'), trusted)).toEqual({ accepted: true });
    expect(received).toBe('3 abc');
  });

  it.each(['127.0.0.1', '10.0.0.1', '::1', 'localhost'])('at %s is not public', async (host) => {
    const guarded = { allowPrivate: false, timeoutMs: 10_000 };
    const receiver = { host, port: 6514, tls: true };
    expect(await sendSyslog(receiver, Buffer.from(''), guarded)).toEqual({ error: 'the address is not public' });
  });
});

describe('a file', () => {
  const batch = (text: string, name = 'audit.jsonl'): Batch => ({ kind: 'file', name, body: Buffer.from(text) });

  it('grows by lines, starts a new file after a rotation, and keeps a cut line apart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'streams-'));
    const send = sendBatches({ allowPrivate: false, folder });
    const path = join(folder, 'audit.jsonl');
    expect(await send(batch('a\n'))).toEqual({ accepted: true });
    await send(batch('b\n'));
    expect(await readFile(path, 'utf8')).toBe('a\nb\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await rename(path, `${path}.1`);
    await send(batch('c\n'));
    expect(await readFile(path, 'utf8')).toBe('c\n');
    await writeFile(path, 'c\n{"cut');
    await send(batch('d\n'));
    expect(await readFile(path, 'utf8')).toBe('c\n{"cut\nd\n');
  });

  it('is not written if it is a link, or without a folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'streams-'));
    await writeFile(join(folder, 'other'), '');
    await symlink(join(folder, 'other'), join(folder, 'link.jsonl'));
    expect(await sendBatches({ allowPrivate: false, folder })(batch('a\n', 'link.jsonl'))).toEqual({ error: 'ELOOP' });
    expect(await readFile(join(folder, 'other'), 'utf8')).toBe('');
    expect(await sendBatches({ allowPrivate: false })(batch('a\n'))).toEqual({ error: 'LOG_STREAM_DIR is not set' });
    const missing = sendBatches({ allowPrivate: false, folder: join(folder, 'missing') });
    expect(await missing(batch('a\n'))).toEqual({ error: 'ENOENT' });
  });
});
