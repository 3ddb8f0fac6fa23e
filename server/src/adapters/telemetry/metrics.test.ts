import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { mount } from '../../http/routes/mount.ts';
import { Metrics } from './metrics.ts';

it('requests are counted by route and status, and no input becomes a label', async () => {
  const metrics = new Metrics();
  const app = express();
  app.use(metrics.observe());
  const refuse: RequestHandler = (_req, res) => void res.status(401).end();
  mount(app, [{ path: '/userinfo', methods: { GET: { handler: () => refuse, openApi: 'page' } } }], {});
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  const { port } = server.address() as AddressInfo;
  for (const path of ['/userinfo?access_token=lk_secret', '/lk_sk_secret', '/v1/scim/lk_secret/Users/lk_secret']) {
    await new Promise<void>((resolve) => {
      get({ port, path, host: '127.0.0.1', agent: false }, (answer) => answer.resume().on('close', () => resolve()));
    });
  }
  server.close();
  const text = await metrics.registry.metrics();
  expect(text).toContain('latchkey_http_request_seconds_count{route="/userinfo",method="GET",status="401"} 1');
  expect(text).toContain('latchkey_http_request_seconds_count{route="other",method="GET",status="404"} 2');
  expect(text).not.toContain('secret');
});

it('database, connections and queue are shown, without waiting for an unreachable queue', async () => {
  const metrics = new Metrics();
  metrics.watchDatabase({ fault: 'away', use: () => ({ total: 5, idle: 2, waiting: 1 }) });
  metrics.watchQueue({ stats: () => Promise.reject(new Error('unavailable')) });
  metrics.watchStreams({ lagOfKinds: async () => [{ kind: 'http', seconds: 42 }] });
  metrics.watchRelays([
    { lag: async () => [{ lane: 'codes', pending: 3, seconds: 7 }] },
    { lag: () => Promise.reject(new Error('unavailable')) },
  ]);
  metrics.batch('http', 'failed');
  metrics.signIn('authenticate', 'OTP_NEEDED');
  metrics.message('mail', 'sent');
  const text = await metrics.registry.metrics();
  expect(text).toContain('latchkey_database_up 0');
  expect(text).toContain('latchkey_database_connections{state="active"} 3');
  expect(text).toContain('latchkey_database_connections{state="waiting"} 1');
  expect(text).toContain('latchkey_signin_steps_total{step="authenticate",result="OTP_NEEDED"} 1');
  expect(text).toContain('latchkey_messages_total{channel="mail",result="sent"} 1');
  expect(text).toContain('latchkey_log_stream_lag_seconds{kind="http"} 42');
  expect(text).toContain('latchkey_log_stream_batches_total{kind="http",result="failed"} 1');
  expect(text).toContain('latchkey_relay_pending{lane="codes"} 3');
  expect(text).toContain('latchkey_relay_lag_seconds{lane="codes"} 7');
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
});

it('the age of the newest backup is shown, and has no value while there is none', async () => {
  const metrics = new Metrics();
  let age: number | null = null;
  metrics.watchBackups(async () => age);
  const line = async () => (await metrics.registry.metrics()).match(/^latchkey_backup_age_seconds .*$/m)?.[0];
  expect(await line()).toBeUndefined();
  age = 90_000;
  expect(await line()).toBe('latchkey_backup_age_seconds 90000');
  age = null;
  expect(await line()).toBeUndefined();
});

it('the clock of this machine is compared with the database, in seconds', async () => {
  const metrics = new Metrics();
  metrics.watchClock({ skewMs: -300_250 });
  expect(await metrics.registry.metrics()).toContain('latchkey_clock_skew_seconds -300.25');
});
