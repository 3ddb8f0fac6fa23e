import net from 'node:net';

/** A bound TCP socket. */
interface Handle {
  fd: number;
  close(): void;
}

/**
 * A socket that this process holds and does not accept from, as systemd holds that of a socket unit. Connections wait in its
 * queue while no server accepts them; it listens from the first server on.
 */
export class SharedSocket {
  readonly #handle: Handle;

  constructor(port: number) {
    // A server of Node's public API accepts connections itself.
    const { _createServerHandle: bind } = net as unknown as {
      _createServerHandle(host: string, port: number, family: 4): Handle | number;
    };
    const handle = bind('127.0.0.1', port, 4);
    if (typeof handle === 'number') throw new Error(`port ${port} cannot be opened: ${handle}`);
    this.#handle = handle;
  }

  get descriptor(): number {
    return this.#handle.fd;
  }

  close(): void {
    this.#handle.close();
  }
}
