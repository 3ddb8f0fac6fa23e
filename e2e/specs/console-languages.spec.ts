import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** The console in the languages of its admins (decisions/0183). */

let latchkey: Latchkey;
let projectId: string;
let clientId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  ({ clientId } = await admin.createClient({
    projectId,
    name: 'Portal',
    redirectUris: ['https://app.example.com/cb'],
  }));
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;

/** A page of the same session in a browser that prefers these languages. */
async function preferring(locale: string, use: (page: Page) => Promise<void>): Promise<void> {
  // Without the choice, which local storage keeps.
  const { cookies } = await owner.context.storageState();
  const context = await owner.context.browser()?.newContext({ storageState: { cookies, origins: [] }, locale });
  const page = (await context?.newPage()) as Page;
  await use(page);
  await context?.close();
}

test('an admin chooses German; texts, numbers and times follow, also after a reload', async () => {
  const { page } = owner;
  await page.goto(at('overview'));
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await page.getByRole('button', { name: /^Account: / }).click();
  await page.getByLabel('Language').selectOption({ label: 'Deutsch' });
  for (const _ of ['after the choice', 'after a reload']) {
    await expect(page.locator('html')).toHaveAttribute('lang', 'de');
    await expect(page.getByRole('heading', { name: 'Übersicht', level: 1 })).toBeVisible();
    await expect(page).toHaveTitle('Übersicht · Latchkey');
    const navigation = page.getByRole('navigation', { name: 'Konsole' });
    await expect(navigation.getByRole('link', { name: 'Verzeichnisabgleich' })).toBeVisible();
    await expect(page.getByText('Erste Schritte')).toBeVisible();
    await expectAccessible(page);
    await page.reload();
  }
  const time = page.locator('main time').first();
  await expect(time).toHaveText(/^(gerade eben|vor \d+ (Sekunde|Minute)n?)$/);
  await time.hover();
  await expect(page.getByRole('tooltip').filter({ hasText: /^\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d$/ })).toBeVisible();
  await page.goto(at('factors'));
  const messages = page.getByLabel('Tageslimit');
  await messages.fill('99999999');
  await expect(page.getByText(/^Von \d+ bis \d{1,3}(\.\d{3})+$/)).toBeVisible();
  // The palette finds German and English words.
  for (const words of ['Verzeichnis', 'scim']) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Suchen oder öffnen' }).fill(words);
    await expect(page.getByRole('option', { name: 'Verzeichnisabgleich' })).toBeVisible();
    await page.keyboard.press('Escape');
  }
});

test('texts of the server are in German, too: sentences of events, refused input and explanations', async () => {
  await preferring('de-DE', async (page) => {
    await page.goto(at('events'));
    await expect(page.getByText('hat die Anwendung Portal angelegt')).toBeVisible();
    await page.goto(at('settings'));
    await page.getByRole('textbox', { name: 'Name' }).first().fill('x'.repeat(201));
    await page.getByRole('button', { name: 'Speichern' }).click();
    await expect(page.getByText(/^Darf höchstens \d+ Zeichen haben\.$/)).toBeVisible();
    await page.goto(at('troubleshooting'));
    await page.getByRole('textbox', { name: 'Adresse, Anfrage-ID oder OAuth-Fehler' }).fill('invalid_grant');
    await page.getByRole('button', { name: 'Suchen', exact: true }).click();
    await expect(page.getByText(/^Der Code oder Refresh-Token ist unbekannt, abgelaufen/)).toBeVisible();
    await expectAccessible(page);
  });
});

test('on a phone, where German tabs are wider, the current one is in view', async () => {
  await preferring('de-DE', async (page) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(at(`applications/${clientId}/danger`));
    await expect(page.getByRole('link', { name: 'Gefahrenzone' })).toBeInViewport({ ratio: 1 });
  });
});

test('without a choice the console has the language of the browser; a page in Japanese has no English message', async () => {
  await preferring('ja-JP', async (page) => {
    await page.goto(at('overview'));
    await expect(page.locator('html')).toHaveAttribute('lang', 'ja');
    await expect(page.getByRole('heading', { name: '概要', level: 1 })).toBeVisible();
    await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
    for (const part of [page.locator('header').first(), page.getByRole('navigation', { name: 'コンソール' })]) {
      expect(await part.innerText()).not.toMatch(/[A-Z][a-z]+ [a-z]+/);
    }
    await expectAccessible(page);
    for (const path of [
      'events',
      'troubleshooting',
      'users',
      'groups',
      'factors',
      'session-policy',
      'log-streams',
      'settings',
      'team',
    ]) {
      await page.goto(at(path));
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(/[ぁ-ヿ一-龯]/);
      await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
      // Quoted: names of buttons in other products.
      const text = (await page.locator('main').innerText()).replace(/「[^」]*」/g, '');
      expect(text, path).not.toMatch(/\b(?:a|and|are|is|no|of|the|to)\b/i);
    }
  });
});

test('an unsupported language falls back to English, without a catalog', async () => {
  await preferring('it-IT', async (page) => {
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(request.url()));
    await page.goto(at('overview'));
    await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
    expect(scripts.filter((url) => /\/(?:de|es|fr|ja|formatter)-/.test(url))).toEqual([]);
  });
});

test('a catalog that cannot be fetched leaves the console in English', async () => {
  await preferring('fr-FR', async (page) => {
    await page.route(/\/assets\/fr-/, (route) => route.abort());
    await page.goto(at('overview'));
    await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  });
});
