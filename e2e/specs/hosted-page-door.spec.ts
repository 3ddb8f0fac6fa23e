import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { otherThan } from '../support/authenticator-app.ts';
import { restoreBudgets } from '../support/database.ts';
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

/** Slow connections, other keyboards and host names, and the links of a sign-in that has ended. */

const hosted = HostedPage.ofTests();

test('Enter before the script has loaded begins the sign-in, and the button looks inactive until then', async ({
  page,
}) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'early@example.com');
  const script = Promise.withResolvers<void>();
  await page.route(/\/assets\/index-[\w-]+\.js$/, async (route) => {
    await script.promise;
    await route.continue();
  });
  const { redirectUri } = hosted.callback;
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: application.clientId, redirect_uri: redirectUri, scope: 'openid' },
    ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  });
  await page.goto(`${hosted.latchkey.baseUrl}/authorize?${query}`, { waitUntil: 'commit' });
  const button = page.getByRole('button', { name: 'Continue', exact: true });
  await expect(button).toBeDisabled();
  const background = () => button.evaluate((one) => getComputedStyle(one).backgroundColor);
  const inactive = await background();
  await expect(async () => {
    await address(page).fill(inbox.address);
    await address(page).press('Enter');
    await expect(page.locator('body')).toHaveAttribute('data-asked', 'true');
  }).toPass();
  script.resolve();
  await titled(page, 'Check your email');
  await page.goBack();
  await titled(page, 'Sign in to Shop');
  await expect(button).toBeEnabled();
  await expect.poll(background).not.toBe(inactive);
});

for (const [script, zero] of [
  ['Arabic-Indic', 0x660],
  ['full-width', 0xff10],
] as const)
  test(`a code can be typed in ${script} digits`, async ({ page }) => {
    const application = await hosted.register();
    const inbox = new Inbox(hosted.admin, `${script.toLowerCase()}@example.com`);
    const done = await hosted.begin(page, application);
    await enterAddress(page, inbox.address);
    await titled(page, 'Check your email');
    const code = (await inbox.code()).replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
    await sixDigits(page).focus();
    for (const digit of code) await page.keyboard.insertText(digit);
    expect(await done()).toMatchObject({ email: inbox.address });
  });

for (const colorScheme of ['light', 'dark'] as const)
  test(`a wrong code, which is selected, can be read on a phone: ${colorScheme}`, async ({ browser }) => {
    const application = await hosted.register();
    const inbox = new Inbox(hosted.admin, `selected-${colorScheme}@example.com`);
    const context = await browser.newContext({ colorScheme, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await hosted.begin(page, application);
    await enterAddress(page, inbox.address);
    await titled(page, 'Check your email');
    await sixDigits(page).fill(otherThan(await inbox.code()));
    await expect(alert(page)).toContainText('This code is wrong');
    const selected = await sixDigits(page).evaluate((field: HTMLInputElement) => {
      const { color, backgroundColor } = getComputedStyle(field, '::selection');
      return { digits: field.selectionEnd! - field.selectionStart!, colors: [color, backgroundColor] };
    });
    expect(selected.digits).toBe(6);
    expect(contrast(selected.colors)).toBeGreaterThanOrEqual(4.5);
    await context.close();
  });

test('a phone pastes the sentence of a mail, and the code is found in it', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'paste@example.com');
  const done = await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  const code = await inbox.code();
  await sixDigits(page).evaluate(
    (field, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', text);
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    },
    `Your code is ${code.slice(0, 3)} ${code.slice(3)}.`,
  );
  expect(await done()).toMatchObject({ email: inbox.address });
});

for (const hint of ['undefined', 'null'])
  test(`login_hint=${hint} leaves the address empty`, async ({ page }) => {
    await hosted.begin(page, await hosted.register(), { login_hint: hint });
    await titled(page, 'Sign in to Shop');
    await expect(page.getByRole('button', { name: 'Continue', exact: true })).toBeEnabled();
    await expect(address(page)).toHaveValue('');
  });

