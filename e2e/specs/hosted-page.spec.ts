import { createHash, randomBytes } from 'node:crypto';
import type { Claims } from '@latchkey/node';
import { expect, type Page, test } from '@playwright/test';
import { type Callback, listenForCallback } from '../clients/callback.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox, type ProjectSettings } from '../support/application.ts';
import { AuthenticatorApp, otherThan } from '../support/authenticator-app.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

/** Service contract 3.3 through the hosted page, as a person meets it. */

let latchkey: Latchkey;
let admin: AdminApi;
let callback: Callback;

test.beforeAll(async () => {
  latchkey = await startLatchkey({}, { turnable: true });
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  callback = await listenForCallback();
});

test.afterAll(async () => {
  await callback.close();
  await latchkey.stop();
});

const register = (settings: ProjectSettings = {}): Promise<Application> =>
  Application.register(admin, latchkey, callback.redirectUri, settings);

/** Sends the browser to the hosted page, as the application does; returns what its back end learns in the end. */
async function begin(page: Page, application: Application): Promise<() => Promise<Claims>> {
  const codeVerifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: application.clientId,
    redirect_uri: callback.redirectUri,
    scope: 'openid email phone',
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  await page.goto(`${latchkey.baseUrl}/authorize?${query}`);
  return async () => {
    const code = (await callback.next()).searchParams.get('code') ?? '';
    await titled(page, 'Welcome back');
    return application.redeem(code, { codeVerifier, redirectUri: callback.redirectUri });
  };
}

const address = (page: Page) => page.getByLabel('Email address');
const sixDigits = (page: Page) => page.getByLabel('Six-digit code');
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const alert = (page: Page) => page.getByRole('alert').filter({ visible: true });
const titled = (page: Page, name: string) => expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

async function enterAddress(page: Page, userid: string): Promise<void> {
  await address(page).fill(userid);
  await press(page, 'Continue');
}

/** Up to where the code from the mail was entered. */
async function proveAddress(page: Page, inbox: Inbox): Promise<void> {
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  await sixDigits(page).fill(await inbox.code());
}

/** The codes that are shown once, and the way on. */
async function saveRecoveryCodes(page: Page): Promise<string[]> {
  await titled(page, 'Save your recovery codes');
  const codes = await page.locator('#codes li').allTextContents();
  expect(new Set(codes).size).toBe(10);
  await expectAccessible(page);
  await press(page, 'I have saved them');
  return codes;
}

test('a new person proves the address once; the next time a click is enough', async ({ page, context }) => {
  const application = await register();
  const inbox = new Inbox(admin, 'ada@example.com');
  const first = await begin(page, application);
  await titled(page, 'Sign in to Shop');
  await expect(address(page)).toBeFocused();
  await expectAccessible(page);

  await enterAddress(page, 'ada@');
  await expect(alert(page)).toHaveText('Enter an address like name@example.com.');
  await expect(address(page)).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(page);

  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  await expect(page.getByText('a…@example.com')).toBeVisible();
  await expect(sixDigits(page)).toBeFocused();
  await expect(sixDigits(page)).toHaveAttribute('autocomplete', 'one-time-code');
  await expectAccessible(page);

  const code = await inbox.code();
  await sixDigits(page).fill(otherThan(code));
  await expect(alert(page)).toContainText('This code is wrong');
  await expectAccessible(page);
  await sixDigits(page).fill(code);
  const claims = await first();
  expect(claims).toMatchObject({ email: inbox.address, amr: ['swk', 'otp'], sid: expect.any(String) });

  await context.clearCookies();
  const second = await begin(page, application);
  await expect(page.getByText('Continue as')).toBeVisible();
  await expect(page.locator('#account-name')).toHaveText(inbox.address);
  await expectAccessible(page);
  await press(page, 'Continue');
  expect(await second()).toMatchObject({ sub: claims.sub, amr: ['swk'] });

  await context.clearCookies();
  await begin(page, application);
  await press(page, 'Not you?');
  await expect(address(page)).toBeFocused();
  await expect(address(page)).toHaveValue('');
});

