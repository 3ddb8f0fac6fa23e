import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Person } from '../../chaos/support/person.ts';
import { mcpApp } from '../../sample-mcp/app.ts';
import { setUpMcp } from '../../sample-mcp/setup.ts';
import type { AdminApi } from '../../support/admin-api.ts';
import { freePort, type Latchkey } from '../../support/latchkey.ts';
import { Browser } from '../browser.ts';
import { installed, NotInstalled } from '../runtimes/install.ts';
import type { Row } from '../runtimes/tried.ts';

const versions = { 'mcp-remote': '0.15.1', '@modelcontextprotocol/inspector': '2.12.0' };
const names = {
  remote: `mcp-remote ${versions['mcp-remote']}`,
  inspector: `MCP Inspector ${versions['@modelcontextprotocol/inspector']}, command line`,
};

/** MCP clients without a registration, at the sample MCP server. */
export async function* tryMcp(latchkey: Latchkey, admin: AdminApi, projectId: string): AsyncGenerator<Row> {
  const port = await freePort();
  // The address that a user enters, as the sample prints it.
  const resource = `http://localhost:${port}/mcp`;
  const issuer = await setUpMcp((query, variables) => admin.run(query, variables), projectId, resource);
  const server = createServer(mcpApp({ issuer, resource })).listen(port, 'localhost');
  await once(server, 'listening');
  const home = mkdtempSync(join(tmpdir(), 'latchkey-mcp-'));
  try {
    const folder = await installed('mcp', versions);
    const browser = await signedIn(latchkey, admin, projectId);
    const program = (name: string) => join(folder, 'node_modules/.bin', name);
    const environment = { HOME: home, MCP_REMOTE_CONFIG_DIR: home, MCP_AUTO_OPEN_ENABLED: 'true' };
    const remote = started(program('mcp-remote-client'), [resource], environment);
    yield await row(names.remote, () => signsIn(remote, browser, /list_notes/));
    const calling = (tool: string, ...more: string[]) => {
      const call = ['--method', 'tools/call', '--tool-name', tool, ...more];
      return started(program('mcp-inspector'), ['--cli', resource, '--transport', 'http', ...call], environment);
    };
    yield await row(names.inspector, async () => {
      await signsIn(calling('list_notes'), browser, /No notes yet/);
      await signsIn(calling('add_note', '--tool-arg', 'text=Milk'), browser, /Added/);
      return 'registered, asked for consent, and again for the scope of a second tool';
    });
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    for (const name of Object.values(names)) yield [name, 'skipped', error.message];
  } finally {
    rmSync(home, { recursive: true, force: true });
    server.closeAllConnections();
    server.close();
  }
}

async function row(name: string, attempt: () => Promise<string>): Promise<Row> {
  return attempt().then(
    (done) => [name, 'pass', done],
    (error: Error) => [name, 'fail', error.message.replace(/\s+/g, ' ').slice(-600)],
  );
}

/** A browser in which a user is signed in. */
async function signedIn(latchkey: Latchkey, admin: AdminApi, projectId: string): Promise<Browser> {
  const redirectUri = 'https://app.example.com/callback';
  const own = await admin.createClient({ projectId, name: 'Own', redirectUris: [redirectUri] });
  const person = new Person({ issuer: latchkey.baseUrl, projectId, redirectUri, ...own }, 'mcp@example.com');
  await person.signInHosted();
  const browser = new Browser();
  browser.take(latchkey.baseUrl, person.cookies);
  return browser;
}

/** It registers itself, the user allows the scopes in the browser, and it prints what the server sent. */
async function signsIn(client: Started, browser: Browser, result: RegExp): Promise<string> {
  try {
    const [address] = await client.prints(/http\S*\/authorize\?\S+/);
    await browser.allow(await browser.open(address));
    await client.prints(result);
    return 'registered, asked for consent, called the server';
  } finally {
    client.stop();
  }
}

type Started = ReturnType<typeof started>;

function started(program: string, args: string[], environment: Record<string, string>) {
  // No browser opens: its address is printed.
  const env = { ...process.env, BROWSER: 'none', DISPLAY: '', ...environment };
  const running: ChildProcess = spawn(process.execPath, [program, ...args], { env, stdio: 'pipe' });
  let output = '';
  for (const stream of [running.stdout, running.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  return {
    /** Waits for the text, at most a minute. */
    async prints(text: RegExp): Promise<RegExpExecArray> {
      for (let attempts = 0; attempts < 240; attempts += 1) {
        const found = text.exec(output);
        if (found) return found;
        if (running.exitCode !== null) break;
        await new Promise((done) => setTimeout(done, 250));
      }
      const found = text.exec(output);
      if (found) return found;
      throw new Error(`no ${text.source} in: ${output}`);
    },
    stop: () => running.kill(),
  };
}
