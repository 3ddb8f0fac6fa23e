import { readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { type Served, serve } from '../clients/serve.ts';
import { expectAccessible, expectReadableQrCode } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox, type ProjectSettings } from '../support/application.ts';
import { AuthenticatorApp, otherThan } from '../support/authenticator-app.ts';
import { type Latchkey, sharedAdjustableLatchkey } from '../support/latchkey.ts';
import { VirtualAuthenticator } from '../support/virtual-authenticator.ts';

/** `<latchkey-sign-in>` in a plain page of another origin, loaded from the instance. */

let latchkey: Latchkey;
let admin: AdminApi;
let site: Served;
const applications = new Map<string, Application>();

test.beforeAll(async () => {
  latchkey = await sharedAdjustableLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  await admin.ignoreMessages();
  site = await serve(() => (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://any');
    const application = applications.get(pathname.slice(1));
    res.setHeader('Content-Type', 'text/html');
    // The policy of the README: neither inline scripts nor inline styles.
    const sources = ['script-src', 'connect-src', 'img-src'].map((directive) => `${directive} ${latchkey.baseUrl}`);
    const trustedTypes = "require-trusted-types-for 'script'; trusted-types 'none'";
    res.setHeader('Content-Security-Policy', [`default-src 'none'`, ...sources, trustedTypes].join('; '));
    res.end(`<!doctype html><html lang="${searchParams.get('lang') ?? 'en'}"><title>Shop</title>
      <meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width">
      <script type="module" src="${latchkey.baseUrl}/sdk/elements.js"></script>
      <main><h1>Shop</h1><latchkey-sign-in app-name="Shop" api-key="${application?.publishableKey ?? 'lk_pk_unknown'}"
        base-url="${latchkey.baseUrl}" branding="${searchParams.get('branding') ?? ''}"></latchkey-sign-in></main>`);
  });
});

test.afterAll(async () => {
  await site.close();
});

async function open(page: Page, name: string, settings: ProjectSettings, query = ''): Promise<Application> {
  const known = applications.get(name);
  const options = { pkceRequired: true, ...settings };
  const application = known ?? (await Application.register(admin, latchkey, `${site.origin}/callback`, options));
  applications.set(name, application);
  await page.context().grantPermissions(['local-network-access']);
  await page.goto(`${site.origin}/${name}${query}`);
  await page.evaluate(`window.seen = [];
    for (const name of ['latchkey-success', 'latchkey-done'])
      document.addEventListener(name, ({ type, detail }) => window.seen.push({ type, ...detail }))`);
  return application;
}

type Seen = { type: string; code?: string; codeVerifier?: string; userid?: string };
const events = (page: Page) => page.evaluate<Seen[]>('window.seen');

async function signedIn(page: Page, application: Application, userid: string): Promise<void> {
  await expect.poll(async () => (await events(page)).map(({ type }) => type)).toContain('latchkey-success');
  const [{ code = '', codeVerifier = '', ...success } = {}] = await events(page);
  expect(success).toEqual({ type: 'latchkey-success', userid });
  expect(await application.redeem(code, { codeVerifier })).toMatchObject({ email: userid });
}

test('opening the page causes no refused request and no event', async ({ page }) => {
  const refused: string[] = [];
  const steps: string[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith('/v1/')) steps.push(pathname);
    if (response.status() >= 400 && pathname !== '/favicon.ico') refused.push(`${response.status()} ${pathname}`);
  });
  await VirtualAuthenticator.connect(page);
  const challenged = page.waitForResponse(/\/v1\/signin\/challenge$/);
  const application = await open(page, 'opened', { mfaPolicy: 'OFF' });
  await challenged;
  // Passkeys are not allowed on the origin of an application that has not opted in: the button disappears.
  await expect(page.getByRole('button', { name: /passkey/ })).toHaveCount(0);
  expect(refused).toEqual([]);
  expect(steps).toEqual(['/v1/signin/challenge']);
  const query = 'query ($id: ID!) { auditEvents(first: 50, projectId: $id) { edges { node { type } } } }';
  const { auditEvents } = await admin.run<{ auditEvents: { edges: { node: { type: string } }[] } }>(query, {
    id: application.projectId,
  });
  expect(auditEvents.edges.map(({ node }) => node.type).filter((type) => /passkey|sign/.test(type))).toEqual([]);
});