test('an authenticator app is set up by picture or by key, then asked for, and a recovery code stands in for it', async ({
  page,
  context,
}) => {
  const application = await register({ mfaPolicy: 'REQUIRED' });
  const first = await begin(page, application);
  await proveAddress(page, new Inbox(admin, 'joan@example.com'));
  await titled(page, 'Add a second step');
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');
  await expect(page.getByRole('img', { name: 'QR code for the authenticator app' }).locator('svg')).toBeVisible();
  await expectAccessible(page);
  const app = new AuthenticatorApp((await page.locator('#secret').textContent()) ?? '', latchkey.now);
  await sixDigits(page).fill(app.next());
  const codes = await saveRecoveryCodes(page);
  const { sub, amr } = await first();
  expect(amr).toEqual(['swk', 'otp', 'mfa']);

  await test.step('the next time its code is asked for, and the one that was used is refused', async () => {
    await context.clearCookies();
    const second = await begin(page, application);
    await press(page, 'Continue');
    await titled(page, 'Enter the code from your app');
    await expectAccessible(page);
    await sixDigits(page).fill(app.last());
    await expect(alert(page)).toContainText('This code is wrong or was already used');
    await latchkey.turn(30);
    await sixDigits(page).fill(app.next());
    expect(await second()).toMatchObject({ sub, amr: ['swk', 'otp', 'mfa'] });
  });

  await test.step('a recovery code is good in its place, once', async () => {
    const [otp = ''] = codes;
    for (const isFirst of [true, false]) {
      await context.clearCookies();
      const third = await begin(page, application);
      await press(page, 'Continue');
      await press(page, 'Use a recovery code');
      await titled(page, 'Enter a recovery code');
      await expectAccessible(page);
      await page.getByRole('textbox', { name: 'Recovery code' }).fill(otp);
      await press(page, 'Continue');
      if (isFirst) expect(await third()).toMatchObject({ sub });
      else await expect(alert(page)).toHaveText('This recovery code is wrong or was already used.');
    }
    await press(page, 'Back');
    await titled(page, 'Enter the code from your app');
  });
});

test('codes by text message want a number with its country code', async ({ page }) => {
  const application = await register({ mfaPolicy: 'REQUIRED' });
  const phone = new Inbox(admin, '+12025550143');
  const done = await begin(page, application);
  await proveAddress(page, new Inbox(admin, 'grace@example.com'));

  await page.getByRole('button', { name: 'Text message' }).click();
  await titled(page, 'Your phone number');
  await expectAccessible(page);
  await press(page, 'Back');
  await titled(page, 'Add a second step');
  await page.getByRole('button', { name: 'Text message' }).click();
  const number = page.getByLabel('Phone number with country code');
  await number.fill('0170 1234567');
  await press(page, 'Continue');
  await expect(alert(page)).toContainText('Enter the number with its country code');
  await expectAccessible(page);
  await number.fill('+1 (202) 555-0143');
  await press(page, 'Continue');

  await titled(page, 'Check your phone');
  await expect(page.getByText('…0143')).toBeVisible();
  await expectAccessible(page);
  const code = await phone.code();
  await sixDigits(page).fill(otherThan(code));
  await expect(alert(page)).toContainText('This code is wrong');
  await sixDigits(page).fill(code);
  await saveRecoveryCodes(page);
  expect(await done()).toMatchObject({ phone_number: phone.address, amr: ['swk', 'sms', 'mfa'] });
});

test('codes by email are a second step too, chosen after another one was begun', async ({ page }) => {
  const application = await register({ mfaPolicy: 'REQUIRED', testMode: true });
  const done = await begin(page, application);
  await expect(page.getByText('Test mode. Codes are shown on this page')).toBeVisible();
  await expectAccessible(page);
  await enterAddress(page, 'mary@example.com');
  await expect(page.getByText('Test mode: the code is')).toBeVisible();
  await expectAccessible(page);
  await press(page, 'Fill in');
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');

  // At once, and back again: nothing has to be proved anew for that.
  await press(page, 'Choose another way');
  await titled(page, 'Add a second step');
  await page.getByRole('button', { name: 'Text message' }).click();
  await page.getByLabel('Phone number with country code').fill('+1 202 555 0144');
  await press(page, 'Continue');
  await titled(page, 'Check your phone');
  await press(page, 'Choose another way');
  await page.getByRole('button', { name: 'Email' }).click();
  await titled(page, 'Check your email');
  await expectAccessible(page);
  await press(page, 'Fill in');
  await saveRecoveryCodes(page);
  expect(await done()).toMatchObject({ email: 'mary@example.com', amr: ['swk', 'otp', 'mfa'] });
});

test('another code can be had after half a minute, back and forth loses nothing', async ({ page }) => {
  await page.clock.install();
  const application = await register();
  const inbox = new Inbox(admin, 'hedy@example.com');
  const done = await begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  const old = await inbox.code();
  await expect(page.getByRole('button', { name: /^New code in 0:\d\d$/ })).toHaveAttribute('aria-disabled', 'true');

  await test.step('the browser’s back button leads to the address, and the code that was sent is still asked for', async () => {
    await page.goBack();
    await titled(page, 'Sign in to Shop');
    await expect(address(page)).toHaveValue(inbox.address);
    await press(page, 'Continue');
    await titled(page, 'Check your email');
    await press(page, 'Use another address');
    await titled(page, 'Sign in to Shop');
    await press(page, 'Continue');
    await titled(page, 'Check your email');
  });

  await latchkey.turn(30);
  await page.clock.fastForward(30_000);
  await press(page, 'Send a new code');
  await expect(page.getByText('A new code is on its way. Only the newest one works.')).toBeVisible();
  await expectAccessible(page);
  const code = await inbox.code();
  await sixDigits(page).fill(old === code ? otherThan(code) : old);
  await expect(alert(page)).toContainText('This code is wrong');
  await sixDigits(page).fill(code);
  expect(await done()).toMatchObject({ email: inbox.address });
});

