import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Browser, expect, type Locator, type Page, type Route, test } from '@playwright/test';
import { type Callback, listenForCallback } from '../clients/callback.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox } from '../support/application.ts';
import { AuthenticatorApp, otherThan } from '../support/authenticator-app.ts';
import { tabTo } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { continueWithCode, signInOnPage } from '../support/sign-in.ts';

/** The account page: users see and end their sessions, devices and second factors, without script. */

let latchkey: Latchkey;
let admin: AdminApi;
let callback: Callback;
let application: Application;
const address = 'ada@example.com';

test.beforeAll(async () => {
  latchkey = await startLatchkey({}, { adjustable: true });
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  callback = await listenForCallback();
  application = await Application.register(admin, latchkey, callback.redirectUri, { mfaPolicy: 'REQUIRED' });
});

test.afterAll(async () => {
  await callback.close();
  await latchkey.stop();
});

async function begin(page: Page, at = application): Promise<void> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: at.clientId,
    redirect_uri: callback.redirectUri,
    scope: 'openid',
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
  });
  await page.goto(`${latchkey.baseUrl}/authorize?${query}`);
}

/** Waits until the browser is back at the application. */
async function arrived(page: Page): Promise<void> {
  await callback.next();
  await expect(page.getByRole('heading', { name: 'Welcome back' })).toBeVisible();
}

const account = (page: Page) => page.goto(`${latchkey.baseUrl}/account`);
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Submits a form, and clicks again after the service has answered, before the browser shows the response. */
async function clickTwice(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name, exact: true });
  await button.scrollIntoViewIfNeeded();
  const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 };
  const click = () => page.mouse.click(x + 5, y + 5);
  const answerLate = async (route: Route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    await click();
    await route.fulfill({ response });
  };
  await page.route('**/account', answerLate, { times: 1 });
  await click();
}

/** Another browser of the same user, with scripts disabled on the account page. */
async function withoutScript(browser: Browser, from: Page): Promise<Page> {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await from.context().storageState(),
  });
  return context.newPage();
}

