import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BrowserContext, expect, test } from '@playwright/test';
import { AdminApi } from '../support/admin-api.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
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

/**
 * Logs a user out of 40 applications, of which 30 do not answer. Resolves to the number of those that had timed out before
 * the last of the others was called.
 */
async function logOut(context: BrowserContext, latchkey: Latchkey): Promise<number> {
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  const projectId = await admin.createProject('Back channel');
  let [healthy, hanging, timedOut, timedOutBefore] = [0, 0, 0, 0];
  const answering = await receiver((_req, res) => {
    healthy += 1;
    timedOutBefore = timedOut;
    res.writeHead(200).end();
  });
  const unresponsive = await receiver((req) => {
    hanging += 1;
    req.socket.once('close', () => {
      timedOut += 1;
    });
  });
  const redirectUri = 'http://127.0.0.1:9/callback';
  const make = (backchannelLogoutUri: string) =>
    admin.createClient({ projectId, name: 'App', redirectUris: [redirectUri], backchannelLogoutUri });
  // Hanging receivers first, so that they could delay the others.
  const clients = [
    ...(await Promise.all(Array.from({ length: 30 }, () => make(unresponsive.uri)))),
    ...(await Promise.all(Array.from({ length: 10 }, () => make(answering.uri)))),
  ];
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clients[0]?.clientId ?? '',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  const page = await context.newPage();
  await page.goto(`${latchkey.baseUrl}/authorize?${query}`);
  const left = page.waitForRequest(/127\.0\.0\.1:9\/callback/);
  await signInOnPage(page, admin, 'ada@example.com');
  await left;
  const cookies = await context.cookies(latchkey.baseUrl);
  for (const { clientId } of clients) {
    const client = new SilentClient(latchkey.baseUrl, clientId, redirectUri, cookies);
    expect((await client.exchange(await client.code())).status).toBe(200);
  }

  await page.goto(`${latchkey.baseUrl}/oauth2/end_session`);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await expect(page.getByText('You are signed out')).toBeVisible();
  await expect.poll(() => healthy).toBe(10);
  await expect.poll(() => hanging).toBeGreaterThanOrEqual(30);
  answering.close();
  unresponsive.close();
  return timedOutBefore;
}

test('hanging receivers do not delay others', async ({ browser }) => {
  const latchkey = await startLatchkey();
  let timedOut = Number.POSITIVE_INFINITY;
  // A busy machine may take longer than their timeout to call the others. If the others waited, they would do so each time.
  for (let attempt = 0; timedOut > 0 && attempt < 5; attempt += 1) {
    const context = await browser.newContext();
    timedOut = await logOut(context, latchkey);
    await context.close();
  }
  expect(timedOut).toBe(0);
  await latchkey.stop();
});
