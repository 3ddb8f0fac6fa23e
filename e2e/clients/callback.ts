import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A relying party's redirect URI, on its own port. */
export interface Callback {
  redirectUri: string;
  /** URL of the next request, or of the next one with this `state`. */
  next(state?: string): Promise<URL>;
  close(): Promise<void>;
}

export async function listenForCallback(): Promise<Callback> {
  const waiting: { state: string | undefined; take: (url: URL) => void }[] = [];
  const arrived: URL[] = [];
  const isOf = (url: URL, state: string | undefined) => state === undefined || url.searchParams.get('state') === state;
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', redirectUri());
    if (url.pathname !== '/callback') {
      res.writeHead(404).end();
      return;
    }
    res.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Relying party</title><h1>Welcome back</h1>');
    const at = waiting.findIndex(({ state }) => isOf(url, state));
    if (at >= 0) waiting.splice(at, 1)[0]?.take(url);
    else arrived.push(url);
  });
  const redirectUri = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    redirectUri: redirectUri(),
    next: (state) => {
      const at = arrived.findIndex((url) => isOf(url, state));
      const [url] = at >= 0 ? arrived.splice(at, 1) : [];
      return url ? Promise.resolve(url) : new Promise((take) => waiting.push({ state, take }));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
