import { expect, type Page, test } from '@playwright/test';
import { serve } from '../clients/serve.ts';
import { sampleApp } from '../sample/app.ts';
import { adminCall, demoProject, registerSample } from '../sample/relying-party.ts';
import { AdminApi, codeIn } from '../support/admin-api.ts';
import { AuthenticatorApp } from '../support/authenticator-app.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let sample: Awaited<ReturnType<typeof serve>>;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  const { adminToken, baseUrl } = latchkey;
  admin = new AdminApi(baseUrl, adminToken);
  const call = adminCall(baseUrl, adminToken);
  sample = await serve(async (origin) => {
    const settings = await registerSample(call, { baseUrl, origin, projectId: await demoProject(call) });
    return sampleApp(settings, origin);
  });
});

test.afterAll(async () => {
  await sample.close();
  await latchkey.stop();
});

const shop = () => `${sample.origin}/`;

/** Enters the newest code since `before` messages. */
async function enterCode(page: Page, recipient: string, before: number): Promise<void> {
  await expect(page.getByLabel('Six-digit code')).toBeVisible();
  await expect.poll(async () => (await admin.mailbox(recipient)).length).toBeGreaterThan(before);
  const [newest = ''] = await admin.mailbox(recipient);
  await page.getByLabel('Six-digit code').fill(codeIn(newest));
  await page.getByRole('button', { name: 'Submit' }).click();
}

async function signIn(page: Page, address: string): Promise<void> {
  await page.goto(shop());
  await page.getByLabel('Email address').fill(address);
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('a user signs in with the SDK, gets the sample’s session, and changes the second factor', async ({ page }) => {
  const address = 'ada@example.com';
  const phone = '+12025550143';

  await test.step('sign in on the sample’s own page, with a code by mail', async () => {
    await signIn(page, address);
    await enterCode(page, address, 0);
    await expect(page.getByText(`Signed in as ${address}`)).toBeVisible();
    await expect(page.locator('#factor')).toHaveText('none');
  });

  await test.step('the sample’s session outlives the tab', async () => {
    await page.reload();
    await expect(page.getByText(`Signed in as ${address}`)).toBeVisible();
  });

  await test.step('sign in again: a known browser needs no code', async () => {
    const mails = (await admin.mailbox(address)).length;
    await page.getByRole('button', { name: 'Sign out here' }).click();
    await signIn(page, address);
    await expect(page.getByText(`Signed in as ${address}`)).toBeVisible();
    expect((await admin.mailbox(address)).length).toBe(mails);
  });

  const change = async () => {
    await page.getByLabel('New second factor').selectOption('sms');
    await page.getByLabel('Phone number').fill(phone);
    await page.getByRole('button', { name: 'Change' }).click();
  };

  await test.step('a known browser is not enough to change the second factor', async () => {
    await change();
    await expect(page).toHaveURL(new RegExp('/signin'));
    await signInOnPage(page, admin, address);
    await expect(page.getByText(`Signed in as ${address}`)).toBeVisible();
  });

  await test.step('change the second factor: the new one is verified first', async () => {
    await change();
    await expect(page.getByLabel('Six-digit code')).toBeVisible();
    await page.getByLabel('Six-digit code').fill('x');
    await page.getByRole('button', { name: 'Submit' }).click();
    await expect(page.getByRole('status')).toContainText('The code is wrong');
    await enterCode(page, phone, 0);
    await expect(page.locator('#factor')).toHaveText('sms');
    await expect.poll(async () => (await admin.mailbox(address)).join()).toContain('code by text message');
  });
});

for (const mfaPolicy of ['OFF', 'OPTIONAL', 'REQUIRED'] as const) {
  test(`a new user signs in on the sample’s page if a second factor is ${mfaPolicy}`, async ({ page }) => {
    const projectId = await demoProject(adminCall(latchkey.baseUrl, latchkey.adminToken));
    const setPolicy = (policy: string) =>
      admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
        input: { id: projectId, mfaPolicy: policy },
      });
    await setPolicy(mfaPolicy);
    const address = `sample-${mfaPolicy.toLowerCase()}@example.com`;
    await signIn(page, address);
    await enterCode(page, address, 0);
    if (mfaPolicy === 'REQUIRED') {
      await expect(page.getByRole('status')).toHaveText('Your second factor: sms or totp');
      await page.getByLabel('Your answer').fill('totp');
      await page.getByRole('button', { name: 'Submit' }).click();
      await expect(page.getByRole('status')).toContainText('into your authenticator app');
      const [, secret = ''] = /Put (\w+) into/.exec((await page.getByRole('status').textContent()) ?? '') ?? [];
      await page.getByLabel('Six-digit code').fill(new AuthenticatorApp(secret, latchkey.now).next());
      await page.getByRole('button', { name: 'Submit' }).click();
    }
    await expect(page.getByText(`Signed in as ${address}`)).toBeVisible();
    await setPolicy('OPTIONAL');
  });
}

test('a logout at Latchkey reaches the sample by back channel', async ({ page, context }) => {
  const address = 'grace@example.com';
  await page.goto(shop());
  await page.getByRole('link', { name: 'Sign in on Latchkey’s page instead' }).click();
  await signInOnPage(page, admin, address);
  await expect(page.getByText(`Signed in as ${address}`)).toBeVisible();
  await expect(page.locator('#sid')).toHaveText(/^[0-9a-f-]{36}$/);

  const other = await context.newPage();
  await other.goto(`${latchkey.baseUrl}/oauth2/end_session`);
  await other.getByRole('button', { name: 'Sign out', exact: true }).click();
  await expect(other.getByText('You are signed out')).toBeVisible();
  await expect
    .poll(async () => {
      await page.reload();
      return page.getByLabel('Email address').isVisible();
    })
    .toBe(true);
});

test('a full logout from the sample returns to it, signed out', async ({ page }) => {
  await page.goto(`${sample.origin}/auth/login`);
  await signInOnPage(page, admin, 'joan@example.com');
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await expect(page).toHaveURL(shop());
  await expect
    .poll(async () => {
      await page.reload();
      return page.getByLabel('Email address').isVisible();
    })
    .toBe(true);
});
