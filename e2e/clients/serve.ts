import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A relying party's server on its own port. */
export interface Served {
  origin: string;
  close(): Promise<void>;
}

/** Serves the result of `build`, which gets the origin. */
export async function serve(build: (origin: string) => RequestListener | Promise<RequestListener>): Promise<Served> {
  let listener: RequestListener | undefined;
  const server = createServer((req, res) => {
    if (listener) listener(req, res);
    else res.writeHead(503).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const served = { origin, close };
  listenLater(await build(origin));
  return served;

  function listenLater(built: RequestListener): void {
    listener = built;
  }
}
