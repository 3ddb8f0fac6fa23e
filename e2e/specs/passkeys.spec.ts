import { expect, type Page, test } from '@playwright/test';
import { SdkInPage, sdkPage } from '../clients/sdk-page.ts';
import { serve } from '../clients/serve.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { Application, Inbox } from '../support/application.ts';
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

/** Passkeys on the hosted page: offer, creation, sign-in and second factor; and in the SDK on another origin. */

const hosted = HostedPage.ofTests();
const passkeyButton = (page: Page) => page.getByRole('button', { name: 'Use a passkey', exact: true });

/** Signs up by mail code and accepts the offer. */
async function createPasskey(page: Page, application: Application, inbox: Inbox) {
  const done = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await titled(page, 'Create a passkey');
  await press(page, 'Create passkey');
  return done();
}

/** A trusted browser without its device key: the next sign-in needs a code. */
async function forgetDevice(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${hosted.latchkey.baseUrl}/signin?flow=unknown`);
  await page.evaluate(() => indexedDB.deleteDatabase('latchkey'));
}

test('a passkey is offered after a mail code, and signs in without an address, here and on another device', async ({
  browser,
  context,
  page,
}) => {
  const application = await hosted.register();
  const authenticator = await VirtualAuthenticator.connect(page);
  const first = await hosted.begin(page, application);
  await expect(passkeyButton(page)).toBeVisible();
  await expect(address(page)).toHaveAttribute('autocomplete', 'username webauthn');
  await expectAccessible(page);
  await proveAddress(page, new Inbox(hosted.admin, 'ada@example.com'));
  await titled(page, 'Create a passkey');
  await expect(page.getByRole('heading', { level: 1, name: 'Create a passkey' })).toBeFocused();
  await expectAccessible(page);
  await press(page, 'Create passkey');
  const { sub } = await first();
  expect(await authenticator.credentials()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);

  await test.step('by button, if the browser has stored the account', async () => {
    await context.clearCookies();
    await withoutSuggestions(page);
    const second = await hosted.begin(page, application);
    await passkeyButton(page).click();
    expect(await second()).toMatchObject({ sub, email: 'ada@example.com' });
  });

  // The passkey moves with its signature counter: a lower counter would indicate a copy.
  let credentials = await authenticator.credentials();
  await test.step('by a suggestion of the address field', async () => {
    const other = await browser.newContext();
    const elsewhere = await other.newPage();
    const moved = await VirtualAuthenticator.connect(elsewhere, { credentials });
    const third = await hosted.begin(elsewhere, application);
    expect(await third()).toMatchObject({ sub });
    credentials = await moved.credentials();
    await other.close();
  });

  for (const [name, transport] of [['a security key', 'usb'] as const, ['a phone nearby', 'hybrid'] as const]) {
    await test.step(`from ${name}, without another offer`, async () => {
      const other = await browser.newContext();
      const elsewhere = await other.newPage();
      await withoutSuggestions(elsewhere);
      const moved = await VirtualAuthenticator.connect(elsewhere, { transport, credentials });
      const fourth = await hosted.begin(elsewhere, application);
      await passkeyButton(elsewhere).click();
      expect(await fourth()).toMatchObject({ sub });
      credentials = await moved.credentials();
      await other.close();
    });
  }
});

test('a dismissed offer returns in this browser after 30 days, and a failed creation can be retried', async ({
  page,
}) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'grace@example.com');
  const authenticator = await VirtualAuthenticator.connect(page);
  const first = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await titled(page, 'Create a passkey');
  await authenticator.setUserVerified(false);
  await press(page, 'Create passkey');
  await expect(alert(page)).toHaveText('No passkey was created. Try again, or continue without one.');
  await expectAccessible(page);
  await press(page, 'Not now');
  const { sub } = await first();

  await forgetDevice(page);
  const second = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  expect(await second()).toMatchObject({ sub });

  await forgetDevice(page);
  await page.clock.setFixedTime(Date.now() + 31 * 24 * 3600 * 1000);
  await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await titled(page, 'Create a passkey');
});

test('without a passkey, or with one of another project, the user can still enter an address', async ({
  browser,
  page,
}) => {
  await withoutSuggestions(page);
  const authenticator = await VirtualAuthenticator.connect(page);
  const [application, other] = [await hosted.register(), await hosted.register({ name: 'Forum' })];
  await hosted.begin(page, other);
  await expect(address(page)).toHaveAttribute('autocomplete', 'username');
  await passkeyButton(page).click();
  await expect(alert(page)).toHaveText('The passkey was not used. Try again, or continue with your address.');
  await expectAccessible(page);

  await createPasskey(page, application, new Inbox(hosted.admin, 'mary@example.com'));
  await hosted.begin(page, other);
  await passkeyButton(page).click();
  await expect(alert(page)).toHaveText('This passkey is not accepted here. Use another one.');
  await expectAccessible(page);
  await enterAddress(page, 'mary@example.com');
  await titled(page, 'Check your email');

  await test.step('a passkey that no project has is removed from the browser', async () => {
    const context = await browser.newContext();
    const elsewhere = await context.newPage();
    await withoutSuggestions(elsewhere);
    const [known] = await authenticator.credentials();
    const credentials = [{ ...known!, credentialId: Buffer.alloc(32, 1).toString('base64') }];
    const keys = await VirtualAuthenticator.connect(elsewhere, { credentials });
    await hosted.begin(elsewhere, application);
    await passkeyButton(elsewhere).click();
    await expect(alert(elsewhere)).toHaveText('This passkey no longer belongs to an account. Use another one.');
    await expect.poll(() => keys.credentials()).toEqual([]);
    await context.close();
  });
});

test('an account with a passkey uses it as its second factor', async ({ browser, context, page }) => {
  await withoutSuggestions(page);
  const application = await hosted.register();
  const authenticator = await VirtualAuthenticator.connect(page);
  const inbox = new Inbox(hosted.admin, 'joan@example.com');
  const { sub } = await createPasskey(page, application, inbox);
  await application.set({ mfaPolicy: 'REQUIRED' });
  await context.clearCookies();
  const second = await hosted.begin(page, application);
  await press(page, 'Continue');
  await titled(page, 'Confirm with your passkey');
  await expect(page.getByRole('heading', { level: 1, name: 'Confirm with your passkey' })).toBeFocused();
  await expectAccessible(page);

  await test.step('a failure can be retried, and another address can be used', async () => {
    await authenticator.setUserVerified(false);
    await passkeyButton(page).click();
    await expect(alert(page)).toHaveText('The passkey was not used. Try again.');
    await expectAccessible(page);
    await press(page, 'Use another address');
    await expect(address(page)).toBeFocused();
  });

  await authenticator.setUserVerified(true);
  await enterAddress(page, inbox.address);
  await titled(page, 'Confirm with your passkey');
  await passkeyButton(page).click();
  expect(await second()).toMatchObject({ sub });

  await test.step('also after the code on a new device', async () => {
    const other = await browser.newContext();
    const elsewhere = await other.newPage();
    await withoutSuggestions(elsewhere);
    await VirtualAuthenticator.connect(elsewhere, { credentials: await authenticator.credentials() });
    const third = await hosted.begin(elsewhere, application);
    await proveAddress(elsewhere, inbox);
    await titled(elsewhere, 'Confirm with your passkey');
    await passkeyButton(elsewhere).click();
    expect(await third()).toMatchObject({ sub });
    await other.close();
  });
});

test('recovery codes come before the offer', async ({ page }) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED' });
  await VirtualAuthenticator.connect(page);
  const done = await hosted.begin(page, application);
  await proveAddress(page, new Inbox(hosted.admin, 'annie@example.com'));
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');
  const app = new AuthenticatorApp((await page.locator('#secret').textContent()) ?? '', hosted.latchkey.now);
  await sixDigits(page).fill(app.next());
  await saveRecoveryCodes(page);
  await titled(page, 'Create a passkey');
  await press(page, 'Create passkey');
  expect(await done()).toMatchObject({ email: 'annie@example.com' });
});

test('nothing is offered without a platform authenticator, on a shared device, or if passkeys are off', async ({
  browser,
  page,
}) => {
  const application = await hosted.register();
  await VirtualAuthenticator.connect(page, { transport: 'usb' });
  const done = await hosted.begin(page, application);
  await proveAddress(page, new Inbox(hosted.admin, 'ruth@example.com'));
  expect(await done()).toMatchObject({ email: 'ruth@example.com' });

  const context = await browser.newContext();
  const other = await context.newPage();
  await VirtualAuthenticator.connect(other);
  const shared = await hosted.begin(other, application);
  await other.getByLabel('This is a shared device').check();
  await proveAddress(other, new Inbox(hosted.admin, 'vera@example.com'));
  expect(await shared()).toMatchObject({ email: 'vera@example.com' });

  await context.clearCookies();
  await application.set({ passkeyPolicy: 'OFF' });
  const off = await hosted.begin(other, application);
  await expect(passkeyButton(other)).toBeHidden();
  await expect(address(other)).toHaveAttribute('autocomplete', 'username');
  await proveAddress(other, new Inbox(hosted.admin, 'edith@example.com'));
  expect(await off()).toMatchObject({ email: 'edith@example.com' });
  await context.close();
});

test('an application on another origin that has not opted in gets an error for passkeys', async ({ page }) => {
  const site = await serve(() => sdkPage);
  const application = await Application.register(hosted.admin, hosted.latchkey, `${site.origin}/callback`);
  await VirtualAuthenticator.connect(page);
  const sdk = await SdkInPage.open(page, site.origin);
  await sdk.init(application.publishableKey, hosted.latchkey.baseUrl);
  expect(await sdk.passkeySupport()).toEqual({ available: true, autofill: true, platform: true });
  await expect(sdk.signInWithPasskey()).rejects.toMatchObject({ code: 'PASSKEYS_NOT_ALLOWED' });
  await site.close();
});
