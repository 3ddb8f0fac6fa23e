import { expect, type Page, test } from '@playwright/test';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox } from '../support/application.ts';
import { AuthenticatorApp } from '../support/authenticator-app.ts';
import { InstalledSdk } from '../support/installed-sdk.ts';
import { type Latchkey, sharedAdjustableLatchkey } from '../support/latchkey.ts';

/** The packages as an application installs them from a running Latchkey. */

const policies = ['OFF', 'OPTIONAL', 'REQUIRED'] as const;

let latchkey: Latchkey;
let admin: AdminApi;
let sdk: InstalledSdk;
let site: Served;
const applications = new Map<string, Application>();

test.beforeAll(async () => {
  latchkey = await sharedAdjustableLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  await admin.ignoreMessages();
  sdk = new InstalledSdk(latchkey.baseUrl);
  site = await serve(() => sdk.listener);
  for (const mfaPolicy of policies) {
    const settings = { name: mfaPolicy, mfaPolicy };
    applications.set(mfaPolicy, await Application.register(admin, latchkey, `${site.origin}/callback`, settings));
  }
});

test.afterAll(async () => {
  await site.close();
  sdk.remove();
});

/** The README's page with an application's values. */
function readmePage(policy: (typeof policies)[number], from?: string): string {
  const page = /## A complete page\n\n```html\n([\s\S]*?)```/.exec(sdk.readme)?.[1] ?? '';
  expect(page.trim().split('\n').length, 'lines of the complete page').toBeLessThanOrEqual(55);
  const filled = page
    .replace('https://id.example.com/sdk/browser.js', from ?? `${latchkey.baseUrl}/sdk/browser.js`)
    .replace('lk_pk_…', applications.get(policy)?.publishableKey ?? '')
    .replace('https://id.example.com', latchkey.baseUrl);
  expect(filled).not.toContain('example.com');
  return filled;
}

/** Signs in on the README's page twice, and answers each question. */
async function signIn(page: Page, path: string, address: string): Promise<void> {
  const inbox = new Inbox(admin, address);
  const faults: string[] = [];
  let app: AuthenticatorApp | undefined;
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('dialog', async (dialog) => {
    if (dialog.message().startsWith('Your second factor')) return dialog.accept('totp');
    const secret = /^Put (\S+) into/.exec(dialog.message())?.[1];
    if (secret) app = new AuthenticatorApp(secret, latchkey.now);
    await dialog.accept(app ? app.next() : await inbox.code());
  });
  await page.context().grantPermissions(['local-network-access']);
  await page.goto(`${site.origin}${path}`);
  for (let time = 0; time < 2; time++) {
    await page.getByLabel('Email').fill(address);
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByRole('status')).toHaveText('SUCCESS: Done.');
    await latchkey.turn(30);
    await page.reload();
  }
  expect(faults).toEqual([]);
}

for (const policy of policies) {
  test(`the README’s page signs new users in with the served script if a second factor is ${policy}`, async ({
    page,
  }) => {
    sdk.write(`${policy}.html`, readmePage(policy));
    await signIn(page, `/${policy}.html`, `${policy.toLowerCase()}@example.com`);
  });
}

test('the README’s page works bundled by Vite', async ({ page }) => {
  sdk.write('index.html', readmePage('OPTIONAL', '@latchkey/browser'));
  sdk.build();
  await signIn(page, '/dist/', 'bundled@example.com');
});

test('the classic script sets one global, and all scripts match their integrity', async ({ page }) => {
  const integrity = (await (await fetch(`${latchkey.baseUrl}/sdk/integrity.json`)).json()) as Record<string, string>;
  const tags = Object.entries(integrity).map(([file, hash]) => {
    const type = file.includes('global') ? 'text/javascript' : 'module';
    return `<script type="${type}" src="${latchkey.baseUrl}/sdk/${file}" integrity="${hash}" crossorigin></script>`;
  });
  expect(tags).toHaveLength(4);
  sdk.write('global.html', `<!doctype html><title>Global</title>${tags.join('')}`);
  const failed: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && failed.push(message.text())));
  await page.context().grantPermissions(['local-network-access']);
  await page.goto(`${site.origin}/global.html`);
  expect(await page.evaluate('typeof latchkey.authenticate')).toBe('function');
  expect(await page.evaluate("typeof customElements.get('latchkey-sign-in')")).toBe('function');
  expect(failed).toEqual([]);
});

test('@latchkey/node loads as ES module and as CommonJS', () => {
  const names = 'exchangeCodeForClaims,verifyJwt';
  expect(sdk.run(`import { ${names} } from '@latchkey/node'; console.log(typeof verifyJwt)`, 'module')).toBe(
    'function',
  );
  expect(sdk.run(`const { ${names} } = require('@latchkey/node'); console.log(typeof verifyJwt)`, 'commonjs')).toBe(
    'function',
  );
});

test('a versioned name is cached forever by any origin, a name without version briefly', async () => {
  const headersOf = async (file: string) => (await fetch(`${latchkey.baseUrl}/sdk/${file}`)).headers;
  const [file = ''] = Object.keys((await (await fetch(`${latchkey.baseUrl}/sdk/integrity.json`)).json()) as object);
  for (const [name, cached] of [
    [file, 'public, max-age=31536000, immutable'],
    ['browser.js', 'public, max-age=300'],
  ] as const) {
    const headers = await headersOf(name);
    expect(headers.get('cache-control')).toBe(cached);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(headers.get('content-type')).toMatch(/^text\/javascript/);
  }
  const missing = await fetch(`${latchkey.baseUrl}/sdk/latchkey-browser-9.9.9.tgz`);
  expect(missing.status).toBe(404);
});
