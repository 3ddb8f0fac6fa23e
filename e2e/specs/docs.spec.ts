/** The documentation that the instance serves. */
import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { visitConsole } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

let latchkey: Latchkey;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
});

test.afterAll(() => latchkey.stop());

/** Requests to other hosts, and errors of the page, from now on. */
function watched(page: Page): { foreign: string[]; errors: string[] } {
  const seen = { foreign: [] as string[], errors: [] as string[] };
  page.on('request', (request) => {
    if (!request.url().startsWith(latchkey.baseUrl)) seen.foreign.push(request.url());
  });
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') seen.errors.push(message.text());
  });
  return seen;
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`a phone reads, searches and follows the documentation, ${colorScheme}`, async ({ browser }) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme });
    const page = await context.newPage();
    const seen = watched(page);
    await page.goto(`${latchkey.baseUrl}/docs`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Running Latchkey');
    await expectAccessible(page);
    // Nothing is wider than the phone; tables and code scroll by themselves.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.getByRole('searchbox', { name: 'Search' }).fill('grafana');
    await expect(page.getByRole('list', { name: 'Search results' }).getByRole('link').first()).toContainText('Grafana');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(`${latchkey.baseUrl}/docs/products#grafana`);
    await expect(page.getByRole('heading', { name: 'Grafana', exact: true })).toBeInViewport();
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const cut = () =>
      page.evaluate(
        () => [...document.querySelectorAll('pre')].filter((code) => code.scrollWidth > code.clientWidth).length,
      );
    expect(await cut()).toBe(0);
    await page.getByRole('searchbox', { name: 'Search' }).fill('xyzzy');
    await expect(page.getByRole('list', { name: 'Search results' })).toHaveText('No results. Try other words.');
    await expectAccessible(page);
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    // The address of this instance is filled in.
    await expect(page.getByText(`auth_url = ${latchkey.baseUrl}/p/acme/authorize`)).toBeVisible();
    await page.getByText('Pages', { exact: true }).click();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Users' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Users');
    expect(seen).toEqual({ foreign: [], errors: [] });
    await context.close();
  });
}

test('every page is served with its version, a strict policy and links that resolve; others are not found', async ({
  request,
}) => {
  const visited = new Set<string>();
  const open = ['/docs'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (visited.has(path)) continue;
    visited.add(path);
    const response = await request.get(`${latchkey.baseUrl}${path}`);
    expect(response.status(), path).toBe(200);
    expect(response.headers()['content-security-policy']).toContain("default-src 'none'");
    const text = await response.text();
    expect(text).toMatch(/Version \d+\.\d+\.\d+/);
    expect(text, path).not.toContain('https://id.example.com');
    open.push(...[...text.matchAll(/href="(\/docs[^"#]*)/g)].map(([, href]) => href as string));
  }
  expect(visited.size).toBeGreaterThan(25);
  for (const path of ['/docs/unknown', '/docs/unknown.md', '/docs/%2e%2e%2fpackage.json'])
    expect((await request.get(`${latchkey.baseUrl}${path}`)).status(), path).toBe(404);
  const llms = await (await request.get(`${latchkey.baseUrl}/docs/llms.txt`)).text();
  for (const [, path] of llms.matchAll(/\]\((\/docs[^)]+)\)/g)) {
    const markdown = await request.get(`${latchkey.baseUrl}${path}`);
    expect(markdown.headers()['content-type'], path).toContain('text/markdown');
  }
});

test('a page of the console leads to its documentation', async ({ browser }) => {
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  const projectId = await admin.createProject('Documented');
  const { context, page } = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/directory`);
  await page.getByRole('button', { name: 'Help and endpoints' }).click();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Documentation of this page' }).click();
  await expect((await opened).getByRole('heading', { level: 1 })).toHaveText('Directories (SCIM)');
  await context.close();
});