test('a network that requested too many codes sees that, and how long to wait', async ({ page }) => {
  await hosted.begin(page, await hosted.register());
  const { origin, searchParams } = new URL(page.url());
  const headers = { Origin: origin, 'Signin-Flow': searchParams.get('flow') ?? '' };
  const send = (step: string, data: object) => page.request.post(`${origin}/v1/signin/${step}`, { headers, data });
  let status = 200;
  for (let sent = 0; status === 200 && sent < 50; sent += 1) {
    const { txn } = await (await send('challenge', {})).json();
    status = (await send('authenticate', { txn, userid: `person${sent}@example.com` })).status();
  }
  expect(status).toBe(429);
  await enterAddress(page, 'late@example.com');
  await expect(alert(page)).toContainText(/Too many codes were requested from your network\. Please wait \d+ minutes?/);
  await expect(alert(page)).toContainText('use another network');
  await expectAccessible(page);
  // All tests of this server have one network.
  await restoreBudgets(hosted.latchkey);
});

test('an address for which too many codes were requested sees that, and how long to wait', async ({ page }) => {
  await hosted.begin(page, await hosted.register());
  const { origin, searchParams } = new URL(page.url());
  const headers = { Origin: origin, 'Signin-Flow': searchParams.get('flow') ?? '' };
  const send = (step: string, data: object) => page.request.post(`${origin}/v1/signin/${step}`, { headers, data });
  for (let sent = 0; sent < 5; sent += 1) {
    const { txn } = await (await send('challenge', {})).json();
    expect((await send('authenticate', { txn, userid: 'often@example.com' })).status()).toBe(200);
  }
  await enterAddress(page, 'often@example.com');
  await expect(alert(page)).toContainText(
    /Too many codes were requested for this address\. Please wait \d+ minutes, then try again\./,
  );
  await expectAccessible(page);
});

test('the link of an invitation leads to the code in one click, once', async ({ page }) => {
  const { admin, latchkey } = hosted;
  const { projectId } = await hosted.register();
  const inbox = new Inbox(admin, 'invited@example.com');
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  await admin.run(create, { input: { projectId, email: inbox.address, invite: true } });
  const sent: string[] = [];
  page.on('request', (request) => request.url().endsWith('/signin/authenticate') && sent.push(request.method()));
  const link = new URLSearchParams({ project: projectId, login_hint: inbox.address });
  await page.goto(`${latchkey.baseUrl}/account?${link}`);
  await expect(page.getByText(`Continue as ${inbox.address}, with a code by email.`)).toBeVisible();
  expect(sent).toEqual([]);
  await press(page, 'Sign in');
  await titled(page, 'Check your email');
  await expect(sixDigits(page)).toBeFocused();
  await expectAccessible(page);
  await page.reload();
  await titled(page, 'Check your email');
  expect(sent).toEqual(['POST']);
  await page.goBack();
  await expect(address(page)).toHaveValue(inbox.address);
  await page.goForward();
  await titled(page, 'Check your email');
  await sixDigits(page).fill(await inbox.code());
  await expect(page.getByRole('heading', { name: inbox.address, level: 1 })).toBeVisible();
});

test('without its script, the style sheet of the page shows an error, and a reload continues', async ({ page }) => {
  const application = await hosted.register();
  const scripts = /\/assets\/index-[\w-]+\.js$/;
  await page.route(scripts, (route) => route.abort());
  const done = await hosted.begin(page, application);
  const notice = page.getByText('This page has not finished loading.');
  await expect(notice).toBeHidden();
  // Not after its delay of eight seconds, but now.
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) animation.finish();
  });
  await expect(notice).toBeVisible();
  await expectAccessible(page);
  await page.unroute(scripts);
  await page.getByRole('link', { name: 'Reload the page' }).click();
  await expect(notice).toHaveCount(0);
  const inbox = new Inbox(hosted.admin, 'unloaded@example.com');
  await proveAddress(page, inbox);
  expect(await done()).toMatchObject({ email: inbox.address });
});

