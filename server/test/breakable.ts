import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** A TCP proxy to a database that can be closed and reopened, to simulate an outage. */
export class Breakable {
  private server: Server | undefined;
  private port = 0;
  private readonly sockets = new Set<Socket>();
  private target = '';
  private frozen = false;

  /** The URL of the database through this proxy. */
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
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
      near.pipe(far).pipe(near);
      if (this.frozen) this.hold(near, far);
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

  /** Simulates a network partition: connections stay open, but no data arrives. */
  freeze(): void {
    this.frozen = true;
    this.hold(...this.sockets);
  }

  /** Forwards new connections; those of before stay silent. */
  thawNew(): void {
    this.frozen = false;
  }

  /** Forwards the data held back. */
  thaw(): void {
    this.frozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  private hold(...sockets: Socket[]): void {
    for (const socket of sockets) socket.pause();
  }
}

function connectTo(target: string): Socket {
  const { hostname, port } = new URL(`tcp://${target}`);
  return connect(Number(port), hostname);
}
