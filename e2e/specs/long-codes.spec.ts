import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { type Application, Inbox } from '../support/application.ts';
import { alert, enterAddress, HostedPage, titled } from '../support/hosted-page.ts';

/** Ten-character codes for unknown browsers, after many wrong codes for an account. */

const hosted = HostedPage.ofTests();

/** Twenty wrong codes for an address, from an application's page. */
async function guess(application: Application, userid: string): Promise<void> {
  const step = async (name: string, body: object) => {
    const response = await fetch(`${hosted.latchkey.baseUrl}/v1/signin/${name}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Api-Key': application.publishableKey,
        Origin: new URL(hosted.callback.redirectUri).origin,
      },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  for (let round = 0; round < 4; round++) {
    const { txn } = await step('challenge', {});
    expect(await step('authenticate', { txn, userid })).toMatchObject({ status: 'OTP_NEEDED' });
    for (let n = 0; n < 5; n++) {
      const otp = `00000${n}`;
      expect(await step('verify-email-otp', { txn, userid, otp })).toMatchObject({ error: { code: 'CODE_REJECTED' } });
    }
    await hosted.latchkey.turn(31);
  }
}

test('a long code is accepted in any notation', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'ida@example.com');
  await guess(application, inbox.address);

  const done = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  const field = page.getByLabel('10-character code');
  await expect(field).toBeFocused();
  await expect(page.getByText('Enter the 10-character code requested for')).toBeVisible();
  await expect(field).toHaveAttribute('inputmode', 'text');
  await expect(field).toHaveAttribute('autocapitalize', 'characters');
  await expect(field).toHaveAttribute('autocomplete', 'one-time-code');
  await expectAccessible(page);

  let code = await inbox.code();
  while (!code.includes('-')) code = await inbox.code();
  await page.keyboard.type('ab-1');
  await page.keyboard.press('Enter');
  await expect(alert(page)).toHaveText('Enter all ten characters.');
  await expectAccessible(page);
  await field.fill('');
  await page.keyboard.type('o0il1-zzzzz');
  await expect(alert(page)).toContainText('This code is wrong');
  await expect(field).toHaveValue('00111ZZZZZ');
  // The rejected code is selected, so typing replaces it.
  await page.keyboard.type(code.toLowerCase());
  expect(await done()).toMatchObject({ email: inbox.address, amr: ['swk', 'otp'] });
});
