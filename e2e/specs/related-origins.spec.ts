/** Passkeys on pages of applications at another registrable domain: WebAuthn Level 3, section 5.11. */
import { expect, type Page, test } from '@playwright/test';
import { SdkInPage, sdkPage } from '../clients/sdk-page.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox } from '../support/application.ts';
import { freePort, type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { argumentsFor, proxyTo, serveSites } from '../support/tls-sites.ts';
import { VirtualAuthenticator } from '../support/virtual-authenticator.ts';

const [login, shop, forum] = ['login.example.com', 'shop.example.net', 'forum.example.org'];
/** Pages of an attacker: browsers let a subdomain of the issuer's host ask for its passkeys, but not a sibling. */
const [child, sibling] = ['pages.login.example.com', 'pages.example.com'];
const issuer = `https://${login}`;
let tlsPort = 0;

test.use({
  launchOptions: async ({ launchOptions }, use) => {
    tlsPort = await freePort();
    const args = [...(launchOptions.args ?? []), ...argumentsFor([login, shop, forum, child, sibling], tlsPort)];
    await use({ ...launchOptions, args });
  },
});

let latchkey: Latchkey;
let admin: AdminApi;
/** The server's own address. */
let direct: string;
let closeSites: (() => void) | undefined;

test.beforeEach(async ({ browser }) => {
  expect(browser.isConnected()).toBe(true);
  const port = String(await freePort());
  latchkey = await startLatchkey({ BASE_URL: issuer, PORT: port, TRUST_PROXY: 'loopback' });
  direct = `http://127.0.0.1:${port}`;
  admin = new AdminApi(direct, latchkey.adminToken);
  const pages = Object.fromEntries([shop, forum, child, sibling].map((host) => [host, sdkPage]));
  closeSites = await serveSites(tlsPort, { [login]: proxyTo(direct), ...pages });
});

test.afterEach(async () => {
  closeSites?.();
  await latchkey.stop();
});

/** Signs in by mail code, with the SDK's methods that work on every page. */
async function byCode(sdk: SdkInPage, inbox: Inbox, options?: { stepUp: 'create_passkey' }) {
  expect(await sdk.authenticate(inbox.address, options)).toMatchObject({ status: 'OTP_NEEDED' });
  await sdk.verifyEmailOtp({ userid: inbox.address, otp: await inbox.code() });
  expect(await sdk.verifyDevice({ userid: inbox.address })).toMatchObject({ status: 'SUCCESS' });
}

/** The name of the error that the browser itself raises for a passkey of the issuer. */
function refusedByBrowser(page: Page): Promise<string> {
  return page.evaluate(async (rpId) => {
    const publicKey = { challenge: new Uint8Array(32), rpId, userVerification: 'required' as const };
    return navigator.credentials.get({ publicKey }).then(
      () => 'none',
      (error: Error) => error.name,
    );
  }, login);
}

test('a page at another domain creates and uses a passkey of the issuer, if its application opted in', async ({
  page,
}) => {
  const application = await Application.register(admin, latchkey, `https://${shop}/callback`, {
    relatedOrigins: true,
    pkceRequired: true,
  });
  const authenticator = await VirtualAuthenticator.connect(page);
  const sdk = await SdkInPage.open(page, `https://${shop}`);
  await sdk.init(application.publishableKey, issuer);
  const inbox = new Inbox(admin, 'ada@example.com');
  await byCode(sdk, inbox, { stepUp: 'create_passkey' });
  expect(await sdk.createPasskey({ userid: inbox.address })).toMatchObject({ status: 'PASSKEY_CREATED' });
  expect(await authenticator.credentials()).toMatchObject([{ isResidentCredential: true, rpId: login }]);

  await sdk.clearSiteData();
  await sdk.page.reload();
  await sdk.page.waitForFunction(() => document.title === 'Ready');
  await sdk.init(application.publishableKey, issuer);
  expect(await sdk.signInWithPasskey()).toMatchObject({ status: 'SUCCESS', code: expect.any(String) });

  await test.step('a page at a subdomain of the issuer, which relays the challenge, is refused', async () => {
    const begun = await asPageOf(application, 'challenge', { passkey: true, code_challenge: 'A'.repeat(43) });
    await page.goto(`https://${child}/`);
    const credential = await answered(page, begun['passkey_options']);
    expect(credential).toMatchObject({ type: 'public-key' });
    const refused = await asPageOf(application, 'verify-passkey', { txn: begun['txn'], credential });
    expect(refused).toMatchObject({ status: 'ERROR', error: { code: 'PASSKEY_REJECTED' } });
  });

  await test.step('a page at a sibling gets nothing from the browser', async () => {
    const begun = await asPageOf(application, 'challenge', { passkey: true, code_challenge: 'A'.repeat(43) });
    await page.goto(`https://${sibling}/`);
    expect(await answered(page, begun['passkey_options'])).toBe('SecurityError');
  });
});

/** Calls a step as the application's page does, from a program that may claim its origin. */
async function asPageOf({ publishableKey }: Application, step: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'Content-Type': 'application/json', Origin: `https://${shop}`, 'X-Api-Key': publishableKey };
  const answer = await fetch(`${direct}/v1/signin/${step}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

/** The response of a passkey to these options on this page, or the name of the browser's error. */
function answered(page: Page, options: unknown): Promise<unknown> {
  return page.evaluate(async (json) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json as PublicKeyCredentialRequestOptionsJSON);
    return navigator.credentials.get({ publicKey }).then(
      (credential) => (credential as PublicKeyCredential).toJSON(),
      (error: Error) => error.name,
    );
  }, options);
}

test('a page whose application did not opt in is refused, by service and browser, and signs in by device key', async ({
  page,
}) => {
  const [own] = await Promise.all(
    [forum, shop].map((host, n) =>
      Application.register(admin, latchkey, `https://${host}/callback`, { relatedOrigins: n === 1 }),
    ),
  );
  await VirtualAuthenticator.connect(page);
  const sdk = await SdkInPage.open(page, `https://${forum}`);
  await sdk.init(own!.publishableKey, issuer);
  await expect(sdk.signInWithPasskey()).rejects.toMatchObject({ code: 'PASSKEYS_NOT_ALLOWED' });
  expect(await refusedByBrowser(page)).toBe('SecurityError');

  const inbox = new Inbox(admin, 'ben@example.com');
  await byCode(sdk, inbox);
  expect(await sdk.authenticate(inbox.address)).toMatchObject({ status: 'SUCCESS' });

  // The page of the application that opted in gets as far as the authenticator, which has no passkey.
  await SdkInPage.open(page, `https://${shop}`);
  expect(await refusedByBrowser(page)).toBe('NotAllowedError');
});
