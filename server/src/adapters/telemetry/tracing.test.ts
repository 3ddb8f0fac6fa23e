import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildTestApp } from '../../../test/build-app.ts';
import { mount } from '../../http/routes/mount.ts';
import { postForm } from '../http/outbound.ts';
import type { Tracing } from './trace-port.ts';
import { startTracing } from './tracing.ts';

interface Exported {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

let collector: Server;
let exported: string;
let spans: Exported[];
let tracing: Tracing;

const listen = (server: Server) =>
  new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

beforeEach(async () => {
  exported = '';
  spans = [];
  collector = createServer(async (req, res) => {
    const text = await bodyOf(req).catch(() => null);
    // The test ended first.
    if (text === null) return;
    exported += text;
    const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Exported[] }[] }[] };
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  tracing = startTracing({ endpoint: await listen(collector), ratio: 1, version: '0.0.0' });
});
afterEach(() => {
  collector.close().closeAllConnections();
});

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text;
}

it("a request continues and propagates its caller's trace, with its route and no secret", async () => {
  const received: IncomingMessage['headers'][] = [];
  const receiver = createServer((req, res) => {
    received.push(req.headers);
    res.end();
  });
  const target = `${await listen(receiver)}/logout?tenant=lk_secret`;
  const app = express();
  app.use(tracing.observe);
  const handle: RequestHandler = async (_req, res) => {
    await tracing.statement("select * from users where email = 'lk_secret'", async () => undefined);
    await tracing.outgoing(target, (headers) =>
      postForm(target, new URLSearchParams({ logout_token: 'lk_secret' }), {
        allowPrivate: true,
        timeoutMs: 5000,
        headers,
      }),
    );
    res.end();
  };
  mount(app, [{ path: '/userinfo', methods: { GET: { handler: () => handle, openApi: 'page' } } }], {});
  const server = createServer(app);
  const url = await listen(server);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  await fetch(`${url}/userinfo?access_token=lk_secret`, {
    headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, authorization: 'Bearer lk_secret' },
  });
  await tracing.stop();
  for (const one of [server, receiver]) one.close().closeAllConnections();

  expect(spans.map(({ name }) => name).sort()).toEqual(['GET /userinfo', 'POST', 'select']);
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const request = spans.find(({ name }) => name === 'GET /userinfo');
  expect(request?.parentSpanId).toBe('00f067aa0ba902b7');
  for (const span of spans) if (span !== request) expect(span.parentSpanId).toBe(request?.spanId);
  expect(received[0]?.['traceparent']).toContain(traceId);
  expect(exported).not.toContain('lk_secret');
});

it('the whole application works with tracing', async () => {
  const app = await buildTestApp();
  expect((await fetch(`${app.url}/.well-known/jwks.json`)).status).toBe(200);
  await app.close();
  await tracing.stop();
});
