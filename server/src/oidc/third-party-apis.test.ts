/** APIs that are open to third-party applications (RFC 8707, decisions/0394). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { DocumentHost } from '../../test/document-host.ts';
import { Stranger } from '../../test/introduced.ts';
import { apiOf, machineOf, orders, send } from '../../test/machine.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import type { Api } from '../domain/apis/api.entity.ts';
import { system } from '../domain/kernel/actor.ts';

const billing = 'urn:example:billing';
const world = SigninWorld.ofTests();
const host = new DocumentHost();
let api: Api;
let client: Stranger;

beforeAll(() => host.open());
afterAll(() => host.close());
beforeEach(async () => {
  await world.set({ clientMetadataDocuments: 'anyone' });
  api = await apiOf(world.app, world.project);
  const id = host.put('/client.json', { grant_types: ['authorization_code', 'refresh_token'] });
  client = new Stranger(world.app, world.project, id, `${host.origin()}/callback`);
  await client.signIn(await world.app.make.user(world.project));
  await set(true);
});

const set = (thirdPartyAccess: boolean) => world.app.services.apis.update(api, { thirdPartyAccess }, system);
const asking = (scope: string, resource = orders) => ({ scope, resource });
const errorOf = async (changes: Record<string, string>) =>
  locationOf(await client.authorize(changes)).searchParams.get('error');

describe('an API that is open to third parties', () => {
  it('gives tokens for the scopes that the user allows, asked for in its own words', async () => {
    const { html, decide } = await client.consent(asking('openid read offline_access'));
    expect(html).toContain(api.scopes.find(({ key }) => key === 'read')?.description);
    expect(html).toContain(api.name);
    expect(html).not.toContain(api.scopes.find(({ key }) => key === 'write')?.description);
    const tokens = await client.exchange((await decide('allow')).searchParams.get('code') ?? '', { resource: orders });
    expect(decodeJwt(tokens.access_token)).toMatchObject({ aud: orders, client_id: client.id, scope: 'read' });
    const next = await client.refresh(tokens.refresh_token, { resource: orders });
    expect(decodeJwt(next.access_token)).toMatchObject({ aud: orders, scope: 'read' });
  });

  it('asks again for a second scope, and not for one that was allowed', async () => {
    await client.code(asking('read'));
    expect(await errorOf({ ...asking('read write'), prompt: 'none' })).toBe('consent_required');
    const { access_token } = await client.exchange(await client.code(asking('read write')), { resource: orders });
    expect(decodeJwt(access_token)['scope']).toBe('read write');
    expect(await errorOf({ ...asking('read'), prompt: 'none' })).toBeNull();
  });

  it('gives nothing by the consent to another API, nor to a scope of the same name', async () => {
    const other = await apiOf(world.app, world.project, billing);
    await world.app.services.apis.update(other, { thirdPartyAccess: true }, system);
    await client.code(asking('read'));
    expect(await errorOf({ ...asking('read', billing), prompt: 'none' })).toBe('consent_required');
    const query = `${new URLSearchParams({ client_id: client.id, redirect_uri: client.redirectUri, response_type: 'code' })}`;
    const pkce = new URLSearchParams({ code_challenge: client.proof.challenge, code_challenge_method: 'S256' });
    const both = `${new URLSearchParams({ scope: 'read' })}&resource=${orders}&resource=${billing}`;
    const answer = await client.browser.get(`${client.issuer}/authorize?${query}&${pkce}&${both}`);
    expect(locationOf(answer).searchParams.get('error')).toBe('invalid_target');
    const code = await client.code(asking('read'));
    expect(await client.exchange(code, { resource: billing })).toMatchObject({ error: 'invalid_target' });
  });

  it('ends its tokens when it is closed', async () => {
    const tokens = await client.exchange(await client.code(asking('read offline_access')), { resource: orders });
    const code = await client.code(asking('read'));
    const server = await machineOf(world.app, world.project);
    await world.app.services.apis.grant(server.client, api.id, { scopes: [], introspects: true }, system);
    const introspect = async (token = tokens.access_token) =>
      (await (await send(server, '/oauth2/introspect', { token })).json()) as object;
    expect(await introspect()).toMatchObject({ active: true, scope: 'read', client_id: client.id });
    const renewed = await client.refresh(tokens.refresh_token, { resource: orders });
    expect(await introspect(renewed.access_token)).toMatchObject({ active: true, scope: 'read' });
    await world.set({ blockedClientDomains: ['example.com'] });
    expect(await introspect()).toEqual({ active: false });
    await world.set({ blockedClientDomains: [] });
    expect(await introspect()).toMatchObject({ active: true });
    await set(false);
    expect(await introspect()).toEqual({ active: false });
    expect(await client.refresh(renewed.refresh_token, { resource: orders })).toMatchObject({ error: 'invalid_grant' });
    expect(await client.exchange(code, { resource: orders })).toMatchObject({ error: 'invalid_grant' });
    expect(await errorOf(asking('read'))).toBe('invalid_target');
  });
});
