import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A relying party's redirect URI, on its own port. */
export interface Callback {
  redirectUri: string;
  /** URL of the next request. */
  next(): Promise<URL>;
  close(): Promise<void>;
}

export async function listenForCallback(): Promise<Callback> {
  const waiting: ((url: URL) => void)[] = [];
  const arrived: URL[] = [];
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', redirectUri());
    if (url.pathname !== '/callback') {
      res.writeHead(404).end();
      return;
    }
    res.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Relying party</title><h1>Welcome back</h1>');
    const take = waiting.shift();
    if (take) take(url);
    else arrived.push(url);
  });
  const redirectUri = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    redirectUri: redirectUri(),
    next: () => {
      const url = arrived.shift();
      return url ? Promise.resolve(url) : new Promise((resolve) => waiting.push(resolve));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
