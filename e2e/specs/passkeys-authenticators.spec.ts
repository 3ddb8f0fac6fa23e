import type { ServerResponse } from 'node:http';
import { expect, type Page, test } from '@playwright/test';
import { SdkInPage, sdkPage } from '../clients/sdk-page.ts';
import { type Served, serve } from '../clients/serve.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { Application, Inbox } from '../support/application.ts';
import {
  alert,
  HostedPage,
  press,
  proveAddress,
  sixDigits,
  titled,
  withoutSuggestions,
} from '../support/hosted-page.ts';
import { type AuthenticatorKind, VirtualAuthenticator } from '../support/virtual-authenticator.ts';

/** Passkeys of each kind of authenticator, on the pages of an application that opted in; and their removal. */

const hosted = HostedPage.ofTests();
let site: Served;
let application: Application;

test.beforeAll(async () => {
  const served = await serve(() => sdkPage);
  // The host name is the relying-party ID of the instance; the port makes it another origin.
  site = { ...served, origin: served.origin.replace('127.0.0.1', 'localhost') };
  const settings = { relatedOrigins: true };
  application = await Application.register(hosted.admin, hosted.latchkey, `${site.origin}/callback`, settings);
});
test.afterAll(() => site.close());

async function sdkIn(page: Page): Promise<SdkInPage> {
  const sdk = await SdkInPage.open(page, site.origin);
  await sdk.init(application.publishableKey, hosted.latchkey.baseUrl);
  return sdk;
}

/** Signs up with a step-up that allows a passkey. */
async function signUp(sdk: SdkInPage, userid: string): Promise<void> {
  const inbox = new Inbox(hosted.admin, userid);
  await sdk.authenticate(userid, { stepUp: 'create_passkey' });
  await sdk.verifyEmailOtp({ userid, otp: await inbox.code() });
  expect(await sdk.verifyDevice({ userid })).toMatchObject({ status: 'SUCCESS' });
}

/** Each kind, and `amr` of a sign-in with it; null: it cannot hold a passkey. */
const kinds: Record<string, [AuthenticatorKind, string[] | null]> = {
  'a platform that syncs': [
    { defaultBackupEligibility: true, defaultBackupState: true },
    ['swk', 'user', 'pop', 'mfa'],
  ],
  'a platform that may sync later': [{ defaultBackupEligibility: true }, ['swk', 'user', 'pop', 'mfa']],
  'a platform that does not sync': [{}, ['hwk', 'user', 'pop', 'mfa']],
  'a phone nearby': [{ transport: 'hybrid', defaultBackupEligibility: true }, ['swk', 'user', 'pop', 'mfa']],
  'a security key with PIN': [{ transport: 'usb' }, ['hwk', 'user', 'pop', 'mfa']],
  // Chromium stores passkeys on keys with a PIN only.
  'a security key without PIN': [{ transport: 'usb', hasUserVerification: false }, null],
  'a security key that stores no passkeys': [{ transport: 'usb', hasResidentKey: false }, null],
  'a platform that does not recognize the user': [{ isUserVerified: false }, null],
};

for (const [name, [kind, amr]] of Object.entries(kinds)) {
  test(`${name} ${amr ? `signs in with ${amr.join(' ')}` : 'creates no passkey'}`, async ({ page }) => {
    await VirtualAuthenticator.connect(page, kind);
    const sdk = await sdkIn(page);
    const userid = `${name.replaceAll(' ', '-').toLowerCase()}@example.com`;
    await signUp(sdk, userid);
    if (!amr) return expect(sdk.createPasskey({ userid })).rejects.toMatchObject({ code: 'PASSKEY_CANCELLED' });
    expect(await sdk.createPasskey({ userid })).toMatchObject({ status: 'PASSKEY_CREATED' });
    const { code } = (await sdk.signInWithPasskey()) as { code: string };
    expect(await application.redeem(code)).toMatchObject({ email: userid, amr });
  });
}

test('a password manager that agrees in advance gets a passkey without a dialog', async ({ page }) => {
  // The emulation has no conditional creation: treat it as a creation with user presence.
  await page.addInitScript(() => {
    PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });
    const create = navigator.credentials.create.bind(navigator.credentials);
    navigator.credentials.create = ({
      mediation: _,
      ...options
    }: CredentialCreationOptions & { mediation?: string } = {}) => create(options);
  });
  const authenticator = await VirtualAuthenticator.connect(page);
  const shop = await hosted.register();
  const done = await hosted.begin(page, shop);
  await proveAddress(page, new Inbox(hosted.admin, 'quiet@example.com'));
  const { sub } = await done();
  expect(await authenticator.credentials()).toHaveLength(1);
  await page.context().clearCookies();
  await withoutSuggestions(page);
  const again = await hosted.begin(page, shop);
  await press(page, 'Use a passkey');
  expect(await again()).toMatchObject({ sub });
});

