import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';

/** A transaction-mode pooler without support for prepared statements, like PgBouncer before 1.21. */
export interface PoolerStandIn {
  url: string;
  close(): Promise<void>;
}

/** A connection of the pooler to PostgreSQL, and the client that holds it during a transaction. */
interface Backend {
  stream: Socket;
  client: Socket | undefined;
}

/** The type byte of a PostgreSQL protocol message. */
const kindOf = (message: Buffer): string => String.fromCharCode(message[0] as number);

/**
 * @param connections size of the pool; each transaction gets the connection that has been idle longest
 * @param refuses a startup parameter to reject
 */
export async function poolerStandIn(
  url: string,
  { connections = 1, refuses }: { connections?: number; refuses?: string } = {},
): Promise<PoolerStandIn> {
  const free: Backend[] = [];
  const waiting: ((backend: Backend) => void)[] = [];
  const sockets = new Set<Socket>();
  let opening: Promise<void> = Promise.resolve();
  let isClosed = false;

  const give = (backend: Backend): void => {
    backend.client = undefined;
    const next = waiting.shift();
    if (next) next(backend);
    else free.push(backend);
  };
  const open = async (): Promise<void> => {
    // The driver authenticates; after that the socket carries the clients' messages.
    const driver = new pg.Client({ connectionString: url });
    await driver.connect();
    const { stream } = (driver as unknown as { connection: { stream: Socket } }).connection;
    stream.removeAllListeners('data').on('error', () => undefined);
    driver.on('error', () => undefined);
    sockets.add(stream);
    const backend: Backend = { stream, client: undefined };
    stream.on(
      'data',
      framed((message) => {
        backend.client?.write(message);
        if (kindOf(message) === 'Z' && String.fromCharCode(message[5] as number) === 'I') give(backend);
      }),
    );
    give(backend);
  };
  for (let count = 0; count < connections; count += 1) await open();

  const serve = (client: Socket): void => {
    sockets.add(client.on('error', () => undefined));
    let isGreeted = false;
    let backend: Backend | undefined;
    let pending: Buffer[] = [];
    const take = (given: Backend): void => {
      if (client.destroyed) return give(given);
      backend = given;
      given.client = client;
      for (const message of pending.splice(0)) given.stream.write(message);
    };
    client.on('data', (chunk) => {
      if (isGreeted) return receive(chunk);
      isGreeted = true;
      client.write(refuses !== undefined && chunk.includes(refuses) ? refusal(refuses) : welcome);
    });
    const receive = framed((message) => {
      if (kindOf(message) === 'X') return void client.end();
      if (backend?.client === client) return void backend.stream.write(message);
      pending = [...pending, message];
      if (pending.length > 1) return;
      const next = free.shift();
      if (next) take(next);
      else waiting.push(take);
    });
    client.on('close', () => {
      if (backend?.client !== client) return;
      backend.stream.destroy();
      // The client left during a transaction: replace the connection, also if the database goes away meanwhile.
      opening = opening.then(() => (isClosed ? undefined : open())).catch(() => undefined);
    });
  };

  const server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.search = '';
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    async close() {
      isClosed = true;
      await opening;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Splits a stream into messages: a type byte and a four-byte length that includes itself. */
function framed(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = rest.readUInt32BE(1) + 1;
      onMessage(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}

function messageOf(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** AuthenticationOk and ReadyForQuery. */
const welcome = Buffer.concat([messageOf('R', Buffer.alloc(4)), messageOf('Z', Buffer.from('I'))]);

const refusal = (parameter: string): Buffer =>
  messageOf('E', Buffer.from(`SFATAL\0C08P01\0Munsupported startup parameter: ${parameter}\0\0`));
