import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Person } from '../chaos/support/person.ts';
import type { AdminApi } from '../support/admin-api.ts';
import { freePort, type Latchkey } from '../support/latchkey.ts';
import { Browser } from './browser.ts';
import { installed, NotInstalled } from './runtimes/install.ts';
import type { Row } from './runtimes/tried.ts';

const run = promisify(execFile);
const shared = fileURLToPath(new URL('../../shared', import.meta.url));
const versions = { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1', jose: '6.2.17' };

/** Builds the console's Next.js quickstart for production with the library that the instance serves, and signs in. */
export async function tryNext(latchkey: Latchkey, admin: AdminApi, projectId: string): Promise<Row> {
  const name = `Next.js ${versions.next}`;
  try {
    const folder = await installed('next', versions);
    await application(folder, latchkey.baseUrl);
    return [name, 'pass', await signsIn(folder, latchkey, admin, projectId)];
  } catch (error) {
    const { message, stderr = '', stdout = '' } = error as Error & { stderr?: string; stdout?: string };
    const detail = `${message} ${stderr || stdout}`.replace(/\s+/g, ' ').slice(0, 600);
    return [name, error instanceof NotInstalled ? 'skipped' : 'fail', detail];
  }
}

/** In addition to the quickstart: the components of `@latchkey/react` in a server component. */
const reactPage = `import { LatchkeyProvider, SignedIn, SignedOut, SignIn } from '@latchkey/react';
import { auth } from '../../auth.js';

export default async function Page() {
  return (
    <LatchkeyProvider apiKey="lk_pk_x" baseUrl="https://id.example.com" initialSession={await auth.getSession()}>
      <SignedIn>Known to React</SignedIn>
      <SignedOut><SignIn appName="Example" /></SignedOut>
    </LatchkeyProvider>
  );
}
`;

/** Writes the application to its folder, inside this repository, whose lockfile Next.js would otherwise use. */
async function application(folder: string, baseUrl: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(shared, 'node/package.json'), 'utf8')) as { version: string };
  const addresses = ['node', 'browser', 'react'].map((name) => `${baseUrl}/sdk/latchkey-${name}-${version}.tgz`);
  // `--no-save`: the address of the next run has another port.
  await run('npm', ['install', '--no-save', '--ignore-scripts', '--prefer-offline', '--no-audit', ...addresses], {
    cwd: folder,
  });
  rmSync(join(folder, '.next'), { recursive: true, force: true });
  cpSync(join(shared, 'node/example/next'), folder, { recursive: true });
  mkdirSync(join(folder, 'app/react'), { recursive: true });
  writeFileSync(join(folder, 'app/react/page.jsx'), reactPage);
  const config = 'export default { turbopack: { root: import.meta.dirname } };';
  writeFileSync(join(folder, 'next.config.mjs'), config);
}

async function signsIn(folder: string, latchkey: Latchkey, admin: AdminApi, projectId: string): Promise<string> {
  const port = String(await freePort());
  const origin = `http://localhost:${port}`;
  const redirectUri = `${origin}/callback`;
  const postLogoutRedirectUris = [`${origin}/account`];
  const client = await admin.createClient({
    ...{ projectId, name: 'Next.js', redirectUris: [redirectUri], postLogoutRedirectUris },
  });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    NODE_ENV: 'production' as const,
    NEXT_TELEMETRY_DISABLED: '1',
    LATCHKEY_ISSUER: latchkey.baseUrl,
    LATCHKEY_CLIENT_ID: client.clientId,
    LATCHKEY_API_KEY: client.secretKey,
    REDIRECT_URI: redirectUri,
    SESSION_SECRET: 'a secret of at least 32 characters',
  };
  const next = join(folder, 'node_modules/next/dist/bin/next');
  await run(process.execPath, [next, 'build'], { cwd: folder, env, timeout: 300_000 });
  const server = spawn(process.execPath, [next, 'start', '-p', port], { cwd: folder, env, stdio: 'pipe' });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  try {
    return await visits(server, origin, { ...client, issuer: latchkey.baseUrl, projectId, redirectUri });
  } catch (error) {
    throw new Error(`${(error as Error).message} ${output.slice(-300)}`, { cause: error });
  } finally {
    server.kill();
  }
}

async function visits(server: ChildProcess, origin: string, app: ConstructorParameters<typeof Person>[0]) {
  const email = 'next@example.com';
  const person = new Person(app, email);
  await person.signInHosted();
  const browser = new Browser();
  browser.take(app.issuer, person.cookies);
  if (!(await browser.isReachable(`${origin}/`, () => server.exitCode !== null)))
    throw new Error('Next.js did not start');
  const page = await browser.open(`${origin}/account`);
  if (!page.includes(`Hello, <!-- -->${email}`)) throw new Error(`no session: ${page.slice(-300)}`);
  if (!(await browser.open(`${origin}/react`)).includes('Known to React')) throw new Error('React has no session');
  const unknown = await new Browser().open(`${origin}/react`);
  if (!/<latchkey-sign-in [^>]*app-name="Example"/.test(unknown)) throw new Error(`no form: ${unknown.slice(-300)}`);
  const before = browser.cookieOf(origin);
  const stolen = (headers: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${origin}${init.method === 'POST' ? '/auth/sign-out' : '/account'}`, {
      ...init,
      redirect: 'manual',
      headers: { cookie: before, ...headers },
    });
  const foreign = await stolen({ Origin: 'https://evil.example.com' }, { method: 'POST' });
  if (foreign.status !== 403) throw new Error(`a sign-out from another site returned status ${foreign.status}`);
  if ((await stolen({})).status !== 200) throw new Error('another site ended the session');
  const ended = await stolen({ Origin: origin }, { method: 'POST' });
  if (ended.status !== 200) throw new Error(`the sign-out returned status ${ended.status}`);
  // The proxy has ended the session. The page uses another copy of the library, and must see the end.
  const after = await stolen({});
  if (after.status !== 307) throw new Error(`the page of an ended session returned status ${after.status}`);
  return 'signed in, rendered server components (also @latchkey/react), signed out in all copies of the library';
}
