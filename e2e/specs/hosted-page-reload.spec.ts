import { expect, type Page, test } from '@playwright/test';
import { Inbox } from '../support/application.ts';
import { AuthenticatorApp } from '../support/authenticator-app.ts';
import {
  address,
  alert,
  enterAddress,
  HostedPage,
  press,
  proveAddress,
  saveRecoveryCodes,
  sixDigits,
  titled,
  withoutSuggestions,
} from '../support/hosted-page.ts';
import { VirtualAuthenticator } from '../support/virtual-authenticator.ts';

/** Sign-ins that are interrupted: a reload, a tab that the phone has discarded, storage that is blocked, an open dialog. */

const hosted = HostedPage.ofTests();

/** Opens the page again as a phone does with a tab that it had discarded while its user read mail. */
async function restore(page: Page): Promise<Page> {
  const again = await page.context().newPage();
  await again.goto(page.url());
  await page.close();
  return again;
}

test('a reload at the code step returns to it, and the first code still works', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'reload@example.com');
  const done = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  const code = await inbox.code();
  const shown = await page.locator('#code-text').textContent();
  await page.reload();
  await titled(page, 'Check your email');
  await expect(page.locator('#who-name')).toHaveText(inbox.address);
  // The minute in which the code was sent may end before the page shows it.
  const rest = (text: string | null) => text?.replace(/\d\d:\d\d/, '');
  expect(rest(await page.locator('#code-text').textContent())).toBe(rest(shown));
  await expect(page.getByRole('button', { name: /^New code in 0:\d\d$/ })).toBeVisible();
  await test.step('the back button still leads to the address, and a reload there stays there', async () => {
    await page.goBack();
    await titled(page, 'Sign in to Shop');
    await page.reload();
    await titled(page, 'Sign in to Shop');
  });
  await test.step('the forward button leads to the code', async () => {
    await page.goForward();
    await titled(page, 'Check your email');
    await expect(page.locator('#who-name')).toHaveText(inbox.address);
    await expect(sixDigits(page)).toBeFocused();
  });
  await page.reload();
  await titled(page, 'Check your email');
  await sixDigits(page).fill(code);
  expect(await done()).toMatchObject({ email: inbox.address, amr: ['swk', 'otp'] });
});

test('back and forward lead to the step reached, and a page from the back/forward cache loads again', async ({
  page,
}) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED' });
  const inbox = new Inbox(hosted.admin, 'back-and-forth@example.com');
  await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await titled(page, 'Add a second step');
  const backAndForth = async (step: string) => {
    await page.goBack();
    await titled(page, 'Sign in to Shop');
    await expect(page).toHaveTitle('Sign in to Shop');
    await page.goForward();
    await titled(page, step);
  };
  await backAndForth('Add a second step');
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');
  const secret = await page.locator('#secret').textContent();
  await backAndForth('Set up your authenticator app');
  await expect(page.locator('#secret')).toHaveText(secret ?? '');
  await test.step('back at once, while the forward step is read', async () => {
    const answer = Promise.withResolvers<void>();
    await page.route('**/v1/signin/resume', async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.goBack();
    await titled(page, 'Sign in to Shop');
    await page.goForward();
    await page.goBack();
    await page.goForward();
    answer.resolve();
    await titled(page, 'Set up your authenticator app');
    await page.unroute('**/v1/signin/resume');
  });
  const loaded = page.waitForEvent('load');
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  await loaded;
  await titled(page, 'Set up your authenticator app');
  await test.step('to the application and back', async () => {
    await page.goto('about:blank');
    await page.goBack();
    await titled(page, 'Set up your authenticator app');
  });
});

test('a reload shows no address form before the step reached', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'no-flash@example.com');
  const done = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  await inbox.code();
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  await page.route('**/v1/signin/resume', async (route) => {
    asked.resolve();
    await answer.promise;
    await route.continue();
  });
  await page.reload({ waitUntil: 'commit' });
  await asked.promise;
  await expect(address(page)).toBeHidden();
  await expect(page.getByRole('heading', { level: 1 }).filter({ visible: true })).toHaveCount(0);
  answer.resolve();
  await titled(page, 'Check your email');
  await test.step('if the step cannot be read, the page asks for the address', async () => {
    await page.unroute('**/v1/signin/resume');
    await page.route('**/v1/signin/resume', (route) => route.abort());
    await page.reload();
    await titled(page, 'Sign in to Shop');
    await expect(address(page)).toBeVisible();
    await page.unroute('**/v1/signin/resume');
  });
  await hosted.latchkey.turn(31);
  await proveAddress(page, inbox);
  expect(await done()).toMatchObject({ email: inbox.address });
});

test('a discarded tab continues where it was, at each step of a first sign-in', async ({ page: first }) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED' });
  const inbox = new Inbox(hosted.admin, 'discarded@example.com');
  await hosted.begin(first, application);
  await enterAddress(first, inbox.address);
  await titled(first, 'Check your email');
  const code = await inbox.code();
  let page = await restore(first);
  await titled(page, 'Check your email');
  await sixDigits(page).fill(code);
  await titled(page, 'Add a second step');
  page = await restore(page);
  await titled(page, 'Add a second step');
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');
  const secret = await page.locator('#secret').textContent();
  page = await restore(page);
  await titled(page, 'Set up your authenticator app');
  await expect(page.locator('#secret')).toHaveText(secret ?? '');
  await press(page, 'Use another method');
  await titled(page, 'Add a second step');
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');
  const app = new AuthenticatorApp((await page.locator('#secret').textContent()) ?? '', hosted.latchkey.now);
  await sixDigits(page).fill(app.next());
  await saveRecoveryCodes(page);
  await titled(page, 'Welcome back');
});

test('a tab can take back a sign-in that another tab has continued', async ({ page, context }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'two-tabs@example.com');
  const done = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  const code = await inbox.code();
  const other = await context.newPage();
  await other.goto(page.url());
  await titled(other, 'Check your email');
  await sixDigits(page).fill(code);
  await expect(sixDigits(page)).toHaveValue('');
  await titled(page, 'Check your email');
  await sixDigits(page).fill(code);
  expect(await done()).toMatchObject({ email: inbox.address });
});

test('a browser that blocks its storage signs in, as on a shared device', async ({ browser }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'blocked@example.com');
  for (const seen of [1, 2]) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(() => Object.defineProperty(window, 'indexedDB', { value: undefined }));
    const done = await hosted.begin(page, application);
    await expect(page.getByLabel('This is a shared device')).toBeChecked();
    await expect(page.getByLabel('This is a shared device')).toBeDisabled();
    await proveAddress(page, inbox);
    expect(await done(), `sign-in ${seen}`).toMatchObject({ email: inbox.address, amr: ['swk', 'otp'] });
    await context.close();
    await hosted.latchkey.turn(31);
  }
});

test('another choice ends the dialog of a passkey that waits', async ({ page }) => {
  await withoutSuggestions(page);
  await VirtualAuthenticator.connect(page, { automaticPresenceSimulation: false } as never);
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'dialog@example.com');
  const done = await hosted.begin(page, application);
  await press(page, 'Use a passkey');
  await address(page).fill(inbox.address);
  await press(page, 'Continue');
  await titled(page, 'Check your email');
  await sixDigits(page).fill(await inbox.code());
  await titled(page, 'Create a passkey');
  await press(page, 'Create passkey');
  await expect(alert(page)).toHaveCount(0);
  await press(page, 'Not now');
  expect(await done()).toMatchObject({ email: inbox.address, amr: ['swk', 'otp'] });
});
