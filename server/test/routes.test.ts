/** Routes are rows: what Express mounted, labels, and errors before the handler in the format of the row. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Metrics } from '../src/adapters/telemetry/metrics.ts';
import { buildApp, routesOf } from '../src/app.ts';
import { PublicStatus } from '../src/domain/instance/public-status.ts';
import type { Observer } from '../src/http/observer.ts';
import { matchedRoute } from '../src/http/routes/route.ts';
import { bootstrapToken, buildTestApp, type TestApp } from './build-app.ts';
import { described, mountedRoutes, rows } from './mounted-routes.ts';

let app: TestApp;
let server: Server;
let url: string;
let slug: string;
let projectId: string;
let scimToken: string;
const metrics = new Metrics();

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: true });
  const project = await app.make.project({ name: 'Example', scimEnabled: true });
  ({ slug, id: projectId } = project);
  const named = { projectId, name: 'Directory' };
  ({ token: scimToken } = await app.services.directories.issueScimToken(named, { kind: 'system' }));
  server = createServer(buildApp({ ...app.options, status: statusOf(), observers: [metrics.observe()] }));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await app.close();
});

const statusOf = () => new PublicStatus({ clock: app.clock, hasMail: true, databaseFault: () => null });

describe('the routes of the application', () => {
  it('are the rows of the tables; only shared handlers are mounted besides them', async () => {
    const mounted = mountedRoutes(routesOf({ ...app.options, status: statusOf() }));
    const routes = mounted.filter((one) => !one.startsWith('use '));
    expect(routes.toSorted()).toEqual(rows.map(described).toSorted());
    const around = mounted.filter((one) => one.startsWith('use ')).map((one) => one.split(' ')[1]);
    const files = ['/assets', '/messages', '/sdk'];
    expect([...new Set(around)].toSorted()).toEqual(['/', ...files, '/v1/scim'].toSorted());
    // Context, headers, the site, the gate of custom domains, and four for what has no route.
    expect(around.filter((path) => path === '/')).toHaveLength(8);
  });

  it('have labels without input, each of one route but for the steps of a sign-in', () => {
    const labels = rows.map(({ label }) => label);
    for (const label of labels) expect(label).toMatch(/^\/[\w.:*/-]*$/);
    const shared = labels.filter((label, index) => labels.indexOf(label) !== index);
    expect([...new Set(shared)]).toEqual(['/v1/signin/:step']);
  });
});

/** The label of the only request since the last call. */
async function labelled(path: string, init: RequestInit = {}): Promise<string | undefined> {
  metrics.registry.resetMetrics();
  await (await fetch(`${url}${path}`, { redirect: 'manual', ...init })).arrayBuffer();
  // The response arrives before the server counts it.
  const counted = () => metrics.registry.getSingleMetricAsString('latchkey_http_request_seconds');
  for (;;) {
    const label = /_count\{route="([^"]*)"/.exec(await counted())?.[1];
    if (label !== undefined) return label;
    await new Promise((done) => setImmediate(done));
  }
}

describe('a request in the metrics', () => {
  const id = randomUUID();
  const paths: [string, string][] = [
    ['/', '/'],
    ['/.well-known/jwks.json', '/.well-known/jwks.json'],
    ['/.well-known/openid-configuration?again', '/.well-known/openid-configuration'],
    ['/OAuth2/Token/', '/oauth2/token'],
    ['/p/SLUG/oauth2/revoke', '/p/:slug/oauth2/revoke'],
    ['/p/SLUG/oauth2/introspect', '/p/:slug/oauth2/introspect'],
    ['/p/SLUG/oauth2/par', '/p/:slug/oauth2/par'],
    ['/p/SLUG/oauth2/device_authorization', '/p/:slug/oauth2/device_authorization'],
    ['/p/SLUG/device', '/p/:slug/device'],
    ['/p/nowhere/device', '/p/:slug/device'],
    ['/p/SLUG/nothing', 'other'],
    ['/.well-known/oauth-authorization-server/p/SLUG', '/.well-known/oauth-authorization-server/p/:slug'],
    ['/v1/signin/verify-email-otp', '/v1/signin/:step'],
    [`/v1/signin/${id}`, '/v1/signin/:step'],
    ['/v1/scim/PROJECT/Users', '/v1/scim/:project/Users'],
    ['/v1/scim/PROJECT//Users//ada@example.com', '/v1/scim/:project/Users/:id'],
    ['/v1/scim/PROJECT/Users/.search', '/v1/scim/:project/Users/.search'],
    ['/v1/scim/PROJECT/Roles/editor', '/v1/scim/:project/Roles/:id'],
    [`/v1/scim/PROJECT/Nothing/${id}`, '/v1/scim/other'],
    ['/experience/accent/1/aabbcc.css', '/experience/accent/1/:color.css'],
    ['/status', '/status'],
    ['/sdk/browser.js', '/sdk/*'],
    ['/assets/none.js', '/assets/*'],
    [`/admin/users/${id}`, '/admin/*'],
    ['/admin/export/users', '/admin/export/users'],
    ['/setup/mailbox', '/setup/mailbox'],
    ['/lk_sk_secret', 'other'],
    [`/${id}/${id}`, 'other'],
  ];

  it.each(paths)('%s has the label of its row', async (path, label) => {
    expect(await labelled(path.replace('SLUG', slug).replace('PROJECT', projectId))).toBe(label);
  });
});