test('an expired sign-in begins again, and its application gets the response that it waits for', async ({ page }) => {
  const application = await hosted.register();
  const done = await hosted.begin(page, application);
  await hosted.latchkey.turn(31 * 60);
  await page.reload();
  await titled(page, 'This sign-in has ended');
  await expect(page.getByRole('link', { name: 'Continue to Shop' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Sign in again' }).click();
  const inbox = new Inbox(hosted.admin, 'again@example.com');
  await proveAddress(page, inbox);
  expect(await done()).toMatchObject({ email: inbox.address });
});

test('five wrong attempts end the code, and the page shows that', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'wrong@example.com');
  await hosted.begin(page, application);
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  const wrong = otherThan(await inbox.code());
  for (const time of [1, 2, 3, 4, 5]) {
    const refused = page.waitForResponse('**/v1/signin/verify-email-otp');
    await sixDigits(page).fill('');
    await sixDigits(page).fill(wrong);
    await refused;
    await expect(alert(page)).toContainText(time < 5 ? 'This code is wrong' : 'ended after five wrong entries');
  }
  await expectAccessible(page);
});

for (const width of [1440, 390])
  test(`the words of a long address stay whole at ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    const application = await hosted.register();
    const long = `annabelle.schmidt${width}@example.com`.padStart(32, 'x');
    const inbox = new Inbox(hosted.admin, long);
    const done = await hosted.begin(page, application);
    await proveAddress(page, inbox);
    await done();
    await hosted.begin(page, application, { prompt: 'login' });
    await titled(page, 'Sign in to Shop');
    const name = page.locator('#account-name');
    await expect(name).toHaveText(long);
    const lines = await name.evaluate(({ firstChild: text }) =>
      [...(text?.textContent ?? '').matchAll(/[^\u200b]+/g)].map(({ index, 0: word }) => {
        const range = document.createRange();
        range.setStart(text as Node, index);
        range.setEnd(text as Node, index + word.length);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      }),
    );
    expect(lines).toEqual([1, 1, 1, 1]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await expectAccessible(page);
  });

test('Back after a sign-in leads to the application, and an ended sign-in links to it', async ({ page, browser }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'back@example.com');
  const done = await hosted.begin(page, application);
  const flow = page.url();
  await proveAddress(page, inbox);
  await done();
  const { origin } = new URL(hosted.callback.redirectUri);
  await page.goto(flow);
  expect(page.url()).toBe(`${origin}/`);
  const elsewhere = await browser.newPage();
  await elsewhere.goto(flow);
  await titled(elsewhere, 'This sign-in has ended');
  await expect(elsewhere.getByRole('link', { name: 'Continue to Shop' })).toHaveAttribute('href', `${origin}/`);
  await expectAccessible(elsewhere);
  await elsewhere.close();
});

test('at another loopback name, the sign-in continues at the base address', async ({ page }) => {
  const application = await hosted.register();
  const inbox = new Inbox(hosted.admin, 'host@example.com');
  const done = await hosted.begin(page, application);
  const url = new URL(page.url());
  url.hostname = url.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  await page.goto(url.href);
  expect(new URL(page.url()).origin).toBe(hosted.latchkey.baseUrl);
  await proveAddress(page, inbox);
  expect(await done()).toMatchObject({ email: inbox.address });
});

test('at another name of the server, the page names the right address and links to it', async ({ page }) => {
  const application = await hosted.register();
  const { baseUrl } = hosted.latchkey;
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: application.clientId, redirect_uri: hosted.callback.redirectUri },
    ...{ scope: 'openid', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  });
  // Browsers resolve the names below localhost themselves (RFC 6761 section 6.3).
  const there = new URL(`${baseUrl}/authorize?${query}`);
  there.hostname = 'proxy.localhost';
  await page.goto(there.href);
  await titled(page, 'Sign in to Shop');
  expect(new URL(page.url()).hostname).toBe('proxy.localhost');
  await expect(alert(page)).toContainText(`This page works only at ${baseUrl}`);
  await expect(page.getByRole('button', { name: 'Continue', exact: true })).toBeHidden();
  await expectAccessible(page);
  await page.getByRole('link', { name: baseUrl, exact: true }).click();
  await expect(page).toHaveURL(`${baseUrl}/`);
});

test('a trusted browser shows its user that the directory deactivated the account', async ({ page }) => {
  const application = await hosted.register();
  const { baseUrl } = hosted.latchkey;
  await hosted.admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: application.projectId, scimEnabled: true },
  });
  const token = await hosted.admin.issueScimToken(application.projectId);
  const inbox = new Inbox(hosted.admin, 'inactive@example.com');
  const done = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  const { sub } = await done();
  const patched = await page.request.patch(`${baseUrl}/v1/scim/${application.projectId}/Users/${sub}`, {
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
    data: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    },
  });
  expect(patched.status()).toBe(200);
  await hosted.begin(page, application);
  await press(page, 'Continue');
  await expect(alert(page)).toContainText('Your account is not active. Contact your administrator.');
  await expectAccessible(page);
});

/** WCAG 2.2 contrast ratio of two opaque colors, as `rgb(…)`. */
function contrast(colors: readonly string[]): number {
  const luminances = colors.map((color) => {
    const [, ...channels] = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color) ?? [];
    expect(channels, color).toHaveLength(3);
    const [red = 0, green = 0, blue = 0] = channels.map((channel) => {
      const share = Number(channel) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05);
}
