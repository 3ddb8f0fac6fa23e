import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** The settings of a project as a YAML file: an owner by keyboard, and a viewer. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let slug: string;

test.beforeAll(async () => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  ({ slug } = (await admin.run<{ project: { slug: string } }>(`{ project(id: "${projectId}") { slug } }`)).project);
  const input = { projectId, url: 'https://hooks.example.com/in?token=abc' };
  await admin.run('mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret } }', { input });
});
const settings = () => `${latchkey.baseUrl}/admin/projects/${projectId}/settings`;

test('an owner exports the settings by keyboard', async ({ browser }) => {
  const who = { email: 'owner@example.com', role: 'OWNER' } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(settings());
  const button = page.getByRole('button', { name: 'Export as code' });
  await expect(button).toBeVisible();
  await expectAccessible(page);
  await tabTo(page, button);
  const started = page.waitForEvent('download');
  await page.keyboard.press('Enter');
  const download = await started;
  expect(download.suggestedFilename()).toBe(`${slug}.yaml`);
  const text = readFileSync(await download.path(), 'utf8');
  expect(text).toContain(`slug: ${slug}\n`);
  expect(text).toContain('https://hooks.example.com/in?token=abc');
  expect(text).not.toContain('whsec_');
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('a viewer neither sees the export nor can request it', async ({ browser }) => {
  const who = { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(settings());
  await expect(page.getByText('this page is read-only')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Export as code' })).toBeHidden();
  const code = await page.evaluate(async (id) => {
    const query = `{ projectConfiguration(projectId: "${id}") }`;
    const response = await fetch('/admin/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-latchkey-csrf': '1' },
      body: JSON.stringify({ query }),
    });
    return response.text();
  }, projectId);
  expect(code).toContain('"forbidden"');
  expect(browserErrors).toEqual([]);
  await context.close();
});
