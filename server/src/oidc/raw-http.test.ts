/**
 * Discovery, keys and UserInfo over raw HTTP. Each request is sent twice, with and without an empty query: plain ones for
 * discovery and keys are answered without Express, all others by it, and the bytes are the same (decisions/0081).
 */
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { atLoopback } from '../adapters/http/loopback.ts';
import { Metrics } from '../adapters/telemetry/metrics.ts';
import { baseIssuer } from '../domain/projects/issuer.ts';
import { observed } from '../http/observer.ts';
import { plainDocuments } from './documents.ts';

let app: TestApp;
let token: string;
let idToken: string;

beforeAll(async () => {
  app = await buildTestApp();
  const project = await app.make.project();
  const rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(await app.make.user(project, { displayName: 'Zoë 🗝️', givenName: 'Zoë' }));
  const code = await rp.code({ scope: 'openid profile email' });
  const tokens = (await (await rp.exchange(code)).json()) as TokenAnswer;
  [token, idToken] = [tokens.access_token, tokens.id_token];
});
afterAll(() => app.close());

interface Raw {
  status: string;
  headers: string[];
  body: string;
}

/** Sends bytes and reads the response; sends `rest` once the response has begun. */
function exchange(bytes: string, rest?: string): Promise<Raw> {
  const { hostname, port } = new URL(app.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      if (rest !== undefined && chunks.length === 0) socket.write(rest);
      chunks.push(chunk);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(read(Buffer.concat(chunks).toString())));
  });
}

function read(answer: string): Raw {
  const [head = '', ...body] = answer.replace('HTTP/1.1 100 Continue\r\n\r\n', '').split('\r\n\r\n');
  const [status = '', ...lines] = head.split('\r\n');
  const varying = /^(Date|X-Request-Id): (.+)$/;
  const kept = lines.filter((line) => !varying.test(line));
  // Each of the two headers, once.
  expect(lines.length - kept.length, answer).toBe(status.includes(' 431 ') ? 0 : 2);
  return { status, headers: kept.map((line) => line.toLowerCase()).sort(), body: body.join('\r\n\r\n') };
}

const host = 'Host: id.example.com\r\n';
const close = 'Connection: close\r\n';
const bearer = () => `Authorization: Bearer ${token}\r\n`;
const get = (path: string, headers = '', version = 'HTTP/1.1') =>
  `GET ${path} ${version}\r\n${host}${close}${headers}\r\n`;
