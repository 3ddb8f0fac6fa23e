/**
 * `npm run interop`: signs in, reads claims and logs out with relying parties, most from outside npm, at their documented
 * defaults, with only the issuer of a project, a client ID and a client secret; with the quickstart of Next.js; and runs
 * the server library in other runtimes; delegation in other languages; and sends the largest requests through nginx as
 * shipped; and SAML service providers; and MCP clients at the sample MCP server. Prints a table. A client that this machine lacks, or npm cannot install, is skipped, with the reason. `npm run
 * interop -- runtimes`, `-- next`, `-- expo`, `-- delegation`, `-- proxy`, `-- saml`, `-- mcp`,
 * `-- clients` and `-- products` run only these.
 */
import { Person } from '../chaos/support/person.ts';
import { AdminApi } from '../support/admin-api.ts';
import { freePort, startLatchkey } from '../support/latchkey.ts';
import { Browser } from './browser.ts';
import { clients, type InteropClient } from './clients.ts';
import { tryDelegation } from './delegation/tried.ts';
import { tryExpo } from './expo.ts';
import { tryMcp } from './mcp/tried.ts';
import { tryNext } from './next.ts';
import { npmClients } from './npm-clients.ts';
import { products } from './products.ts';
import { tryProxy } from './proxy.ts';
import { type Row, tryRuntimes } from './runtimes/tried.ts';
import { trySaml } from './saml/tried.ts';

const latchkey = await startLatchkey({ LOG_LEVEL: 'error' });
const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
const rows: Row[] = [];
const only = process.argv[2];
try {
  const projectId = await admin.createProject('Interop');
  await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: projectId, testMode: true, mfaPolicy: 'OFF' },
  });
  for (const client of only === undefined || only === 'clients'
    ? [...clients, ...npmClients, ...products]
    : only === 'products'
      ? products
      : []) {
    const lacks = await client.lacks();
    if (lacks === null) {
      const fault = await tried(client, projectId).catch((error: unknown) => String((error as Error).message));
      const done = `signed in, read claims${client.logout === null ? '' : ', logged out'}${client.backChannel ? ', was logged out by the back channel' : ''}`;
      rows.push([client.name, fault === null ? 'pass' : 'fail', fault ?? done]);
    } else {
      rows.push([client.name, 'skipped', lacks]);
    }
    console.error(`  … ${client.name}`);
  }
  if (only === undefined || only === 'delegation') {
    for await (const row of tryDelegation(latchkey, projectId)) {
      rows.push(row);
      console.error(`  … ${row[0]}`);
    }
  }
  if (only === undefined || only === 'saml') {
    for await (const row of trySaml(latchkey, admin, projectId, process.argv[3])) {
      rows.push(row);
      console.error(`  … ${row[0]}`);
    }
  }
  if (only === undefined || only === 'mcp') {
    for await (const row of tryMcp(latchkey, admin, projectId)) {
      rows.push(row);
      console.error(`  … ${row[0]}`);
    }
  }
  if (only === undefined || only === 'next') {
    rows.push(await tryNext(latchkey, admin, projectId));
    console.error('  … Next.js');
  }
  if (only === undefined || only === 'expo') {
    rows.push(await tryExpo());
    console.error('  … React Native');
  }
  if (only === undefined || only === 'proxy') {
    const redirectUri = 'https://app.example.com/callback';
    const { clientId } = await admin.createClient({ projectId, name: 'Behind a proxy', redirectUris: [redirectUri] });
    const issued = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    const input = { projectId, name: 'Directory' };
    const { issueScimToken } = await admin.run<{ issueScimToken: { token: string } }>(issued, { input });
    const scimToken = issueScimToken.token;
    rows.push(await tryProxy({ baseUrl: latchkey.baseUrl, projectId, clientId, redirectUri, scimToken }));
    console.error('  … nginx');
  }
  if (only === undefined || only === 'runtimes') {
    for await (const row of tryRuntimes(latchkey, projectId)) {
      rows.push(row);
      console.error(`  … ${row[0]}`);
    }
  }
} finally {
  await latchkey.stop();
}

console.log(['| client | result | detail |', '|---|---|---|'].join('\n'));
for (const row of rows) console.log(`| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
const count = (wanted: string) => rows.filter(([, result]) => result === wanted).length;
console.log(`\n${count('pass')} passed, ${count('skipped')} skipped, ${count('fail')} failed`);
process.exitCode = count('fail') > 0 ? 1 : 0;

/** The failure; null: none. */
async function tried(client: InteropClient, projectId: string): Promise<string | null> {
  const PORT = String(await freePort());
  const ORIGIN = `http://127.0.0.1:${PORT}`;
  const redirectUri = ORIGIN + client.callback;
  const made = await admin.createClient({
    projectId,
    name: client.name,
    redirectUris: [redirectUri],
    postLogoutRedirectUris: [`${ORIGIN}/`],
    tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC',
    idTokenSignedResponseAlg: 'RS256',
    pkceRequired: client.pkce,
    ...(client.backChannel && { backchannelLogoutUri: ORIGIN + client.backChannel }),
  });
  const ISSUER = await admin.issuerOf(projectId);
  // An application with the SDK, through which the user signs in first.
  const own = await admin.createClient({ projectId, name: 'Own', redirectUris: ['https://app.example.com/callback'] });
  const app = { issuer: latchkey.baseUrl, projectId, redirectUri: 'https://app.example.com/callback', ...own };
  const email = `${made.clientId}@example.com`;
  const person = new Person(app, email);
  await person.signInHosted();
  const browser = new Browser();
  browser.take(latchkey.baseUrl, person.cookies);

  const CLIENT_SECRET = made.clientSecret ?? '';
  const addresses = { PORT, ORIGIN, REDIRECT_URI: redirectUri };
  const secrets = { CLIENT_SECRET, SESSION_SECRET: 'a secret of at least 32 characters' };
  const registration = { ISSUER, CLIENT_ID: made.clientId, ...addresses, ...secrets };
  const { process: running, clear } = client.start(registration);
  let output = '';
  for (const stream of [running.stdout, running.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  try {
    if (!(await browser.isReachable(`${ORIGIN}/`, () => running.exitCode !== null)))
      return `it did not start: ${tail(output)}`;
    const last = await browser.open(ORIGIN + client.login);
    const page = client.reads ? await client.reads(last, new URL(browser.address)) : last;
    const sub = client.showsSub === false ? '' : (person.sub ?? '');
    if (!page.includes(email) || !page.includes(sub)) return `no claims: ${tail(page)} ${tail(output)}`;
    if (client.logout === null) return null;
    const after = await browser.open(ORIGIN + client.logout.replace('ORIGIN', encodeURIComponent(ORIGIN)));
    if (after.includes(email)) return 'still signed in after the logout';
    if (await browser.hasSession(ISSUER, made.clientId, redirectUri)) return 'the session did not end';
    if (client.backChannel === undefined) return null;
    // A logout of the user in another application ends all sessions: only logout tokens notify the application.
    await person.signInHosted();
    browser.take(latchkey.baseUrl, person.cookies);
    if (!(await browser.open(ORIGIN + client.login)).includes(email)) return 'no second sign-in';
    await person.signOut(person.idToken);
    return (await browser.losesSession(ORIGIN + client.login)) ? null : 'the logout tokens did not end its session';
  } finally {
    running.kill();
    clear();
  }
}

function tail(text: string): string {
  return text.replace(/\s+/g, ' ').slice(-300);
}
