import { expect, test } from '@playwright/test';
import { expectAccessible, expectReadableQrCode } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { AuthenticatorApp, otherThan } from '../support/authenticator-app.ts';
import {
  alert,
  enterAddress,
  HostedPage,
  press,
  proveAddress,
  saveRecoveryCodes,
  sixDigits,
  titled,
} from '../support/hosted-page.ts';

/** Second factors on the hosted page: enrollment, verification and recovery. */

const hosted = HostedPage.ofTests();

test('an authenticator app is enrolled by QR code or key, then required, and replaced by a recovery code', async ({
  page,
  context,
}) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED' });
  const first = await hosted.begin(page, application);
  await proveAddress(page, new Inbox(hosted.admin, 'joan@example.com'));
  await titled(page, 'Add a second step');
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');
  await expect(page.getByRole('img', { name: 'QR code for the authenticator app' }).locator('svg')).toBeVisible();
  await expectAccessible(page);
  await expectReadableQrCode(page, page.getByRole('img', { name: 'QR code for the authenticator app' }));
  const app = new AuthenticatorApp((await page.locator('#secret').textContent()) ?? '', hosted.latchkey.now);
  await sixDigits(page).fill(app.next());
  const codes = await saveRecoveryCodes(page);
  const { sub, amr } = await first();
  expect(amr).toEqual(['swk', 'otp', 'mfa']);

  await test.step('the next sign-in requires its code, and rejects a used one', async () => {
    await context.clearCookies();
    const second = await hosted.begin(page, application);
    await press(page, 'Continue');
    await titled(page, 'Second step');
    await expectAccessible(page);
    await sixDigits(page).fill(app.last());
    await expect(alert(page)).toContainText('This code is wrong or was already used');
    await hosted.latchkey.turn(30);
    await sixDigits(page).fill(app.next());
    expect(await second()).toMatchObject({ sub, amr: ['swk', 'otp', 'mfa'] });
  });

  await test.step('a recovery code works instead, once', async () => {
    const [otp = ''] = codes;
    for (const isFirst of [true, false]) {
      await context.clearCookies();
      const third = await hosted.begin(page, application);
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
    await titled(page, 'Second step');
  });
});

test('the typed address stays in sight, and "Not you?" starts over without evidence', async ({ page }) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED' });
  await hosted.begin(page, application);
  const [one, other] = [new Inbox(hosted.admin, 'one@example.com'), new Inbox(hosted.admin, 'other@example.com')];
  await proveAddress(page, one);
  await titled(page, 'Add a second step');
  const who = page.locator('#who');
  await expect(who).toContainText('one@example.com');
  // Only errors show the support code.
  await expect(page.getByText('Support code')).toBeHidden();
  await expectAccessible(page);
  await who.getByRole('button', { name: 'Not you?' }).click();
  await titled(page, 'Sign in to Shop');
  await expect(page.getByLabel('Email address')).toHaveValue('');
  await expect(page.getByLabel('Email address')).toBeFocused();
  await expect(who).toBeHidden();
  // The proof of the first address does not count for the other one, which needs its own.
  await enterAddress(page, other.address);
  await titled(page, 'Check your email');
  await expect(who).toContainText('other@example.com');
  await sixDigits(page).fill(await other.code());
  await titled(page, 'Add a second step');
});

test('SMS codes require a number with country code', async ({ page }) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED' });
  const phone = new Inbox(hosted.admin, '+12025550143');
  const done = await hosted.begin(page, application);
  await proveAddress(page, new Inbox(hosted.admin, 'grace@example.com'));

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

test('email codes are a second factor if allowed, also after another one was started', async ({ page }) => {
  const application = await hosted.register({ mfaPolicy: 'REQUIRED', emailFactor: true, testMode: true });
  const done = await hosted.begin(page, application);
  await expect(page.getByText('Test mode: codes are shown on this page')).toBeVisible();
  await expectAccessible(page);
  await enterAddress(page, 'mary@example.com');
  await expect(page.getByText('Test mode: the code is')).toBeVisible();
  await expectAccessible(page);
  await press(page, 'Fill in');
  await page.getByRole('button', { name: 'Authenticator app' }).click();
  await titled(page, 'Set up your authenticator app');

  // Going back immediately does not repeat the verification.
  await press(page, 'Use another method');
  await titled(page, 'Add a second step');
  await page.getByRole('button', { name: 'Text message' }).click();
  await page.getByLabel('Phone number with country code').fill('+1 202 555 0144');
  await press(page, 'Continue');
  await titled(page, 'Check your phone');
  await press(page, 'Use another method');
  await page.getByRole('button', { name: 'Email' }).click();
  await titled(page, 'Check your email');
  await expectAccessible(page);
  await press(page, 'Fill in');
  await saveRecoveryCodes(page);
  // The mail that verified the address does not count as a second factor.
  expect(await done()).toMatchObject({ email: 'mary@example.com', amr: ['swk', 'otp'] });
});
