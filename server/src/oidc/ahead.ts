import type { RequestListener } from 'node:http';
import { digest } from '../domain/kernel/secret.ts';
import type { UserInfoOutcome } from '../domain/tokens/tokens.ts';
import type { Headers } from '../http/security-headers.ts';
import { discoveryDocument } from './discovery.ts';
import { askedAhead, bearer } from './userinfo.ts';

export interface AheadDeps {
  issuer: string;
  /** The same object for as long as the keys are the same. */
  jwks(): Promise<object>;
  userInfo(accessToken: string): Promise<UserInfoOutcome>;
  requestId(): string;
  securityHeaders: Headers;
}

/** What may be remembered by whoever asked, until it changes. */
export const cacheControl = 'public, max-age=300';

/** A document with the name of its content (RFC 9110 §8.8.3). */
export interface Published {
  body: string;
  etag: string;
}

export function publish(document: object): Published {
  const body = JSON.stringify(document);
  return { body, etag: `"${digest(body)}"` };
}

/**
 * Keys, discovery and UserInfo as programs ask for them, answered without Express, which would cost more than the
 * answer. Whatever is more than a plain request with a plain answer (another method, a query, an origin, a condition, a
 * refusal, a fault) is left to `rest`, whose routes answer plain requests in the same words.
 */
export function answerAhead(deps: AheadDeps, rest: RequestListener): RequestListener {
  const common = [...deps.securityHeaders.flat(), 'Content-Type', 'application/json; charset=utf-8'];
  const headOf = (body: string, ...own: string[]) => [
    ...['X-Request-Id', deps.requestId()],
    ...common,
    ...own,
    ...['Content-Length', String(Buffer.byteLength(body))],
  ];
  const toAnyone = ({ body, etag }: Published) =>
    headOf(body, 'Access-Control-Allow-Origin', '*', 'Cache-Control', cacheControl, 'ETag', etag);
  const discovery = publish(discoveryDocument(deps.issuer));
  let keys: { of: object; published: Published } | undefined;
  const keysNow = async () => {
    const jwks = await deps.jwks();
    if (keys?.of !== jwks) keys = { of: jwks, published: publish(jwks) };
    return keys.published;
  };

  return (req, res) => {
    const { method, url, headers } = req;
    if (method !== 'GET' || headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined) {
      return rest(req, res);
    }
    if (url === '/.well-known/openid-configuration') {
      res.writeHead(200, toAnyone(discovery)).end(discovery.body);
      return;
    }
    if (url === '/.well-known/jwks.json') {
      keysNow().then(
        (published) => res.writeHead(200, toAnyone(published)).end(published.body),
        () => rest(req, res),
      );
      return;
    }
    const token = url === '/userinfo' && headers.origin === undefined ? bearer(headers.authorization) : undefined;
    if (typeof token !== 'string') return rest(req, res);
    const outcome = deps.userInfo(token);
    askedAhead.set(req, outcome);
    outcome.then(
      (told) => {
        if ('refused' in told) return rest(req, res);
        const body = JSON.stringify(told.claims);
        res.writeHead(200, headOf(body, ...userInfoHeaders)).end(body);
      },
      () => rest(req, res),
    );
  };
}

const userInfoHeaders = [
  ...['Vary', 'Origin'],
  ...['Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After, X-Request-Id'],
  ...['Cache-Control', 'no-store'],
];