test('a frame of another origin cannot use a passkey, even if the page allows it', async ({ page }) => {
  await VirtualAuthenticator.connect(page);
  const sdk = await sdkIn(page);
  const userid = 'framed@example.com';
  await signUp(sdk, userid);
  await sdk.createPasskey({ userid });

  const outer = await serve(() => (_req: unknown, res: ServerResponse) => {
    res.writeHead(200, { 'Content-Type': 'text/html' });
    res.end(`<iframe src="${site.origin}/" allow="publickey-credentials-get *"></iframe>`);
  });
  await page.goto(outer.origin);
  const frame = await expect
    .poll(() =>
      page
        .frames()
        .find((one) => one.url().startsWith(site.origin))
        ?.title()
        .catch(() => ''),
    )
    .toBe('Ready')
    .then(() => page.frames().find((one) => one.url().startsWith(site.origin)));
  const outcome = await frame?.evaluate(
    async ([apiKey, baseUrl]) => {
      const { sdk: latchkey } = window as unknown as { sdk: Record<string, (...given: unknown[]) => Promise<unknown>> };
      try {
        await latchkey['init']?.({ apiKey, baseUrl });
        return await latchkey['signInWithPasskey']?.();
      } catch (error) {
        return (error as { code?: string }).code;
      }
    },
    [application.publishableKey, hosted.latchkey.baseUrl],
  );
  expect(outcome).toBe('PASSKEY_REJECTED');
  await outer.close();
});

