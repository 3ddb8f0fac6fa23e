import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { otherThan } from '../support/authenticator-app.ts';
import {
  address,
  alert,
  enterAddress,
  HostedPage,
  press,
  proveAddress,
  sixDigits,
  titled,
} from '../support/hosted-page.ts';

/** The hosted page on shared devices and in browsers removed from an account. */

const hosted = HostedPage.ofTests();

/** Number of device keys of this browser at the issuer. */
const keysIn = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const opened = indexedDB.open('latchkey');
        opened.onerror = () => reject(opened.error ?? new Error('not opened'));
        opened.onsuccess = () => {
          const database = opened.result;
          const count = database.transaction('device-keys').objectStore('device-keys').count();
          count.onsuccess = () => {
            database.close();
            resolve(count.result);
          };
        };
      }),
  );

test('a shared device keeps no key: the next sign-in requires a code', async ({ page, context }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'mary@example.com');
  const first = await hosted.begin(page, application);
  await expect(page.getByLabel('This is a shared device')).not.toBeChecked();
  await page.getByLabel('This is a shared device').check();
  await expectAccessible(page);
  await proveAddress(page, inbox);
  const { sub } = await first();

  await context.clearCookies();
  await hosted.latchkey.turn(30);
  const second = await hosted.begin(page, application);
  await expect(address(page)).toHaveValue('');
  expect(await keysIn(page)).toBe(0);
  await proveAddress(page, inbox);
  expect(await second()).toMatchObject({ sub, amr: ['swk', 'otp'] });

  await test.step('marking a trusted browser as shared ends the trust', async () => {
    await context.clearCookies();
    const third = await hosted.begin(page, application);
    expect(await keysIn(page)).toBe(1);
    await press(page, 'Not you?');
    await page.getByLabel('This is a shared device').check();
    await enterAddress(page, inbox.address);
    expect(await third()).toMatchObject({ sub, amr: ['swk'] });
    await context.clearCookies();
    await hosted.begin(page, application);
    await expect(address(page)).toBeVisible();
    expect(await keysIn(page)).toBe(0);
  });
});

test('a browser removed from the account gets a new key and starts over', async ({ page, context }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'dorothy@example.com');
  const first = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  const { sub } = await first();

  await hosted.admin.revokeDevices(sub);
  await context.clearCookies();
  await hosted.latchkey.turn(30);
  const second = await hosted.begin(page, application);
  await press(page, 'Continue');
  await titled(page, 'Check your email');
  await sixDigits(page).fill(await inbox.code());
  await titled(page, 'Sign in to Shop');
  await expect(alert(page)).toContainText('This browser was removed from your account.');
  await expectAccessible(page);
  expect(await keysIn(page)).toBe(0);
  await press(page, 'Continue');
  await titled(page, 'Check your email');
  await sixDigits(page).fill(await inbox.code());
  expect(await second()).toMatchObject({ sub, amr: ['swk', 'otp'] });

  await context.clearCookies();
  const third = await hosted.begin(page, application);
  await press(page, 'Continue');
  expect(await third()).toMatchObject({ sub, amr: ['swk'] });
});

test('prompt=login requires a code in a trusted browser; if abandoned, the browser stays trusted', async ({
  page,
  context,
}) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'barbara@example.com');
  const first = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  const { sub } = await first();

  await hosted.latchkey.turn(30);
  const second = await hosted.begin(page, application, { prompt: 'login' });
  await press(page, 'Continue');
  await titled(page, 'Check your email');
  const lost = await inbox.code();
  await page.goBack();
  await page.reload();
  await hosted.latchkey.turn(30);
  await press(page, 'Continue');
  await titled(page, 'Check your email');
  const code = await inbox.code();
  await sixDigits(page).fill(lost === code ? otherThan(code) : lost);
  await expect(alert(page)).toContainText('This code is wrong');
  await sixDigits(page).fill(code);
  expect(await second()).toMatchObject({ sub });

  await hosted.latchkey.turn(30);
  await hosted.begin(page, application, { prompt: 'login' });
  await press(page, 'Continue');
  await titled(page, 'Check your email');
  await context.clearCookies();
  const third = await hosted.begin(page, application);
  await press(page, 'Continue');
  expect(await third()).toMatchObject({ sub, amr: ['swk'] });
});

test('signing out and forgetting the browser deletes its keys, and the next sign-in requires a code', async ({
  page,
  context,
}) => {
  const application = await hosted.register();
  const [ada, grace] = [new Inbox(hosted.admin, 'ada@example.com'), new Inbox(hosted.admin, 'grace@example.com')];
  const signOutAddress = `${hosted.latchkey.baseUrl}/oauth2/end_session?client_id=${application.clientId}`;
  const signIn = async (inbox: Inbox, { isRemembered }: { isRemembered: boolean }) => {
    const done = await hosted.begin(page, application);
    if (isRemembered) await press(page, 'Not you?');
    await proveAddress(page, inbox);
    await done();
  };
  /** The next step of the hosted page, and the number of keys. */
  const offered = async () => {
    await hosted.latchkey.turn(30);
    await hosted.begin(page, application);
    await expect(page.getByRole('button', { name: 'Continue', exact: true })).toBeEnabled();
    const account = page.locator('#account-name');
    const who = (await account.isVisible()) ? (await account.textContent())?.replaceAll('\u200b', '') : null;
    return { who, keys: await keysIn(page) };
  };

  await test.step('on the confirmation page', async () => {
    await signIn(grace, { isRemembered: false });
    await context.clearCookies();
    await signIn(ada, { isRemembered: true });
    await page.goto(signOutAddress);
    await titled(page, 'Sign out?');
    await expectAccessible(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect(page.getByRole('button', { name: 'Sign out and forget this browser' })).toBeFocused();
    await page.keyboard.press('Enter');
    await titled(page, 'You are signed out');
    await expect(page.getByRole('button', { name: 'Forget this browser' })).toBeHidden();
    expect(await offered()).toEqual({ who: grace.address, keys: 1 });
  });

  await test.step('on the signed-out page', async () => {
    await press(page, 'Not you?');
    await proveAddress(page, ada);
    await titled(page, 'Welcome back');
    await page.goto(signOutAddress);
    await press(page, 'Sign out');
    await titled(page, 'You are signed out');
    await expectAccessible(page);
    await press(page, 'Forget this browser');
    await expect(page.getByRole('status')).toHaveText('This browser no longer remembers you.');
    await expectAccessible(page);
    expect(await offered()).toEqual({ who: grace.address, keys: 1 });
  });

  await test.step('on the account page', async () => {
    await press(page, 'Continue');
    await titled(page, 'Welcome back');
    await page.goto(`${hosted.latchkey.baseUrl}/account`);
    await expectAccessible(page);
    await press(page, 'Sign out and forget this browser');
    await titled(page, 'You are signed out');
    await expect(page.getByRole('status')).toHaveText('This browser no longer remembers you.');
    await expectAccessible(page);
    expect(await offered()).toEqual({ who: null, keys: 0 });
    await proveAddress(page, grace);
    await titled(page, 'Welcome back');
  });
});