for (const mfaPolicy of ['OFF', 'OPTIONAL'] as const) {
  test(`signs in a new user, and signs in again, if a second factor is ${mfaPolicy}`, async ({ page }) => {
    const application = await open(page, mfaPolicy, { mfaPolicy });
    const userid = `element-${mfaPolicy.toLowerCase()}@example.com`;
    const inbox = new Inbox(admin, userid);
    const address = page.getByLabel('Email address');
    await expectAccessible(page);
    await address.fill('ada@');
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByRole('alert')).toHaveText('Enter an address like name@example.com.');
    await expect(address).toHaveAttribute('aria-invalid', 'true');
    await address.fill(userid);
    await page.keyboard.press('Enter');

    const field = page.getByLabel('Six-digit code');
    await expect(field).toBeFocused();
    await expect(page.getByRole('button', { name: /^New code in 0:\d\d$/ })).toHaveAttribute('aria-disabled', 'true');
    await expectAccessible(page);
    const otp = await inbox.code();
    await field.fill(otherThan(otp));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert')).toContainText('This code is wrong');
    await expectAccessible(page);
    await field.fill(otp);
    await page.keyboard.press('Enter');
    await signedIn(page, application, userid);
    expect((await events(page)).map(({ type }) => type)).toEqual(['latchkey-success', 'latchkey-done']);

    await open(page, mfaPolicy, {});
    await expect(address).toHaveValue(userid);
    await page.getByRole('button', { name: 'Continue' }).click();
    await signedIn(page, application, userid);
  });
}

