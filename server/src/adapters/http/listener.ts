import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** A server for the application, whose port is known to be free. */
export interface Listening {
  /** From here on there is a port, and the application answers. */
  serve(app: RequestListener): Promise<void>;
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
 * A port that is taken is known at once, before the rest is got ready. It is open only from `serve` on: a proxy goes
 * elsewhere, with a POST too, where nobody listens, but hands on whatever a process that is still starting would answer.
 * Limits here are for strangers: slow headers and bodies, endless headers, idle connections.
 */
export async function prepareListening(host: string, port: number, setting: string): Promise<Listening> {
  await probe(host, port, setting);
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
  let draining = false;
  let accepted = 0;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    serve: (app) => {
      server.on('request', (req, res) => {
        const fault = faultOf(req);
        if (draining || fault) res.setHeader('Connection', 'close');
        if (!fault) return app(req, res);
        const [status, error_description] = fault;
        res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
        res.end(JSON.stringify({ error: 'invalid_request', error_description }));
      });
      return bind(server, host, port, setting);
    },
    leave: () => {
      draining = true;
    },
    async drain(graceMs) {
      draining = true;
      await calm(() => accepted);
      const ended = new Promise<void>((resolve) => {
        // The port before anything else: HTTP's own `close` goes through the idle connections first, and more come meanwhile.
        NetServer.prototype.close.call(server, () => resolve());
      });
      server.close();
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await ended;
      clearTimeout(cut);
    },
  };
}

/** A turn that does nothing takes some 20 µs. It is turns that are counted, not time: in time none may have come to run. */
const calmMs = 0.1;
const mostTurns = 300;

/**
 * Waits for a turn of the event loop that had nothing to do: what had come to the port is accepted and read, and was no
 * more than a moment ago. A port that is closed before resets who waits at it, and a proxy must send their POST to nobody else.
 */
async function calm(accepted: () => number): Promise<void> {
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const [began, before] = [performance.now(), accepted()];
    await new Promise((resolve) => setImmediate(resolve));
    // The first may be the rest of one.
    if (turn > 0 && accepted() === before && performance.now() - began < calmMs) return;
  }
}

/** What Node's parser lets through and a server has to refuse: a proxy before us may have read it another way. */
function faultOf({ httpVersionMajor, rawHeaders }: IncomingMessage): [status: number, description: string] | undefined {
  // RFC 9110 §15.6.6.
  if (httpVersionMajor !== 1) return [505, 'Only HTTP/1.1 is spoken here.'];
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  // RFC 9112 §3.2.
  return hosts > 1 ? [400, 'There is more than one Host header.'] : undefined;
}

/** Opens the port and closes it again. Throws {@link PortError} where it cannot be had. */
async function probe(host: string, port: number, setting: string): Promise<void> {
  const server = createServer();
  await bind(server, host, port, setting);
  await new Promise((resolve) => server.close(resolve));
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
