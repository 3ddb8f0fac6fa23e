import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { nameLookup } from './name-lookup.ts';
import { postForm } from './outbound.ts';

const form = new URLSearchParams({ logout_token: 'x' });
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** Starts a name server on this machine, which returns `record` for each IPv4 query; null: it never responds. */
async function nameServer(record: string | null): Promise<string[]> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.on('message', (question, { port, address }) => {
    if (record !== null) socket.send(reply(question, record), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return [`127.0.0.1:${socket.address().port}`];
}

/** RFC 1035 §4.1: the question with one record of its type, or, for IPv6, with none. */
function reply(question: Buffer, ip: string): Buffer {
  const end = question.indexOf(0, 12) + 5;
  const isIpv4 = question.readUInt16BE(end - 4) === 1;
  const header = Buffer.from([question[0] ?? 0, question[1] ?? 0, 0x81, 0x80, 0, 1, 0, isIpv4 ? 1 : 0, 0, 0, 0, 0]);
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)];
  return Buffer.concat([header, question.subarray(12, end), Buffer.from(isIpv4 ? record : [])]);
}

describe('name lookup', () => {
  it('refuses a public name that resolves to this machine', async () => {
    const resolve = nameLookup(await nameServer('127.0.0.1'));
    const options = { allowPrivate: false, timeoutMs: 2000, resolve };
    expect(await postForm('https://receiver.example:1/', form, options)).toEqual({
      error: 'the address is not public',
    });
  });

  it('returns addresses of one family if there is no other', async () => {
    const names = nameLookup(await nameServer('203.0.113.7'));
    const found = await new Promise((resolve) => names('receiver.example', (_error, all) => resolve(all)));
    expect(found).toEqual([{ address: '203.0.113.7', family: 4 }]);
  });

  it('does not delay other lookups if name servers never respond', async () => {
    const resolve = nameLookup(await nameServer(null));
    const options = { allowPrivate: false, timeoutMs: 2000, resolve };
    let done = 0;
    const hanging = Array.from({ length: 20 }, async (_, number) => {
      const outcome = await postForm(`https://receiver-${number}.example/`, form, options);
      done += 1;
      return outcome;
    });
    expect((await lookup('localhost')).address).toMatch(/^(127\.|::1)/);
    expect(done).toBe(0);
    for (const outcome of await Promise.all(hanging)) expect(outcome).toEqual({ error: 'no answer in time' });
  });
});