test('shows that the exchange failed, on recovery codes only after they are saved, and signs in at the next try', async ({
  page,
}) => {
  for (const mfaPolicy of ['OFF', 'REQUIRED'] as const) {
    await open(page, mfaPolicy, { mfaPolicy });
    await page.evaluate(`window.refuse = [];
      document.addEventListener('latchkey-success', ({ detail }) =>
        detail.waitUntil(new Promise((done, refuse) => window.refuse.push(refuse, done))))`);
    const userid = `failed-${mfaPolicy.toLowerCase()}@example.com`;
    await page.getByLabel('Email address').fill(userid);
    await page.keyboard.press('Enter');
    const field = page.getByLabel('Six-digit code');
    await field.fill(await new Inbox(admin, userid).code());
    await page.keyboard.press('Enter');
    let app: AuthenticatorApp | undefined;
    const form = page.locator('latchkey-sign-in');
    if (mfaPolicy === 'REQUIRED') {
      await page.getByRole('button', { name: /^Authenticator app/ }).click();
      const secret = await form.getByRole('link').textContent();
      app = new AuthenticatorApp((secret ?? '').replaceAll(' ', ''), latchkey.now);
      await field.fill(app.next());
      await page.keyboard.press('Enter');
    }
    await expect.poll(async () => (await events(page)).length).toBe(1);
    // Busy until the exchange has ended.
    await expect(form.getByText('You are signed in')).toHaveCount(0);
    await page.evaluate('window.refuse[0](new Error("503"))');
    if (app) {
      await expect(page.getByRole('listitem')).toHaveCount(10);
      await page.getByRole('button', { name: 'I’ve saved these codes' }).click();
    }
    await expect(page.getByRole('alert')).toContainText('Something went wrong');
    await expectAccessible(page);
    expect((await events(page)).map(({ type }) => type)).toEqual(['latchkey-success']);
    await expect(page.getByRole('button', { name: 'Continue' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByLabel('Email address')).toHaveValue(userid);
    await page.getByRole('button', { name: 'Continue' }).click();
    if (app) {
      await latchkey.turn(30);
      await field.fill(app.next());
      await page.keyboard.press('Enter');
    }
    await expect.poll(async () => (await events(page)).length).toBe(2);
    await page.evaluate('window.refuse[3]()');
    await expect.poll(async () => (await events(page)).at(-1)?.type).toBe('latchkey-done');
  }
});

test('sets up a second factor if one is REQUIRED, and shows the recovery codes after the code', async ({ page }) => {
  const application = await open(page, 'REQUIRED', { mfaPolicy: 'REQUIRED' });
  const userid = 'element-required@example.com';
  await page.getByLabel('Email address').fill(userid);
  await page.keyboard.press('Enter');
  await page.getByLabel('Six-digit code').fill(await new Inbox(admin, userid).code());
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Add a second step' })).toBeFocused();
  await expectAccessible(page);
  await page.getByRole('button', { name: /^Text message/ }).click();
  await expect(page.getByLabel('Phone number with country code')).toBeFocused();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Use another method' }).click();
  await page.getByRole('button', { name: /^Authenticator app/ }).click();
  const secret = await page.locator('latchkey-sign-in').getByRole('link').textContent();
  await expect(page.locator('latchkey-sign-in svg')).toBeVisible();
  await expectAccessible(page);
  await expectReadableQrCode(page, page.locator('latchkey-sign-in .qr'));
  const app = new AuthenticatorApp((secret ?? '').replaceAll(' ', ''), latchkey.now);
  await page.getByLabel('Six-digit code').fill(app.next());
  await page.keyboard.press('Enter');
  await signedIn(page, application, userid);
  await expect(page.getByRole('listitem')).toHaveCount(10);
  // Each on one line.
  const heights = await page.getByRole('listitem').evaluateAll((items) => items.map((item) => item.clientHeight));
  expect(Math.max(...heights)).toBeLessThan(30);
  const recoveryCode = (await page.getByRole('listitem').first().textContent()) ?? '';
  await expectAccessible(page);
  expect(await events(page)).toHaveLength(1);
  await page.getByRole('button', { name: 'I’ve saved these codes' }).click();
  expect((await events(page)).at(-1)?.type).toBe('latchkey-done');

  await test.step('a recovery code replaces the app', async () => {
    await open(page, 'REQUIRED', {});
    await expect(page.getByLabel('Email address')).toHaveValue(userid);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await expectAccessible(page);
    await page.getByLabel('Recovery code').fill(recoveryCode);
    await page.keyboard.press('Enter');
    await signedIn(page, application, userid);
  });
});

test('shows values of the page and the service as text, and links to authenticator apps only', async ({ page }) => {
  const evil = '<img src=x onerror=alert(1)>';
  await page.route('**/v1/signin/**', async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as Record<string, unknown>;
    if ('sent_to' in json) json['sent_to'] = evil;
    if ('totp' in json) json['totp'] = { secret: evil, otpauth_uri: 'javascript:alert(1)' };
    if ('recovery_codes' in json) json['recovery_codes'] = [evil];
    await route.fulfill({ response, json });
  });
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    return dialog.dismiss();
  });
  await open(page, 'evil', { mfaPolicy: 'REQUIRED' });
  await page.locator('latchkey-sign-in').evaluate((element, name) => element.setAttribute('app-name', name), evil);
  const shown = page.locator('latchkey-sign-in');
  await expect(shown).toContainText(evil);
  const userid = 'element-evil@example.com';
  await page.getByLabel('Email address').fill(userid);
  await page.keyboard.press('Enter');
  await expect(shown).toContainText(`${evil} at `);
  await page.getByLabel('Six-digit code').fill(await new Inbox(admin, userid).code());
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Authenticator app/ }).click();
  const link = shown.getByRole('link');
  await expect(link).toHaveAttribute('href', '#javascript:alert(1)');
  await link.click();
  expect(await shown.locator('img').count()).toBe(0);
  expect(dialogs).toEqual([]);
});

test('has texts in each language, and reports a wrong key', async ({ page }) => {
  for (const [lang, label] of [
    ['de', 'E-Mail-Adresse'],
    ['fr', 'Adresse e-mail'],
    ['es', 'Correo electrónico'],
    ['ja', 'メールアドレス'],
    ['nl', 'E-mailadres'],
    ['pt-PT', 'Endereço de e-mail'],
    ['zh-SG', '邮箱地址'],
    ['ar', 'عنوان البريد الإلكتروني'],
    ['tlh', 'Email address'],
  ] as const) {
    await open(page, 'OFF', { mfaPolicy: 'OFF' }, `?lang=${lang}`);
    await expect(page.locator('latchkey-sign-in').getByLabel(label)).toBeVisible();
    const card = page.locator('latchkey-sign-in').locator('.card');
    await expect(card).toHaveAttribute('dir', lang === 'ar' ? 'rtl' : 'ltr');
  }
  await page.goto(`${site.origin}/unknown`);
  await page.getByLabel('Email address').fill('ada@example.com');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('publishable');
});

