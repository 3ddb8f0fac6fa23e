import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { serve } from '../clients/serve.ts';
import { AdminApi, codeIn } from '../support/admin-api.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { freePort, type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { pathWithTools } from '../support/shell-tools.ts';
import { signInOnPage } from '../support/sign-in.ts';

/** The quickstart's snippets run unchanged, with only a key inserted. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;
/** Resolves the packages of the snippets. */
let folder: string;
const running: ChildProcess[] = [];

test.beforeAll(async ({ browser }) => {
  folder = mkdtempSync(join(fileURLToPath(new URL('..', import.meta.url)), 'snippets-'));
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  for (const child of running) child.kill();
  await owner.context.close();
  await latchkey.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Made {
  clientId: string;
  publishableKey: string;
  secretKey: string;
  clientSecret?: string | null;
  origin: string;
}

async function register(settings: Record<string, unknown> = {}, own?: string): Promise<Made> {
  const origin = own ?? `http://localhost:${await freePort()}`;
  const client = await admin.createClient({
    projectId,
    name: 'App',
    redirectUris: [`${origin}/callback`],
    ...settings,
  });
  return { ...client, origin };
}

/** The text copied from the quickstart. */
async function copied(clientId: string, label: string): Promise<string> {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}`);
  await page.getByRole('tab', { name: label }).click();
  return (await page.getByRole('region', { name: label }).locator('code').textContent()) ?? '';
}

/** Runs a snippet until the end of the test. */
async function run(name: string, code: string, origin: string, env: Record<string, string> = {}): Promise<void> {
  writeFileSync(join(folder, name), code);
  const child = spawn(process.execPath, [name], { cwd: folder, env: { ...process.env, ...env }, stdio: 'pipe' });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => void (output += data));
  await expect(async () => {
    expect(child.exitCode, output).toBeNull();
    await fetch(origin);
  }).toPass();
}

function keyPair(): { jwks: object } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(folder, 'client-key.private.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { jwks: { keys: [publicKey.export({ format: 'jwk' })] } };
}

const asPrivate = () => ({ tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT', ...keyPair() });

const ofBackEnd = (secretKey: string) => ({
  LATCHKEY_API_KEY: secretKey,
  SESSION_SECRET: 'a secret of at least 32 characters',
});

test('@latchkey/node signs users in through the hosted page', async ({ page }) => {
  const { clientId, secretKey, origin } = await register();
  await run('node.mjs', await copied(clientId, '@latchkey/node'), origin, ofBackEnd(secretKey));
  await page.goto(`${origin}/account`);
  await signInOnPage(page, admin, 'node@example.com');
  await expect(page.locator('body')).toContainText('"email":"node@example.com"');
  expect(page.url()).toBe(`${origin}/account`);
});

test('@latchkey/react is the page of its README, which another test runs', async () => {
  const { clientId, publishableKey } = await register();
  const readme = readFileSync(new URL('../../shared/react/README.md', import.meta.url), 'utf8');
  const [, example = ''] = /<!-- test: page -->\n```jsx\n([\s\S]*?)```/.exec(readme) ?? [];
  const filled = example.replace('lk_pk_…', publishableKey).replace('https://id.example.com', latchkey.baseUrl);
  const code = (await copied(clientId, '@latchkey/react')).replace('lk_pk_…', publishableKey);
  const lines = code.split('\n');
  expect(lines.filter((line) => !line.startsWith('//')).join('\n')).toBe(filled.trim());
  const [install = ''] = lines;
  for (const address of install.match(/http\S+/g) ?? []) expect((await fetch(address)).status, address).toBe(200);
});

test('@latchkey/browser signs users in on a page of the application, with @latchkey/node behind it', async ({
  page,
}) => {
  const { clientId, publishableKey, secretKey, origin } = await register({ pkceRequired: true });
  await run('back-end.mjs', await copied(clientId, '@latchkey/node'), origin, ofBackEnd(secretKey));
  const code = (await copied(clientId, '@latchkey/browser')).replace('lk_pk_…', publishableKey);
  await serveFiles(page, origin, code);
  page.on('dialog', async (dialog) => {
    await expect.poll(async () => (await admin.mailbox('sdk@example.com')).length).toBe(1);
    const [newest = ''] = await admin.mailbox('sdk@example.com');
    await dialog.accept(codeIn(newest));
  });
  // A page fulfilled by the test has no network address, so the browser would prompt before requests to loopback.
  await page.context().grantPermissions(['local-network-access']);
  await page.goto(`${origin}/page`);
  await page.evaluate('import("/app.js").then((app) => app.signIn("sdk@example.com"))');
  await page.goto(`${origin}/account`);
  await expect(page.locator('body')).toContainText('"email":"sdk@example.com"');
});

/** Serves page, snippet and SDK on the back end's origin, as a bundler would. */
async function serveFiles(page: Page, origin: string, code: string): Promise<void> {
  const sdk = dirname(fileURLToPath(import.meta.resolve('@latchkey/browser')));
  const imports = JSON.stringify({ imports: { '@latchkey/browser': '/sdk/index.js' } });
  const html = `<!doctype html><title>App</title><script type="importmap">${imports}</script>`;
  const js = 'text/javascript';
  await page.route(`${origin}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await page.route(`${origin}/app.js`, (route) => route.fulfill({ contentType: js, body: code }));
  await page.route(`${origin}/sdk/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice('/sdk/'.length);
    return route.fulfill({ contentType: js, body: readFileSync(join(sdk, name), 'utf8') });
  });
}

for (const [kind, settings] of [
  ['public', () => ({})],
  ['private_key_jwt', asPrivate],
  [
    'client_secret_basic',
    () => ({ tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC', idTokenSignedResponseAlg: 'RS256' }),
  ],
] as const) {
  test(`openid-client signs users in to a ${kind} client`, async ({ page }) => {
    const { clientId, clientSecret, origin } = await register(settings());
    const env = { CLIENT_SECRET: clientSecret ?? '' };
    await run(`openid-${kind}.mjs`, await copied(clientId, 'openid-client'), origin, env);
    const address = `openid-${kind.replaceAll('_', '-')}@example.com`;
    await page.goto(`${origin}/login`);
    await signInOnPage(page, admin, address);
    await expect(page.locator('body')).toContainText(`"email":"${address}"`);
    await expect(page.locator('body')).toContainText(`"aud":"${clientId}"`);
  });

  test(`curl exchanges a code of a ${kind} client`, async ({ page }) => {
    const back = await serve(() => (_req, res) => res.end('Back'));
    const { clientId, clientSecret, origin } = await register(settings(), back.origin);
    writeFileSync(join(folder, 'curl.sh'), await copied(clientId, 'curl'));
    const env = { ...process.env, CLIENT_SECRET: clientSecret ?? '', PATH: pathWithTools(folder) };
    const shell = spawn('bash', ['curl.sh'], { cwd: folder, stdio: 'pipe', env });
    running.push(shell);
    const ended = once(shell, 'exit');
    let output = '';
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (data) => void (output += data));
    await expect.poll(() => output).toContain('/authorize?');
    await page.goto(/http\S+\/authorize\S+/.exec(output)?.[0] as string);
    await signInOnPage(page, admin, `curl-${kind.replaceAll('_', '-')}@example.com`);
    await page.waitForURL(`${origin}/callback**`);
    shell.stdin.end(`${new URL(page.url()).searchParams.get('code')}\n`);
    await ended;
    expect(output).toMatch(/"id_token":"eyJ/);
    await back.close();
  });
}
