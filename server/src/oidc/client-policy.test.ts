/** Limits of clients that introduced themselves, by domain (decisions/0416): of documents and of registrations alike. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { DocumentHost } from '../../test/document-host.ts';
import { Stranger } from '../../test/introduced.ts';
import { apiOf, type Machine, orders, send } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { rows } from '../../test/rows.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import type { Api } from '../domain/apis/api.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { ClientPolicy } from '../domain/projects/client-policies.ts';

const billing = 'urn:example:billing';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const grantNames = ['authorization_code', 'refresh_token'];
const asked = { scope: 'read write offline_access', resource: orders };
const world = SigninWorld.ofTests();
const host = new DocumentHost();
let api: Api;
let client: Stranger;

beforeAll(() => host.open());
afterAll(() => host.close());

const limit = (...policies: ClientPolicy[]) => world.set({ clientPolicies: policies });
const answerTo = async (changes: Record<string, string | undefined>) =>
  locationOf(await client.authorize(changes)).searchParams;
/** What a refusal must not change. */
const stored = () =>
  rows(
    world.app.services.db,
    `select (select count(*)::int from consents where project_id = p.id) as consents,
      (select count(*)::int from refresh_grants where project_id = p.id) as grants,
      (select count(*)::int from authorization_codes where project_id = p.id) as tokens,
      (select count(*)::int from authorization_codes where project_id = p.id and used_at is null) as codes,
      (select count(*)::int from authorization_requests where project_id = p.id) as requests
      from projects p where p.id = ?`,
    [world.project.id],
  );

