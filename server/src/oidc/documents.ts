import type { RequestListener } from 'node:http';
import { digest } from '../domain/kernel/secret.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import { setMatched } from '../http/routes/route.ts';
import type { Headers } from '../http/security-headers.ts';
import { discoveryDocument } from './discovery.ts';

export interface DocumentDeps {
  /** The base issuer. */
  issuer: Issuer;
  /** Whether a Host header can name a custom domain, which has its own documents. */
  mayBeDomain(host: string): boolean;
  /** The same object until the keys change. */
  jwks(): Promise<object>;
  requestId(): string;
  securityHeaders: Headers;
}

export const discoveryPath = '/.well-known/openid-configuration';
export const keysPath = '/.well-known/jwks.json';

export const cacheControl = 'public, max-age=300';

/** A document with the ETag of its content (RFC 9110 §8.8.3). */
export interface Published {
  body: string;
  etag: string;
}

export function publish(document: object): Published {
  const body = JSON.stringify(document);
  return { body, etag: `"${digest(body)}"` };
}

/**
 * Serves plain requests for discovery and keys without Express, which costs more than 25 % of their CPU
 * (decisions/0081). All others (another method, a query, a condition, a body, an error) go to `rest`, whose routes send the
 * same bytes.
 */
export function plainDocuments(deps: DocumentDeps, rest: RequestListener): RequestListener {
  const headOf = ({ body, etag }: Published) =>
    [
      ['X-Request-Id', deps.requestId()],
      ...deps.securityHeaders,
      ['Access-Control-Allow-Origin', '*'],
      ['Cache-Control', cacheControl],
      ['ETag', etag],
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Content-Length', String(Buffer.byteLength(body))],
    ].flat();
  const discovery = publish(discoveryDocument(deps.issuer));
  let keys: { of: object; published: Published } | undefined;
  const keysNow = async () => {
    const jwks = await deps.jwks();
    if (keys?.of !== jwks) keys = { of: jwks, published: publish(jwks) };
    return keys.published;
  };
  const documents = new Map([
    [discoveryPath, async () => discovery],
    [keysPath, keysNow],
  ]);

  return (req, res) => {
    const { method, url = '', headers } = req;
    const isConditional = headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    const isOurs = method === 'GET' && !isConditional && !hasBody && !deps.mayBeDomain(headers.host ?? '');
    const document = isOurs ? documents.get(url) : undefined;
    if (!document) return rest(req, res);
    setMatched(req, { label: url });
    document().then(
      (published) => res.writeHead(200, headOf(published)).end(published.body),
      () => rest(req, res),
    );
  };
}
