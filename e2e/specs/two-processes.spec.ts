import { expect, test } from '@playwright/test';
import { AdminApi } from '../support/admin-api.ts';
import { freePort, startLatchkey } from '../support/latchkey.ts';
import { startSibling } from '../support/sibling.ts';
import { signInOnPage } from '../support/sign-in.ts';
import { SilentClient } from '../support/silent-client.ts';

/** 100 by hand and before a release: `LATCHKEY_ROUNDS=100`. */
const rounds = Number(process.env['LATCHKEY_ROUNDS'] ?? 4);

test('one of 200 parallel exchanges of a code over two processes succeeds, also after a restart', async ({ page }) => {
  test.setTimeout(480_000 + rounds * 5_000);
  const first = await startLatchkey();
  const admin = new AdminApi(first.baseUrl, first.adminToken);
  const redirectUri = 'http://127.0.0.1:9/callback';
  const { clientId } = await admin.createClient({
    projectId: await admin.createProject('Two processes'),
    name: 'App',
    redirectUris: [redirectUri],
  });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  await page.goto(`${first.baseUrl}/authorize?${query}`);
  const left = page.waitForRequest(/127\.0\.0\.1:9\/callback/);
  await signInOnPage(page, admin, 'ada@example.com');
  await left;
  // Started only now: it has no dev mailbox, and would take the job that sends the code.
  const second = await startSibling(first, await freePort());
  const client = new SilentClient(first.baseUrl, clientId, redirectUri, await page.context().cookies(first.baseUrl));

  const lateExchange = async (successes: number, code: string) =>
    successes === 0 && (await client.exchange(code)).status === 200 ? 1 : 0;
  for (let round = 0; round < rounds; round += 1) {
    const code = await client.code(round % 2 === 0 ? first.baseUrl : second.url);
    const exchanges = Array.from({ length: 200 }, async (_, index) => {
      const response = await client.exchange(code, index % 2 === 0 ? first.baseUrl : second.url);
      const body = (await response.json()) as { error?: string };
      return response.status === 200 ? 'success' : `${response.status} ${body.error}`;
    });
    const outcomes = await Promise.all(exchanges);
    const successes = outcomes.filter((outcome) => outcome === 'success').length;
    // An overloaded server refuses requests before it uses the code: if it refused all, the code is still valid.
    expect(successes + (await lateExchange(successes, code))).toBe(1);
    const refusals = new Set(outcomes.filter((outcome) => outcome !== 'success'));
    for (const refusal of refusals) expect(['400 invalid_grant', '503 temporarily_unavailable']).toContain(refusal);
  }
  const [used, unused] = [await client.code(), await client.code()];
  expect((await client.exchange(used)).status).toBe(200);
  await second.process.kill();
  const again = await startSibling(first, Number(new URL(second.url).port));
  expect((await client.exchange(used, again.url)).status).toBe(400);
  expect((await client.exchange(unused, again.url)).status).toBe(200);
  await again.process.stop();
  await first.stop();
});
