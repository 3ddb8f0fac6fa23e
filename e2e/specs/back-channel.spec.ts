import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { AdminApi } from '../support/admin-api.ts';
import { startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';
import { SilentClient } from '../support/silent-client.ts';

async function receiver(listener: RequestListener): Promise<{ uri: string; close(): void }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logout`,
    close: () => server.close().closeAllConnections(),
  };
}

test('hanging receivers do not delay others', async ({ page }) => {
  const latchkey = await startLatchkey();
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  const projectId = await admin.createProject('Back channel');
  /** Delivery times of healthy receivers, and how many hanging ones had timed out by then. */
  const arrived: { at: number; given: number }[] = [];
  let hanging = 0;
  let given = 0;
  const healthy = await receiver((_req, res) => {
    arrived.push({ at: performance.now(), given });
    res.writeHead(200).end();
  });
  const deaf = await receiver((req) => {
    hanging += 1;
    req.socket.once('close', () => {
      given += 1;
    });
  });
  const redirectUri = 'http://127.0.0.1:9/callback';
  const make = (backchannelLogoutUri: string) =>
    admin.createClient({ projectId, name: 'App', redirectUris: [redirectUri], backchannelLogoutUri });
  // Hanging receivers first, to be in the way.
  const clients = [
    ...(await Promise.all(Array.from({ length: 30 }, () => make(deaf.uri)))),
    ...(await Promise.all(Array.from({ length: 10 }, () => make(healthy.uri)))),
  ];
  const [any] = clients;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: any?.clientId ?? '',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  await page.goto(`${latchkey.baseUrl}/authorize?${query}`);
  const left = page.waitForRequest(/127\.0\.0\.1:9\/callback/);
  await signInOnPage(page, admin, 'ada@example.com');
  await left;
  const cookies = await page.context().cookies(latchkey.baseUrl);
  for (const { clientId } of clients) {
    const client = new SilentClient(latchkey.baseUrl, clientId, redirectUri, cookies);
    expect((await client.exchange(await client.code())).status).toBe(200);
  }

  await page.goto(`${latchkey.baseUrl}/oauth2/end_session`);
  const begun = performance.now();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await expect(page.getByText('You are signed out')).toBeVisible();
  await expect.poll(() => ({ healthy: arrived.length, hanging })).toEqual({ healthy: 10, hanging: 30 });
  // No hanging receiver had timed out yet: the healthy ones did not wait.
  expect(arrived.at(-1)).toMatchObject({ given: 0 });
  test
    .info()
    .annotations.push({ type: 'last delivery', description: `${Math.round((arrived.at(-1)?.at ?? 0) - begun)} ms` });
  healthy.close();
  deaf.close();
  await latchkey.stop();
});
