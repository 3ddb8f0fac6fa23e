import { createHash } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type pg from 'pg';
import { endToEnd } from './balancer.ts';

const cookieName = 'cell';

/**
 * One address over several cells (a Latchkey and a database each): asks the directory for the cell of a request's
 * credential, and forwards. The directory is a table: project, client id or SHA-256 of an API key → cell.
 */
export class CellRouter {
  readonly #directory: pg.Client;
  /** Ports by cell. */
  readonly #ports: Record<string, number>;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(directory: pg.Client, ports: Record<string, number>) {
    this.#directory = directory;
    this.#ports = ports;
    this.#server = createServer((req, res) => {
      this.#answer(req, res).catch((error: unknown) => res.writeHead(502).end(String(error)));
    });
  }

  async listen(port: number): Promise<void> {
    await this.#directory.query('create table if not exists directory (name text primary key, cell text not null)');
    await new Promise<void>((done) => {
      this.#server.listen(port, '127.0.0.1', done);
    });
  }

  /** Assigns names (projects, client ids, API keys) to a cell. */
  async assign(names: readonly string[], cell: string): Promise<void> {
    await this.#directory.query(
      'insert into directory select unnest($1::text[]), $2 on conflict (name) do update set cell = excluded.cell',
      [names.map(entryOf), cell],
    );
  }

  close(): void {
    this.#server.close().closeAllConnections();
    this.#agent.destroy();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (req.url === '/.well-known/jwks.json') return this.#keys(res);
    const cell = await this.#cellOf(req, body);
    if (cell === undefined) return void res.writeHead(404).end('no cell');
    this.#forward(req, body, res, cell);
  }

  /** Each cell signs with its own keys; the address publishes those of all cells that respond. */
  async #keys(res: ServerResponse): Promise<void> {
    const sets = await Promise.all(
      Object.values(this.#ports).map((port) =>
        fetch(`http://127.0.0.1:${port}/.well-known/jwks.json`)
          .then((answer) => answer.json() as Promise<{ keys: object[] }>)
          .catch(() => ({ keys: [] })),
      ),
    );
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify({ keys: sets.flatMap(({ keys }) => keys) }));
  }

  async #cellOf(req: IncomingMessage, body: Buffer): Promise<string | undefined> {
    const names = namesIn(req, body).map(entryOf);
    const { rows } = await this.#directory.query<{ cell: string }>(
      'select cell from directory where name = any($1::text[]) limit 1',
      [names],
    );
    return rows[0]?.cell ?? new RegExp(`${cookieName}=(\\w+)`).exec(req.headers.cookie ?? '')?.[1];
  }

  #forward(req: IncomingMessage, body: Buffer, res: ServerResponse, cell: string): void {
    const onward = request(
      {
        host: '127.0.0.1',
        port: this.#ports[cell],
        method: req.method,
        path: req.url,
        headers: endToEnd(req.headers),
        agent: this.#agent,
      },
      (answer) => {
        // The pages of a flow contain no credential that the directory lists.
        const cookies = [...(answer.headers['set-cookie'] ?? []), `${cookieName}=${cell}; Path=/; HttpOnly`];
        res.writeHead(answer.statusCode ?? 502, { ...endToEnd(answer.headers), 'set-cookie': cookies });
        answer.pipe(res);
      },
    );
    onward.on('error', (error) => res.headersSent || res.writeHead(502).end(error.message));
    onward.end(body);
  }
}

/** API keys are stored as hashes. */
function entryOf(name: string): string {
  return name.startsWith('lk_') ? createHash('sha256').update(name).digest('hex') : name;
}

/** Everything in a request that may name a project or a client. */
function namesIn({ url = '', headers }: IncomingMessage, body: Buffer): string[] {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const form = new URLSearchParams(body.length < 65_536 ? body.toString() : '');
  const [scheme = '', credential = ''] = (headers.authorization ?? '').split(' ');
  return [
    /^\/v1\/scim\/([^/]+)/.exec(pathname)?.[1],
    headers['x-api-key'],
    searchParams.get('client_id'),
    form.get('client_id'),
    scheme === 'Bearer' ? clientOf(credential) : undefined,
  ].filter((name) => typeof name === 'string');
}

/** The `client_id` of an access token, only for routing: the cell verifies the token. */
function clientOf(token: string): string | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    return typeof claims['client_id'] === 'string' ? claims['client_id'] : undefined;
  } catch {
    return undefined;
  }
}
