import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server that has its port, whether or not there is anything to serve yet. */
export interface Listening {
  port: number;
  /** From here on the application answers; until then everything is 503. */
  serve(app: RequestListener): void;
  /** From here on each answer is the last of its connection, so that proxies go elsewhere before the port closes. */
  leave(): void;
  /** Takes no new connections, lets answers under way end for `graceMs`, then cuts what is left. */
  drain(graceMs: number): Promise<void>;
}

/**
 * What one process takes at most. An idle connection costs some 10 KB, so this many strangers cannot exhaust it; a limit
 * for each address would hit whole companies behind one address, and say nothing behind a proxy.
 */
const maxConnections = 10_000;

/** A port that cannot be had, in one line. */
export class PortError extends Error {}

/**
 * Listens before the rest is ready, so that a port that is taken is known at once. Limits here are for strangers:
 * slow headers and bodies, endless headers, idle connections.
 */
export async function listen(host: string, port: number, setting: string): Promise<Listening> {
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: 32 * 1024,
    noDelay: true,
  });
  server.maxRequestsPerSocket = 10_000;
  server.maxConnections = maxConnections;
  let handler: RequestListener | undefined;
  let draining = false;
  server.on('request', (req, res) => {
    if (draining) res.setHeader('Connection', 'close');
    if (handler) return handler(req, res);
    res.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' });
    res.end(JSON.stringify({ error: 'temporarily_unavailable', error_description: 'Latchkey is starting.' }));
  });
  await bind(server, host, port, setting);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    port: (server.address() as AddressInfo).port,
    serve: (app) => {
      handler = app;
    },
    leave: () => {
      draining = true;
    },
    drain: (graceMs) =>
      new Promise((resolve) => {
        draining = true;
        const cut = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

export function bind(server: Server, host: string, port: number, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host}:${port}`;
      const reasons: Record<string, string> = {
        EADDRINUSE: `${where} is taken by another program: stop it, or set ${setting} to another port`,
        EACCES: `${where} may not be opened by this user: set ${setting} to a port above 1023`,
        EADDRNOTAVAIL: `${where} is not an address of this machine: set HOST to one`,
      };
      reject(new PortError(reasons[error.code ?? ''] ?? `${where} cannot be opened: ${error.message}`));
    });
    server.listen(port, host, () => resolve());
  });
}
