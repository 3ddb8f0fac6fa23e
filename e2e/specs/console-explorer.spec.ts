import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** The API explorer, for an owner and a project viewer, by mouse and by keyboard alone. */

let latchkey: Latchkey;
let projectId: string;
let owner: Visit;
let viewer: Visit;
const foreign: string[] = [];

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  await admin.createProject('Secret project');
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  const role = { role: 'PROJECT_VIEWER', projectId } as const;
  viewer = await visitConsole(browser, latchkey, admin, { email: 'viewer@example.com', ...role });
  for (const { context } of [owner, viewer]) {
    context.on('request', (request) => {
      if (new URL(request.url()).origin !== latchkey.baseUrl) foreign.push(request.url());
    });
  }
});

test.afterAll(async () => {
  // Also violations of the Content-Security-Policy.
  for (const { browserErrors, context } of [owner, viewer]) {
    expect(browserErrors).toEqual([]);
    await context.close();
  }
  expect(foreign).toEqual([]);
});

const open = (page: Page) => page.goto(`${latchkey.baseUrl}/admin/explorer`);
const editor = (page: Page) => page.getByRole('textbox', { name: 'Query' });
const variables = (page: Page) => page.getByRole('textbox', { name: 'Variables (JSON)' });
const response = (page: Page) => page.getByRole('region', { name: 'Response' }).locator('pre');

async function write(page: Page, query: string, values = ''): Promise<void> {
  await editor(page).press('ControlOrMeta+a');
  await page.keyboard.insertText(query);
  await variables(page).fill(values);
}

test('a query and a mutation run with the rights of the owner', async () => {
  const { page } = owner;
  await open(page);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(page)).toContainText('"name": "Secret project"');
  await expect(page.getByRole('status').filter({ hasText: /^200 · \d+/ })).toBeVisible();
  await expectAccessible(page);
  const mutation = 'mutation Rename($input: UpdateProjectInput!) { updateProject(input: $input) { name } }';
  await write(page, mutation, '{ "input": ');
  await expect(page.getByText('Must be a JSON object')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeDisabled();
  await variables(page).fill(JSON.stringify({ input: { id: projectId, name: 'Acme, renamed' } }));
  await page.getByRole('button', { name: 'Format query' }).click();
  await expect(editor(page)).toContainText(/mutation Rename\(\$input: UpdateProjectInput!\) \{\s*updateProject/);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(page)).toContainText('"name": "Acme, renamed"');
  await page.getByRole('button', { name: 'Latchkey: instance' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Projects' }).click();
  await expect(page.getByRole('link', { name: 'Acme, renamed' })).toBeVisible();
});

test('a narrow page scrolls to the response', async () => {
  const { page } = owner;
  const size = page.viewportSize() ?? { width: 1280, height: 900 };
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(page)).toContainText('"name"');
  await expect(page.getByRole('heading', { name: 'Response' })).toBeInViewport();
  await page.setViewportSize(size);
});

test('a viewer gets the refusals of the API, and sees no other project', async () => {
  const { page } = viewer;
  await page.getByRole('button', { name: 'Latchkey: instance' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'API explorer' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(page)).toContainText('"name": "Acme, renamed"');
  await expect(response(page)).not.toContainText('Secret project');
  const about = JSON.stringify({ input: { id: projectId, name: 'Taken' } });
  await write(page, 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { name } }', about);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(page)).toContainText('"code": "forbidden"');
  await write(page, '{ auditEvents(first: 1) { edges { node { type } } } }');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(page)).toContainText('"code": "forbidden"');
  await write(page, '{ nothing }');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(page)).toContainText('Cannot query field');
  await expectAccessible(page);
});

test('the keyboard writes with completions, runs, and leaves the editor by Tab', async () => {
  const { page } = viewer;
  await open(page);
  await expect(page.getByText(/^12 of \d+$/)).toBeVisible();
  await tabTo(page, editor(page));
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('query Who { m');
  await page.keyboard.press('Control+Space');
  await expect(page.getByRole('option', { name: /^meMe!/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.type('e { name } ');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(response(page)).toContainText('viewer@example.com');
  await page.keyboard.press('Tab');
  await expect(variables(page)).toBeFocused();
  await page.keyboard.type('{{}');
  await page.keyboard.press('ControlOrMeta+Enter');
  await tabTo(page, page.getByRole('searchbox', { name: 'Search queries and mutations' }));
  await page.keyboard.type('query auditevents');
  const found = page.locator('summary', { hasText: 'query auditEvents' });
  await tabTo(page, found);
  await page.keyboard.press('Enter');
  await expect(
    page.getByText('Newest first. Without a project or organization: the whole instance, for owners only.'),
  ).toBeVisible();
});

test('the request of a form opens in the explorer, once, in a new tab', async () => {
  const { page, context } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/settings`);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Acme, again');
  await page.getByRole('button', { name: 'Show GraphQL' }).click();
  const tab = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Open in API explorer' }).click();
  const explorer = await tab;
  await expect(editor(explorer)).toContainText('updateProject');
  await expect(variables(explorer)).toHaveValue(new RegExp(projectId));
  await explorer.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(response(explorer)).toContainText('"updateProject"');
  await explorer.reload();
  await expect(editor(explorer)).toContainText('query FirstProjects');
  await explorer.close();
});

test('the reference of the REST interfaces is one link away', async () => {
  const { page, context } = viewer;
  await open(page);
  const tab = context.waitForEvent('page');
  await page.getByRole('link', { name: 'REST reference' }).click();
  await expect((await tab).getByRole('heading', { level: 1 })).toBeVisible();
  await expect(await tab).toHaveURL(`${latchkey.baseUrl}/openapi`);
});
