import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** A TCP way to a database that can be closed and opened again, as when the server goes away. */
export class Breakable {
  private server: Server | undefined;
  private port = 0;
  private readonly sockets = new Set<Socket>();
  private target = '';

  /** The same database, over this way. */
  async to(url: string): Promise<string> {
    const there = new URL(url);
    const host = decodeURIComponent(there.hostname);
    this.target = host.startsWith('/') ? join(host, `.s.PGSQL.${there.port || 5432}`) : `${host}:${there.port || 5432}`;
    await this.open();
    there.host = `127.0.0.1:${this.port}`;
    return there.href;
  }

  async open(): Promise<void> {
    const server = createServer((near) => {
      const far = this.target.startsWith('/') ? connect(this.target) : connectTo(this.target);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
      }
      near.pipe(far).pipe(near);
    });
    this.server = server;
    await new Promise<void>((resolve) => {
      server.listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

function connectTo(target: string): Socket {
  const { hostname, port } = new URL(`tcp://${target}`);
  return connect(Number(port), hostname);
}