const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Language': 'en' };
const long = 'a'.repeat(70_000);
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('a page with a body that is too long', () => {
  const pages = [
    '/authorize',
    '/authorize/consent',
    '/oauth2/end_session',
    '/account',
    '/account/recovery',
    '/account/deletion',
    '/portal',
    '/setup',
  ];
  const ofProject = [
    '/p/SLUG/authorize',
    '/p/SLUG/authorize/organization',
    '/p/SLUG/device',
    '/p/SLUG/device/approval',
  ];

  it.each([...pages, ...ofProject])('%s answers a browser with a page', async (path) => {
    const headers = { ...browser, ...form, Origin: app.options.issuer };
    const to = `${url}${path.replace('SLUG', slug)}`;
    const answer = await fetch(to, { method: 'POST', headers, body: `a=${long}` });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('This form is too long.');
  });

  it('answers a program with JSON', async () => {
    const answer = await fetch(`${url}/authorize`, { method: 'POST', headers: form, body: `a=${long}` });
    expect([answer.status, await answer.json()]).toEqual([413, expect.objectContaining({ error: 'invalid_request' })]);
  });
});

describe('a method that a row does not have', () => {
  const pages: [string, string, string][] = [
    ['POST', '/', 'GET'],
    ['POST', '/signin', 'GET'],
    ['PUT', '/account', 'GET, POST'],
    ['POST', '/account/confirmed', 'GET'],
    ['PUT', '/portal', 'GET, POST'],
    ['DELETE', '/p/SLUG/device', 'GET, POST'],
    ['PUT', '/authorize', 'GET, POST'],
    ['POST', '/admin/users', 'GET'],
    ['PATCH', '/setup', 'GET, POST'],
    ['POST', '/demo', 'GET'],
    ['POST', '/status', 'GET'],
    ['POST', '/openapi', 'GET'],
  ];

  it.each(pages)('%s %s gets 405 with Allow, as a page in a browser', async (method, path, allow) => {
    const to = `${url}${path.replace('SLUG', slug)}`;
    const answer = await fetch(to, { method, headers: browser });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const program = await fetch(to, { method });
    expect([program.status, program.headers.get('allow')]).toEqual([405, allow]);
    expect(await program.json()).toMatchObject({ error: 'invalid_request' });
  });

  it.each(pages)('but %s %s answers OPTIONS with Allow', async (_method, path, allow) => {
    const answer = await fetch(`${url}${path.replace('SLUG', slug)}`, { method: 'OPTIONS', headers: browser });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, allow]);
  });

  it('gets the error of its protocol', async () => {
    const send = async (method: string, path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${url}${path}`, { method, headers });
      return { status: answer.status, allow: answer.headers.get('allow'), body: await answer.json() };
    };
    expect(await send('PUT', `/p/${slug}/oauth2/revoke`)).toEqual({
      status: 405,
      allow: 'POST',
      body: { error: 'invalid_request', error_description: 'Method not allowed.' },
    });
    expect(await send('PUT', `/v1/scim/${projectId}/Bulk`, { Authorization: `Bearer ${scimToken}` })).toEqual({
      status: 405,
      allow: 'POST, OPTIONS',
      body: expect.objectContaining({ status: '405', detail: 'PUT is not supported here.' }),
    });
    expect(await send('PUT', '/v1/signin/challenge')).toMatchObject({
      ...{ status: 405, allow: 'POST' },
      body: { status: 'ERROR', error: { code: 'INVALID_REQUEST', request_id: expect.any(String) } },
    });
    expect(await send('PUT', '/v1/delegation')).toMatchObject({
      ...{ status: 405, allow: 'GET, POST' },
      body: { error: { code: 'INVALID_REQUEST', request_id: expect.any(String) } },
    });
    expect(await send('POST', '/admin/export/users', { Authorization: `Bearer ${bootstrapToken}` })).toMatchObject({
      ...{ status: 405, allow: 'GET' },
      body: { errors: [{ extensions: { code: 'invalid', requestId: expect.any(String) } }] },
    });
  });
});

describe('a long body that no handler reads', () => {
  it('gets 413 in the format of the row', async () => {
    const send = async (method: string, path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${url}${path}`, { method, headers, body: long });
      return { status: answer.status, body: await answer.json() };
    };
    const scim = await send('DELETE', `/v1/scim/${projectId}/Users/x`, { Authorization: `Bearer ${scimToken}` });
    expect(scim).toMatchObject({ status: 413, body: { status: '413', detail: expect.stringContaining('larger') } });
    // `fetch` sends no body with GET.
    const request = httpRequest(`${url}/admin/export/users`, {
      headers: { Authorization: `Bearer ${bootstrapToken}`, 'Content-Length': long.length },
    });
    request.flushHeaders();
    const [exported] = (await once(request, 'response')) as [IncomingMessage];
    const { errors } = JSON.parse(await text(exported));
    expect([exported.statusCode, errors[0].message]).toEqual([413, 'body must have at most 64 KB.']);
    request.destroy();
    const unknown = await send('POST', '/nowhere');
    expect(unknown).toMatchObject({ status: 413, body: { error: 'invalid_request' } });
    const page = await fetch(`${url}/nowhere`, { method: 'POST', headers: browser, body: long });
    expect([page.status, page.headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
  });
});

