import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { address, alert, HostedPage, press, proveAddress, saveRecoveryCodes, titled } from '../support/hosted-page.ts';
import { VirtualAuthenticator } from '../support/virtual-authenticator.ts';

/** Passkeys that a project requires or prefers, on the hosted page. */

const hosted = HostedPage.ofTests();
const passkeyButton = (page: Page) => page.getByRole('button', { name: 'Use a passkey', exact: true });

/** The virtual authenticator answers suggestions immediately; without suggestions, tests reach the button. */
function withoutSuggestions(target: Page | BrowserContext): Promise<unknown> {
  return target.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
}

test('the first sign-in creates the required passkey, the next uses it, and a recovery code replaces it', async ({
  browser,
  page,
}) => {
  const application = await hosted.register({ passkeyPolicy: 'REQUIRED' });
  const inbox = new Inbox(hosted.admin, 'ada@example.com');
  await withoutSuggestions(page);
  const authenticator = await VirtualAuthenticator.connect(page);
  const first = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await titled(page, 'Create a passkey');
  await expectAccessible(page);
  await expect(page.getByText('A passkey is required here.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Not now' })).toHaveCount(0);

  await test.step('a failure can be retried', async () => {
    await authenticator.setUserVerified(false);
    await press(page, 'Create passkey');
    await expect(alert(page)).toHaveText('No passkey was created. Try again, or use another device.');
    await expectAccessible(page);
    await authenticator.setUserVerified(true);
  });
  await press(page, 'Create passkey');
  const [recoveryCode = ''] = await saveRecoveryCodes(page);
  const { sub } = await first();

  await test.step('the next sign-in begins with the passkey', async () => {
    await page.context().clearCookies();
    const second = await hosted.begin(page, application);
    await expect(passkeyButton(page)).toBeVisible();
    await passkeyButton(page).click();
    expect(await second()).toMatchObject({ sub });
  });

  await test.step('a browser with the mailbox alone needs the passkey, or a recovery code and a new one', async () => {
    const context = await browser.newContext();
    const elsewhere = await context.newPage();
    await withoutSuggestions(elsewhere);
    await VirtualAuthenticator.connect(elsewhere);
    const third = await hosted.begin(elsewhere, application);
    await proveAddress(elsewhere, inbox);
    await titled(elsewhere, 'Confirm with your passkey');
    await press(elsewhere, 'Use a recovery code');
    await titled(elsewhere, 'Enter a recovery code');
    await expectAccessible(elsewhere);
    await elsewhere.getByRole('textbox', { name: 'Recovery code' }).fill('aaaa-bbbb-cccc-dddd');
    await press(elsewhere, 'Continue');
    await expect(alert(elsewhere)).toHaveText('This recovery code is wrong or was already used.');
    await elsewhere.getByRole('textbox', { name: 'Recovery code' }).fill(recoveryCode);
    await press(elsewhere, 'Continue');
    await titled(elsewhere, 'Create a passkey');
    await press(elsewhere, 'Create passkey');
    expect(await third()).toMatchObject({ sub });
    await context.close();
  });
});

test('a known browser confirms with the passkey once it is required', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'grace@example.com');
  await withoutSuggestions(page);
  await VirtualAuthenticator.connect(page);
  const first = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await titled(page, 'Create a passkey');
  await press(page, 'Create passkey');
  const { sub } = await first();
  await application.set({ passkeyPolicy: 'REQUIRED' });
  await page.context().clearCookies();
  const second = await hosted.begin(page, application);
  await press(page, 'Continue');
  await titled(page, 'Confirm with your passkey');
  await passkeyButton(page).click();
  expect(await second()).toMatchObject({ sub });
});

test('a preferred passkey comes before the address, which stays usable', async ({ page }) => {
  const application = await hosted.register({ passkeyPolicy: 'PREFERRED' });
  await withoutSuggestions(page);
  await VirtualAuthenticator.connect(page);
  const done = await hosted.begin(page, application);
  const [button, field] = [await passkeyButton(page).boundingBox(), await address(page).boundingBox()];
  expect(button!.y).toBeLessThan(field!.y);
  await expectAccessible(page);
  await proveAddress(page, new Inbox(hosted.admin, 'mary@example.com'));
  await titled(page, 'Create a passkey');
  await press(page, 'Not now');
  expect(await done()).toMatchObject({ email: 'mary@example.com' });
});
