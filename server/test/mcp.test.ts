/** The sample MCP server (`npm run sample:mcp`), with the client of the MCP SDK. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminCall, adminCall } from '../../e2e/sample/relying-party.ts';
import { mcpApp, scopes } from '../../e2e/sample-mcp/app.ts';
import { setUpMcp } from '../../e2e/sample-mcp/setup.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import { locationOf } from './browser.ts';
import { bootstrapToken } from './build-app.ts';
import { DocumentHost } from './document-host.ts';
import { Stranger } from './introduced.ts';
import { McpAgent } from './mcp-client.ts';
import { rows } from './rows.ts';
import { SigninWorld } from './signin-world.ts';

const lifetimeSeconds = 300;
const world = SigninWorld.ofTests();
const host = new DocumentHost();
let server: Server;
let resource: URL;
let issuer: string;
/** The browser of the user. */
let user: Stranger;

beforeAll(async () => {
  await host.open();
  // The admin API needs the console's project.
  await world.app.services.seed.create({ demo: false });
});
afterAll(() => host.close());
beforeEach(async () => {
  server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  resource = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  issuer = await setUpMcp(admin, world.project.id, resource.href);
  // Discovery is kept for a minute.
  world.app.clock.turn(61);
  server.on('request', mcpApp({ issuer, resource: resource.href, now: () => world.app.clock.now() }));
  user = await new Stranger(world.app, world.project, '', '').signIn(await world.app.make.user(world.project));
  return () => new Promise((done) => void (server.closeAllConnections(), server.close(done)));
});

const admin: AdminCall = (query, variables) => adminCall(world.app.url, bootstrapToken)(query, variables);

/** The user follows the SDK's redirect, and allows what the page asks for, if it is shown. */
async function allow(agent: McpAgent): Promise<string | null> {
  const answered = await user.browser.get(agent.asked?.href ?? '');
  const isAsked = !locationOf(answered).searchParams.has('code');
  const page = isAsked ? await user.consentAt(answered) : null;
  const target = page ? await page.decide('allow') : locationOf(answered);
  await agent.finish(target.searchParams.get('code') ?? '');
  return page?.html ?? null;
}

const scopeOf = ({ kept }: McpAgent) => decodeJwt(kept?.access_token ?? '')['scope'];
const [read, write] = scopes.map(({ description }) => description);

async function clientKey() {
  const [client] = await rows<{ id: string }>(
    world.app.services.db,
    'select id from clients where project_id = ? and introduced_by is not null',
    [world.project.id],
  );
  return keyIn(world.project.id, client?.id ?? '');
}

describe.each([
  ['a metadata document', () => new McpAgent(resource, `${host.origin()}/callback`, host.put('/client.json', grants))],
  ['registration', () => new McpAgent(resource, 'http://127.0.0.1:33418/callback')],
])('an MCP client that introduces itself by %s', (_name, agentOf) => {
  it('signs a user in, gets a second scope, refreshes, and stops after an admin blocks it', async () => {
    const agent = agentOf();
    await expect(agent.call('list_notes')).rejects.toThrow(UnauthorizedError);
    const page = await allow(agent);
    expect(page).toContain(read);
    expect(page).not.toContain(write);
    expect(await agent.call('list_notes')).toBe('No notes yet.');
    expect(scopeOf(agent)).toBe('notes:read');

    // The SDK refreshes first, which gives no further scope; then the user decides.
    await expect(agent.call('add_note', { text: 'Milk' })).rejects.toThrow('403');
    const { refresh_token: _, ...withoutRefresh } = agent.kept ?? { access_token: '', token_type: '' };
    agent.kept = withoutRefresh;
    await expect(agent.call('add_note', { text: 'Milk' })).rejects.toThrow(UnauthorizedError);
    expect(agent.asked?.searchParams.get('scope')).toBe('notes:read notes:write');
    expect(await allow(agent)).toContain(write);
    expect(await agent.call('add_note', { text: 'Milk' })).toBe('Added.');
    expect(await agent.call('list_notes')).toBe('Milk');

    const first = agent.kept;
    world.app.clock.turn(lifetimeSeconds + 1);
    expect(await agent.call('list_notes')).toBe('Milk');
    expect(agent.kept?.refresh_token).not.toBe(first?.refresh_token);
    expect(scopeOf(agent)).toBe('notes:read notes:write');

    const { id } = await clientKey();
    const blocking = { input: { id, disabled: true } };
    await admin('mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }', blocking);
    expect(await agent.call('list_notes')).toBe('Milk');
    world.app.clock.turn(lifetimeSeconds);
    await expect(agent.call('list_notes')).rejects.toThrow(UnauthorizedError);
    expect(agent.kept).toBeUndefined();
    const refused = await user.browser.get(agent.asked?.href ?? '');
    expect(refused.status).toBe(400);
  });
});

const grants = { grant_types: ['authorization_code', 'refresh_token'] };

describe('the sample MCP server', () => {
  const send = (token?: string, body: object = { jsonrpc: '2.0', id: 1, method: 'tools/list' }) =>
    fetch(resource, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });

  it('sends clients to its metadata (RFC 9728 section 5.1)', async () => {
    const refused = await send();
    expect(refused.status).toBe(401);
    // RFC 6750 section 3.1: no error code without a token.
    expect(refused.headers.get('WWW-Authenticate')).not.toContain('error=');
    expect((await send('x')).headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
    const metadata = /resource_metadata="([^"]+)"/.exec(refused.headers.get('WWW-Authenticate') ?? '')?.[1] ?? '';
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: resource.href,
      authorization_servers: [issuer],
      scopes_supported: ['notes:read', 'notes:write'],
    });
  });

  it('accepts no token for UserInfo, another API or another project, and none that has expired', async () => {
    const id = host.put('/client.json', grants);
    const client = new Stranger(world.app, world.project, id, `${host.origin()}/callback`);
    await client.signIn(await world.app.make.user(world.project));
    const other = 'https://other.example.com';
    const api = { projectId: world.project.id, identifier: other, name: 'Other', scopes, thirdPartyAccess: true };
    await world.app.services.apis.create(api, system);
    const tokenFor = async (target?: string) => {
      const asked = target === undefined ? {} : { scope: 'notes:read', resource: target };
      const code = await client.code(asked);
      return (await client.exchange(code, target === undefined ? {} : { resource: target })).access_token;
    };
    for (const token of [await tokenFor(), await tokenFor(other), 'x', ''])
      expect((await send(token)).status).toBe(401);
    const token = await tokenFor(resource.href);
    expect((await send(token)).status).toBe(200);
    expect((await send(token, [{ method: 'tools/call', params: { name: 'add_note' } }])).status).toBe(403);
    world.app.clock.turn(lifetimeSeconds);
    expect((await send(token)).status).toBe(401);

    await world.begin();
    await world.set({ clientMetadataDocuments: 'anyone' });
    await world.app.services.apis.create({ ...api, projectId: world.project.id, identifier: resource.href }, system);
    const foreign = new Stranger(world.app, world.project, id, `${host.origin()}/callback`);
    await foreign.signIn(await world.app.make.user(world.project));
    const code = await foreign.code({ scope: 'notes:read', resource: resource.href });
    const tokens = await foreign.exchange(code, { resource: resource.href });
    expect(decodeJwt(tokens.access_token)['aud']).toBe(resource.href);
    expect((await send(tokens.access_token)).status).toBe(401);
  });
});
