import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Inbox } from '../support/application.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { InstalledSdk } from '../support/installed-sdk.ts';
import { freePort, type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { pathWithTools } from '../support/shell-tools.ts';
import { continueWithCode, signInOnPage } from '../support/sign-in.ts';
import { fault, goProgram, lacksGo, python } from '../support/toolchains.ts';

/**
 * The quickstart's snippets run unchanged, with only keys inserted, on the packages that the instance serves. Next.js is in
 * `npm run interop`.
 */

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;
let sdk: InstalledSdk;
/** Resolves the packages of the snippets. */
let folder: string;
const running: ChildProcess[] = [];

test.beforeAll(async ({ browser }) => {
  latchkey = await startLatchkey();
  sdk = new InstalledSdk(latchkey.baseUrl);
  folder = sdk.folder;
  mkdirSync(join(folder, 'node_modules/@hono'), { recursive: true });
  for (const name of ['express', 'fastify', 'hono', '@hono/node-server', 'oidc-client-ts', 'openid-client', 'vite'])
    symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  for (const child of running) child.kill();
  await owner.context.close();
  await latchkey.stop();
  sdk.remove();
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
    postLogoutRedirectUris: [`${origin}/`],
    ...settings,
  });
  return { ...client, origin };
}

/** The text copied from the quickstart. */
async function copied(clientId: string, label: string): Promise<string> {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}`);
  await page.getByRole('tab', { name: label }).click({ timeout: 60_000 });
  return (await page.getByRole('region', { name: label }).locator('code').textContent()) ?? '';
}

/** Runs a snippet until the end of the test. */
async function run(
  name: string,
  code: string,
  origin: string,
  env: Record<string, string> = {},
  cwd: string = folder,
): Promise<void> {
  writeFileSync(join(cwd, name), code);
  await start(process.execPath, [name], origin, env, cwd);
}

async function start(
  program: string,
  args: string[],
  origin: string,
  env: Record<string, string>,
  cwd: string = folder,
): Promise<void> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
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

/** Writes a snippet's files into a separate folder. Each begins with a comment that has its path. */
function paste(kind: string, code: string): string {
  const own = join(folder, kind.replace(/\W/g, ''));
  const [, ...files] = code.split(/^\/\/ ([\w./-]+\.(?:html|jsx?))$/m);
  for (let at = 0; at < files.length; at += 2) {
    const path = join(own, files[at] ?? '');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, files[at + 1] ?? '');
  }
  return own;
}

/** Number of lines that the reader writes: without comments, blank lines, and imports, which Go's tools write. */
function linesOf(code: string): number {
  const lines = code.replace(/^import \([\s\S]*?^\)/m, '').split('\n');
  return lines.filter((line) => /\S/.test(line) && !/^\s*(\/\/|#|<!--)/.test(line)).length;
}

/**
 * Registers a client and copies its quickstart. Requires a short text whose packages come from this instance, or are
 * installed in the folder of these tests.
 */
async function quickstart(kind: string, settings: Record<string, unknown> = {}): Promise<Made & { code: string }> {
  const made = await register({ pkceRequired: true, ...settings });
  const code = (await copied(made.clientId, kind)).replace('lk_pk_…', made.publishableKey);
  expect(linesOf(code), kind).toBeLessThan(40);
  const [, packages = ''] = /^(?:\/\/|<!--.*?) npm install (.*?)(?: -->)?$/m.exec(code) ?? [];
  for (const name of packages.split(' ').filter(Boolean)) {
    if (name.startsWith('http')) expect(sdk.addresses, kind).toContain(name);
    else if (name !== 'next') expect(existsSync(join(folder, 'node_modules', name)), name).toBe(true);
  }
  expect(code).not.toContain('example.com');
  for (const address of code.match(/http\S+\.(?:tgz|js)\b/g) ?? []) expect((await fetch(address)).status).toBe(200);
  return { ...made, code };
}

/** Runs the Express quickstart, which serves the pages of this folder. */
async function runExpress({ clientId, origin, secretKey }: Made, own: string): Promise<void> {
  await run('server.mjs', await copied(clientId, 'Express'), origin, ofBackEnd(secretKey), own);
}

/** The command of a text, with this machine's Vite: `npx vite …`. */
function viteOf(code: string): string[] {
  const [, args = ''] = /npx vite (.*?)(?:,| -->|$)/m.exec(code) ?? [];
  expect(args).not.toBe('');
  return [join(modules, 'vite/bin/vite.js'), ...args.split(' ')];
}

for (const kind of ['Express', 'Fastify', 'Hono']) {
  for (const [secret, settings] of [
    ['secret key', () => ({})],
    ['client secret', () => ({ tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC', idTokenSignedResponseAlg: 'RS256' })],
    ['private key', asPrivate],
  ] as const) {
    test(`${kind} with a ${secret} signs users in through the hosted page`, async ({ page }) => {
      const { clientSecret, code, origin, secretKey } = await quickstart(kind, { kind: 'WEB_SERVER', ...settings() });
      const env = { ...ofBackEnd(secretKey), CLIENT_SECRET: clientSecret ?? '' };
      await run(`${kind}-${secret.replace(' ', '-')}.mjs`, code, origin, env);
      const address = `${kind}.${secret.replace(' ', '-')}@example.com`.toLowerCase();
      await page.goto(`${origin}/`);
      await page.getByRole('link', { name: 'Your account' }).click();
      await signInOnPage(page, admin, address);
      await expect(page.locator('body')).toContainText(`"email":"${address}"`);
      expect(page.url()).toBe(`${origin}/account`);
      await page.goto(`${origin}/`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await expect(page).toHaveURL(`${origin}/`);
      await page.getByRole('link', { name: 'Your account' }).click();
      await expect(page).toHaveURL(/\/signin\?/);
    });
  }
}

for (const [kind, lacks] of [
  ['FastAPI', () => fault(python, ['-c', 'import authlib, fastapi, httpx, itsdangerous, uvicorn'])],
  ['Go', () => lacksGo('github.com/coreos/go-oidc', 'golang.org/x/oauth2')],
] as const) {
  for (const [proof, settings] of [
    ['client secret', { tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC', idTokenSignedResponseAlg: 'RS256' }],
    ['proof of PKCE alone', {}],
  ] as const) {
    test(`${kind} with a ${proof} signs users in through the hosted page`, async ({ page }) => {
      const { clientSecret, code, origin } = await quickstart(kind, { kind: 'WEB_SERVER', ...settings });
      const lacking = lacks();
      test.skip(lacking !== null, lacking ?? '');
      const file = join(folder, `${proof.replaceAll(' ', '-')}.${kind === 'Go' ? 'go' : 'py'}`);
      writeFileSync(file, code);
      const [program, ...args] = kind === 'Go' ? [goProgram(file)] : [python, file];
      const env = { ...ofBackEnd(''), CLIENT_SECRET: clientSecret ?? '', PYTHONDONTWRITEBYTECODE: '1' };
      await start(program as string, args, origin, env);
      const address = `${kind}.${proof.replaceAll(' ', '-')}@example.com`.toLowerCase();
      await page.goto(`${origin}/${kind === 'Go' ? 'login' : 'account'}`);
      await signInOnPage(page, admin, address);
      await expect(page.locator('body')).toContainText(address);
    });
  }
}

test('Next.js has the files that `npm run interop` runs, with values in place of environment variables', async () => {
  const { clientId, code, origin } = await quickstart('Next.js', { kind: 'WEB_SERVER' });
  const own = paste('Next.js', code);
  const values = {
    'process.env.LATCHKEY_ISSUER': `'${latchkey.baseUrl}'`,
    'process.env.LATCHKEY_CLIENT_ID': `'${clientId}'`,
    'process.env.LATCHKEY_API_KEY,': 'process.env.LATCHKEY_API_KEY, // the secret key, lk_sk_…',
    'process.env.REDIRECT_URI,': `'${origin}/callback',\n  postLogoutRedirectUri: '${origin}/',`,
  };
  for (const path of ['auth.js', 'proxy.js', 'app/layout.jsx', 'app/account/page.jsx']) {
    const example = readFileSync(join(modules, '../shared/node/example/next', path), 'utf8');
    const filled = Object.entries(values).reduce((text, [name, value]) => text.replace(name, value), example);
    expect(readFileSync(join(own, path), 'utf8').trim(), path).toBe(filled.trim());
  }
});

const faultsOn = (page: Page): string[] => {
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  return faults;
};

for (const kind of ['Browser only', 'oidc-client-ts']) {
  for (const [issuer, settings] of [
    ['base issuer', {}],
    ['issuer of the project', { grantTypes: ['AUTHORIZATION_CODE', 'REFRESH_TOKEN'] }],
  ] as const) {
    test(`${kind} signs users in and out at the ${issuer}, served by its own command alone`, async ({ page }) => {
      const { code, origin } = await quickstart(kind, { kind: 'SINGLE_PAGE', ...settings });
      expect(code.split('\n')[0]).toContain('No back end');
      expect(code).not.toMatch(/lk_|SECRET|\/auth\b/);
      const own = join(folder, `${kind} ${issuer}`.replace(/\W/g, ''));
      mkdirSync(own);
      writeFileSync(join(own, 'index.html'), code);
      await start(process.execPath, viteOf(code), `${origin}/`, {}, own);
      const faults = faultsOn(page);
      await page.goto(`${origin}/orders/7`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const address = `alone-${kind.slice(0, 4)}-${issuer.slice(0, 4)}@example.com`.toLowerCase().replace(' ', '');
      await signInOnPage(page, admin, address);
      await expect(page.getByRole('status')).toHaveText(`Hello, ${address}`);
      expect(page.url()).toBe(`${origin}/orders/7`);
      await page.reload();
      await expect(page.getByRole('status')).toHaveText(`Hello, ${address}`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${origin}/`);
      await expect(page.getByRole('status')).toHaveText('Signed out');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`${latchkey.baseUrl}/signin**`);
      expect(faults).toEqual([]);
    });
  }
}