test('the account page adds a passkey to a security key, and signals a new name and the removed one', async ({
  page,
}) => {
  const shop = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'signals@example.com');
  await withoutSuggestions(page);
  const first = await hosted.begin(page, shop);
  await proveAddress(page, inbox);
  await first();
  const key = await VirtualAuthenticator.connect(page, { transport: 'usb' });
  const account = () => page.goto(`${hosted.latchkey.baseUrl}/account`);
  const passkeys = page.getByRole('region', { name: 'Passkeys' });
  await account();
  await test.step('five minutes after the sign-in, the user confirms it first', async () => {
    await hosted.latchkey.turn(301);
    await press(page, 'Add a passkey');
    await titled(page, 'Confirm it’s you');
    await page.getByText('Sign in once more to add a passkey.').waitFor();
    await expectAccessible(page);
    await page.getByText(inbox.address).waitFor();
    await press(page, 'Continue');
    await titled(page, 'Check your email');
    await sixDigits(page).fill(await inbox.code());
    await titled(page, 'Create a passkey');
    await press(page, 'Not now');
    await expect(page).toHaveURL(/\/account\?project=[\w-]+#passkeys$/);
  });
  await test.step('seconds after it, the page offers the passkey at once, also after a reload', async () => {
    await press(page, 'Add a passkey');
    await titled(page, 'Create a passkey');
    await expectAccessible(page);
    await page.reload();
    await titled(page, 'Create a passkey');
  });
  await press(page, 'Create passkey');
  await expect(passkeys.getByText('On one device only')).toBeVisible();
  await expect(page).toHaveURL(/\/account\?project=[\w-]+#passkeys$/);
  const [created] = await key.credentials();
  const deleted = key.signalled('credentialDeleted');

  // The user confirmed with a mail code, but the account has a passkey now.
  await expect(passkeys.getByText('confirm that it is you')).toBeVisible();
  await passkeys.getByRole('button', { name: 'Confirm it’s you' }).click();
  await press(page, 'Use a passkey');
  await passkeys.getByText('Rename').click();
  await passkeys.getByRole('textbox', { name: 'Name' }).fill('Blue key');
  await passkeys.getByRole('button', { name: 'Save' }).click();
  await expect(passkeys.getByRole('heading', { name: 'Blue key' })).toBeVisible();

  await test.step('the browser gets the new name of the user', async () => {
    const profile = page.getByRole('region', { name: 'Profile' });
    await profile.getByText('Edit', { exact: true }).first().click();
    await profile.getByLabel('Display name').fill('Ada Lovelace');
    await profile.getByRole('button', { name: 'Save' }).first().click();
    await expect(page.getByRole('heading', { level: 1, name: 'Ada Lovelace' })).toBeVisible();
    await expect
      .poll(() => key.credentials())
      .toMatchObject([{ userName: 'signals@example.com', userDisplayName: 'Ada Lovelace' }]);
  });
  expect(deleted).toEqual([]);
  await passkeys.getByText('Remove', { exact: true }).click();
  await expectAccessible(page);
  await passkeys.getByRole('button', { name: 'Remove this passkey' }).click();
  // This session began with the passkey.
  await titled(page, 'You are not signed in');
  await expect.poll(() => deleted).toEqual([created?.credentialId]);
});

test('a browser without passkeys explains that to a user who adds one, also after a reload, and leads back', async ({
  page,
}) => {
  const shop = await hosted.register();
  await page.addInitScript(() => Reflect.deleteProperty(window, 'PublicKeyCredential'));
  const first = await hosted.begin(page, shop);
  await proveAddress(page, new Inbox(hosted.admin, 'without@example.com'));
  await first();
  await page.goto(`${hosted.latchkey.baseUrl}/account`);
  await press(page, 'Add a passkey');
  await titled(page, 'Create a passkey');
  await page.reload();
  await titled(page, 'Create a passkey');
  await press(page, 'Create passkey');
  await expect(page.getByRole('alert')).toContainText('Passkeys do not work here in this browser.');
  await expectAccessible(page);
  await press(page, 'Not now');
  await expect(page).toHaveURL(/\/account\?project=[\w-]+#passkeys$/);
});

test('the notice of a recovery leads to a page that cancels it', async ({ page }) => {
  const shop = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'notified@example.com');
  const first = await hosted.begin(page, shop);
  await proveAddress(page, inbox);
  const { sub } = await first();
  const mutation = `mutation ($input: GrantUserRecoveryInput!) { grantUserRecovery(input: $input) { usableAt } }`;
  await hosted.admin.run(mutation, { input: { userId: sub, reason: 'Asked by phone' } });
  const link = async () => {
    const mails = await hosted.admin.mailbox('notified@example.com');
    return mails.map((text) => /https?:\S+\/account\/recovery\S+/.exec(text)?.[0]).find(Boolean);
  };
  await expect.poll(link).toBeDefined();
  await page.goto((await link()) ?? '');
  await titled(page, 'Account recovery');
  await expectAccessible(page);
  await press(page, 'Cancel the recovery');
  await titled(page, 'The recovery is cancelled');
  await expectAccessible(page);
  await page.goto((await link()) ?? '');
  await titled(page, 'Nothing to cancel');
});

// Last: the clock is then further ahead than back ends accept.
test('a recovery code of an admin replaces the lost passkey, after the waiting time', async ({ browser, page }) => {
  const shop = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'lost@example.com');
  await VirtualAuthenticator.connect(page);
  const first = await hosted.begin(page, shop);
  await proveAddress(page, inbox);
  await press(page, 'Create passkey');
  const { sub } = await first();
  await shop.set({ mfaPolicy: 'REQUIRED' });
  const mutation = `mutation ($input: GrantUserRecoveryInput!) { grantUserRecovery(input: $input) { code } }`;
  type Granted = { grantUserRecovery: { code: string } };
  const input = { userId: sub, reason: 'Lost the laptop', waitHours: 1 };
  const { code } = (await hosted.admin.run<Granted>(mutation, { input })).grantUserRecovery;
  await hosted.latchkey.turn(3600);

  const context = await browser.newContext();
  const other = await context.newPage();
  await VirtualAuthenticator.connect(other);
  await hosted.begin(other, shop);
  await proveAddress(other, inbox);
  await titled(other, 'Confirm with your passkey');
  await press(other, 'Use a recovery code');
  await titled(other, 'Enter a recovery code');
  await expectAccessible(other);
  await other.getByRole('textbox', { name: 'Recovery code' }).fill('aaaa-aaaa-aaaa-aaaa');
  await press(other, 'Continue');
  await expect(alert(other)).toBeVisible();
  await other.getByRole('textbox', { name: 'Recovery code' }).fill(code);
  await press(other, 'Continue');
  await titled(other, 'Create a passkey');
  await press(other, 'Create passkey');
  await titled(other, 'Welcome back');
  await context.close();
});