const form = () => `access_token=${token}`;
const post = (path: string, headers: string, body: string) =>
  `POST ${path} HTTP/1.1\r\n${host}${close}${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

const documents = ['/.well-known/openid-configuration', '/.well-known/jwks.json'];
const all = [...documents, '/userinfo'];

const requests: readonly (readonly [what: string, status: number | 'as Express', send: (path: string) => string])[] = [
  ['plainly', 200, (path) => get(path, bearer())],
  ['in HTTP/1.0', 200, (path) => get(path, bearer(), 'HTTP/1.0')],
  [
    'for any type, coding and language',
    200,
    (path) => get(path, `${bearer()}Accept: text/html\r\nAccept-Encoding: gzip\r\n`),
  ],
  ['with a cookie', 200, (path) => get(path, `${bearer()}Cookie: lk-session-x=y\r\n`)],
  ['for a range', 200, (path) => get(path, `${bearer()}Range: bytes=0-1\r\nIf-Range: "x"\r\n`)],
  [
    'if it matches',
    200,
    (path) => get(path, `${bearer()}If-Match: "x"\r\nIf-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n`),
  ],
  ['unless it is known', 'as Express', (path) => get(path, `${bearer()}If-None-Match: *\r\n`)],
  ['unless another is known', 200, (path) => get(path, `${bearer()}If-None-Match: W/"x"\r\n`)],
  [
    'if it has changed since',
    200,
    (path) => get(path, `${bearer()}If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n`),
  ],
  ['from an origin of a client', 200, (path) => get(path, `${bearer()}Origin: https://app.example.com\r\n`)],
  ['from another origin', 200, (path) => get(path, `${bearer()}Origin: https://evil.example\r\n`)],
  ['from origin null', 200, (path) => get(path, `${bearer()}Origin: null\r\n`)],
  ['with an empty origin', 200, (path) => get(path, `${bearer()}Origin:\r\n`)],
  ['with a body that is not read', 200, (path) => get(path, `${bearer()}Content-Length: 5\r\n`).concat('hello')],
  [
    'with a body in chunks',
    200,
    (path) => get(path, `${bearer()}Transfer-Encoding: chunked\r\n`).concat('2\r\nhi\r\n0\r\n\r\n'),
  ],
  [
    'after 100 Continue',
    200,
    (path) => get(path, `${bearer()}Expect: 100-continue\r\nContent-Length: 2\r\n`).concat('hi'),
  ],
  [
    'to be forwarded',
    200,
    (path) => get(path, `${bearer()}X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Request-Id: mine\r\n`),
  ],
  ['as POST by another name', 200, (path) => get(path, `${bearer()}X-HTTP-Method-Override: POST\r\n`)],
  ['by HEAD', 200, (path) => get(path, bearer()).replace('GET', 'HEAD')],
  [
    'by OPTIONS',
    204,
    (path) =>
      get(path, 'Origin: https://app.example.com\r\nAccess-Control-Request-Method: POST\r\n').replace('GET', 'OPTIONS'),
  ],
  ['by PUT', 405, (path) => get(path, bearer()).replace('GET', 'PUT')],
  ['by DELETE', 405, (path) => get(path, bearer()).replace('GET', 'DELETE')],
  ['by TRACE', 405, (path) => get(path, bearer()).replace('GET', 'TRACE')],
  ['by POST', 'as Express', (path) => post(path, bearer(), '')],
  [
    'by POST with a form',
    'as Express',
    (path) => post(path, 'Content-Type: application/x-www-form-urlencoded\r\n', form()),
  ],
  ['with a header of 40 KB', 431, (path) => get(path, `Authorization: Bearer ${'x'.repeat(40_000)}\r\n`)],
];

/** Requests to UserInfo with and without a token. */
const credentials: readonly (readonly [what: string, status: number, headers: () => string])[] = [
  ['none', 401, () => ''],
  ['one', 200, bearer],
  ['one in lower case', 200, () => `authorization: bearer ${token}\r\n`],
  ['one in upper case, with spaces', 200, () => `Authorization:   BEARER    ${token}   \r\n`],
  ['two, the valid one first', 200, () => `${bearer()}Authorization: Bearer x\r\n`],
  ['two, the valid one last', 401, () => `Authorization: Bearer x\r\n${bearer()}`],
  ['two in one', 400, () => `Authorization: Bearer ${token} ${token}\r\n`],
  ['two with a comma', 400, () => `Authorization: Bearer ${token}, Bearer ${token}\r\n`],
  ['only a scheme', 400, () => 'Authorization: Bearer\r\n'],
  ['an empty one', 401, () => 'Authorization:\r\n'],
  ['one behind a tab', 400, () => `Authorization: Bearer\t${token}\r\n`],
  ['one with a quote', 401, () => `Authorization: Bearer "${token}"\r\n`],
  ['the ID token', 401, () => `Authorization: Bearer ${idToken}\r\n`],
  ['a truncated one', 401, () => `Authorization: Bearer ${token.slice(0, -1)}\r\n`],
  ['one of 10 KB', 401, () => `Authorization: Bearer ${'x'.repeat(10_000)}\r\n`],
  ['Basic', 401, () => 'Authorization: Basic eDp5\r\n'],
  ['DPoP', 401, () => `Authorization: DPoP ${token}\r\nDPoP: a.b.c\r\n`],
  ['a scheme with the same prefix', 401, () => `Authorization: BearerToken ${token}\r\n`],
  ['one in Proxy-Authorization', 401, () => `Proxy-Authorization: Bearer ${token}\r\n`],
];

