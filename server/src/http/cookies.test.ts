import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { afterEach, expect, it } from 'vitest';
import { baseIssuer } from '../domain/projects/issuer.ts';
import { Cookies } from './cookies.ts';
import { withSite } from './site.ts';

const issuer = 'https://id.example.com';
const cookies = new Cookies(issuer);
const nameOf = (projectId: string) => `__Host-lk-session-${projectId}`;

let server: Server;
afterEach(() => server.close());

/** Sends a request with this header to an application with one handler. */
async function send(cookie: string, handler: RequestHandler): Promise<Response> {
  const app = express();
  app.use(withSite({ base: baseIssuer(issuer), ofHost: async () => null }, (_req, _res, next) => next()));
  app.use(handler);
  server = createServer({ maxHeaderSize: 32 * 1024 }, app);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { headers: { cookie } });
}

const projects = Array.from({ length: 400 }, () => randomUUID());
const header = projects.map((id) => `${nameOf(id)}=a`).join('; ');

it('limits forged session cookies, and parses the header once', async () => {
  const response = await send(header, (req, res) => {
    let reads = 0;
    const get = req.get.bind(req) as (name: string) => string | undefined;
    req.get = ((name: string) => {
      reads += 1;
      return get(name);
    }) as typeof req.get;
    const found = cookies.sessions(req).map(({ projectId }) => projectId);
    res.json({ found, reads });
  });
  const { found, reads } = (await response.json()) as { found: string[]; reads: number };
  // Browsers send the oldest cookie first.
  expect(found).toEqual(projects.slice(-32));
  expect(reads).toBe(1);
});

it('drops the oldest session cookies of a browser with too many', async () => {
  const held = projects.slice(0, 40);
  const response = await send(held.map((id) => `${nameOf(id)}=a`).join('; '), (req, res) => {
    cookies.setSession(res, held[0] as string, 'again');
    res.end(req.method);
  });
  const set = response.headers.getSetCookie().map((line) => line.split(';')[0]);
  expect(set).toEqual([...held.slice(1, 9).map((id) => `${nameOf(id)}=`), `${nameOf(held[0] as string)}=again`]);
});

it('does not read a cookie whose name has a no-break space before the prefix, as a subdomain can set it', async () => {
  const [id = ''] = projects;
  const tossed = `\u00a0${nameOf(id)}=tossed`;
  const response = await send(`${tossed}; ${nameOf(id)}=own`, (req, res) => {
    res.json([cookies.session(req, id), cookies.sessions(req)]);
  });
  expect(await response.json()).toEqual(['own', [{ projectId: id, secret: 'own' }]]);
});
