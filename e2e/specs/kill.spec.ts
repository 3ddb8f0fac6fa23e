import { rmSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { AdminApi, codeIn } from '../support/admin-api.ts';
import { newDataFolder } from '../support/data-folder.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

const leftovers: (() => Promise<void>)[] = [];

test.afterEach(async () => {
  for (const clear of leftovers.splice(0)) await clear();
});

test('a server killed during sign-ins recovers on restart, and no acknowledged user is lost', async ({ browser }) => {
  const dataDir = newDataFolder({ empty: false });
  let latchkey: Latchkey = await startLatchkey({ DATA_DIR: dataDir });
  leftovers.push(async () => {
    await latchkey.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const { port } = new URL(latchkey.baseUrl);
  const { adminToken } = latchkey;
  const again = () =>
    startLatchkey({ DATA_DIR: dataDir, PORT: port, BOOTSTRAP_ADMIN_TOKEN: adminToken, LOG_LEVEL: 'warn' });
  const admin = new AdminApi(latchkey.baseUrl, adminToken);
  const projectId = await admin.createProject('Example');
  const scim = {
    url: `${latchkey.baseUrl}/v1/scim/${projectId}/Users`,
    headers: {
      Authorization: `Bearer ${await admin.issueScimToken(projectId)}`,
      'Content-Type': 'application/scim+json',
    },
  };
  const acknowledged: string[] = [];

  /** A SCIM client that creates users until the server is gone. */
  async function provision(worker: number, round: number): Promise<void> {
    for (let count = 0; ; count += 1) {
      const userName = `user-${round}-${worker}-${count}@example.com`;
      const response = await fetch(scim.url, {
        method: 'POST',
        headers: scim.headers,
        body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName }),
      }).catch(() => undefined);
      if (response?.status === 429) await response.body?.cancel();
      else if (response?.status !== 201) return;
      else acknowledged.push(((await response.json()) as { id: string }).id);
    }
  }

  for (let round = 0; round < 3; round += 1) {
    const before = acknowledged.length;
    const page = await browser.newPage();
    await page.goto(`${latchkey.baseUrl}/demo`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Email address').fill(`person-${round}@example.com`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByLabel('Six-digit code')).toBeVisible();
    const directory = Promise.all([0, 1, 2, 3].map((worker) => provision(worker, round)));
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 20);
    await latchkey.kill();
    await directory;
    latchkey = await again();

    // A code sent before the kill is valid after it.
    const address = `person-${round}@example.com`;
    await expect.poll(async () => (await admin.mailbox(address)).length).toBeGreaterThan(0);
    await page.getByLabel('Six-digit code').fill(codeIn((await admin.mailbox(address))[0] as string));
    await expect(page.getByText(`Signed in as ${address}`)).toBeVisible();
    await page.close();
  }

  for (const id of acknowledged) {
    const response = await fetch(`${scim.url}/${id}`, { headers: scim.headers });
    expect(response.status).toBe(200);
  }
  expect(await latchkey.stop()).toBe(0);
});
