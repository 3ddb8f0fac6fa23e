import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { type Application, Inbox } from '../support/application.ts';
import { tabTo, type Visit, visitConsole } from '../support/console.ts';
import { enterAddress, HostedPage, sixDigits } from '../support/hosted-page.ts';

/** One sign-in is one line of the audit list, for an admin and a viewer, by mouse and by keyboard. */

const hosted = HostedPage.ofTests();
let application: Application;
let owner: Visit;
let viewer: Visit;

test.beforeAll(async ({ browser }) => {
  const { latchkey, admin } = hosted;
  application = await hosted.register({ name: 'Grafana' });
  const { projectId } = application;
  const context = await browser.newContext();
  const page = await context.newPage();
  const inbox = new Inbox(admin, 'ada@example.com');
  const claims = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  const code = await inbox.code();
  await sixDigits(page).fill(code === '000000' ? '111111' : '000000');
  await expect(page.getByRole('alert').filter({ visible: true })).toBeVisible();
  await sixDigits(page).fill(code);
  await claims();
  await context.close();
  const other = await browser.newContext();
  const unfinished = await other.newPage();
  await hosted.begin(unfinished, application);
  await enterAddress(unfinished, 'grace@example.com');
  await new Inbox(admin, 'grace@example.com').code();
  await other.close();
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  const role = { role: 'PROJECT_VIEWER', projectId } as const;
  viewer = await visitConsole(browser, latchkey, admin, { email: 'viewer@example.com', ...role });
});

test.afterAll(async () => {
  for (const { browserErrors, context } of [owner, viewer]) {
    expect(browserErrors).toEqual([]);
    await context.close();
  }
});

const list = (page: Page, query = '') =>
  page.goto(`${hosted.latchkey.baseUrl}/admin/projects/${application.projectId}/events${query}`);
const line = (page: Page) => page.locator('summary', { hasText: 'signed in to Grafana' });
const signIn = (page: Page) =>
  page.locator('li', { has: page.locator('> details > summary', { hasText: 'signed in to Grafana' }) });

test('a sign-in is one line that opens to its events, to a viewer too', async () => {
  for (const { page } of [owner, viewer]) {
    await list(page);
    await expect(line(page)).toHaveCount(1);
    await expect(line(page)).toContainText('signed in to Grafana · mail code, new device, new user, 1 refusal');
    await expect(line(page)).toContainText(/\d events/);
    const steps = signIn(page).locator('details details summary');
    await expect(steps.first()).toBeHidden();
    await line(page).click();
    await expect(steps.first()).toContainText('A one-time code was requested for');
    await expect(steps.filter({ hasText: 'was refused: wrong' })).toBeVisible();
    await expect(steps.last()).toContainText('Tokens were issued for ada@example.com');
    const all = await steps.count();
    await expect(line(page)).toContainText(`${all} events`);
    await expectAccessible(page);
    await steps.first().click();
    await signIn(page).getByRole('link', { name: 'All of this sign-in' }).click();
    await expect(page.getByText(/^Sign-in: /)).toBeVisible();
    await expect(line(page)).toHaveCount(1);
    await expect(page.locator('li:not(li li)', { has: page.locator('> details') })).toHaveCount(1);
  }
});

test('an unfinished sign-in is one line, by its last event', async () => {
  const { page } = owner;
  await list(page, '?group=sign-in');
  const unfinished = page.locator('summary', { hasText: 'A one-time code was sent to' });
  await expect(unfinished.first()).toContainText('2 events');
  await expectAccessible(page);
});

test('a switch shows every event alone, and the address keeps it', async () => {
  const { page } = owner;
  await list(page);
  await page.getByRole('switch', { name: 'Group sign-ins' }).click({ force: true });
  await expect(page.locator('summary', { hasText: 'ada@example.com signed in' })).toHaveCount(1);
  await expect(page.locator('summary', { hasText: 'A one-time code was requested for' })).toHaveCount(2);
  await expect(page.getByText(/\d events/)).toHaveCount(0);
  await page.reload();
  await expect(page.locator('summary', { hasText: 'A one-time code was requested for' })).toHaveCount(2);
  await page.getByRole('switch', { name: 'Group sign-ins' }).click({ force: true });
  await expect(page).not.toHaveURL(/view=/);
  await expect(line(page)).toHaveCount(1);
});

test('the keyboard opens a sign-in and its events', async () => {
  const { page } = viewer;
  await list(page);
  await expect(line(page)).toBeVisible();
  await tabTo(page, line(page));
  await page.keyboard.press('Enter');
  const first = signIn(page).locator('details details summary').first();
  await expect(first).toBeVisible();
  await tabTo(page, first);
  await page.keyboard.press('Enter');
  await expect(signIn(page).getByText('otp.requested', { exact: true })).toBeVisible();
  await tabTo(page, page.getByRole('switch', { name: 'Group sign-ins' }));
  await page.keyboard.press('Space');
  await expect(page.locator('summary', { hasText: 'A one-time code was requested for' })).toHaveCount(2);
});
