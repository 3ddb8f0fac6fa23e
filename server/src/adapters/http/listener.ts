import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { OperatorError } from '../../domain/kernel/problem.ts';

/** A server whose port is known to be free. */
export interface Listening {
  /** Opens the port. */
  serve(app: RequestListener): Promise<void>;
  /** Sends `Connection: close` with each response, so that proxies stop using connections before the port closes. */
  leave(): void;
  /** Accepts no connections, waits up to `graceMs` for responses, then closes the remaining connections. */
  drain(graceMs: number): Promise<void>;
}

/**
 * Connections of one process. At 10 KB each, idle clients cannot exhaust its memory. A limit per address would hit
 * companies that share one, and is useless behind a proxy.
 */
const maxConnections = 10_000;

/** The port cannot be opened. The message is one line. */
export class PortError extends OperatorError {}

/**
 * Fails early if the port is taken, but opens it only in `serve`: a proxy retries a refused connection elsewhere, even a
 * POST, but passes on the error of a process that is still starting. The limits are against slow or endless headers, slow
 * bodies and idle connections.
 * @param inherited file descriptor of a listening socket to use instead of the port. It stays open in its owner: until a
 *   process accepts them, connections wait in its queue
 */
export async function prepareListening(
  host: string,
  port: number,
  setting: string,
  inherited?: number,
): Promise<Listening> {
  if (inherited === undefined) await probe(host, port, setting);
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
  let closed: Promise<void> | undefined;
  // HTTP's `close` ends idle connections first, and accepts new ones in the meantime.
  const stopAccepting = () =>
    (closed ??= new Promise((resolve) => void NetServer.prototype.close.call(server, () => resolve())));
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
        if (!fault) {
          req.url = originForm(req.url ?? '');
          return app(req, res);
        }
        const [status, error_description] = fault;
        res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
        res.end(JSON.stringify({ error: 'invalid_request', error_description }));
      });
      return inherited === undefined ? bind(server, host, port, setting) : listenOn(server, inherited);
    },
    leave: () => {
      draining = true;
      // The next process accepts them.
      if (inherited !== undefined) void stopAccepting();
    },
    async drain(graceMs) {
      draining = true;
      if (inherited === undefined) await eventLoopIdle(() => accepted);
      const ended = stopAccepting();
      server.close();
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await ended;
      clearTimeout(cut);
    },
  };
}

/** An idle turn takes about 20 µs. The limit counts turns: on a busy machine a time limit could pass without one. */
const idleTurnMs = 0.1;
const maxTurns = 300;

/**
 * Waits for an idle turn of the event loop, when all pending connections are accepted. Closing the port earlier would
 * reset them, and a proxy must not retry their POST.
 */
async function eventLoopIdle(accepted: () => number): Promise<void> {
  for (let turn = 0; turn < maxTurns; turn += 1) {
    const [began, before] = [performance.now(), accepted()];
    await new Promise((resolve) => setImmediate(resolve));
    // The first turn may be a partial one.
    if (turn > 0 && accepted() === before && performance.now() - began < idleTurnMs) return;
  }
}

/**
 * The target in origin form, without a fragment (RFC 9112 section 3.2.1). Express would read any other by `url.parse`, for which
 * Node prints a warning (DEP0169).
 */
function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target;
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split('#');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Refuses requests that Node's parser accepts and a proxy may have read in another way. */
function faultOf({
  headers,
  httpVersionMajor,
  rawHeaders,
  url = '',
}: IncomingMessage): [status: number, description: string] | undefined {
  // RFC 9110 §15.6.6.
  if (httpVersionMajor !== 1) return [505, 'Only HTTP/1.1 is supported.'];
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  // RFC 9112 §3.2.
  if (hosts > 1) return [400, 'There is more than one Host header.'];
  // RFC 9112 §3.2.2: a proxy goes by the URL, and the routes by the header.
  const [, authority] = url.startsWith('/') ? [] : (/^[a-z]+:\/\/([^/?#]*)/i.exec(url) ?? []);
  if (authority === undefined || authority.toLowerCase() === headers.host?.toLowerCase()) return undefined;
  return [400, 'The URL and the Host header name different hosts.'];
}

/** Opens the port and closes it again. Throws {@link PortError} if it cannot be opened. */
async function probe(host: string, port: number, setting: string): Promise<void> {
  const server = createServer();
  await bind(server, host, port, setting);
  await new Promise((resolve) => server.close(resolve));
}

function listenOn(server: Server, descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new PortError(`the socket that was passed cannot be used: ${error.message}`)),
    );
    server.listen({ fd: descriptor }, () => resolve());
  });
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
