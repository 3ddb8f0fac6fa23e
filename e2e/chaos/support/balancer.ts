import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Latchkey } from '../../support/latchkey.ts';

const pollMs = 200;
const maxMissed = 5;

/**
 * A minimal load balancer: polls `/health/ready`, keeps connections alive, and forwards a request to another process if
 * a connection is refused. Never sends a request twice.
 */
export class Balancer {
  readonly #backends = new Map<Latchkey, { port: number; isReady: boolean; missed: number }>();
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #looking: NodeJS.Timeout | undefined;
  #turn = 0;

  constructor() {
    this.#server = createServer((req, res) => void this.#pass(req, res));
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((done) => {
      this.#server.listen(port, '127.0.0.1', done);
    });
    const look = async (): Promise<void> => {
      await this.#look();
      this.#looking = setTimeout(look, pollMs);
    };
    await look();
  }

  async add(latchkey: Latchkey, port: number): Promise<void> {
    this.#backends.set(latchkey, { port, isReady: false, missed: 0 });
    await this.#look();
  }

  remove(latchkey: Latchkey): void {
    this.#backends.delete(latchkey);
  }

  close(): void {
    clearTimeout(this.#looking);
    this.#server.close().closeAllConnections();
    this.#agent.destroy();
  }

  async #look(): Promise<void> {
    await Promise.all(
      [...this.#backends].map(async ([latchkey, backend]) => {
        const answer = await fetch(`${latchkey.managementUrl}/health/ready`, {
          signal: AbortSignal.timeout(3_000),
        }).catch(() => undefined);
        await answer?.body?.cancel();
        // One response is enough; missing ones count only if repeated, because the machine may be busy.
        backend.missed = answer ? 0 : backend.missed + 1;
        if (answer) backend.isReady = answer.ok;
        else if (backend.missed >= maxMissed) backend.isReady = false;
      }),
    );
  }

  async #pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const ready = [...this.#backends.values()].filter(({ isReady }) => isReady);
    this.#turn += 1;
    const order = ready.map((_, index) => ready[(this.#turn + index) % ready.length]?.port);
    this.#try(req, Buffer.concat(chunks), res, order as number[]);
  }

  #try(req: IncomingMessage, body: Buffer, res: ServerResponse, [port, ...others]: number[]): void {
    if (port === undefined) {
      res.writeHead(502).end('no process is ready');
      return;
    }
    const onward = request(
      {
        host: '127.0.0.1',
        port,
        method: req.method,
        path: req.url,
        headers: endToEnd(req.headers),
        agent: this.#agent,
      },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
        answer.pipe(res);
        answer.on('error', () => res.destroy());
      },
    );
    onward.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') this.#try(req, body, res, others);
      else if (!res.headersSent) res.writeHead(502).end(String(error.code ?? error.message));
    });
    onward.end(body);
  }
}

/**
 * Without the headers of one connection (RFC 9110 §7.6.1). The `Keep-Alive` of a process would tell clients that idle
 * connections to the proxy stay open, too.
 */
export function endToEnd({ connection: _, 'keep-alive': __, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}
