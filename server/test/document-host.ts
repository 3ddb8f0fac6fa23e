import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The address of a {@link DocumentHost} for the https URL of one of its documents. */
export function documentHere(url: string): string {
  return url.replace(/^https:\/\/(?:[a-z-]+\.)?p(\d+)\.example\.com/, 'http://127.0.0.1:$1');
}

/** A site with metadata documents of clients, behind https addresses that only the test app resolves. */
export class DocumentHost {
  private readonly server: Server;
  /** By path: the document, or any other answer. */
  readonly documents = new Map<string, { body: string; status?: number; headers?: Record<string, string> }>();
  /** Requests so far, by path. */
  readonly reads = new Map<string, number>();

  constructor() {
    this.server = createServer((req, res) => {
      const path = req.url ?? '';
      this.reads.set(path, (this.reads.get(path) ?? 0) + 1);
      const found = this.documents.get(path);
      res.writeHead(found?.status ?? (found ? 200 : 404), { 'Content-Type': 'application/json', ...found?.headers });
      res.end(found?.body);
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return this;
  }

  /** @param site a name in front of the host, for further sites */
  origin(site?: string): string {
    const { port } = this.server.address() as AddressInfo;
    return `https://${site === undefined ? '' : `${site}.`}p${port}.example.com`;
  }

  /** Serves a metadata document; returns its URL, which is its `client_id` unless `metadata` has another. */
  put(path: string, metadata: Record<string, unknown> = {}, site?: string): string {
    const url = `${this.origin(site)}${path}`;
    const document = { client_id: url, client_name: 'Some Agent', redirect_uris: [`${this.origin(site)}/callback`] };
    this.documents.set(path, { body: JSON.stringify({ ...document, ...metadata }) });
    return url;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}
