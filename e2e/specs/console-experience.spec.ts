import { createHash, randomBytes } from 'node:crypto';
import { type Browser, expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';
import { redPng } from '../support/picture.ts';

/** Branding of a project: drafted and previewed in the console, then shown on the hosted page. */

let latchkey: Latchkey;
let admin: AdminApi;
const redirectUri = 'http://localhost:4711/callback';

test.beforeAll(async () => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
});
async function register(name: string): Promise<{ projectId: string; clientId: string }> {
  const projectId = await admin.createProject(name);
  const input = { projectId, name: 'Shop', tokenEndpointAuthMethod: 'NONE', redirectUris: [redirectUri] };
  const { clientId } = await admin.createClient(input);
  return { projectId, clientId };
}

async function openExperience(browser: Browser, projectId: string) {
  const visit = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  await visit.page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/experience`);
  await expect(visit.page.getByRole('heading', { level: 1, name: 'Branding' })).toBeVisible();
  return visit;
}

/** Opens the hosted page of an application. */
function hostedPage(page: Page, clientId: string, uiLocales = 'en') {
  const query = new URLSearchParams({
    ...{
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid',
      ui_locales: uiLocales,
    },
    ...{
      code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
      code_challenge_method: 'S256',
    },
  });
  return page.goto(`${latchkey.baseUrl}/authorize?${query}`);
}

const preview = (page: Page) => page.frameLocator('iframe[title^="Preview: "]');
const accentOf = (page: Page) =>
  page
    .locator('button.main')
    .first()
    .evaluate((button) => getComputedStyle(button).backgroundColor);

test('branding is drafted, previewed, published, applied to the hosted page, and restored', async ({
  browser,
  page,
}) => {
  test.slow();
  const { projectId, clientId } = await register('Northwind');
  const { page: console, browserErrors } = await openExperience(browser, projectId);
  await expect(preview(console).getByRole('heading', { name: 'Sign in to Shop', includeHidden: true })).toBeVisible();

  await console.getByLabel('Display name').fill('Northwind Traders');
  await console.getByLabel('Color', { exact: true }).fill('#ffb000');
  await console.getByLabel('Heading', { exact: true }).fill('Welcome to {app}');
  await console.getByLabel('Privacy notice').fill('http://northwind.example');
  await expect(console.getByText('Must begin with https://')).toBeVisible();
  await console.getByLabel('Privacy notice').fill('https://northwind.example/privacy');
  const chooser = console.waitForEvent('filechooser');
  await console.getByRole('button', { name: 'Upload: Logo', exact: true }).click();
  await (await chooser).setFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') });
  await expect(console.getByText('Must be PNG, JPEG or WebP', { exact: false })).toBeVisible();
  const again = console.waitForEvent('filechooser');
  await console.getByRole('button', { name: 'Upload: Logo', exact: true }).click();
  await (await again).setFiles({ name: 'logo.png', mimeType: 'image/png', buffer: redPng() });
  await expect(console.getByRole('img', { name: 'Logo preview' })).toBeVisible();
  await expect(console.getByText('Draft saved, not published')).toBeVisible();
  await expect(preview(console).locator('h1', { hasText: 'Welcome to Shop' })).toBeVisible();
  // The last change: the preview does not load again.
  await expect(preview(console).locator('img.logo')).toBeVisible();
  // Below, the bar with the changes covers a part of some field.
  await console.getByRole('heading', { level: 1 }).scrollIntoViewIfNeeded();
  await expectAccessible(console);

  await test.step('preview every step in both themes and each language', async () => {
    await console.getByLabel('Step').selectOption('Authenticator app, set up');
    await expect(preview(console).locator('#qr svg')).toBeVisible();
    await console.getByLabel('Step').selectOption('Recovery codes');
    await expect(preview(console).locator('#codes li').first()).toBeVisible();
    await console.getByLabel('Language of the preview').selectOption('ja');
    await expect(preview(console).locator('html')).toHaveAttribute('lang', 'ja');
    await console.getByLabel('Theme').getByText('Dark').click();
    await expect
      .poll(() =>
        preview(console)
          .locator('html')
          .evaluate((html) => getComputedStyle(html).backgroundColor),
      )
      .toBe('rgb(22, 26, 33)');
    await console.getByLabel('Language of the preview').selectOption('en');
    await console.getByLabel('Step').selectOption('Address');
  });

  await hostedPage(page, clientId);
  await expect(page.getByRole('heading', { name: 'Sign in to Shop' })).toBeVisible();

  await console.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(console.getByText('Version 1', { exact: true })).toBeVisible();
  await expect(console.getByRole('region', { name: 'Draft' })).toHaveCount(0);

  await page.setViewportSize({ width: 1280, height: 800 });
  await hostedPage(page, clientId);
  await expect(page.getByRole('heading', { name: 'Welcome to Shop' })).toBeVisible();
  await expect(page.getByText('Northwind Traders', { exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Privacy' })).toHaveAttribute(
    'href',
    'https://northwind.example/privacy',
  );
  expect(await page.locator('img.logo').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(32);
  await expect.poll(() => accentOf(page)).toBe('rgb(255, 176, 0)');
  await expectAccessible(page);

  await console.getByRole('button', { name: 'Revert', exact: true }).click();
  await console.getByRole('button', { name: 'Revert and publish' }).click();
  await expect(console.getByText('Version 2', { exact: true })).toBeVisible();
  await hostedPage(page, clientId);
  await expect(page.getByRole('heading', { name: 'Sign in to Shop' })).toBeVisible();
  expect(browserErrors).toEqual([]);
});

test('edits made during publishing become the next draft', async ({ browser }) => {
  const { projectId } = await register('Hasty');
  const { page, context, browserErrors } = await openExperience(browser, projectId);
  const name = page.getByLabel('Display name');
  await name.fill('Hasty');
  await expect(page.getByText('Draft saved, not published')).toBeVisible();
  const answer = Promise.withResolvers<void>();
  await page.route('**/admin/graphql', async (route) => {
    if (route.request().postData()?.includes('mutation PublishExperience')) await answer.promise;
    await route.fallback();
  });
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await name.press('End');
  await name.pressSequentially(' and Sons');
  answer.resolve();
  await expect(page.getByText('Version 1', { exact: true })).toBeVisible();
  await expect(page.getByText('Draft saved, not published')).toBeVisible();
  await expect(name).toHaveValue('Hasty and Sons');
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('the preview is interactive, and sends nothing to the service', async ({ browser }) => {
  const { projectId } = await register('Quiet');
  const { page } = await openExperience(browser, projectId);
  const href = await page.getByRole('link', { name: 'Open in a new tab' }).getAttribute('href');
  const asked: string[] = [];
  page.on('request', (request) => void (request.method() === 'POST' && asked.push(request.url())));
  await page.goto(latchkey.baseUrl + href);
  await page.getByLabel('Email address').fill('typed-in-preview@example.com');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByLabel('Six-digit code').fill('123456');
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await expect(page.getByRole('heading', { name: 'Add a second step' })).toBeVisible();
  expect(asked).toEqual([]);
  expect(await admin.mailbox('typed-in-preview@example.com')).toEqual([]);
});

test('on a phone, loading the preview does not scroll the page', async ({ browser }) => {
  const { projectId } = await register('Small');
  const { page } = await openExperience(browser, projectId);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await expect(preview(page).locator('h1', { hasText: 'Sign in to' })).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  expect(await page.evaluate(() => scrollY)).toBe(0);
  const heading = page.getByLabel('Heading', { exact: true });
  await heading.fill('Welcome');
  await expect(preview(page).locator('h1', { hasText: 'Welcome' })).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  await expect(heading).toBeInViewport();
});

test('hosted pages are readable with any accent color, in both themes and at 320 px', async ({ page }) => {
  test.slow();
  const { projectId, clientId } = await register('Colorful');
  for (const accent of ['#ffee00', '#777777', '#000000', '#ffffff', '#00c878']) {
    const save = `mutation ($input: SaveExperienceDraftInput!) { saveExperienceDraft(input: $input) { draftVersion } }`;
    const publish = `mutation ($input: PublishExperienceInput!) { publishExperience(input: $input) { publishedNumber } }`;
    const texts = [{ locale: 'en', key: 'supportUrl', text: 'https://example.com/help' }];
    await admin.run(save, { input: { projectId, accent, texts } });
    await admin.run(publish, { input: { projectId } });
    await page.setViewportSize({ width: 1280, height: 800 });
    await hostedPage(page, clientId);
    await expect(page.getByRole('heading', { name: 'Sign in to Shop' })).toBeVisible();
    await expectAccessible(page);
    await page.goto(`${latchkey.baseUrl}/oauth2/end_session?client_id=${clientId}`);
    await expect(page.getByRole('strong').filter({ hasText: 'Shop' })).toBeVisible();
    await expectAccessible(page);
  }
});