test('only a public single-page application gets a text for the browser alone, and it is the first', async () => {
  const { page } = owner;
  const first = async (settings: Record<string, unknown>) => {
    const { clientId } = await register(settings);
    await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}`);
    const tabs = page.getByRole('tablist', { name: 'Language' }).getByRole('tab');
    await expect(tabs.first()).toBeVisible({ timeout: 60_000 });
    return (await tabs.allTextContents())[0];
  };
  expect(await first({ kind: 'SINGLE_PAGE' })).toBe('Browser only');
  expect(await first({ kind: 'SINGLE_PAGE', tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC' })).toBe('Express');
  expect(await first({ kind: 'WEB_SERVER' })).toBe('Express');
});

for (const kind of ['HTML with a back end', 'React with a back end']) {
  test(`${kind} signs users in on a page of the application, and out`, async ({ page }) => {
    const made = await quickstart(kind);
    expect(made.code.split('\n')[0]).toContain('Needs a back end');
    const isHtml = kind.startsWith('HTML');
    const own = isHtml ? join(folder, 'HTML') : paste(kind, made.code);
    if (isHtml) {
      mkdirSync(join(own, 'pages'), { recursive: true });
      writeFileSync(join(own, 'pages/index.html'), made.code);
    } else execFileSync(process.execPath, [...viteOf(made.code), '--logLevel', 'error'], { cwd: own });
    await runExpress(made, own);
    const faults = faultsOn(page);
    await page.context().grantPermissions(['local-network-access']);
    await page.goto(`${made.origin}/`);
    const address = `${kind.split(' ')[0]?.toLowerCase()}@example.com`;
    await page.getByLabel('Email address').fill(address);
    await continueWithCode(page, admin, address);
    await page.keyboard.press('Enter');
    await expect(page.getByText(`Hello, ${address}`)).toBeVisible();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByLabel('Email address')).toBeVisible();
    expect(faults).toEqual([]);
  });
}

test('@latchkey/browser signs users in on a page of the application', async ({ page }) => {
  const made = await register({ pkceRequired: true });
  const code = await copied(made.clientId, '@latchkey/browser');
  expect(code.split('\n')[0]).toContain('Needs a back end');
  const own = paste('own-form', code.replace('lk_pk_…', made.publishableKey));
  execFileSync(process.execPath, [...viteOf(code), '--logLevel', 'error'], { cwd: own });
  await runExpress(made, own);
  const inbox = new Inbox(admin, 'sdk@example.com');
  page.on('dialog', async (dialog) => dialog.accept(await inbox.code()));
  await page.context().grantPermissions(['local-network-access']);
  await page.goto(`${made.origin}/`);
  await page.getByLabel('Email').fill('sdk@example.com');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('status')).toHaveText('Hello, sdk@example.com');
  await page.goto(`${made.origin}/account`);
  await expect(page.locator('body')).toContainText('"email":"sdk@example.com"');
});

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
