import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { atLoopback } from './loopback.ts';
import { UntrustedProxy } from './untrusted-proxy.ts';

it('a private peer that sends X-Forwarded-For while TRUST_PROXY is unset is reported once', async () => {
  const found: string[] = [];
  const proxy = new UntrustedProxy((address) => found.push(address));
  const observe = proxy.observe();
  await atLoopback(
    (req, res) => observe(req, res, () => res.end('ok')),
    async (url) => {
      await fetch(url);
      expect(proxy.address).toBeNull();
      for (let count = 0; count < 3; count += 1) {
        expect(await (await fetch(url, { headers: { 'X-Forwarded-For': '203.0.113.7' } })).text()).toBe('ok');
      }
    },
  );
  expect(found).toEqual([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]);
  expect(proxy.address).toBe(found[0]);
});

it('a public peer may send the header: it is no proxy of this instance', () => {
  const proxy = new UntrustedProxy(() => expect.unreachable());
  const req = { headers: { 'x-forwarded-for': '10.0.0.1' }, socket: { remoteAddress: '8.8.8.8' } };
  proxy.observe()(req as never, createServer() as never, () => undefined);
  expect(proxy.address).toBeNull();
});