describe.each(all)('%s, asked for', (path) => {
  it.each(requests)('%s, gets the response of Express', async (_, status, send) => {
    const answer = await exchange(send(path));
    expect(answer).toEqual(await exchange(send(`${path}?`)));
    if (status !== 'as Express') expect(answer.status).toContain(` ${status} `);
  });

  it('is the same for an absolute URL, with a trailing slash and in another case', async () => {
    const plain = await exchange(get(path, bearer()));
    for (const other of [
      `http://id.example.com${path}`,
      `https://elsewhere.example${path}`,
      `${path}/`,
      path.toUpperCase(),
    ]) {
      expect([other, await exchange(get(other, bearer()))]).toEqual([other, plain]);
    }
  });

  it('is not found at another path', async () => {
    for (const other of [`/${path}`, `${path}//`, `${path};x`, `${path}%00`, `/x/..${path}`, `${path}%2f`]) {
      expect([other, (await exchange(get(other, bearer()))).status]).toEqual([other, 'HTTP/1.1 404 Not Found']);
    }
  });

  it('is answered before a slow body arrives, and the connection stays usable', async () => {
    const slow = (address: string) => `GET ${address} HTTP/1.1\r\n${host}${bearer()}Content-Length: 5\r\n\r\nhe`;
    const next = `llo${get('/nowhere')}`;
    const answer = await exchange(slow(path), next);
    expect(answer.status).toContain(' 200 ');
    expect(answer.body).toContain('HTTP/1.1 404 Not Found');
    const without = ({ status, headers, body }: Raw) => ({ status, headers, body: body.split('HTTP/1.1 404')[0] });
    expect(without(answer)).toEqual(without(await exchange(slow(`${path}?`), next)));
  });
});

describe('UserInfo with', () => {
  it.each(credentials)('%s gets the response of Express', async (_, status, headers) => {
    const answer = await exchange(get('/userinfo', headers()));
    expect(answer.status).toContain(` ${status} `);
    expect(answer).toEqual(await exchange(get('/userinfo?', headers())));
    if (status === 200) expect(JSON.parse(answer.body)).toMatchObject({ name: 'Zoë 🗝️', given_name: 'Zoë' });
  });
});

describe('a document served without Express', () => {
  const failing = () => Promise.reject(new Error('database unavailable'));
  const documents = plainDocuments(
    {
      issuer: baseIssuer('https://id.example.com'),
      jwks: failing,
      mayBeDomain: () => false,
      requestId: () => 'one',
      securityHeaders: [],
    },
    (_req, res) => void res.writeHead(503).end(),
  );

  it('is counted in metrics, and respects Connection: close; the routes handle a failure', async () => {
    const metrics = new Metrics();
    const draining: RequestListener = (req, res) => {
      res.setHeader('Connection', 'close');
      observed([metrics.observe()], documents)(req, res);
    };
    const paths = ['/.well-known/openid-configuration', '/.well-known/jwks.json', '/userinfo', 'constructor'];
    const statuses = await atLoopback(draining, async (url) => {
      const answers = await Promise.all(paths.map((path) => fetch(new URL(path, url))));
      expect(answers.map(({ headers }) => headers.get('connection'))).toEqual(paths.map(() => 'close'));
      await Promise.all(answers.map((answer) => answer.text()));
      return answers.map(({ status }) => status);
    });
    expect(statuses).toEqual([200, 503, 503, 503]);
    const text = await metrics.registry.metrics();
    expect(text).toContain('_count{route="/.well-known/openid-configuration",method="GET",status="200"} 1');
    expect(text).toContain('_count{route="/.well-known/jwks.json",method="GET",status="503"} 1');
  });
});