test('a sign-in that was finished in another tab, or is unknown, says so', async ({ context, page }) => {
  const application = await register({ testMode: true });
  const done = await begin(page, application);
  const late = await context.newPage();
  await late.goto(page.url());
  await enterAddress(page, 'ruth@example.com');
  await press(page, 'Fill in');
  await done();

  await enterAddress(late, 'ruth@example.com');
  await titled(late, 'This sign-in has ended');
  await expectAccessible(late);
  await late.goto(`${latchkey.baseUrl}/signin?flow=nobodys`);
  await titled(late, 'You cannot sign in here');
  await expectAccessible(late);
});

test('the keyboard alone is enough', async ({ page }) => {
  const application = await register({ mfaPolicy: 'REQUIRED' });
  const inbox = new Inbox(admin, 'annie@example.com');
  const { keyboard } = page;
  const done = await begin(page, application);
  await expect(page.getByRole('button', { name: 'Continue', exact: true })).toBeEnabled();
  await expect(address(page)).toBeFocused();
  await keyboard.type(inbox.address);
  await keyboard.press('Enter');
  await expect(sixDigits(page)).toBeFocused();
  await keyboard.type(await inbox.code());
  await titled(page, 'Add a second step');
  await expect(page.getByRole('heading', { level: 1, name: 'Add a second step' })).toBeFocused();
  await keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Authenticator app' })).toBeFocused();
  await keyboard.press('Enter');
  await titled(page, 'Set up your authenticator app');
  await expect(sixDigits(page)).toBeFocused();
  await keyboard.type(new AuthenticatorApp((await page.locator('#secret').textContent()) ?? '', latchkey.now).next());
  await titled(page, 'Save your recovery codes');
  const save = page.getByRole('button', { name: 'I have saved them' });
  for (let presses = 0; presses < 5 && !(await save.evaluate((button) => button.matches(':focus'))); presses++)
    await keyboard.press('Tab');
  await expect(save).toBeFocused();
  await keyboard.press('Enter');
  expect(await done()).toMatchObject({ email: inbox.address, amr: ['swk', 'otp', 'mfa'] });
});

test('a slow, lost or full connection is told, and nothing that was typed is lost', async ({ context, page }) => {
  await page.clock.install();
  const application = await register({ testMode: true });
  const done = await begin(page, application);
  const userid = 'vera@example.com';

  await test.step('slow', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/signin/authenticate', async (route) => {
      await held;
      await route.abort();
    });
    await enterAddress(page, userid);
    await page.clock.fastForward(5_000);
    await expect(page.getByText('Still working.')).toBeVisible();
    await expectAccessible(page);
    release();
    await expect(alert(page)).toHaveText('No answer. Check your connection and try again.');
    await expect(address(page)).toHaveValue(userid);
    await expectAccessible(page);
    await page.unroute('**/v1/signin/authenticate');
  });

  await test.step('lost', async () => {
    await context.setOffline(true);
    await expect(page.getByText('You are offline. You can go on when')).toBeVisible();
    await press(page, 'Continue');
    await expect(alert(page)).toHaveText('You are offline. Try again when the connection is back.');
    await expectAccessible(page);
    await context.setOffline(false);
  });

  await test.step('too often', async () => {
    const other = await context.newPage();
    await begin(other, application);
    await enterAddress(other, userid);
    await titled(other, 'Check your email');
    await press(page, 'Continue');
    await expect(alert(page)).toContainText('Please wait');
    await expectAccessible(page);
    await other.close();
  });

  await latchkey.turn(30);
  await press(page, 'Continue');
  await titled(page, 'Check your email');
  const code = await page.locator('#test-code strong').textContent();
  await sixDigits(page).focus();
  await page.evaluate((digits) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', `Your code is ${digits.slice(0, 3)} ${digits.slice(3)}.`);
    document.activeElement?.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, cancelable: true, bubbles: true }),
    );
  }, code ?? '');
  expect(await done()).toMatchObject({ email: userid });
});

test('a browser that keeps no site data is told so, and a number that the directory owns stays', async ({
  browser,
  page,
}) => {
  const application = await register({ mfaPolicy: 'REQUIRED', testMode: true });
  const forgetful = await browser.newContext();
  const closed = await forgetful.newPage();
  await closed.addInitScript(() => Object.defineProperty(window, 'indexedDB', { value: undefined }));
  await begin(closed, application);
  await expect(alert(closed)).toContainText('This browser does not let the page keep a key');
  await expectAccessible(closed);
  await forgetful.close();

  const userid = 'provisioned@example.com';
  const created = await fetch(`${latchkey.baseUrl}/v1/scim/${application.projectId}/Users`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await admin.issueScimToken(application.projectId)}`,
      'Content-Type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: userid,
      emails: [{ value: userid, type: 'work', primary: true }],
    }),
  });
  expect(created.status).toBe(201);
  await begin(page, application);
  await enterAddress(page, userid);
  await press(page, 'Fill in');
  await page.getByRole('button', { name: 'Text message' }).click();
  await page.getByLabel('Phone number with country code').fill('+12025550166');
  await press(page, 'Continue');
  await expect(alert(page)).toContainText('Your organization manages your phone number');
  await expectAccessible(page);
});