async function registered(redirectUri: string): Promise<string> {
  const response = await fetch(`${world.app.url}/p/${world.project.slug}/oauth2/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: 'none', grant_types: grantNames }),
  });
  return ((await response.json()) as { client_id: string }).client_id;
}

beforeEach(async () => {
  await world.set({ clientMetadataDocuments: 'anyone', clientRegistration: 'open' });
  api = await apiOf(world.app, world.project);
  await world.app.services.apis.update(api, { thirdPartyAccess: true, tokenExchange: true }, system);
});

describe.each([
  [
    'a metadata document',
    async () => [host.put('/client.json', { grant_types: grantNames }), `${host.origin()}/callback`],
  ],
  [
    'registration',
    async () => {
      const redirectUri = 'https://agent.example.com/callback';
      return [await registered(redirectUri), redirectUri];
    },
  ],
])('a client that introduced itself by %s', (_name, introduce) => {
  beforeEach(async () => {
    const [id = '', redirectUri = ''] = await introduce();
    client = new Stranger(world.app, world.project, id, redirectUri);
    await client.signIn(await world.app.make.user(world.project));
  });

  it('is refused a scope beyond the policy of its domain, by its name (RFC 6749 section 4.1.2.1)', async () => {
    await limit({ domain: 'example.com', scopes: ['openid', 'read', 'offline_access'] });
    const before = await stored();
    const refused = await answerTo(asked);
    expect(refused.get('error')).toBe('invalid_scope');
    expect(refused.get('error_description')).toBe('The project does not allow the application the scope write.');
    expect(await stored()).toEqual(before);
    const { access_token } = await client.exchange(await client.code({ ...asked, scope: 'read' }), {
      resource: orders,
    });
    expect(decodeJwt(access_token)['scope']).toBe('read');
  });

  it('gets what the policy allows if it names no scope (section 3.3)', async () => {
    await limit({ domain: 'example.com', scopes: ['read'] });
    const { html, decide } = await client.consent({ ...asked, scope: undefined });
    expect(html).toContain('read orders');
    expect(html).not.toContain('write orders');
    const code = (await decide('allow')).searchParams.get('code') ?? '';
    expect(decodeJwt((await client.exchange(code, { resource: orders })).access_token)['scope']).toBe('read');
  });

  it('is refused an API beyond the policy (RFC 8707 section 2)', async () => {
    const code = await client.code(asked);
    await limit({ domain: '*', apis: [billing] });
    const before = await stored();
    expect((await answerTo(asked)).get('error')).toBe('invalid_target');
    expect(await client.exchange(code, { resource: orders })).toMatchObject({ status: 400, error: 'invalid_target' });
    expect(await stored()).toEqual(before);
    expect((await answerTo({ scope: 'openid', prompt: 'none' })).get('error')).toBe('consent_required');
  });

  it('redeems no code beyond a later policy, and the code stays (section 5.2)', async () => {
    const code = await client.code(asked);
    await limit({ domain: 'example.com', scopes: ['read', 'offline_access'] });
    const before = await stored();
    const description = 'The project does not allow the application the scope write.';
    const refused = await client.exchange(code, { resource: orders });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_scope', error_description: description });
    expect(await stored()).toEqual(before);
    await world.set({ clientPolicies: null });
    expect((await client.exchange(code, { resource: orders })).status).toBe(200);
  });

  it('refreshes only what a later policy allows (section 6)', async () => {
    const { refresh_token } = await client.exchange(await client.code(asked), { resource: orders });
    await limit({ domain: 'example.com', scopes: ['read'] });
    const before = await stored();
    expect(await client.refresh(refresh_token)).toMatchObject({ status: 400, error: 'invalid_scope' });
    expect(await stored()).toEqual(before);
    const { access_token, status } = await client.refresh(refresh_token, { scope: 'read' });
    expect([status, decodeJwt(access_token)['scope']]).toEqual([200, 'read']);
  });

  it('gets tokens for at most the lifetime of the policy, for an API and for UserInfo', async () => {
    await limit(
      { domain: '*', accessTokenTtlSeconds: 120, refreshTokenTtlSeconds: 900 },
      { domain: 'example.com', accessTokenTtlSeconds: 60, refreshTokenTtlSeconds: 3600 },
    );
    const lifetime = (token: string) => {
      const { exp = 0, iat = 0 } = decodeJwt(token);
      return exp - iat;
    };
    const tokens = await client.exchange(await client.code(asked), { resource: orders });
    expect([lifetime(tokens.access_token), tokens]).toEqual([60, expect.objectContaining({ expires_in: 60 })]);
    expect(lifetime((await client.exchange(await client.code({ scope: 'openid' }))).access_token)).toBe(60);
    world.app.clock.turn(600);
    const next = await client.refresh(tokens.refresh_token);
    expect([next.status, lifetime(next.access_token)]).toEqual([200, 60]);
    const listed = await world.app.services.refreshGrants.count(world.app.services.db.reader(), {
      projectId: world.project.id,
    });
    expect(listed.count).toBe(2);
    world.app.clock.turn(301);
    expect(await client.refresh(next.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    const left = await world.app.services.refreshGrants.count(world.app.services.db.reader(), {
      projectId: world.project.id,
    });
    expect(left.count).toBe(0);
  });

  it('is shown with the text of the nearest policy, as text', async () => {
    await limit(
      { domain: '*', consentText: 'Ask IT first.' },
      { domain: 'example.com', consentText: 'Only for <b>reports</b> & notes.' },
    );
    const { html } = await client.consent(asked);
    expect(html).toContain('Only for &lt;b&gt;reports&lt;/b&gt; &amp; notes.');
    expect(html).not.toContain('Ask IT first.');
  });

  it('limits an exchange of its tokens by another application (RFC 8693 section 2.2.2)', async () => {
    await world.app.services.apis.update(api, { tokenExchange: true }, system);
    const settings = { tokenEndpointAuthMethod: 'client_secret_basic', grantTypes: ['token_exchange'] } as const;
    const made = await world.app.make.client(world.project, { ...settings, grantTypes: [...settings.grantTypes] });
    const gateway: Machine = {
      ...{ app: world.app, client: made.client, secret: made.clientSecret ?? '' },
      issuer: partyAt(world.app, world.project, made.client).issuer,
    };
    const rights = { scopes: ['read', 'write'], introspects: true };
    await world.app.services.apis.grant(gateway.client, api.id, rights, system);
    const { access_token } = await client.exchange(await client.code(asked), { resource: orders });
    const exchange = async (form: Record<string, string> = {}) => {
      const request = { grant_type: grantTypeNames.token_exchange, subject_token: access_token, resource: orders };
      const response = await send(gateway, '/oauth2/token', { ...request, subject_token_type: accessToken, ...form });
      return { status: response.status, ...((await response.json()) as object) };
    };
    expect(await exchange()).toMatchObject({ status: 200, scope: 'read write' });
    await limit({ domain: 'example.com', scopes: ['read'] });
    const before = await stored();
    const description = 'The project does not allow the application the scope write.';
    const refused = { status: 400, error: 'invalid_scope', error_description: description };
    expect(await exchange({ scope: 'read write' })).toEqual(refused);
    expect(await stored()).toEqual(before);
    expect(await exchange()).toMatchObject({ status: 200, scope: 'read' });
    await limit({ domain: 'example.com', apis: [billing] });
    expect(await exchange()).toMatchObject({ status: 400, error: 'invalid_target' });
  });

  it('is not limited by the policy of another domain', async () => {
    await limit({ domain: 'example.org', scopes: [] }, { domain: 'le.com', scopes: [] });
    expect((await client.exchange(await client.code(asked), { resource: orders })).status).toBe(200);
  });
});

describe('a policy', () => {
  it('does not limit applications that an admin created', async () => {
    await limit({ domain: '*', scopes: [] });
    const party = partyAt(world.app, world.project, world.client);
    await party.signIn(await world.app.make.user(world.project));
    expect(await party.code()).not.toBe('');
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, 'clientPolicies'],
    ['no object', ['x'], 'clientPolicies[0]'],
    ['an unknown member', [{ domain: 'a.example', scope: 'x' }], 'clientPolicies[0]'],
    ['no domain', [{}], 'clientPolicies[0].domain'],
    ['an address', [{ domain: 'https://a.example' }], 'clientPolicies[0].domain'],
    ['a domain twice', [{ domain: 'a.example' }, { domain: 'A.example' }], 'clientPolicies[1].domain'],
    ['a scope with a space', [{ domain: 'a.example', scopes: ['a b'] }], 'clientPolicies[0].scopes'],
    ['text for scopes', [{ domain: 'a.example', scopes: 'a' }], 'clientPolicies[0].scopes'],
    ['a lifetime of nothing', [{ domain: '*', accessTokenTtlSeconds: 0 }], 'clientPolicies[0].accessTokenTtlSeconds'],
    ['a lifetime in text', [{ domain: '*', refreshTokenTtlSeconds: '60' }], 'clientPolicies[0].refreshTokenTtlSeconds'],
    ['two lines', [{ domain: '*', consentText: 'a\nb' }], 'clientPolicies[0].consentText'],
  ])('with %s is refused, and nothing changes', async (_name, clientPolicies, field) => {
    const update = async () =>
      world.app.services.projects.update(world.project.id, { clientPolicies } as never, system);
    expect(await problemOf(update())).toMatchObject({ code: 'invalid', field });
    const [row] = await rows(world.app.services.db, 'select client_policies from projects where id = ?', [
      world.project.id,
    ]);
    expect(row).toEqual({ client_policies: null });
  });
});