describe('a request without a token', () => {
  it.each([
    ['an unknown path', 'POST', '/Nothing'],
    ['an operation without a body', 'DELETE', '/Users/x'],
    ['a path that cannot be decoded', 'GET', '/Users/%ff'],
  ])('gets 401 for %s of SCIM, before 413 and 400', async (_what, method, path) => {
    const to = `${url}/v1/scim/${projectId}${path}`;
    const request = { method, ...(method !== 'GET' && { body: long }) };
    expect((await fetch(to, request)).status).toBe(401);
    const answer = await fetch(to, { ...request, headers: { Authorization: `Bearer ${scimToken}` } });
    expect(answer.status).toBe(method === 'GET' ? 400 : 413);
    expect(await answer.json()).toMatchObject({ schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'] });
  });
});

describe('a request whose site is unknown, since the lookup of its host failed', () => {
  const cases = [
    ['POST', '/v1/signin/challenge', '/v1/signin/:step', 'sign_in'],
    ['POST', '/oauth2/token', '/oauth2/token', 'sign_in'],
    ['GET', '/v1/scim/PROJECT/Users', '/v1/scim/:project/Users', 'directory_sync'],
    ['GET', '/sdk/browser.js', '/sdk/*', undefined],
    ['GET', '/nowhere', 'other', undefined],
  ] as const;

  it.each(cases)(
    'fails at %s %s, with the label and the service of its route',
    async (method, path, label, service) => {
      const ofHost = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
      const issuers = Object.assign(Object.create(app.services.issuers), { ofHost });
      const seen: unknown[] = [];
      const observer: Observer = (req, res, next) => {
        res.once('finish', () => seen.push(matchedRoute(req) ?? { label: 'other' }));
        next();
      };
      const services = { ...app.services, issuers };
      const failing = createServer(buildApp({ ...app.options, services, observers: [observer] }));
      await new Promise<void>((done) => void failing.listen(0, '127.0.0.1', done));
      const { port } = failing.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}${path.replace('PROJECT', projectId)}`, { method });
      await answer.arrayBuffer();
      await new Promise((closed) => failing.close(closed));
      expect([answer.status, ...seen]).toEqual([503, { label, service }]);
    },
  );
});
