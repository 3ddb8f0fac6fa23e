import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Lists of more rows than are counted, and the exact number before users are erased. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;

const perImport = 201;
const imports = 50;

async function importUsers(emails: string[]) {
  const importing = 'mutation ($input: ImportUsersInput!) { importUsers(input: $input) { created } }';
  const rows = emails.map((email) => ({ email }));
  await admin.run(importing, { input: { projectId, invite: false, dryRun: false, rows } });
}

test.beforeAll(async () => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  for (let part = 0; part < imports; part += 1) {
    await importUsers(Array.from({ length: perImport }, (_, n) => `crew-${part}-${n}@fleet.example`));
  }
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('a list shows that there are more than 10,000 users, and a bulk action states their exact number', async ({
  browser,
}) => {
  const who = { email: 'pa@example.com', role: 'PROJECT_ADMIN', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/users?state=active`);
  await expect(page.getByText('1–50 of more than 10,000 users')).toBeVisible();
  await page.getByLabel('Select all on this page').check();
  await button(page, 'Select all 10,000+ that match').click();
  await expect(page.getByText('All 10,000+ matching users selected')).toBeVisible();
  await button(page, 'Actions').click();
  await page.getByRole('menuitem', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase: 10,050 users?' });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);

  await importUsers(['late@fleet.example']);
  await dialog.getByLabel('Type 10050 to confirm').fill('10050');
  await dialog.getByRole('button', { name: 'Erase' }).click();
  await expect(page.getByText('Nothing was changed: 10,051 users match now, not 10,050.')).toBeVisible();
  await expect(page.getByRole('dialog', { name: 'Erase: 10,051 users?' })).toBeVisible();
  const all = `{ users(projectId: "${projectId}") { totalCount } }`;
  expect(await admin.run(all)).toEqual({ users: { totalCount: perImport * imports + 1 } });
  expect(browserErrors).toEqual([]);
  await context.close();
});
