import { type BrowserContext, expect, type Page, type Request, test } from '@playwright/test';
import { shots } from '../screens/pages.ts';
import { settled } from '../screens/settled.ts';
import { buildWorld, type World } from '../screens/world.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

/** Scripts and requests to the admin API of each page of the console, with an empty cache (decisions/0187). */

const limits = { scripts: 12, queries: 3 };

let latchkey: Latchkey;
let world: World;
let owner: Visit;
let viewer: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await startLatchkey();
  world = await buildWorld(latchkey);
  const { admin, projectId } = world;
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  const role = { role: 'PROJECT_VIEWER', projectId } as const;
  viewer = await visitConsole(browser, latchkey, admin, { email: 'viewer@example.com', ...role });
});

test.afterAll(async () => {
  await owner.context.close();
  await viewer.context.close();
  await latchkey.stop();
});

/** A page without a cache, in a separate browser with the session of `context`. */
async function pageWithoutCache(context: BrowserContext): Promise<Page> {
  const cold = (await context.browser()?.newContext({ storageState: await context.storageState() })) as BrowserContext;
  const page = await cold.newPage();
  await (await cold.newCDPSession(page)).send('Network.setCacheDisabled', { cacheDisabled: true });
  // Polling is not part of the load, and no visit finds what an earlier one has stored.
  await page.addInitScript(() => {
    Object.assign(window, { setInterval: () => 0 });
    localStorage.clear();
    sessionStorage.clear();
  });
  return page;
}

/** The requests of a first visit. */
async function load(page: Page, path: string): Promise<{ scripts: string[]; queries: string[] }> {
  const [scripts, queries]: [string[], string[]] = [[], []];
  const note = (request: Request) => {
    // Previews of hosted pages load their own scripts.
    if (request.frame() !== page.mainFrame()) return;
    const { pathname } = new URL(request.url());
    if (pathname.endsWith('.js')) scripts.push(pathname.replace('/assets/', ''));
    if (pathname === '/admin/graphql') queries.push(/^query (\w+)/.exec(request.postDataJSON().query)?.[1] ?? '?');
  };
  page.on('request', note);
  await page.goto(path);
  await settled(page);
  await page.waitForLoadState('networkidle');
  page.off('request', note);
  return { scripts, queries };
}

for (const [which, who, visit] of [
  ['each page', 'an owner', () => owner],
  ['each page with batched queries', 'a project viewer', () => viewer],
] as const) {
  test(`${which} loads at most ${limits.scripts} scripts and ${limits.queries} queries for ${who}`, async () => {
    const pages = shots(world).filter(({ path, data, anonymous }) => !data && !anonymous && path.includes('/admin/'));
    const { projectId, userId, clientId } = world;
    const query = new URLSearchParams({ user: userId, client: clientId });
    pages.push({ name: 'events-named', path: `${world.issuer}/admin/projects/${projectId}/events?${query}` });
    const batched = ['project-overview', 'project-directory', 'user', 'group', 'webhook'];
    const chosen = who === 'an owner' ? pages : pages.filter(({ name }) => batched.includes(name));
    expect(chosen.length).toBeGreaterThanOrEqual(batched.length);
    const over: Record<string, string[]> = {};
    // Several pages at a time: a load ends with half a second without requests.
    const remaining = [...chosen];
    const visitNext = async () => {
      for (let next = remaining.pop(); next; next = remaining.pop()) {
        // The page before could still send requests.
        const page = await pageWithoutCache(visit().context);
        const { scripts, queries } = await load(page, next.path);
        await page.context().close();
        expect(scripts.length, next.name).toBeGreaterThan(2);
        expect(queries.length, next.name).toBeGreaterThan(0);
        if (scripts.length > limits.scripts) over[`${next.name}: scripts`] = scripts;
        if (queries.length > limits.queries) over[`${next.name}: queries`] = queries;
      }
    };
    await Promise.all(Array.from({ length: 4 }, visitNext));
    expect(over).toEqual({});
  });
}

test('the overview is requested while its script loads', async () => {
  const { context } = owner;
  const cold = await context.browser()?.newContext({ storageState: await context.storageState() });
  const page = (await cold?.newPage()) as Page;
  const asked = page.waitForRequest((request) => request.postData()?.includes('query OverviewPage') ?? false);
  await page.route('**/assets/overview-page-*.js', async (route) => {
    await asked;
    await route.continue();
  });
  await page.goto(`${world.issuer}/admin/projects/${world.projectId}/overview`);
  await expect(page.getByRole('heading', { name: 'Recent activity' })).toBeVisible();
  await cold?.close();
});

test('slow data does not delay the overview, whose closed rows have no details', async () => {
  const { context } = owner;
  const page = await context.newPage();
  const release = Promise.withResolvers<void>();
  await page.route('**/admin/graphql', async (route) => {
    if (route.request().postData()?.includes('query OverviewPage')) await release.promise;
    await route.continue();
  });
  await page.goto(`${world.issuer}/admin/projects/${world.projectId}/overview`);
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Recent activity' }).getByRole('list')).toHaveAttribute('aria-busy');
  release.resolve();
  const rows = page.getByRole('region', { name: 'Recent activity' }).locator('details');
  await expect(rows).not.toHaveCount(0);
  await expect(rows.locator('dl')).toHaveCount(0);
  await rows.first().locator('summary').click();
  await expect(rows.locator('dl')).toHaveCount(1);
  await page.close();
});
