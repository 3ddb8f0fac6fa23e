import { connect, type Socket } from 'node:net';

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface Answer {
  status: number;
  /** Lower-case names; all `set-cookie` values, the last value of others. */
  headers: Record<string, string>;
  cookies: string[];
  body: string;
}

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection with one request at a time, minimal to keep the load generator's CPU low. Reads bodies by
 * Content-Length or in chunks.
 */
export class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  constructor(baseUrl: string) {
    const { hostname, port } = new URL(baseUrl);
    this.#host = hostname;
    this.#port = Number(port);
  }

  ask({ method = 'GET', path, headers = {}, body }: Ask): Promise<Answer> {
    let head = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}:${this.#port}\r\n`;
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
    if (body !== undefined) head += `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#open().write(`${head}\r\n${body ?? ''}`);
    });
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  #open(): Socket {
    if (this.#socket && !this.#socket.destroyed) return this.#socket;
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    this.#received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    // A discarded socket must not fail the next request.
    const fail = (error: Error) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#fail(error);
    };
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed the connection')));
    this.#socket = socket;
    return socket;
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf(endOfHead);
    if (end < 0) return;
    const answer = headOf(this.#received.toString('latin1', 0, end));
    const rest = this.#received.subarray(end + endOfHead.length);
    const body = bodyOf(answer, rest);
    if (body === undefined) return;
    this.#received = Buffer.alloc(0);
    if (answer.headers['connection'] === 'close') this.close();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ ...answer, body });
  }
}

function headOf(text: string): Answer {
  const [first = '', ...lines] = text.split('\r\n');
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    headers[name] = line.slice(colon + 1).trim();
    if (name === 'set-cookie') cookies.push(headers[name].split(';', 1)[0] ?? '');
  }
  return { status: Number(first.slice(9, 12)), headers, cookies, body: '' };
}

/** Undefined while incomplete. */
function bodyOf({ status, headers }: Answer, rest: Buffer): string | undefined {
  if (status === 204 || status === 304) return '';
  if (headers['transfer-encoding'] === 'chunked') return dechunked(rest);
  const length = Number(headers['content-length'] ?? 0);
  return rest.length >= length ? rest.toString('utf8', 0, length) : undefined;
}

function dechunked(bytes: Buffer): string | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    const begin = line + 2;
    if (bytes.length < begin + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts).toString('utf8');
    parts.push(bytes.subarray(begin, begin + size));
    at = begin + size + 2;
  }
}
