import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy whose target can change while in use, like a moving address. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number;
  #isSilent = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((near) => {
      const far = connect(this.#target, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.setNoDelay(true);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
      }
      if (this.#isSilent) near.on('data', () => undefined);
      else near.pipe(far).pipe(near);
    });
  }

  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((done) => {
      proxy.#server.listen(0, '127.0.0.1', done);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Changes the target of new connections; existing ones stay. */
  retarget(target: number): void {
    this.#target = target;
  }

  /** Open connections forward nothing more and stay open, as behind a NAT that forgot them; new ones too, if asked. */
  silence({ newOnes = false }: { newOnes?: boolean } = {}): void {
    this.#isSilent = newOnes;
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.on('data', () => undefined);
    }
  }

  /** New connections forward again; silent ones stay silent. */
  forward(): void {
    this.#isSilent = false;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