test('a wrong address leads to the start page, and the start page to the console', async ({ page }) => {
  const answer = await page.goto(`${latchkey.baseUrl}/nowhere`);
  expect(answer?.status()).toBe(404);
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Go to the start page' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Start from your application');
  await expectAccessible(page);
  await tabTo(page, page.getByRole('link', { name: 'Console for admins' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/(admin|signin)/);
});

test('users see and end their sessions, devices and factors without script', async ({ browser, page }) => {
  await account(page);
  await expect(page.getByRole('heading', { name: 'You are not signed in' })).toBeVisible();
  await expectAccessible(page);

  await begin(page);
  await signInOnPage(page, admin, address);
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await expect(page.getByRole('img', { name: 'QR code for the authenticator app' }).locator('svg')).toBeVisible();
  const app = new AuthenticatorApp((await page.locator('#secret').textContent()) ?? '', latchkey.now);
  await page.getByLabel('Six-digit code').fill(app.next());
  await press(page, 'I’ve saved these codes');
  await arrived(page);

  await account(page);
  await expect(page.getByRole('heading', { level: 1, name: address })).toBeVisible();
  await expect(page.getByText('This browser', { exact: true })).toHaveCount(2);
  for (const fold of await page.locator('summary').all()) await fold.click();
  await expectAccessible(page);

  await test.step('rename a device', async () => {
    await page.getByLabel('Name', { exact: true }).fill('Kitchen');
    await press(page, 'Save');
    await expect(page.getByRole('status')).toContainText('Saved');
    await expect(page.getByRole('heading', { level: 3, name: 'Kitchen This browser' })).toHaveCount(2);
    await expectAccessible(page);
  });

  const still = await withoutScript(browser, page);
  await test.step('regenerate recovery codes, shown once', async () => {
    await account(still);
    await still.locator('summary', { hasText: 'Create new codes' }).click();
    await press(still, 'Create ten new codes');
    await expect(still.locator('.codes li')).toHaveCount(10);
    await still.getByRole('link', { name: 'I’ve saved these codes' }).click();
    await expect(still.getByText('10 of 10 codes left')).toBeVisible();
  });

  await test.step('remove the last required factor: the session ends', async () => {
    await still.locator('summary[aria-label="Remove: Authenticator app"]').click();
    await press(still, 'Remove this second step: Authenticator app');
    await expect(still.getByRole('heading', { name: 'You are not signed in' })).toBeVisible();
  });
  await still.context().close();
});

/** Signs in a user with an authenticator app and opens the account page. */
async function atTheirAccount(page: Page, who: string): Promise<void> {
  await begin(page);
  await signInOnPage(page, admin, who);
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  const secret = page.locator('#secret');
  await expect(secret).not.toBeEmpty();
  const app = new AuthenticatorApp((await secret.textContent()) ?? '', latchkey.now);
  await page.getByLabel('Six-digit code').fill(app.next());
  await press(page, 'I’ve saved these codes');
  await arrived(page);
  await account(page);
}

test('users change their phone number; the old one stays until the new one is verified', async ({ page }) => {
  await atTheirAccount(page, 'rosalind@example.com');
  const phone = new Inbox(admin, '+12025550177');
  await page.locator('summary', { hasText: 'Add a number' }).click();
  await expectAccessible(page);
  const number = page.getByLabel('New number with country code');
  await expect(number).toHaveAttribute('autocomplete', 'tel');
  await number.fill('0170 12');
  await press(page, 'Send a code');
  await expect(page.getByRole('alert')).toContainText('Enter the number with its country code');
  await expectAccessible(page);

  await page.locator('summary', { hasText: 'Add a number' }).click();
  await number.fill('+1 (202) 555-0177');
  await press(page, 'Send a code');
  await expect(page.getByText('Enter the code sent to …0177')).toBeVisible();
  await expectAccessible(page);
  const code = await phone.code();
  const field = page.getByLabel('Six-digit code');
  await expect(field).toHaveAttribute('autocomplete', 'one-time-code');
  await field.fill(otherThan(code));
  await press(page, 'Confirm the number');
  await expect(page.getByRole('alert')).toContainText('This code is wrong');
  await expectAccessible(page);
  await field.fill(code);
  await press(page, 'Confirm the number');
  await expect(page.getByRole('status')).toContainText('Saved');
  await expect(page.getByText('On record: …0177')).toBeVisible();
  await expectAccessible(page);
});

test('users change their email address; codes go to the new one once it is verified', async ({ page }) => {
  await atTheirAccount(page, 'lise@example.com');
  const mailbox = new Inbox(admin, 'lise.meitner@example.com');
  await expect(page.getByText('Sign-in codes go to lise@example.com.')).toBeVisible();
  await page.locator('summary', { hasText: 'Change the address' }).click();
  const address = page.getByLabel('New email address');
  await expect(address).toHaveAttribute('autocomplete', 'email');
  await address.fill(mailbox.address);
  await expectAccessible(page);
  await address.press('Enter');
  await expect(page.getByText(`Enter the code sent to ${mailbox.address}.`)).toBeVisible();
  await expectAccessible(page);
  const code = await mailbox.code();
  const field = page.getByLabel('Six-digit code');
  await field.fill(otherThan(code));
  await field.press('Enter');
  await expect(page.getByRole('alert')).toContainText('This code is wrong');
  await field.fill(code);
  await press(page, 'Confirm the address');
  await expect(page.getByRole('status')).toContainText('Saved');
  await expect(page.getByText(`Sign-in codes go to ${mailbox.address}.`)).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(mailbox.address);
  await expectAccessible(page);
});

test('users add an authenticator app after a code by mail; later sign-ins ask for it', async ({ page }) => {
  const club = await Application.register(admin, latchkey, callback.redirectUri, {
    name: 'Club',
    mfaPolicy: 'OPTIONAL',
  });
  const who = 'hedy@example.com';
  await begin(page, club);
  await signInOnPage(page, admin, who);
  await arrived(page);
  await account(page);
  await latchkey.turn(31);
  await press(page, 'Add an authenticator app');
  await continueWithCode(page, admin, who);
  await expect(page.getByRole('heading', { name: 'Set up your authenticator app' })).toBeVisible();
  await expect(page.getByRole('img', { name: 'QR code for the authenticator app' }).locator('svg')).toBeVisible();
  await expectAccessible(page);
  const app = new AuthenticatorApp((await page.locator('.copy code').textContent()) ?? '', latchkey.now);
  const code = page.getByLabel('Six-digit code');
  await expect(code).toBeFocused();
  await code.fill(otherThan(app.next()));
  await press(page, 'Confirm the app');
  await expect(page.getByRole('alert')).toContainText('This code is wrong');
  await expect(page.getByText(/^Support code/)).toBeVisible();
  await code.fill(app.last());
  await clickTwice(page, 'Confirm the app');
  await expect(page.locator('.codes li')).toHaveCount(10);
  await expectAccessible(page);
  await page.getByRole('link', { name: 'I’ve saved these codes' }).click();
  await expect(page.getByRole('button', { name: 'Set up another authenticator app' })).toBeVisible();
  await expect(page.getByText(/^Support code/)).toHaveCount(0);
  await latchkey.turn(31);
  await page.getByRole('button', { name: 'Confirm it’s you' }).first().click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Second step' })).toBeVisible();
  await page.getByLabel('Six-digit code').fill(app.next());
  await expect(page).toHaveURL(/\/account\?project=/);
});

test('every state of the page is accessible: new codes, step-up, invalid name, several accounts', async ({ page }) => {
  await atTheirAccount(page, 'dorothy@example.com');
  await page.locator('summary', { hasText: 'Create new codes' }).click();
  await press(page, 'Create ten new codes');
  await expect(page.locator('.codes li')).toHaveCount(10);
  await expectAccessible(page);
  await page.getByRole('link', { name: 'I’ve saved these codes' }).click();

  await page.locator('summary', { hasText: 'Rename' }).click();
  await page.getByLabel('Name', { exact: true }).fill('   ');
  await press(page, 'Save');
  await expect(page.getByRole('alert')).toContainText('Enter a name');
  await expectAccessible(page);

  const other = await Application.register(admin, latchkey, callback.redirectUri, { name: 'Library' });
  await begin(page, other);
  await signInOnPage(page, admin, 'dorothy@example.com');
  await arrived(page);
  await account(page);
  await expect(page.getByRole('heading', { name: 'Which account?' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('link', { name: /Library project/ }).click();
  await expect(page.getByText('Library project').first()).toBeVisible();
  await page.goBack();
  await page.getByRole('link', { name: /Shop project/ }).click();

  await latchkey.turn(5 * 60 + 1);
  await page.reload();
  await expect(page.getByText('confirm that it is you').filter({ visible: true }).first()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Confirm it’s you' }).first().click();
  await expect(page).toHaveURL(/\/signin\?flow=/);
});

test('the page works with the keyboard alone', async ({ page }) => {
  await atTheirAccount(page, 'katherine@example.com');
  const { keyboard } = page;
  const enter = async (target: Locator) => {
    await tabTo(page, target);
    await keyboard.press('Enter');
  };
  await enter(page.locator('summary', { hasText: 'Rename' }));
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await keyboard.press('Control+A');
  await keyboard.type('Study');
  await keyboard.press('Enter');
  await expect(page.getByRole('status')).toContainText('Saved');

  await enter(page.locator('summary', { hasText: 'Create new codes' }));
  await enter(page.getByRole('button', { name: 'Create ten new codes' }));
  await expect(page.locator('.codes li')).toHaveCount(10);
  await enter(page.getByRole('link', { name: 'I’ve saved these codes' }));
  await expect(page.getByText('10 of 10 codes left')).toBeVisible();

  await enter(page.locator('summary[aria-label="Remove: Study"]'));
  await tabTo(page, page.getByRole('button', { name: 'Remove this device: Study', exact: true }));
  await keyboard.press('Space');
  await expect(page.getByRole('heading', { name: 'You are not signed in' })).toBeVisible();
});

test('users download their data, again and again, and choose the language of the page, on a phone', async ({
  page,
}) => {
  const mary = 'mary@example.com';
  await page.setViewportSize({ width: 390, height: 844 });
  await atTheirAccount(page, mary);
  for (let at = 0; at < 2; at += 1) {
    await tabTo(page, page.getByRole('button', { name: 'Download your data', exact: true }));
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    expect(download.suggestedFilename()).toMatch(/^account-data-[\dT-]+\.json$/);
    expect(JSON.parse(await readFile(await download.path(), 'utf8')).profile.email).toBe(mary);
  }
  await page.locator('summary[aria-label="Edit: Name and language"]').click();
  await expect(page.locator('#profile-zones option[value="Europe/Zurich"]')).toHaveCount(1);
  await expectAccessible(page);
  await page.getByLabel('Language', { exact: true }).fill('de-CH');
  await page.getByLabel('Time zone', { exact: true }).fill('Europe/Zurich');
  await press(page, 'Save: Name and language');
  await expect(page.getByRole('heading', { level: 2, name: 'Ihre Daten' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await expectAccessible(page);
});
