import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';

/** A proxy in front of a database. */
export interface Tap {
  url: string;
  close(): void;
}

/** `application_name` of connections through a tap. */
export const tapped = 'latchke2';

/** Names the connections of one process, so that a row shows which process wrote it. */
export async function tapOn(url: string): Promise<Tap> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url });
  const open = () => (host.startsWith('/') ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host));
  const server = createServer((near) => {
    const far = open();
    near.once('data', (greeting: Buffer) => {
      far.write(renamed(greeting));
      near.pipe(far).pipe(near);
    });
    for (const one of [near, far]) one.setNoDelay().on('error', () => undefined);
    closeTogether(near, far);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const login = `${encodeURIComponent(user ?? '')}:${encodeURIComponent(password ?? '')}`;
  return { url: `postgresql://${login}@${own}/${database}`, close: () => void server.close() };
}

/** The first message of the driver, with another name of the same length. */
function renamed(greeting: Buffer): Buffer {
  const before = 'application_name\0latchkey\0';
  const at = greeting.indexOf(before);
  if (at < 0) return greeting;
  const changed = Buffer.from(greeting);
  changed.write(`application_name\0${tapped}\0`, at);
  return changed;
}

function closeTogether(...sockets: Socket[]): void {
  for (const one of sockets) one.on('close', () => sockets.forEach((other) => void other.destroy()));
}
