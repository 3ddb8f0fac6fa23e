/** Bodies over the limit, on every route: rejected immediately, and the connection is closed. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapToken, buildTestApp, type TestApp } from '../../test/build-app.ts';

let app: TestApp;
let scim: { path: string; headers: string[] };
let keys: { publishableKey: string; secretKey: string };
let slug: string;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
  const project = await app.make.project({ name: 'Example', scimEnabled: true });
  slug = project.slug;
  keys = await app.make.client(project);
  const actor = { kind: 'system' } as const;
  const { token } = await app.services.directories.issueScimToken({ projectId: project.id, name: 'd' }, actor);
  scim = { path: `/v1/scim/${project.id}/Users`, headers: [`Authorization: Bearer ${token}`] };
});

afterAll(async () => {
  await app.close();
});

interface Endpoint {
  method: string;
  path: string;
  type: string;
  headers?: string[];
  status: number;
  /** Expected in the response, if the route has its own error format. */
  contains?: string;
}

const form = 'application/x-www-form-urlencoded';
const endpoints: [string, () => Endpoint][] = [
  ['/authorize', () => ({ method: 'POST', path: '/authorize', type: form, status: 413 })],
  [
    '/oauth2/token',
    () => ({ method: 'POST', path: '/oauth2/token', type: form, status: 413, contains: 'invalid_request' }),
  ],
  ['/userinfo', () => ({ method: 'POST', path: '/userinfo', type: form, status: 413 })],
  ['/oauth2/end_session', () => ({ method: 'POST', path: '/oauth2/end_session', type: form, status: 413 })],
  [
    'sign-in',
    () => ({
      ...{
        method: 'POST',
        path: '/v1/signin/challenge',
        type: 'application/json',
        status: 413,
        contains: 'INVALID_REQUEST',
      },
      headers: [`X-Api-Key: ${keys.publishableKey}`],
    }),
  ],
  [
    'delegation',
    () => ({
      ...{
        method: 'POST',
        path: '/v1/delegation',
        type: 'application/jose',
        status: 413,
        contains: 'REQUEST_TOO_LARGE',
      },
      headers: [`X-Api-Key: ${keys.secretKey}`],
    }),
  ],
  ...['revoke', 'introspect', 'par', 'device_authorization'].map((name): [string, () => Endpoint] => [
    `${name} of a project`,
    () => ({ method: 'POST', path: `/p/${slug}/oauth2/${name}`, type: form, status: 413, contains: 'invalid_request' }),
  ]),
  [
    'the admin API',
    () => ({
      ...{ method: 'POST', path: '/admin/graphql', type: 'application/json', status: 413 },
      headers: [`Authorization: Bearer ${bootstrapToken}`],
    }),
  ],
  ['account', () => ({ method: 'POST', path: '/account', type: form, status: 413 })],
  ['setup', () => ({ method: 'POST', path: '/setup', type: form, status: 413 })],
  [
    'SCIM',
    () => ({ method: 'POST', ...scim, type: 'application/scim+json', status: 413, contains: 'urn:ietf:params:scim' }),
  ],
];
/** Routes that read no body: only `Content-Length` reveals a long one. */
const closed: [string, () => Endpoint][] = [
  ['a missing asset', () => ({ method: 'POST', path: '/assets/none.js', type: form, status: 413 })],
  ['an unknown route', () => ({ method: 'PUT', path: '/nowhere', type: form, status: 413 })],
  ['discovery', () => ({ method: 'GET', path: '/.well-known/openid-configuration', type: form, status: 413 })],
  ['the console', () => ({ method: 'POST', path: '/admin/users', type: form, status: 405 })],
];

/** Opens a connection and sends the head of a request. */
function begin(
  { method, path, type, headers = [] }: Endpoint,
  length: string,
): { socket: Socket; answer: Promise<string> } {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  const head = [`${method} ${path} HTTP/1.1`, 'Host: a.example', `Content-Type: ${type}`, length, ...headers];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => undefined);
  return {
    socket,
    answer: new Promise((resolve) => socket.on('close', () => resolve(Buffer.concat(received).toString()))),
  };
}

