import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';

/** The eight bytes with which a PostgreSQL client asks for TLS (PostgreSQL's protocol, SSLRequest). */
const sslRequest = Buffer.from('0000000804d2162f', 'hex');

/** The first bytes that a client sends; the server then closes the connection. */
async function firstWords(query: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const received = new Promise<Buffer>((done) => {
    server.on('connection', (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (data) => {
        done(data);
        socket.destroy();
      });
    });
  });
  const orm = await openDatabase({ url: `postgresql://latchkey:secret@127.0.0.1:${port}/latchkey${query}` });
  const asked = orm.em.fork().execute('select 1');
  await expect(asked).rejects.toThrow();
  await orm.close(true);
  server.close();
  return received;
}

describe('the connections to the database', () => {
  it.each(['?sslmode=verify-full', '?sslmode=require', '?sslmode=no-verify', '?ssl=true'])(
    'ask for TLS before they send anything else where DATABASE_URL has %s',
    async (query) => {
      expect(await firstWords(query)).toEqual(sslRequest);
    },
  );

  it.each(['', '?sslmode=disable'])('do not request TLS with “%s”', async (query) => {
    expect(await firstWords(query)).not.toEqual(sslRequest);
  });
});
