import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLatchkey, expressAdapter } from '@latchkey/node';
import { expect, type Page, test } from '@playwright/test';
import express, { type RequestHandler } from 'express';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Inbox } from '../support/application.ts';
import { AuthenticatorApp } from '../support/authenticator-app.ts';
import { InstalledSdk } from '../support/installed-sdk.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

/** The page of @latchkey/react's README, on the packages of a running Latchkey, before a back end with @latchkey/node. */

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

let latchkey: Latchkey;
let admin: AdminApi;
let sdk: InstalledSdk;
let site: Served;
let publishableKey: string;
let projectId: string;
/** The back end begins no session. */
let isFailing = false;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  sdk = new InstalledSdk(latchkey.baseUrl);
  site = await serve(async (origin) => {
    const redirectUri = `${origin}/auth/callback`;
    projectId = await admin.createProject('React');
    const client = await admin.createClient({
      projectId,
      name: 'Shop',
      redirectUris: [redirectUri],
      pkceRequired: true,
    });
    publishableKey = client.publishableKey;
    const query = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    await admin.run(query, { input: { id: projectId, mfaPolicy: 'REQUIRED' } });
    const auth = expressAdapter(
      createLatchkey({
        issuer: latchkey.baseUrl,
        clientId: client.clientId,
        apiKey: client.secretKey,
        redirectUri,
        session: { secret: 'a secret of at least 32 characters' },
      }),
    );
    const app = express();
    app.use('/auth/sign-in', (_req, res, next) => (isFailing ? void res.status(503).end() : next()));
    app.use(auth.routes as RequestHandler);
    app.use(express.static(sdk.folder));
    return app;
  });
});

test.afterAll(async () => {
  await site.close();
  sdk.remove();
  await latchkey.stop();
});

const snippetOf = (name: string) =>
  new RegExp(`<!-- test: ${name} -->\\n\`\`\`jsx\\n([\\s\\S]*?)\`\`\``).exec(sdk.readmeOf('react'))?.[1] ?? '';

/** Bundles the README's page with this release of React. */
function build(version: '18' | '19', page = snippetOf('page')): void {
  const filled = page.replace('lk_pk_…', publishableKey).replace('https://id.example.com', latchkey.baseUrl);
  expect(filled).not.toMatch(/example\.com|…/);
  sdk.write('main.jsx', filled);
  sdk.write(
    'index.html',
    `<!doctype html><title>Shop</title><div id="root"></div><script type="module" src="./main.jsx"></script>`,
  );
  const other = { react: join(modules, 'react-18'), 'react-dom': join(modules, 'react-dom-18') };
  const alias = version === '18' ? other : {};
  sdk.write('vite.config.js', `export default ${JSON.stringify({ resolve: { alias } })};`);
  sdk.build();
}

async function signIn(page: Page, userid: string): Promise<void> {
  await page.getByLabel('Email address').fill(userid);
  await page.keyboard.press('Enter');
  await page.getByLabel('Six-digit code').fill(await new Inbox(admin, userid).code());
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Authenticator app/ }).click();
  const secret = await page.locator('latchkey-sign-in').getByRole('link').textContent();
  await page
    .getByLabel('Six-digit code')
    .fill(new AuthenticatorApp((secret ?? '').replaceAll(' ', ''), latchkey.now).next());
  await page.keyboard.press('Enter');
}

for (const version of ['18', '19'] as const) {
  test(`signs a new user in with React ${version}, and shows the recovery codes until they are saved`, async ({
    page,
  }) => {
    build(version);
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    await page.context().grantPermissions(['local-network-access']);
    await page.goto(`${site.origin}/dist/`);
    const userid = `react-${version}@example.com`;
    await signIn(page, userid);
    await expect(page.getByRole('listitem')).toHaveCount(10);
    // The session has started, and another tab shows it; the codes stay.
    const other = await page.context().newPage();
    await other.goto(`${site.origin}/dist/`);
    await expect(other.getByText(`Hello, ${userid}`)).toBeVisible();
    await expect(page.getByRole('listitem')).toHaveCount(10);
    await page.getByRole('button', { name: 'I’ve saved these codes' }).click();
    await expect(page.getByText(`Hello, ${userid}`)).toBeVisible();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByLabel('Email address')).toBeVisible();
    expect(faults).toEqual([]);
  });
}

/** The README's page, with the README's own form in place of the built-in one. */
const withOwnForm = () =>
  `${snippetOf('page').replace('<SignIn appName="Example" />', '<Form />').replace(', SignIn,', ',')}
  ${snippetOf('form').replace('export ', '')}`;

for (const [form, page] of [
  ['the built-in form', () => snippetOf('page')],
  ['the form of the README', withOwnForm],
] as const) {
  test(`${form} shows that the back end began no session, and signs in at the next try`, async ({ page: tab }) => {
    await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
      input: { id: projectId, mfaPolicy: 'OFF' },
    });
    build('19', page());
    await tab.context().grantPermissions(['local-network-access']);
    await tab.goto(`${site.origin}/dist/`);
    const userid = `failed-${form.includes('built') ? 'built-in' : 'own'}@example.com`;
    const email = tab.getByLabel(/^Email/);
    await email.fill(userid);
    await tab.keyboard.press('Enter');
    isFailing = true;
    await tab.getByLabel(/^Six-digit code|^Code sent/).fill(await new Inbox(admin, userid).code());
    await tab.keyboard.press('Enter');
    await expect(tab.getByRole('alert')).not.toBeEmpty();
    await expect(tab.getByText(/signed in|Done/)).toHaveCount(0);
    isFailing = false;
    const again = tab.getByRole('button', { name: /Continue|Try again/ });
    if (form.includes('built')) await expect(again).toBeFocused();
    await again.click();
    await expect(email).toHaveValue(userid);
    await tab.getByRole('button', { name: 'Continue' }).click();
    await expect(tab.getByText(`Hello, ${userid}`)).toBeVisible();
  });
}
