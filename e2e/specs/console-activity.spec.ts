import { readFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import { AdminApi } from '../support/admin-api.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { openDatabase } from '../support/database.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Main actions of events, logout deliveries, the directory self-test and the system page, for each role. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let clientId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  const backchannelLogoutUri = 'http://127.0.0.1:9/logout';
  const redirectUris = ['https://app.example.com/callback'];
  clientId = (await admin.createClient({ projectId, name: 'Portal', redirectUris, backchannelLogoutUri })).clientId;
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const rename = (name: string) =>
  admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: projectId, name },
  });

test('events are filtered by text and names, and the URL holds the filter', async () => {
  const { page } = owner;
  await page.goto(at('events'));
  const bar = page.getByRole('combobox', { name: 'Search events' });
  await bar.fill('client:port');
  await expect(page.getByRole('option', { name: 'client: Portal', selected: true })).toBeVisible();
  await bar.press('Enter');
  await expect(page.getByText('Application: Portal')).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`client=${clientId}`));
  await expect(page.locator('summary')).toHaveCount(3);
  await bar.fill('type:client.cre');
  await bar.press('Enter');
  await expect(page.locator('summary')).toHaveCount(1);
  await page.reload();
  await expect(page.getByText('Application: Portal')).toBeVisible();
  await expect(page.locator('summary')).toHaveCount(1);
  await bar.fill('after:not a day');
  await expect(page.getByText('Use a day (2026-03-01)')).toBeVisible();
  await page.getByRole('button', { name: 'Remove the filter Type' }).click();
  await expect(page.locator('summary')).toHaveCount(3);
});

test('events update live, and all matching events can be exported', async () => {
  const { page } = owner;
  await page.goto(at('events?type=project.updated'));
  await expect(page.getByText('No matches')).toBeVisible();
  await page.getByRole('switch', { name: 'Live updates' }).check({ force: true });
  await expect(page.getByText('Waiting for events …')).toBeVisible();
  await rename('Acme, renamed');
  await expect(page.locator('summary', { hasText: 'set Name from Acme to Acme, renamed' })).toBeVisible();
  await expect(page.getByText('1 new')).toBeVisible();
  await rename('Acme');
  await expect(page.getByText('2 new')).toBeVisible();
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: /^CSV/ }).click();
  const text = await readFile(await (await download).path(), 'utf8');
  expect(text.trimEnd().split('\r\n')).toHaveLength(3);
  expect(text).toContain('"project.updated"');
});

test('a page that failed to load while the server was unavailable is retried', async () => {
  const { page } = owner;
  await page.goto(at('overview'));
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await page.route('**/admin/graphql', (route) => route.fulfill({ status: 503, body: '{}' }));
  const navigation = page.getByRole('navigation', { name: 'Console' });
  // The error replaces all skeletons.
  for (const [name, subject] of [
    ['Applications', 'list of applications'],
    ['Directory sync', 'directory'],
    ['Events', 'list of events'],
    ['Users', 'list of users'],
  ] as const) {
    await navigation.getByRole('link', { name, exact: true }).click();
    const error = page.getByRole('alert').filter({ hasText: `The ${subject} failed to load` });
    await expect(error).toContainText('The server did not respond.');
    await expect(error.getByRole('button', { name: 'Try again' })).toBeVisible();
    await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
  }
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('heading', { name: 'No users yet' })).toBeVisible();
});

test('a project admin, not a viewer, retries a failed logout delivery', async ({ browser }) => {
  const database = await openDatabase(latchkey);
  await database.query(
    `insert into logout_deliveries (id, project_id, client_id, subject, jti, uri, state, attempts, created_at)
     values (gen_random_uuid(), $1, $2, gen_random_uuid(), 'x', 'http://127.0.0.1:9/old', 'failed', $3, now())`,
    [projectId, clientId, JSON.stringify([{ at: '2026-01-01T00:00:00Z', status: 400, durationMs: 12 }])],
  );
  await database.end();
  const path = `/admin/projects/${projectId}/logout-deliveries`;
  const viewer = await visitConsole(
    browser,
    latchkey,
    admin,
    { email: 'v@example.com', role: 'PROJECT_VIEWER', projectId },
    path,
  );
  const delivery = viewer.page.locator('li', { hasText: 'Failed' });
  await delivery.locator('summary').click();
  await expect(delivery.getByText('The application rejected the token permanently.')).toBeVisible();
  await expect(viewer.page.getByRole('button', { name: 'Retry now' })).toHaveCount(0);
  await expect(viewer.page.getByRole('link', { name: 'System', exact: true })).toHaveCount(0);
  expect(viewer.browserErrors).toEqual([]);
  await viewer.context.close();

  const who = { email: 'a@example.com', role: 'PROJECT_ADMIN' as const, projectId };
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who, path);
  await page.getByLabel('Status', { exact: true }).selectOption('FAILED');
  await page.locator('summary').click();
  await page.getByRole('button', { name: 'Retry now' }).click();
  await expect(page.getByText('Retry started')).toBeVisible();
  await page.getByLabel('Status', { exact: true }).selectOption('');
  await expect(page.locator('summary', { hasText: /[2-9] attempts/ })).toBeVisible();

  await page.goto(at('directory'));
  await page.getByRole('button', { name: 'Run the self-test' }).click();
  await expect(page.getByText('All 10 passed')).toBeVisible();
  await expect(page.getByText('A deactivated user loses access immediately.')).toBeVisible();
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('the system page shows the remedy, and the status dot links to it', async () => {
  const { page } = owner;
  await page.goto(at('overview'));
  await page.getByRole('link', { name: /^System\. / }).click();
  await expect(page.getByRole('heading', { name: 'System', level: 1 })).toBeVisible();
  await expect(page.getByText('Set SMTP_URL and MAIL_FROM before going live.', { exact: true })).toBeVisible();
  await expect(page.getByText('No backup recorded', { exact: true })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Processes' }).getByRole('row')).toHaveCount(2);
});