describe('a body whose Content-Length is over the limit', () => {
  it.each([...endpoints, ...closed])('is rejected before it is read, on %s', async (_name, endpoint) => {
    const { status, contains } = endpoint();
    const { answer } = begin(endpoint(), 'Content-Length: 52428800');
    const text = await answer;
    expect(text.split('\r\n')[0]).toContain(String(status));
    expect(text.toLowerCase()).toContain('connection: close');
    if (contains) expect(text).toContain(contains);
  });
});

describe('an endless chunked body', () => {
  /** Sends chunks until the connection closes, 64 MB at most. */
  async function flood(endpoint: Endpoint): Promise<string> {
    const { socket, answer } = begin(endpoint, 'Transfer-Encoding: chunked');
    const chunk = Buffer.from(`4000\r\n${'a'.repeat(0x4000)}\r\n`);
    const pour = (left: number) => {
      if (left === 0) socket.destroy();
      else if (!socket.destroyed) socket.write(chunk, () => setImmediate(pour, left - 1));
    };
    pour(4_000);
    return answer;
  }

  it.each(endpoints)('is cut off at the limit on %s', async (_name, endpoint) => {
    // A client that writes at the moment of the reset loses the response.
    let text = '';
    for (let tries = 0; text === '' && tries < 50; tries += 1) text = await flood(endpoint());
    expect(text.split('\r\n')[0]).toContain(String(endpoint().status));
  });

  it.each(closed)('is not read after the response on %s', async (_name, endpoint) => {
    expect(await flood(endpoint())).toMatch(/^HTTP\/1\.1 /);
  });
});

describe('a client that reads the response only after it has written the whole body', () => {
  const whole = 8 * 1024 * 1024;

  /** Writes all of the body, then reads. */
  async function written(endpoint: Endpoint, length: string, body: readonly Buffer[]): Promise<string> {
    const { socket, answer } = begin(endpoint, length);
    socket.pause();
    for (const part of body) await new Promise((resolve) => socket.write(part, resolve));
    socket.resume();
    return answer;
  }

  it.each([...endpoints, ...closed])('gets the response, on %s', async (_name, endpoint) => {
    const { status } = endpoint();
    const announced = await written(endpoint(), `Content-Length: ${whole}`, [Buffer.alloc(whole, 'a')]);
    expect(announced.split('\r\n')[0]).toContain(String(status));
  });

  it.each(endpoints)('gets the response to a chunked body, on %s', async (_name, endpoint) => {
    const chunk = Buffer.from(`4000\r\n${'a'.repeat(0x4000)}\r\n`);
    const chunks = [...Array.from({ length: whole / 0x4000 }, () => chunk), Buffer.from('0\r\n\r\n')];
    const text = await written(endpoint(), 'Transfer-Encoding: chunked', chunks);
    expect(text.split('\r\n')[0]).toContain(String(endpoint().status));
  });
});

it('keeps the connection open for bodies within the limit, chunked or not', async () => {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  const head = `POST /oauth2/token HTTP/1.1\r\nHost: a.example\r\nContent-Type: ${form}\r\n`;
  const body = `grant_type=x&pad=${'a'.repeat(60_000)}`;
  for (const [length, text] of [
    ['Transfer-Encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    [`Content-Length: ${body.length}`, body],
    [`Content-Length: ${body.length}\r\nConnection: close`, body],
  ]) {
    socket.write(`${head}${length}\r\n\r\n${text}`);
  }
  const received: Buffer[] = [];
  for await (const chunk of socket) received.push(chunk as Buffer);
  expect(
    Buffer.concat(received)
      .toString()
      .match(/unsupported_grant_type/g),
  ).toHaveLength(3);
});
