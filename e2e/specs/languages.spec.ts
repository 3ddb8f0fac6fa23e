import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { HostedPage } from '../support/hosted-page.ts';

/** Pages in a right-to-left language, and the choice of a language. */

const hosted = HostedPage.ofTests();
const arabicDigits = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit)));
const direction = (page: Page, selector: string) =>
  page.locator(selector).evaluate((field) => getComputedStyle(field).direction);
const titled = (page: Page, name: string) => expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

test('an Arabic reader signs in from right to left, and types the code in Arabic-Indic digits', async ({ browser }) => {
  const context = await browser.newContext({ locale: 'ar-EG' });
  const page = await context.newPage();
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'layla@example.com');
  const done = await hosted.begin(page, application);
  await titled(page, 'تسجيل الدخول إلى');
  await expect(page.locator('html')).toHaveAttribute('lang', 'ar');
  await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
  expect(await direction(page, '#userid')).toBe('ltr');
  await expectAccessible(page);
  await page.getByLabel('عنوان البريد الإلكتروني').fill(inbox.address);
  await page.getByRole('button', { name: 'متابعة', exact: true }).click();

  await titled(page, 'تحقَّق من بريدك الإلكتروني');
  expect(await direction(page, '#otp')).toBe('ltr');
  await expectAccessible(page);
  const code = await inbox.code();
  expect((await hosted.admin.mailbox(inbox.address)).join()).toContain('لا تشارك الرمز');
  await page.locator('#otp').pressSequentially(arabicDigits(code));
  expect(await done()).toMatchObject({ email: inbox.address });

  await page.goto(`${hosted.latchkey.baseUrl}/account`);
  await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
  await expect(page.getByRole('heading', { name: 'الأجهزة' })).toBeVisible();
  await expectAccessible(page);
  await context.close();
});

test('the language that an application asks for outlives a reload', async ({ page }) => {
  const application = await hosted.register();
  await hosted.begin(page, application, { ui_locales: 'zh-TW he' });
  await expect(page.locator('html')).toHaveAttribute('lang', 'he');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('lang', 'he');
  await titled(page, 'כניסה אל');
});
