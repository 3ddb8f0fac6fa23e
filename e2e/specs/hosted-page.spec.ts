import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { AuthenticatorApp, otherThan } from '../support/authenticator-app.ts';
import {
  address,
  alert,
  enterAddress,
  HostedPage,
  press,
  saveRecoveryCodes,
  sixDigits,
  titled,
} from '../support/hosted-page.ts';

/** Service contract 3.3 through the hosted page: address, code, redirect. */

const hosted = HostedPage.ofTests();

test('a new user verifies the address once; the next time a click is enough', async ({ page, context }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'ada@example.com');
  const first = await hosted.begin(page, application);
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
  const second = await hosted.begin(page, application);
  await expect(page.getByText('Continue as')).toBeVisible();
  await expect(page.locator('#account-name')).toHaveText(inbox.address);
  await expectAccessible(page);
  await press(page, 'Continue');
  expect(await second()).toMatchObject({ sub: claims.sub, amr: ['swk'] });

  await context.clearCookies();
  await hosted.begin(page, application);
  await press(page, 'Not you?');
  await expect(address(page)).toBeFocused();
  await expect(address(page)).toHaveValue('');
});

for (const [locale, time] of [
  ['en-US', /at \d{1,2}:\d\d\s[AP]M\./],
  ['en-GB', /at \d\d:\d\d\./],
] as const) {
  test(`the time of a code is written as in the region of the browser: ${locale}`, async ({ browser }) => {
    const context = await browser.newContext({ locale });
    const page = await context.newPage();
    await hosted.begin(page, await hosted.register());
    await enterAddress(page, `${locale.toLowerCase()}@example.com`);
    await expect(page.getByText(time)).toBeVisible();
    await context.close();
  });
}

test('another code can be requested after half a minute, and going back and forth loses nothing', async ({ page }) => {
  await page.clock.install();
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'hedy@example.com');
  const done = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  // The page's clock decides when the half minute is over, not the machine's speed.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 5_000);
  const old = await inbox.code();
  await expect(page.getByRole('button', { name: /^New code in 0:\d\d$/ })).toHaveAttribute('aria-disabled', 'true');

  await test.step('the back button leads to the address, and the sent code stays valid', async () => {
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

  await hosted.latchkey.turn(30);
  await page.clock.fastForward(30_000);
  await page.clock.resume();
  await press(page, 'Send a new code');
  await expect(page.getByText('You asked for a new code. Only the newest one works.')).toBeVisible();
  await expectAccessible(page);
  const code = await inbox.code();
  await sixDigits(page).fill(old === code ? otherThan(code) : old);
  await expect(alert(page)).toContainText('This code is wrong');
  await sixDigits(page).fill(code);
  expect(await done()).toMatchObject({ email: inbox.address });
});

test('a correct code typed while a wrong one is being verified is submitted automatically', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'lise@example.com');
  const done = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  const code = await inbox.code();
  const answer = Promise.withResolvers<void>();
  await page.route(
    '**/v1/signin/verify-email-otp',
    async (route) => {
      await answer.promise;
      await route.continue();
    },
    { times: 1 },
  );
  const asked = page.waitForRequest('**/v1/signin/verify-email-otp');
  await sixDigits(page).fill(otherThan(code));
  await asked;
  await sixDigits(page).fill(code);
  answer.resolve();
  expect(await done()).toMatchObject({ email: inbox.address, amr: ['swk', 'otp'] });
});

test('a sign-in that is unknown or was finished in another tab shows an error', async ({ context, page }) => {
  const application = await hosted.register({ testMode: true });
  const done = await hosted.begin(page, application);
  const late = await context.newPage();
  await late.goto(page.url());
  await enterAddress(page, 'ruth@example.com');
  await press(page, 'Fill in');
  await done();

  await enterAddress(late, 'ruth@example.com');
  await titled(late, 'This sign-in has ended');
  await expectAccessible(late);
  await late.goto(`${hosted.latchkey.baseUrl}/signin?flow=unknown`);
  await titled(late, 'This sign-in has ended');
  await expectAccessible(late);
});

test('the page works with the keyboard alone', async ({ page }) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED' });
  const inbox = new Inbox(hosted.admin, 'annie@example.com');
  const { keyboard } = page;
  const done = await hosted.begin(page, application);
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
  await keyboard.type(
    new AuthenticatorApp((await page.locator('#secret').textContent()) ?? '', hosted.latchkey.now).next(),
  );
  await titled(page, 'Save your recovery codes');
  const save = page.getByRole('button', { name: 'I’ve saved these codes' });
  for (let presses = 0; presses < 5 && !(await save.evaluate((button) => button.matches(':focus'))); presses++)
    await keyboard.press('Tab');
  await expect(save).toBeFocused();
  await keyboard.press('Enter');
  expect(await done()).toMatchObject({ email: inbox.address, amr: ['swk', 'otp', 'mfa'] });
});

test('a slow, lost or rate-limited connection shows a message, and input is kept', async ({ context, page }) => {
  await page.clock.install();
  const application = await hosted.register({ testMode: true });
  const done = await hosted.begin(page, application);
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
    await expect(alert(page)).toHaveText('No response. Check your connection and try again.');
    await expect(address(page)).toHaveValue(userid);
    await expectAccessible(page);
    await page.unroute('**/v1/signin/authenticate');
  });

  await test.step('lost', async () => {
    await context.setOffline(true);
    await expect(page.getByText('You are offline. You can continue when')).toBeVisible();
    await press(page, 'Continue');
    await expect(alert(page)).toHaveText('You are offline. Try again when the connection is back.');
    await expectAccessible(page);
    await context.setOffline(false);
  });

  await test.step('rate limited', async () => {
    const error = { code: 'RATE_LIMITED', category: 'retryable', message: 'm', retry_after: 27, request_id: 'r' };
    const refusal = { status: 429, json: { status: 'ERROR', error } };
    await page.route('**/v1/signin/authenticate', (route) => route.fulfill(refusal), { times: 1 });
    await press(page, 'Continue');
    const [seen, spoken] = [alert(page).locator('[aria-hidden]'), alert(page).locator('.spoken')];
    await expect(spoken).toHaveText('Please wait 27 seconds, then try again.');
    await expectAccessible(page);
    await page.clock.fastForward(10_000);
    await expect(seen).toHaveText(/^Please wait 1\d seconds, then try again\.$/);
    await expect(spoken).toHaveText('Please wait 27 seconds, then try again.');
    await page.clock.fastForward(20_000);
    await expect(alert(page)).toHaveText('You can try again now.');
  });

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

test('a provisioned user adds the number that the directory does not have', async ({ page }) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED', testMode: true });
  const userid = 'provisioned@example.com';
  const created = await fetch(`${hosted.latchkey.baseUrl}/v1/scim/${application.projectId}/Users`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await hosted.admin.issueScimToken(application.projectId)}`,
      'Content-Type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: userid,
      emails: [{ value: userid, type: 'work', primary: true }],
    }),
  });
  expect(created.status).toBe(201);
  const done = await hosted.begin(page, application);
  await enterAddress(page, userid);
  await press(page, 'Fill in');
  await page.getByRole('button', { name: 'Text message' }).click();
  await page.getByLabel('Phone number with country code').fill('+1 202 555 0188');
  await press(page, 'Continue');
  await titled(page, 'Check your phone');
  await expectAccessible(page);
  await press(page, 'Fill in');
  await saveRecoveryCodes(page);
  expect(await done()).toMatchObject({ phone_number: '+12025550188', amr: ['swk', 'sms', 'mfa'] });
});
