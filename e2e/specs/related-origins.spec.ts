/** Passkeys on pages of applications at another registrable domain: WebAuthn Level 3, section 5.11. */
import { expect, type Page, test } from '@playwright/test';
import { SdkInPage, sdkPage } from '../clients/sdk-page.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox } from '../support/application.ts';
import { freePort, type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { argumentsFor, proxyTo, serveSites } from '../support/tls-sites.ts';
import { VirtualAuthenticator } from '../support/virtual-authenticator.ts';

const [login, shop, forum] = ['login.example.com', 'shop.example.net', 'forum.example.org'];
const issuer = `https://${login}`;
let tlsPort = 0;

test.use({
  launchOptions: async ({ launchOptions }, use) => {
    tlsPort = await freePort();
    const args = [...(launchOptions.args ?? []), ...argumentsFor([login, shop, forum], tlsPort)];
    await use({ ...launchOptions, args });
  },
});

let latchkey: Latchkey;
let admin: AdminApi;
let closeSites: (() => void) | undefined;

test.beforeEach(async ({ browser }) => {
  expect(browser.isConnected()).toBe(true);
  const port = String(await freePort());
  latchkey = await startLatchkey({ BASE_URL: issuer, PORT: port, TRUST_PROXY: 'loopback' });
  const direct = `http://127.0.0.1:${port}`;
  admin = new AdminApi(direct, latchkey.adminToken);
  closeSites = await serveSites(tlsPort, { [login]: proxyTo(direct), [shop]: sdkPage, [forum]: sdkPage });
});

test.afterEach(async () => {
  closeSites?.();
  await latchkey.stop();
});

/** Signs in by mail code, with what the SDK offers on every page. */
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
});

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
