import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

/** The quickstart of Next.js, as it stands in the console, built for production on the packed library. */
export async function tryNext(latchkey: Latchkey, admin: AdminApi, projectId: string): Promise<Row> {
  const name = `Next.js ${versions.next}`;
  try {
    const folder = await installed('next', versions);
    return [name, 'pass', await signsIn(await application(folder), latchkey, admin, projectId)];
  } catch (error) {
    const { message, stderr = '', stdout = '' } = error as Error & { stderr?: string; stdout?: string };
    const detail = `${message} ${stderr || stdout}`.replace(/\s+/g, ' ').slice(0, 600);
    return [name, error instanceof NotInstalled ? 'skipped' : 'fail', detail];
  }
}

/** The folder of the application. It is inside this repository, whose lockfile Next.js would take for its own. */
async function application(folder: string): Promise<string> {
  const library = join(folder, 'node_modules/@latchkey/node');
  rmSync(library, { recursive: true, force: true });
  mkdirSync(library, { recursive: true });
  const [tarball = ''] = readdirSync(join(shared, 'dist')).filter((file) => file.startsWith('latchkey-node-'));
  await run('tar', ['xzf', join(shared, 'dist', tarball), '-C', library, '--strip-components=1']);
  rmSync(join(folder, '.next'), { recursive: true, force: true });
  cpSync(join(shared, 'node/example/next'), folder, { recursive: true });
  const config = 'export default { turbopack: { root: import.meta.dirname } };';
  writeFileSync(join(folder, 'next.config.mjs'), config);
  return folder;
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
  if (!(await browser.isReachable(`${origin}/`, () => server.exitCode !== null))) throw new Error('it did not start');
  const page = await browser.open(`${origin}/account`);
  if (!page.includes(`Hello, <!-- -->${email}`)) throw new Error(`no session: ${page.slice(-300)}`);
  const before = browser.cookieOf(origin);
  const stolen = (headers: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${origin}${init.method === 'POST' ? '/auth/sign-out' : '/account'}`, {
      ...init,
      redirect: 'manual',
      headers: { cookie: before, ...headers },
    });
  const foreign = await stolen({ Origin: 'https://evil.example.com' }, { method: 'POST' });
  if (foreign.status !== 403) throw new Error(`a sign-out by another site was answered with ${foreign.status}`);
  if ((await stolen({})).status !== 200) throw new Error('the session ended by another site');
  const ended = await stolen({ Origin: origin }, { method: 'POST' });
  if (ended.status !== 200) throw new Error(`the sign-out was answered with ${ended.status}`);
  // The proxy has ended it; the page, which is another copy of the library, knows it.
  const after = await stolen({});
  if (after.status !== 307) throw new Error(`the page answered an ended session with ${after.status}`);
  return 'signed in, rendered a server component, signed out in all copies of the library';
}