/** Publishes a color, and a logo if the picture is given. */
async function publish(projectId: string, accent: string, picture?: Buffer<ArrayBuffer>): Promise<void> {
  const address = `${latchkey.baseUrl}/admin/projects/${projectId}/logos`;
  const headers = { Authorization: `Bearer ${latchkey.adminToken}`, 'Content-Type': 'image/png' };
  const logo =
    picture && ((await (await fetch(address, { method: 'POST', headers, body: picture })).json()) as { id: string });
  await admin.run(
    'mutation ($input: SaveExperienceDraftInput!) { saveExperienceDraft(input: $input) { __typename } }',
    {
      input: { projectId, accent, ...(logo && { logoId: logo.id }) },
    },
  );
  await admin.run('mutation ($input: PublishExperienceInput!) { publishExperience(input: $input) { __typename } }', {
    input: { projectId },
  });
}

/** The background and text color of the button. */
const buttonOf = (page: Page) =>
  page.getByRole('button', { name: 'Continue' }).evaluate((button) => {
    const { backgroundColor, color } = getComputedStyle(button);
    return [backgroundColor, color];
  });

test('has the colors and the logo of the project, with readable text', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  const { projectId } = await open(page, 'branded', { mfaPolicy: 'OFF' }, '?branding=none');
  await publish(
    projectId,
    '#ffd400',
    (await page.screenshot({ clip: { x: 0, y: 0, width: 80, height: 40 } })) as never,
  );
  await open(page, 'branded', {}, '?branding=none');
  const logo = page.locator('latchkey-sign-in img');
  expect(await buttonOf(page)).toEqual(['rgb(47, 85, 212)', 'rgb(255, 255, 255)']);
  expect(await logo.count()).toBe(0);
  await open(page, 'branded', {});
  await expect(logo).toBeVisible();
  expect(await logo.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(80);
  expect(await buttonOf(page)).toEqual(['rgb(255, 212, 0)', 'rgb(11, 14, 19)']);
  await expectAccessible(page);
});

test('is styled by the page, as in the README', async ({ page }) => {
  const readme = readFileSync(new URL('../../shared/browser/README.md', import.meta.url), 'utf8');
  const css = /```css\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  await open(page, 'OFF', { mfaPolicy: 'OFF' });
  await expect(page.getByLabel('Email address')).toBeVisible();
  await page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [sheet];
  }, css);
  expect(await buttonOf(page)).toEqual(['rgb(11, 107, 79)', 'rgb(255, 255, 255)']);
  const card = page.locator('latchkey-sign-in [part=card]');
  expect(await card.evaluate((element) => getComputedStyle(element).boxShadow)).toContain('0px 1px 3px');
});

test('uses only colors and logos from the response about the branding', async ({ page }) => {
  const evil = 'red)}:host{display:none}/*';
  const answers = [
    {
      colors: { accent: [evil, evil], 'on-accent': ['#ffffff', '#ffffff;}'], link: [evil, '#000000'] },
      logo: ['../../x', '"><script>'],
    },
    { colors: [], logo: {} },
    'not JSON',
    null,
  ];
  for (const answer of answers) {
    await page.route('**/experience/of/*', (route) =>
      route.fulfill({ json: answer, headers: { 'Access-Control-Allow-Origin': '*' } }),
    );
    await open(page, 'OFF', { mfaPolicy: 'OFF' });
    await expect(page.getByLabel('Email address')).toBeVisible();
    expect(await page.locator('latchkey-sign-in img').count()).toBe(0);
    const rules = await page
      .locator('latchkey-sign-in')
      .evaluate((element) =>
        (element.shadowRoot?.adoptedStyleSheets ?? [])
          .slice(1)
          .flatMap(({ cssRules }) => [...cssRules].map((rule) => rule.cssText)),
      );
    expect(rules.join()).not.toMatch(/display|red|;}/);
    await page.unroute('**/experience/of/*');
  }
  await page.route('**/experience/of/*', () => undefined);
  await open(page, 'OFF', { mfaPolicy: 'OFF' });
  await expect(page.getByLabel('Email address')).toBeVisible();
});

test('keeps typed text when the service responds that it has no passkeys', async ({ page }) => {
  let refuse = () => {};
  const typed = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  await page.route('**/v1/signin/challenge', async (route) => {
    await typed;
    await route.continue();
  });
  await open(page, 'OFF', { mfaPolicy: 'OFF' });
  const address = page.getByLabel('Email address');
  await address.fill('grace@exam');
  await expect(page.getByRole('button', { name: 'Use a passkey' })).toBeVisible();
  refuse();
  await expect(page.getByRole('button', { name: 'Use a passkey' })).toBeHidden();
  await expect(address).toHaveValue('grace@exam');
  await expect(address).toBeFocused();
});
