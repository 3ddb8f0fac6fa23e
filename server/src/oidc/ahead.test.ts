import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { atLoopback } from '../adapters/loopback.ts';
import { Metrics } from '../adapters/metrics.ts';
import { observed } from '../http/observer.ts';
import { answerAhead } from './ahead.ts';

let app: TestApp;
let accessToken: string;

beforeAll(async () => {
  app = await buildTestApp();
  const project = await app.make.project();
  const rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(await app.make.user(project));
  const tokens = (await (await rp.exchange(await rp.code())).json()) as TokenAnswer;
  accessToken = tokens.access_token;
});

afterAll(async () => {
  await app.close();
});

async function answerOf(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${accessToken}`, ...headers } });
  const { date, 'x-request-id': requestId, ...others } = Object.fromEntries(response.headers);
  expect([date, requestId]).toEqual([expect.any(String), expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  return { status: response.status, headers: others, body: await response.text() };
}

describe('what is asked for most', () => {
  it.each(['/.well-known/openid-configuration', '/.well-known/jwks.json', '/userinfo'])(
    '%s is answered in the same words, plainly asked for or not',
    async (path) => {
      const plain = await answerOf(`${app.url}${path}`);
      expect(plain.status).toBe(200);
      expect(plain).toEqual(await answerOf(`${app.url}${path}?not=plain`));
    },
  );

  it('is refused in the same words, and asked about once', async () => {
    const wrong = { Authorization: 'Bearer a.b.c' };
    const plain = await answerOf(`${app.url}/userinfo`, wrong);
    expect(plain.status).toBe(401);
    expect(plain).toEqual(await answerOf(`${app.url}/userinfo?not=plain`, wrong));
  });

  it('is counted as all requests are, and ends a connection that is to end', async () => {
    const metrics = new Metrics();
    const ahead = answerAhead(
      {
        issuer: 'https://id.example.com',
        jwks: () => Promise.reject(new Error('away')),
        userInfo: async () => ({ claims: { sub: 'somebody' }, clientId: 'some' }),
        requestId: () => 'one',
        securityHeaders: [['X-Content-Type-Options', 'nosniff']],
      },
      (_req, res) => void res.writeHead(503).end(),
    );
    const draining: RequestListener = (req, res) => {
      res.setHeader('Connection', 'close');
      observed([metrics.observe()], ahead)(req, res);
    };
    const statuses = await atLoopback(draining, async (url) => {
      const paths = ['/.well-known/openid-configuration', '/.well-known/jwks.json', '/userinfo', '/authorize'];
      const answers = await Promise.all(
        paths.map((path) => fetch(url + path, { headers: { Authorization: 'Bearer x' } })),
      );
      expect(answers.map(({ headers }) => headers.get('connection'))).toEqual(paths.map(() => 'close'));
      await Promise.all(answers.map((answer) => answer.text()));
      return answers.map(({ status }) => status);
    });
    expect(statuses).toEqual([200, 503, 200, 503]);
    const text = await metrics.registry.metrics();
    expect(text).toContain('_count{route="/.well-known/openid-configuration",method="GET",status="200"} 1');
    expect(text).toContain('_count{route="/.well-known/jwks.json",method="GET",status="503"} 1');
    expect(text).toContain('_count{route="/userinfo",method="GET",status="200"} 1');
  });
});
